//! D: the first reload after a restart fails.

use super::words::{Held, Pane, TRUNCATED_RELOAD, end_of_turn, take_turn, told, workstream};
use super::{Change, Control, Defect, Scenario};
use crate::node::model::Reply;
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "D",
    name: "fail-refetch",
    family: "interactive",
    proves: "a reload that fails after a restart leaves every row, and the next one heals",
    proof: "the stale rows were seen while the fetch that healed them was still held, and that \
            fetch was answered 200",
    success: "RECOVERY-READY-FAILFETCH-stale1-healed1",
    controls: &[Control {
        name: "wiped-before-the-fetch",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/core.js",
            find: "const load = this.#history.load();",
            replace: "this.#pane.render({ messages: [], cursor: null, handoff_token: null }); \
                      const load = this.#history.load();",
        }]),
        predicted: "RECOVERY-FAILED-FAILFETCH-stale0-healed1-rows2-busy0-trunc2",
    }],
    story: |stage| Box::pin(story(stage)),
};

/// What is said while the page is hidden.
const MISSED: &str = "Past the lighthouse, and then due north.";

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    stage.phase("seed");
    let (answer, gate) = Reply::text(MISSED).held();
    let replies = vec![Reply::text("At the north quay."), answer];
    let ws = workstream(stage, "fail-refetch", replies).await?;
    take_turn(stage, &ws, "Where are we?").await?;
    stage.phase("first paint");
    let pane = Pane::open(stage, ws, 1).await?;
    stage.screenshot("first-paint").await?;

    stage.phase("hidden in mid-turn");
    pane.freeze().await?;
    let mut events = stage.wire.follow(pane.ws()).await?;
    pane.write("Which way shall we sail?").await?;
    pane.until("a turn under way", "s.busy && s.rows === 2 && s.cursor !== null").await?;
    pane.hide(stage).await?;
    gate.release();
    end_of_turn(&mut events).await?;
    stage.restart().await?;

    stage.phase("fault");
    stage.proxy.fail(Class::HISTORY, 1, hyper::StatusCode::INTERNAL_SERVER_ERROR);
    let next = stage.proxy.hold(Class::HISTORY, 1);
    pane.show().await?;
    // The turn was under way when the page was hidden, and is over: the first reload comes with
    // that edge. It fails, and the connection after it is truncated once more.
    pane.until_frames("replay_truncated", 2).await?;
    pane.outlast(stage, TRUNCATED_RELOAD).await?;
    let next = Held::arrived(next).await?;
    let seen = pane.look().await?;
    let missing = pane.count(MISSED).await? == 0;
    let stale = seen.rows == 2 && !seen.empty && missing;
    let open = next.statuses(stage) == [None];
    stage.require("the stale rows were seen before anything could heal them", open, seen);
    stage.screenshot("fault").await?;

    stage.phase("heal");
    next.release();
    pane.settled(stage).await?;
    let statuses = next.statuses(stage);
    let answered = statuses == [Some(200)];
    let saw = told::each_or_none(statuses);
    stage.require("the next fetch was answered", answered, saw);
    let healed = pane.count(MISSED).await? == 1;
    let seen = pane.look().await?;
    let truncated = pane.frames("replay_truncated").await?;
    Ok(stamp(stale, healed, seen.rows, seen.busy, truncated))
}

/// The rows stood through the failure, and what was missed came with the next reload.
fn stamp(stale: bool, healed: bool, rows: u64, busy: bool, truncated: u64) -> Stamp {
    if stale && healed && rows == 2 && !busy {
        Stamp::ready("FAILFETCH").field("stale", 1).field("healed", 1)
    } else {
        Stamp::failed("FAILFETCH")
            .field("stale", stale.into())
            .field("healed", healed.into())
            .field("rows", rows)
            .field("busy", busy.into())
            .field("trunc", truncated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_that_stood_and_then_healed_are_ready() {
        assert_eq!(stamp(true, true, 2, false, 2).to_string(), SCENARIO.success);
        assert_eq!(stamp(false, true, 2, false, 2).to_string(), SCENARIO.controls[0].predicted);
        assert!(!stamp(true, false, 2, false, 2).is_ready(), "what was missed stayed missing");
        assert!(!stamp(true, true, 3, false, 2).is_ready(), "a row that stands twice");
        assert!(!stamp(true, true, 2, true, 2).is_ready(), "a turn that never ends");
    }
}
