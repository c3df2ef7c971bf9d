//! G6: the node is killed in the middle of a tool's work, which leaves a call without a result.

use super::restart::begin;
use super::words::{Coord, arrived, rewinds};
use super::{Change, Control, Defect, Scenario};
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "G6",
    name: "coord-orphan-rewind",
    family: "coordinator",
    proves: "a call that a crash has left open is shown as running, and a rewind takes it away",
    proof: "node and tool were killed, another process took over, and the call was shown as \
            running before the click",
    success: "RECOVERY-READY-COORDORPHANREWIND-posts1-rows1-orphan0",
    controls: &[Control {
        name: "live-calls-are-read-from-the-page",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/live_calls.js",
            find: "return this.#calls.size === 0;",
            replace: "return document.querySelector('.conv-batch--running') === null;",
        }]),
        predicted: "RECOVERY-FAILED-COORDORPHANREWIND-posts1-hist1-rows1-orphan1",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let (pane, turn) = begin(stage, "coord-orphan-rewind").await?;
    let pane: Coord = pane;

    stage.phase("crash");
    let pid = stage.node_pid()?;
    stage.kill_node().await?;
    drop(turn);
    stage.start_node().await?;
    let pid_after = stage.node_pid()?;
    stage.require("another process", pid != pid_after, format!("{pid}, then {pid_after}"));
    pane.reload().await?;
    pane.freeze().await?;
    let seen = pane.look().await?;
    stage.require(
        "the call that was left open is shown as running",
        seen.running == 1 && seen.rows == 1 && !seen.busy,
        &seen,
    );
    stage.screenshot("fault").await?;

    stage.phase("rewind");
    let fetches = arrived(stage, Class::HISTORY);
    pane.click_rewind(0).await?;
    pane.until_frames("clear_ui", 1).await?;
    pane.quiet(stage).await?;
    let hist = arrived(stage, Class::HISTORY) - fetches;
    stage.require("the rewind led to a fetch", hist > 0, hist);
    let seen = pane.look().await?;
    Ok(stamp(rewinds(stage), hist, seen.rows, seen.running > 0))
}

/// The person's row stands, and what the crash had left of its turn is gone.
fn stamp(posts: u64, hist: u64, rows: u64, orphan: bool) -> Stamp {
    if posts == 1 && rows == 1 && !orphan {
        Stamp::ready("COORDORPHANREWIND")
            .field("posts", posts)
            .field("rows", rows)
            .field("orphan", 0)
    } else {
        Stamp::failed("COORDORPHANREWIND")
            .field("posts", posts)
            .field("hist", hist)
            .field("rows", rows)
            .field("orphan", orphan.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_row_without_the_call_below_it_is_ready() {
        assert_eq!(stamp(1, 1, 1, false).to_string(), SCENARIO.success);
        assert_eq!(stamp(1, 1, 1, true).to_string(), SCENARIO.controls[0].predicted);
        assert!(!stamp(0, 0, 1, false).is_ready(), "a rewind that never left the page");
        assert!(!stamp(1, 1, 0, false).is_ready(), "a person's row that is gone too");
    }
}
