//! A transport falls in the middle of a streamed answer, and the pane is loaded anew.

use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "E1",
    name: "stale-ref-reload",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "an answer that was cut off never takes in the text of the next one",
    code: "STALEREF",
    fields: &[
        field("staleset", 1, Read::Holds(TORN), "a bubble was live when its transport fell"),
        field(
            "present",
            1,
            Read::Holds(Condition::painted(SECOND)),
            "the second answer is painted",
        ),
        field("fresh", 1, Read::By(|stage| Box::pin(fresh(stage))), "it has a bubble of its own"),
        field(
            "unchanged",
            1,
            Read::By(|stage| Box::pin(unchanged(stage))),
            "the first is as it was",
        ),
    ],
    ready_shows: &[Show::Field("fresh")],
    rests_on: &[IN_ONE_BUBBLE],
    controls: &[Control {
        name: "refs-survive-a-reload",
        defect: Defect::Client(&[
            Edit {
                asset: "/static/recovery/core.js",
                find: "    this.#pane.endRefs();\n    await this.#reload();",
                replace: "    await this.#reload();",
            },
            Edit {
                asset: "/static/pane/transcript.js",
                find: "if (this.live?.rowId !== rowId) this.#begin(rowId);",
                replace: "if (!this.live) this.#begin(rowId);",
            },
        ]),
        breaks: &[("fresh", 0), ("unchanged", 0)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const IN_ONE_BUBBLE: Check = claim("the transport fell in the middle of one bubble");

const FIRST: &str = "The tide turns at six, and the wind with it.";
const SECOND: &str = "Then reef the main before the point.";

/// A row is being streamed, and there is no transport for it.
const TORN: Condition<'static> =
    Condition::All(&[Condition::Equals(Quantity::LiveRefs, 1), Condition::Is(Flag::Offline)]);

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let (first, gate) = Reply::text(FIRST).held_midway();
    let ws = workstream(stage, stage.name(), vec![first, Reply::text(SECOND)]).await?;
    let pane = open_pane(stage, ws, 0).await?;

    stage.phase("teardown in mid-answer");
    let mut events = stage.wire.follow(pane.ws()).await?;
    pane.send("When does the tide turn?").await?;
    pane.claim(Condition::Equals(Quantity::LiveRefs, 1)).await?;
    pane.call("disconnect").await?;
    stage.read(&["staleset"]).await?;
    let begun = pane.bubbles().await?;
    let half = begun.len() == 1 && FIRST.starts_with(&begun[0]) && begun[0] != FIRST;
    stage.check(&IN_ONE_BUBBLE, half, format!("{begun:?}"))?;
    gate.release();
    end_of_turn(&mut events).await?;

    stage.phase("reload and second turn");
    // Nothing may rebuild the rows, which would hide where the next text goes.
    let failing = stage.proxy.fail_until(Class::HISTORY);
    pane.call("connect").await?;
    pane.claim(Condition::Is(Flag::Open)).await?;
    pane.send("And if it blows?").await?;
    pane.claim(Condition::painted(SECOND)).await?;
    stage.read(&["present", "fresh", "unchanged"]).await?;
    failing.lift();
    Ok(())
}

/// Whether the second answer begins a bubble that is not the first.
async fn fresh(stage: &Stage) -> Result<u64, StageError> {
    let bubbles = stage.pane()?.bubbles().await?;
    let at = bubbles.iter().position(|bubble| bubble.contains(SECOND));
    Ok(u64::from(at.is_some_and(|at| at > 0)))
}

/// Whether the first bubble has only text of the first answer.
async fn unchanged(stage: &Stage) -> Result<u64, StageError> {
    let bubbles = stage.pane()?.bubbles().await?;
    let first = bubbles.first();
    Ok(u64::from(first.is_some_and(|text| !text.is_empty() && FIRST.starts_with(text.as_str()))))
}
