//! E5: the page is hidden before the retry of a failed refetch is due.

use super::words::{Pane, STALE_RETRY, arrived, rewinds};
use super::{Change, Control, Scenario};
use crate::front::Class;
use crate::stage::{Stage, StageError};
use crate::verdict::Stamp;

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
        changes: &[Change {
            asset: "/static/recovery/history.js",
            find: "if (open && this.#mayHeal()",
            replace: "if (this.#mayHeal()",
        }],
        predicted: "RECOVERY-FAILED-HIDDENRETRY-hidden1-heal1-sse1-posts2-rows0",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Pane::seeded(stage, "hidden-retry", vec![]).await?;

    stage.phase("fault");
    stage.front.fail(Class::History, 1, hyper::StatusCode::INTERNAL_SERVER_ERROR);
    pane.click_rewind(1).await?;
    pane.until("a failed refetch, with a retry to come", "s.retryArmed").await?;
    let seen = pane.hide(stage).await?;
    stage.require("hidden before the retry was due", seen.retry_armed, &seen);
    let fetches = arrived(stage, Class::History);
    pane.outlast(stage, STALE_RETRY).await?;
    let hidden = arrived(stage, Class::History) - fetches;
    let seen = pane.look().await?;
    stage.require(
        "the retry's time had passed over three stale rows",
        seen.rows == 3 && seen.latch && !seen.retry_armed && seen.ready_state.is_none(),
        &seen,
    );
    stage.screenshot("fault").await?;

    stage.phase("heal");
    let opens = arrived(stage, Class::Events);
    let told = stage.control.head(pane.ws()).await?;
    pane.show().await?;
    pane.quiet(stage).await?;
    let sse = arrived(stage, Class::Events) - opens;
    let seen = pane.look().await?;
    let heal = seen.rows == 1 && !seen.latch;
    let told_since = stage.control.head(pane.ws()).await?;
    stage.require(
        "the node told nothing new, so what healed was the end of the replay",
        told == told_since,
        format!("{told:?}, then {told_since:?}"),
    );
    stage.screenshot("healed").await?;

    stage.phase("reopen");
    if heal {
        pane.click_rewind(0).await?;
        pane.fence(stage).await?;
        pane.settled(stage).await?;
    }
    let rows = pane.look().await?.rows;
    Ok(stamp(hidden, heal, sse, rewinds(stage), rows))
}

/// Nothing was fetched while hidden; one connection brought the heal, and the gate was open again.
fn stamp(hidden: u64, heal: bool, sse: u64, posts: u64, rows: u64) -> Stamp {
    if hidden == 0 && heal && sse == 1 && posts == 2 {
        Stamp::ready("HIDDENRETRY").field("hidden", 0).field("heal", 1)
    } else {
        Stamp::failed("HIDDENRETRY")
            .field("hidden", hidden)
            .field("heal", heal.into())
            .field("sse", sse)
            .field("posts", posts)
            .field("rows", rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_silent_hidden_page_that_heals_over_one_connection_is_ready() {
        assert_eq!(stamp(0, true, 1, 2, 0).to_string(), SCENARIO.success);
        assert_eq!(stamp(1, true, 1, 2, 0).to_string(), SCENARIO.controls[0].predicted);
        assert!(!stamp(0, false, 1, 1, 3).is_ready(), "a transcript that never healed");
        assert!(!stamp(0, true, 2, 2, 0).is_ready(), "a second connection");
        assert!(!stamp(0, true, 1, 1, 1).is_ready(), "a gate that never opened again");
    }
}
