//! A: four commands at a time, and an agent with two steps of its own.

use super::words::{Pane, Tools, end_of_turn, workstream};
use super::{Change, Control, Defect, Scenario};
use crate::node::model::{Reply, ToolCall};
use crate::node::tool_gate::ToolGate;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "A",
    name: "storm",
    family: "interactive",
    proves: "calls that run at once all stand, and an agent's steps stand within its card",
    proof: "four commands stood in one gate at the same time",
    success: "RECOVERY-READY-STORM-5-nested-2",
    controls: &[Control {
        name: "steps-ignore-their-agent",
        defect: Defect::Client(&[Change {
            asset: "/static/pane/transcript.js",
            find: "return frame.parent_call_id ? \
                   this.#ofAgent(frame.parent_call_id, frame) : this.#ofTurn(frame);",
            replace: "return this.#ofTurn(frame);",
        }]),
        predicted: "RECOVERY-FAILED-escaped-2",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    stage.phase("first paint");
    let gate = ToolGate::new().await?;
    let buoy = |id| ToolCall::bash(id, format!("echo {id}; {}", gate.command()));
    let mut calls: Vec<ToolCall> = ["north", "east", "south", "west"].map(buoy).into();
    calls.push(ToolCall::agent("harbour", "Look at both lights of the harbour."));
    let lights = ["red", "green"].map(|id| ToolCall::bash(id, format!("echo {id}")));
    let replies = vec![
        Reply::calls(calls),
        // The agent asks next; the turn goes on only when all five calls have ended.
        Reply::calls(lights.into()),
        Reply::text("Both lights are on."),
        Reply::text("All buoys are where they should be."),
    ];
    let ws = workstream(stage, "storm", replies).await?;
    let pane = Pane::open(stage, ws, 0).await?;
    stage.screenshot("first-paint").await?;

    stage.phase("storm");
    pane.freeze().await?;
    let mut events = stage.wire.follow(pane.ws()).await?;
    pane.write("Check the buoys and the harbour lights.").await?;
    // All four at once, or this never comes.
    let at_once = gate.arrived(4).await?;
    stage.require("four commands ran at the same time", true, "four in one gate");
    stage.screenshot("storm").await?;
    at_once.release();
    end_of_turn(&mut events).await?;
    pane.settled(stage).await?;
    Ok(stamp(pane.tools().await?, pane.look().await?.busy))
}

/// Five calls stand at the top, two in the one card, and the turn is over. A step that has escaped
/// its card is told before anything else.
fn stamp(tools: Tools, busy: bool) -> Stamp {
    let Tools { top, cards, nested, escaped } = tools;
    if escaped > 0 {
        Stamp::failed("escaped").number(escaped)
    } else if top == 5 && cards == 1 && nested == 2 && !busy {
        Stamp::ready("STORM").number(top).field_apart("nested", nested)
    } else {
        Stamp::failed("STORM")
            .field("top", top)
            .field("agent", cards)
            .field("nested", nested)
            .field("escaped", escaped)
            .field("busy", busy.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_five_calls_of_which_one_has_two_steps_are_ready() {
        let good = Tools { top: 5, cards: 1, nested: 2, escaped: 0 };
        assert_eq!(stamp(good, false).to_string(), SCENARIO.success);
        let escaped = Tools { top: 7, nested: 0, escaped: 2, ..good };
        assert_eq!(stamp(escaped, false).to_string(), SCENARIO.controls[0].predicted);
        assert!(!stamp(good, true).is_ready(), "a turn that never ends");
        for bad in
            [Tools { top: 6, ..good }, Tools { cards: 2, ..good }, Tools { nested: 4, ..good }]
        {
            assert!(!stamp(bad, false).is_ready(), "{}", stamp(bad, false));
        }
    }
}
