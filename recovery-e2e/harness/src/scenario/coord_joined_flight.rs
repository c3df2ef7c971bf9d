//! G7: a read of the rows from before a rewind is still under way when the coordinator refetches.

use super::words::{Coord, rewinds};
use super::{Control, Defect, Scenario};
use crate::node::control_socket::NodeCounters;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "G7",
    name: "coord-joined-flight",
    family: "coordinator",
    proves: "a refetch after a rewind never shares the answer of a read from before it",
    proof: "another reader's answer held the three rows from before the rewind, and was under way \
            when the refetch came",
    success: "RECOVERY-READY-COORDJOINEDFLIGHT-posts1-loads2-rows1",
    controls: &[Control {
        name: "flight-key-without-generation",
        defect: Defect::Node("flight-key-without-generation"),
        predicted: "RECOVERY-FAILED-COORDJOINEDFLIGHT-posts1-loads1-rows3",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Coord::seeded(stage, "coord-joined-flight", vec![]).await?;

    stage.phase("fault");
    let before = stage.control.counters().await?;
    stage.control.hold_loads().await?;
    let rewound = async {
        let parked = "the other reader's read in the hold";
        stage.control.until(parked, |now| now.parked_loads == 1).await?;
        pane.click_rewind(1).await?;
        // It reads for itself, or joins the read that is held.
        let asked = before.load_calls + before.load_joins + 2;
        let both = |now: &NodeCounters| now.load_calls + now.load_joins == asked;
        let now = stage.control.until("the refetch at the node", both).await?;
        stage.control.release_loads().await?;
        Ok::<_, StageError>(now.load_calls - before.load_calls)
    };
    let (other, loads) = tokio::join!(stage.wire.user_rows(pane.ws()), rewound);
    let (other, loads) = (other?.len(), loads?);
    stage.require("the other reader was given the three rows from before", other == 3, other);
    pane.settled(stage).await?;
    stage.screenshot("fault").await?;
    Ok(stamp(rewinds(stage), loads, pane.rows().await?))
}

/// The refetch read for itself, and shows the one row that is left.
fn stamp(posts: u64, loads: u64, rows: u64) -> Stamp {
    let good = posts == 1 && loads == 2 && rows == 1;
    let stamp = if good { Stamp::ready } else { Stamp::failed };
    stamp("COORDJOINEDFLIGHT").field("posts", posts).field("loads", loads).field("rows", rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_read_of_its_own_that_shows_one_row_is_ready() {
        assert_eq!(stamp(1, 2, 1).to_string(), SCENARIO.success);
        assert_eq!(stamp(1, 1, 3).to_string(), SCENARIO.controls[0].predicted);
        assert!(!stamp(1, 2, 3).is_ready(), "a transcript that never healed");
        assert!(!stamp(0, 2, 3).is_ready(), "a rewind that never left the page");
    }
}
