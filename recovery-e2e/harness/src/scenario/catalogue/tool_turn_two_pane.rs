//! Two turns call a tool under the same id, before two panes.

use crate::node::client::Transcript;
use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "I2",
    name: "tool-turn-two-pane",
    family: "projection",
    pane: PaneKind::Interactive,
    proves: "each result is in the row of its own call, though another call has the same id",
    code: "TOOLTURN",
    fields: &[
        field("panes", 2, Read::By(|stage| Box::pin(panes(stage))), "panes that show calls"),
        field(
            "rows",
            2,
            Read::By(|stage| Box::pin(rows(stage))),
            "calls in the pane that has most",
        ),
        field(
            "events",
            2,
            Read::By(|stage| Box::pin(events(stage))),
            "stored results, on the stream \
             that brought most of them",
        ),
        field(
            "crossed",
            0,
            Read::By(|stage| Box::pin(crossed(stage))),
            "a result is not in the row \
             of its call",
        ),
        field("history", 0, Read::Since(Class::HISTORY), "histories fetched since the first turn"),
        field("redial", 0, Read::Since(Class::EVENTS), "streams opened since the first turn"),
    ],
    ready_shows: &[
        Show::Field("panes"),
        Show::Field("rows"),
        Show::Field("events"),
        Show::Field("history"),
        Show::Field("redial"),
    ],
    rests_on: &[ASKED, ONE_ID],
    controls: &[Control {
        name: "paired-by-call-id-alone",
        defect: Defect::Client(&[
            Edit {
                asset: "/static/pane/transcript.js",
                find: "const free = found !== null && (rowId === null || found.call.rowId === \
                       null || found.call.rowId === rowId);",
                replace: "const free = found !== null;",
            },
            Edit {
                asset: "/static/pane/calls.js",
                find: "for (let entry = entries.length - 1; entry >= 0; entry -= 1) {",
                replace: "for (let entry = 0; entry < entries.length; entry += 1) {",
            },
        ]),
        breaks: &[("crossed", 1)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const ASKED: Check = claim("both streams asked for the results of tools");
const ONE_ID: Check = need("both turns called a tool, under one id");

/// The id of both calls.
const CALL: &str = "call-1";

/// What the calls bring, in their order.
const OUTPUTS: [&str; 2] = ["port light out", "starboard light out"];

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    stage.phase("first paint");
    let look = |output| Reply::calls(vec![ToolCall::bash(CALL, format!("echo {output}"))]);
    let [port, starboard] = OUTPUTS.map(look);
    let replies = vec![port, Reply::text("Noted."), starboard, Reply::text("Both, then.")];
    let ws = workstream(stage, stage.name(), replies).await?;
    let both = open_two_panes(stage, ws).await?;
    let asked = each_stream_asked(stage, |record| record.tool_turn);
    stage.check(&ASKED, asked == [true; 2], format!("{asked:?}"))?;

    stage.phase("turns");
    stage.mark();
    let mut events = stage.wire.follow(both.ws()).await?;
    for question in ["How is the port light?", "And the other one?"] {
        both.send(question).await?;
        end_of_turn(&mut events).await?;
        both.caught_up().await?;
    }
    let result = |it: &serde_json::Value| it["type"] == "tool_result" && it["accepted"] == true;
    let (calls, same) =
        (events.count(result), events.count(|it| result(it) && it["call_id"] == CALL));
    stage.check(&ONE_ID, calls == 2 && same == 2, format!("{same} of {calls} results"))
}

async fn panes(stage: &Stage) -> Result<u64, StageError> {
    let both = stage.two_panes()?.look().await?;
    Ok(both.iter().filter(|pane| !pane.calls.is_empty()).count() as u64)
}

async fn rows(stage: &Stage) -> Result<u64, StageError> {
    let both = stage.two_panes()?.look().await?;
    Ok(both.iter().map(|pane| pane.calls.len() as u64).max().unwrap_or(0))
}

async fn events(stage: &Stage) -> Result<u64, StageError> {
    Ok(stage.two_panes()?.most_frames("accepted tool_result").await?)
}

async fn crossed(stage: &Stage) -> Result<u64, StageError> {
    let in_order = |pane: &Transcript| pane.calls.iter().map(|call| call.output.trim()).eq(OUTPUTS);
    let both = stage.two_panes()?.look().await?;
    Ok(u64::from(!both.iter().all(in_order)))
}
