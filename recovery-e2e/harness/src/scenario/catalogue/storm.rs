//! Four commands at a time, and an agent with two steps of its own.

use crate::node::tool_gate::ToolGate;
use crate::scenario::Alone;
use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "A",
    name: "storm",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "calls that run at once are all painted, and an agent's steps are within its card",
    code: "STORM",
    fields: &[
        field("top", 5, Read::Page(Quantity::ToolsOnTop), "calls outside cards"),
        field("agent", 1, Read::Page(Quantity::AgentCards), "cards of agents"),
        field("nested", 2, Read::Page(Quantity::ToolsInCards), "calls within a card"),
        field("escaped", 0, Read::Page(Quantity::EscapedSteps), "steps outside their agent's card")
            .alone(Alone::Code("escaped")),
        field("busy", 0, Read::Holds(Condition::Is(Flag::Busy)), "the turn still runs"),
    ],
    ready_shows: &[Show::Number("top"), Show::Apart("nested")],
    rests_on: &[AT_ONCE],
    controls: &[Control {
        name: "steps-ignore-their-agent",
        defect: Defect::Client(&[Edit {
            asset: "/static/pane/transcript.js",
            find: "return frame.parent_call_id ? \
                   this.#ofAgent(frame.parent_call_id, frame) : this.#ofTurn(frame);",
            replace: "return this.#ofTurn(frame);",
        }]),
        breaks: &[("top", 7), ("nested", 0), ("escaped", 2)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const AT_ONCE: Check = need("the four commands ran at the same time, and all seven calls ended");

async fn story(stage: &mut Stage) -> Result<(), StageError> {
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
    let ws = workstream(stage, stage.name(), replies).await?;
    let pane = open_pane(stage, ws, 0).await?;

    stage.phase("storm");
    let mut events = stage.wire.follow(pane.ws()).await?;
    pane.send("Check the buoys and the harbour lights.").await?;
    // All four at once, or this is a need that is not met.
    let at_once = gate.arrived(4).await?;
    stage.screenshot("storm").await?;
    at_once.release();
    end_of_turn(&mut events).await?;
    let live = |it: &serde_json::Value| it["type"] == "tool_result" && it["accepted"] != true;
    let results = events.count(live);
    stage.check(&AT_ONCE, results == 7, format!("{results} results of 7"))?;
    Ok(pane.settled().await?)
}
