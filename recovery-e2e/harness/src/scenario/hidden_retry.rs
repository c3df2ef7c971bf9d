//! E5: the page is hidden before the retry of a failed refetch is due.

use super::words::{Mounted, Pane, STALE_RETRY, Sight, arrived, rewinds, told};
use super::{Change, Control, Defect, Scenario};
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "E5",
    name: "hidden-retry",
    family: "interactive",
    proves: "a retry that falls due without a transport fetches nothing, and showing heals",
    proof: "the retry was armed when the page was hidden, its time passed without a transport, \
            and the node told nothing new before the heal",
    success: "RECOVERY-READY-HIDDENRETRY-hidden0-heal1",
    controls: &[Control {
        name: "retry-ignores-the-transport",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/history.js",
            find: "if (open && this.#mayHeal()",
            replace: "if (this.#mayHeal()",
        }]),
        predicted: "RECOVERY-FAILED-HIDDENRETRY-hidden1-heal1-sse1-posts2-rows0",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Pane::seeded(stage, "hidden-retry", vec![]).await?;
    let (before, hidden, after) = outlast_retry_hidden(stage, &pane).await?;
    stage.require("hidden before the retry was due", before.retry_armed, &before);
    stage.require("shown after it was due", !after.retry_armed && after.latch, &after);
    Ok(heal_when_shown(stage, &pane, hidden).await?.stamp("HIDDENRETRY"))
}

/// Rewinds two of three turns, fails the refetch, and hides the page until its retry has been due.
/// Gives what stood when it was hidden, the histories fetched since, and what stood then.
pub(super) async fn outlast_retry_hidden<S: Sight>(
    stage: &mut Stage,
    pane: &Mounted<S>,
) -> Result<(S, u64, S), StageError> {
    stage.phase("fault");
    stage.proxy.fail(Class::HISTORY, 1, hyper::StatusCode::INTERNAL_SERVER_ERROR);
    pane.click_rewind(1).await?;
    pane.until("a failed refetch, with a retry to come", S::REFETCH_FAILED).await?;
    let before = pane.hide(stage).await?;
    let fetches = arrived(stage, Class::HISTORY);
    pane.outlast(stage, STALE_RETRY).await?;
    let hidden = arrived(stage, Class::HISTORY) - fetches;
    let after = pane.look().await?;
    stage.require(
        "the retry's time had passed over three rows, without a transport",
        after.rows() == 3 && after.is_offline(),
        &after,
    );
    stage.screenshot("fault").await?;
    Ok((before, hidden, after))
}

/// Shows the page over a pane that fetched `hidden` histories while it was hidden; clicks once more
/// if that heals.
pub(super) async fn heal_when_shown<S: Sight>(
    stage: &mut Stage,
    pane: &Mounted<S>,
    hidden: u64,
) -> Result<Showing, StageError> {
    stage.phase("heal");
    let opens = arrived(stage, Class::EVENTS);
    let head = stage.control.head(pane.ws()).await?;
    pane.show().await?;
    pane.quiet(stage).await?;
    let sse = arrived(stage, Class::EVENTS) - opens;
    let seen = pane.look().await?;
    let heal = seen.rows() == 1 && seen.is_current();
    let head_since = stage.control.head(pane.ws()).await?;
    stage.require(
        "the node told nothing new, so what healed was the end of the replay",
        head == head_since,
        format!("{}, then {}", told::or_none(head), told::or_none(head_since)),
    );
    stage.screenshot("healed").await?;

    stage.phase("reopen");
    if heal {
        pane.click_rewind(0).await?;
        pane.fence(stage).await?;
        pane.settled(stage).await?;
    }
    Ok(Showing { hidden, heal, sse, posts: rewinds(stage), rows: pane.rows().await? })
}

/// What came of the showing.
#[derive(Clone, Copy)]
pub(super) struct Showing {
    /// Histories fetched while hidden.
    pub hidden: u64,
    pub heal: bool,
    /// Streams that it opened.
    pub sse: u64,
    /// Rewinds in all.
    pub posts: u64,
    pub rows: u64,
}

impl Showing {
    /// Nothing was fetched while hidden; one connection brought the heal, and the gate was open
    /// again.
    pub(super) fn stamp(self, code: &'static str) -> Stamp {
        let Showing { hidden, heal, sse, posts, rows } = self;
        if hidden == 0 && heal && sse == 1 && posts == 2 {
            Stamp::ready(code).field("hidden", 0).field("heal", 1)
        } else {
            Stamp::failed(code)
                .field("hidden", hidden)
                .field("heal", heal.into())
                .field("sse", sse)
                .field("posts", posts)
                .field("rows", rows)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_silent_hidden_page_that_heals_over_one_connection_is_ready() {
        let good = Showing { hidden: 0, heal: true, sse: 1, posts: 2, rows: 0 };
        assert_eq!(good.stamp("HIDDENRETRY").to_string(), SCENARIO.success);
        let fetched = Showing { hidden: 1, ..good };
        assert_eq!(fetched.stamp("HIDDENRETRY").to_string(), SCENARIO.controls[0].predicted);
        let never_healed = Showing { heal: false, posts: 1, rows: 3, ..good };
        let second_connection = Showing { sse: 2, ..good };
        let never_opened = Showing { posts: 1, rows: 1, ..good };
        for bad in [never_healed, second_connection, never_opened] {
            assert!(!bad.stamp("HIDDENRETRY").is_ready(), "{}", bad.stamp("HIDDENRETRY"));
        }
    }
}
