//! A second rewind click lands while the first one's refetch is still under way.

use crate::scenario::prelude::*;

pub const INTERACTIVE: Scenario = Scenario {
    id: "E2",
    name: "rewind-window",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "a rewind clicked while the transcript is being refetched never reaches the node",
    code: "REWINDWIN",
    fields: &[
        field("posts", 1, Read::Arrived(Class::REWIND), "rewinds that left the page"),
        field("rows", 1, Read::Page(Quantity::Rows), "user rows after the heal"),
    ],
    ready_shows: &[Show::Field("posts")],
    rests_on: &[UNDER_WAY],
    controls: &[Control {
        name: "gate-is-busy-alone",
        defect: Defect::Client(&[Edit {
            asset: "/static/recovery/gate.js",
            find: "return state.busy || state.latch;",
            replace: "return state.busy;",
        }]),
        breaks: &[("posts", 2), ("rows", 0)],
    }],
    story: |stage| Box::pin(story(stage)),
};

pub const COORDINATOR: Scenario = Scenario {
    id: "G1",
    name: "coord-rewind-window",
    family: "coordinator",
    pane: PaneKind::Coordinator,
    proves: "a rewind clicked while a coordinator's transcript is being refetched never reaches \
             the node",
    code: "COORDREWINDWIN",
    ..INTERACTIVE
};

const UNDER_WAY: Check =
    claim("at the second click the refetch was under way over three stale rows");

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let pane = seeded_pane(stage, vec![]).await?;

    stage.phase("fault");
    let refetch = stage.proxy.hold(Class::HISTORY, 1);
    pane.click_rewind(1).await?;
    let refetch = pane.arrival(refetch).await?;
    let seen = pane.click_rewind(0).await?;
    pane.fence().await?;
    stage.read(&["posts"]).await?;
    stage.check(&UNDER_WAY, seen.rows == 3 && seen.catching_up, seen)?;
    stage.screenshot("fault").await?;

    stage.phase("heal");
    refetch.release();
    Ok(pane.settled().await?)
}
