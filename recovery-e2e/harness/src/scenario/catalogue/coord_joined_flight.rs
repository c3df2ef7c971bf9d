//! A read of the rows from before a rewind is still under way when the coordinator refetches.

use crate::node::control_socket::NodeCounters;
use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "G7",
    name: "coord-joined-flight",
    family: "coordinator",
    pane: PaneKind::Coordinator,
    proves: "a refetch after a rewind never shares the answer of a read from before it",
    code: "COORDJOINEDFLIGHT",
    fields: &[
        field("posts", 1, Read::Arrived(Class::REWIND), "rewinds that left the page"),
        field("loads", 2, Read::InStory(0), "reads of the rows, the other reader's among them"),
        field("rows", 1, Read::Page(Quantity::Rows), "user rows after the refetch"),
    ],
    ready_shows: &[Show::Field("posts"), Show::Field("loads"), Show::Field("rows")],
    rests_on: &[ROWS_FROM_BEFORE],
    controls: &[Control {
        name: "flight-key-without-generation",
        defect: Defect::Node("flight-key-without-generation"),
        breaks: &[("loads", 1), ("rows", 3)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const ROWS_FROM_BEFORE: Check = need(
    "another reader's answer held the three rows from before the rewind, and was under way when \
     the refetch came",
);

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let pane = seeded_pane(stage, vec![]).await?;

    stage.phase("fault");
    let before = stage.control.counters().await?;
    stage.control.hold_loads().await?;
    let refetched = async {
        let held = "the other reader's read is held";
        stage.control.until(held, |now| now.parked_loads == 1).await?;
        pane.click_rewind(1).await?;
        // It reads for itself, or joins the read that is held.
        let asked = before.load_calls + before.load_joins + 2;
        let both = |now: &NodeCounters| now.load_calls + now.load_joins == asked;
        let reached = "the refetch reaches the node";
        let now = pane.claim_that(reached, stage.control.until(reached, both)).await?;
        Ok::<_, StageError>(now.load_calls - before.load_calls)
    };
    // Whatever comes of it, the other reader gets its answer.
    let rewound = async {
        let loads = refetched.await;
        stage.control.release_loads().await?;
        loads
    };
    let (other, loads) = tokio::join!(stage.wire.user_rows(pane.ws()), rewound);
    let (loads, other) = (loads?, other?.len());
    stage.saw("loads", loads)?;
    stage.check(&ROWS_FROM_BEFORE, other == 3, format!("{other} rows"))?;
    pane.settled().await?;
    stage.screenshot("fault").await
}
