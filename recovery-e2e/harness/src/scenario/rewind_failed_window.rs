//! E3: a second rewind click lands after the first one's refetch has failed, before the retry.

use super::words::{Mounted, Pane, STALE_RETRY, Sight, rewinds};
use super::{Change, Control, Defect, Scenario};
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "E3",
    name: "rewind-failed-window",
    family: "interactive",
    proves: "a failed refetch leaves the rows and their gate shut until a retry heals both",
    proof: "at the second click the refetch had failed over three stale rows, and a fence stood \
            between it and the retry",
    success: "RECOVERY-READY-REWINDFAIL-posts2-heal1",
    controls: &[Control {
        name: "gate-is-the-quiesce",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/gate.js",
            find: "return state.busy || state.latch;",
            replace: "return state.busy || state.queued !== null;",
        }]),
        predicted: "RECOVERY-FAILED-REWINDFAIL-closed2-heal0-posts2-rows0",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Pane::seeded(stage, "rewind-failed-window", vec![]).await?;
    Ok(click_after_the_failure(stage, &pane).await?.stamp("REWINDFAIL"))
}

/// Rewinds two of three turns and, when the refetch has failed, clicks to rewind all three; then
/// lets the retry heal, and rewinds once more if it did.
pub(super) async fn click_after_the_failure<S: Sight>(
    stage: &mut Stage,
    pane: &Mounted<S>,
) -> Result<Clicks, StageError> {
    stage.phase("fault");
    stage.proxy.fail(Class::HISTORY, 1, hyper::StatusCode::INTERNAL_SERVER_ERROR);
    // The next fetch of the history, whatever causes it: the retry, if all is well.
    let next = stage.proxy.hold(Class::HISTORY, 1);
    pane.click_rewind(1).await?;
    let failed = "a failed refetch, with a retry to come";
    let seen = pane.click_rewind_when(failed, S::REFETCH_FAILED, 0).await?;
    pane.fence(stage).await?;
    let closed = rewinds(stage);
    stage.require(
        "at the second click the refetch had failed, over three stale rows",
        seen.rows() == 3 && seen.is_stale(),
        seen,
    );
    stage.screenshot("fault").await?;

    stage.phase("heal");
    pane.outlast(stage, STALE_RETRY).await?;
    next.arrived().await?;
    next.release();
    pane.settled(stage).await?;
    stage.screenshot("healed").await?;
    let healed = pane.look().await?;
    let heal = healed.rows() == 1 && healed.is_current();

    stage.phase("reopen");
    if heal {
        pane.click_rewind(0).await?;
        pane.fence(stage).await?;
        pane.settled(stage).await?;
    }
    Ok(Clicks { closed, heal, posts: rewinds(stage), rows: pane.rows().await? })
}

/// What came of the clicks.
#[derive(Clone, Copy)]
pub(super) struct Clicks {
    /// Rewinds before the heal.
    pub closed: u64,
    pub heal: bool,
    /// Rewinds in all.
    pub posts: u64,
    pub rows: u64,
}

impl Clicks {
    /// The gate was shut at the second click, the retry left one row, and then it was open again.
    pub(super) fn stamp(self, code: &'static str) -> Stamp {
        let Clicks { closed, heal, posts, rows } = self;
        if closed == 1 && heal && posts == 2 {
            Stamp::ready(code).field("posts", posts).field("heal", heal.into())
        } else {
            Stamp::failed(code)
                .field("closed", closed)
                .field("heal", heal.into())
                .field("posts", posts)
                .field("rows", rows)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_shut_gate_that_healed_and_opened_is_ready() {
        let good = Clicks { closed: 1, heal: true, posts: 2, rows: 0 };
        assert_eq!(good.stamp("REWINDFAIL").to_string(), SCENARIO.success);
        let open = Clicks { closed: 2, heal: false, ..good };
        assert_eq!(open.stamp("REWINDFAIL").to_string(), SCENARIO.controls[0].predicted);
        let never_healed = Clicks { heal: false, posts: 1, rows: 3, ..good };
        let never_opened = Clicks { posts: 1, rows: 1, ..good };
        for bad in [never_healed, never_opened] {
            assert!(!bad.stamp("REWINDFAIL").is_ready(), "{}", bad.stamp("REWINDFAIL"));
        }
    }
}
