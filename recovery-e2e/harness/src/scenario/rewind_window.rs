//! E2: a second rewind click lands while the first one's refetch is still under way.

use super::words::{Mounted, Pane, Sight, rewinds};
use super::{Change, Control, Defect, Scenario};
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "E2",
    name: "rewind-window",
    family: "interactive",
    proves: "a rewind clicked while the transcript is being refetched never reaches the node",
    proof: "the refetch was held over three stale rows at the second click, and a fence stood \
            after that click",
    success: "RECOVERY-READY-REWINDWIN-posts1",
    controls: &[Control {
        name: "gate-is-busy-alone",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/gate.js",
            find: "return state.busy || state.latch;",
            replace: "return state.busy;",
        }]),
        predicted: "RECOVERY-FAILED-REWINDWIN-posts2-rows0",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Pane::seeded(stage, "rewind-window", vec![]).await?;
    let (posts, rows) = click_in_the_window(stage, &pane).await?;
    Ok(stamp("REWINDWIN", posts, rows))
}

/// Rewinds two of three turns and, while the refetch is held, clicks to rewind all three. Gives how
/// many rewinds came of it, and how many rows were left.
pub(super) async fn click_in_the_window<S: Sight>(
    stage: &mut Stage,
    pane: &Mounted<S>,
) -> Result<(u64, u64), StageError> {
    stage.phase("fault");
    let refetch = stage.proxy.hold(Class::HISTORY, 1);
    pane.click_rewind(1).await?;
    refetch.arrived().await?;
    let seen = pane.click_rewind(0).await?;
    pane.fence(stage).await?;
    let posts = rewinds(stage);
    stage.require(
        "at the second click the refetch was under way over three stale rows",
        seen.rows() == 3 && seen.is_catching_up(),
        seen,
    );
    stage.screenshot("fault").await?;

    stage.phase("heal");
    refetch.release();
    pane.settled(stage).await?;
    Ok((posts, pane.rows().await?))
}

/// Row 1 of 3 takes two turns away, so one row is left; a second rewind would take that one too.
pub(super) fn stamp(code: &'static str, posts: u64, rows: u64) -> Stamp {
    if posts == 1 && rows == 1 {
        Stamp::ready(code).field("posts", posts)
    } else {
        Stamp::failed(code).field("posts", posts).field("rows", rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_rewind_that_left_one_row_is_ready() {
        assert_eq!(stamp("REWINDWIN", 1, 1).to_string(), SCENARIO.success);
        assert_eq!(stamp("REWINDWIN", 2, 0).to_string(), SCENARIO.controls[0].predicted);
        assert!(!stamp("REWINDWIN", 1, 3).is_ready(), "a transcript that never healed");
        assert!(!stamp("REWINDWIN", 0, 3).is_ready(), "a first rewind that never left the page");
    }
}
