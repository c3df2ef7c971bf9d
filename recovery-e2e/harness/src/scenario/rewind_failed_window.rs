//! E3: a second rewind click lands after the first one's refetch has failed, before the retry.

use super::words::{Pane, STALE_RETRY, rewinds};
use super::{Change, Control, Scenario};
use crate::front::Class;
use crate::stage::{Stage, StageError};
use crate::verdict::Stamp;

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
        changes: &[Change {
            asset: "/static/recovery/gate.js",
            find: "return state.busy || state.latch;",
            replace: "return state.busy || state.queued !== null;",
        }],
        predicted: "RECOVERY-FAILED-REWINDFAIL-closed2-heal0-posts2-rows0",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Pane::seeded(stage, "rewind-failed-window", vec![]).await?;

    stage.phase("fault");
    stage.front.fail(Class::History, 1, hyper::StatusCode::INTERNAL_SERVER_ERROR);
    // The next fetch of the history, whatever causes it: the retry, if all is well.
    let next = stage.front.hold(Class::History, 1);
    pane.click_rewind(1).await?;
    let seen =
        pane.click_rewind_when("a failed refetch, with a retry to come", "s.retryArmed", 0).await?;
    pane.fence(stage).await?;
    let closed = rewinds(stage);
    stage.require(
        "at the second click the refetch had failed, over three stale rows",
        seen.rows == 3 && seen.latch && seen.queued.is_none() && !seen.busy,
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
    let heal = healed.rows == 1 && !healed.latch;

    stage.phase("reopen");
    if heal {
        pane.click_rewind(0).await?;
        pane.fence(stage).await?;
        pane.settled(stage).await?;
    }
    let posts = rewinds(stage);
    let rows = pane.look().await?.rows;
    Ok(stamp(closed, heal, posts, rows))
}

/// The gate was shut at the second click, the retry left one row, and then it was open again.
fn stamp(closed: u64, heal: bool, posts: u64, rows: u64) -> Stamp {
    if closed == 1 && heal && posts == 2 {
        Stamp::ready("REWINDFAIL").field("posts", posts).field("heal", u64::from(heal))
    } else {
        Stamp::failed("REWINDFAIL")
            .field("closed", closed)
            .field("heal", u64::from(heal))
            .field("posts", posts)
            .field("rows", rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_shut_gate_that_healed_and_opened_is_ready() {
        assert_eq!(stamp(1, true, 2, 0).to_string(), SCENARIO.success);
        assert_eq!(stamp(2, false, 2, 0).to_string(), SCENARIO.controls[0].predicted);
        assert!(!stamp(1, false, 1, 3).is_ready(), "a transcript that never healed");
        assert!(!stamp(1, true, 1, 1).is_ready(), "a gate that never opened again");
    }
}
