//! G1: as E2, over the coordinator pane: a second rewind click lands while the refetch is under way.

use super::rewind_window::{click_in_the_window, stamp};
use super::words::Coord;
use super::{Change, Control, Defect, Scenario};
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "G1",
    name: "coord-rewind-window",
    family: "coordinator",
    proves: "a rewind clicked while a coordinator's transcript is being refetched never reaches \
             the node",
    proof: "the refetch was held over three stale rows at the second click, and a fence stood \
            after that click",
    success: "RECOVERY-READY-COORDREWINDWIN-posts1",
    controls: &[Control {
        name: "gate-is-busy-alone",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/gate.js",
            find: "return state.busy || state.latch;",
            replace: "return state.busy;",
        }]),
        predicted: "RECOVERY-FAILED-COORDREWINDWIN-posts2-rows0",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Coord::seeded(stage, "coord-rewind-window", vec![]).await?;
    let (posts, rows) = click_in_the_window(stage, &pane).await?;
    Ok(stamp("COORDREWINDWIN", posts, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_judged_as_the_interactive_pane_is() {
        assert_eq!(stamp("COORDREWINDWIN", 1, 1).to_string(), SCENARIO.success);
        assert_eq!(stamp("COORDREWINDWIN", 2, 0).to_string(), SCENARIO.controls[0].predicted);
    }
}
