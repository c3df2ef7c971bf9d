//! The node says that a pane has lost touch, and history after history fails.

use crate::node::client::Pane;
use crate::scenario::prelude::*;

pub const INTERACTIVE: Scenario = Scenario {
    id: "H1",
    name: "handoff-repair-budget",
    family: "handoff",
    pane: PaneKind::Interactive,
    proves: "a repair tries four times, then asks the person, opens no stream before it has \
             rendered, and ends with its pane",
    code: "HANDOFF",
    fields: &[
        field("auto", 4, Read::Since(Class::HISTORY), "attempts that the pane made by itself"),
        field("manual", 1, Read::InStory(0), "attempts that a click of the person led to"),
        field(
            "downgrade",
            1,
            Read::InStory(0),
            "a snapshot without a proof healed, by one stream \
             that claimed none",
        ),
        field(
            "proof",
            1,
            Read::InStory(0),
            "one with a proof healed, by one stream that carried it",
        ),
        field(
            "teardown",
            0,
            Read::InStory(0),
            "requests after the pane was destroyed in the middle \
             of an attempt",
        ),
    ],
    ready_shows: &[
        Show::Field("auto"),
        Show::Field("manual"),
        Show::Field("downgrade"),
        Show::Field("proof"),
        Show::Field("teardown"),
    ],
    rests_on: &[ASKED, NO_STREAM],
    controls: &[
        Control {
            name: "no-budget",
            defect: Defect::Client(&[Edit { replace: "this.phase = 'waiting';", ..BUDGET }]),
            breaks: &[("auto", 5)],
        },
        Control {
            name: "failed-retry-arms-the-next",
            defect: Defect::Client(&[Edit {
                replace: "this.phase = this.#failures === REPAIR_ATTEMPTS ? 'exhausted' : 'waiting';",
                ..BUDGET
            }]),
            breaks: &[("manual", 2)],
        },
        Control {
            name: "missing-proof-is-a-failure",
            defect: Defect::Client(&[Edit {
                asset: "/static/recovery/core.js",
                find: "attempt: async () => (await this.#history.load()) === 'rendered',",
                replace: "attempt: async () => {
        const rendered = (await this.#history.load()) === 'rendered';
        const proof = this.#token.take();
        this.#token.arm(proof);
        return rendered && proof !== null;
      },",
            }]),
            breaks: &[("downgrade", 0), ("proof", 0)],
        },
        Control {
            name: "destroy-leaves-the-attempt-valid",
            defect: Defect::Client(&[Edit {
                asset: "/static/recovery/core.js",
                find: "  destroy() {\n    this.#history.cancel();\n    this.#repair.cancel();",
                replace: "  destroy() {",
            }]),
            breaks: &[("teardown", 1)],
        },
    ],
    story: |stage| Box::pin(story(stage)),
};

pub const COORDINATOR: Scenario = Scenario {
    id: "H2",
    name: "coord-handoff-repair-budget",
    pane: PaneKind::Coordinator,
    proves: "a coordinator's repair tries four times, then asks the person, opens no stream before \
             it has rendered, and ends with its pane",
    code: "COORDHANDOFF",
    ..INTERACTIVE
};

/// Where a repair decides whether another attempt follows a failed one.
const BUDGET: Edit = Edit {
    asset: "/static/recovery/handoff.js",
    find: "this.phase = this.#failures < REPAIR_ATTEMPTS ? 'waiting' : 'exhausted';",
    replace: "",
};

const ASKED: Check =
    claim("page time passed the wait after the fourth attempt, and the person was then asked");
const NO_STREAM: Check = claim(
    "page time passed the wait after the person's attempt, over the row, and no stream was opened",
);

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    stage.phase("seed");
    let replies = vec![Reply::text("Two cables off the mole.")];
    let ws = workstream(stage, stage.name(), replies).await?;
    take_turn(stage, &ws, "Where does she lie?").await?;
    let pane = open_pane(stage, ws, 1).await?;

    stage.phase("budget");
    let failing = stage.proxy.fail_until(Class::HISTORY);
    stage.mark();
    resync(stage, &pane).await?;
    pane.outlast(Timing::repair_budget).await?;
    pane.outlast(Timing::after_repair_budget).await?;
    stage.read(&["auto"]).await?;
    let auto = stage.since_mark(Class::HISTORY);
    let asks = pane.holds(Condition::Is(Flag::Asks)).await?;
    stage.check(&ASKED, asks, format!("{auto} attempts"))?;
    stage.screenshot("fault").await?;

    stage.phase("person");
    pane.click_retry().await?;
    pane.quiet().await?;
    pane.outlast(Timing::after_manual_repair).await?;
    stage.saw("manual", stage.since_mark(Class::HISTORY) - auto)?;
    let (rows, opened) = (pane.measure(Quantity::Rows).await?, proofs_since_mark(stage));
    let saw = format!("{rows} rows, {} streams", opened.len());
    stage.check(&NO_STREAM, rows == 1 && opened.is_empty(), saw)?;

    stage.phase("downgrade");
    failing.lift();
    stage.proxy.tokenless(Class::HISTORY, 1);
    let before = stage.arrived(Class::HISTORY);
    pane.click_retry().await?;
    pane.claim_request(Class::HISTORY, before).await?;
    pane.quiet().await?;
    if !healed(stage, &pane, "downgrade", false).await? {
        return Ok(());
    }
    // The node has the page read the history once more, as nothing proves the one on screen.
    pane.claim(Condition::frames("replay_complete", 2)).await?;
    pane.quiet().await?;

    stage.phase("proof");
    stage.mark();
    resync(stage, &pane).await?;
    if !healed(stage, &pane, "proof", true).await? {
        return Ok(());
    }
    pane.claim(Condition::frames("replay_complete", 3)).await?;

    stage.phase("teardown");
    let attempt = stage.proxy.hold(Class::HISTORY, 1);
    resync(stage, &pane).await?;
    let attempt = pane.arrival(attempt).await?;
    stage.mark();
    pane.call("destroy").await?;
    attempt.release();
    attempt.answered().await?;
    pane.quiet().await?;
    pane.outlast(Timing::after_first_repair).await?;
    stage.saw("teardown", stage.since_mark(Class::EVENTS) + stage.since_mark(Class::HISTORY))
}

/// Whether a repair has healed by one stream, with a proof or without one; kept as a field.
async fn healed(
    stage: &mut Stage,
    pane: &Pane,
    field: &'static str,
    with_proof: bool,
) -> Result<bool, StageError> {
    let asks = pane.holds(Condition::Is(Flag::Asks)).await?;
    let healed = proofs_since_mark(stage) == [with_proof] && !asks;
    stage.saw(field, healed.into())?;
    Ok(healed)
}

/// Has the node say that the pane has lost touch with the rows, and returns when what the pane does
/// about it at once is done.
async fn resync(stage: &Stage, pane: &Pane) -> Result<(), StageError> {
    let before = pane.measure(Quantity::Frames("history_resync")).await?;
    stage.control.emit_history_resync(pane.ws()).await?;
    pane.claim(Condition::frames("history_resync", before + 1)).await?;
    Ok(pane.quiet().await?)
}

/// Of each stream since the last mark: whether it carried a proof.
fn proofs_since_mark(stage: &Stage) -> Vec<bool> {
    let before = stage.arrived(Class::EVENTS) - stage.since_mark(Class::EVENTS);
    let records = stage.proxy.records().into_iter();
    let streams = records.filter(|record| record.class == Class::EVENTS);
    let late = streams.zip(1..).filter(|(_, number)| *number > before);
    late.map(|(record, _)| record.handoff_token).collect()
}
