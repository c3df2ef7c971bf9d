//! A pane is destroyed while its first load is under way.

use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "E7",
    name: "destroy-invalidation",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "a load that ends after its pane was destroyed opens no stream",
    code: "DESTROYINVAL",
    fields: &[
        field("sse", 0, Read::Arrived(Class::EVENTS), "streams that the end of the load opened"),
        field("detached", 1, Read::Holds(Condition::Not(Flag::Attached)), "the pane left the page"),
        field("vis", 0, Read::Since(Class::EVENTS), "streams that hiding and showing opened"),
    ],
    ready_shows: &[Show::Field("sse"), Show::Field("vis")],
    rests_on: &[NO_STREAM],
    controls: &[Control {
        name: "destroy-leaves-the-load-valid",
        defect: Defect::Client(&[Edit {
            asset: "/static/recovery/history.js",
            find: "cancel() {\n    this.#loadToken += 1;",
            replace: "cancel() {",
        }]),
        breaks: &[("sse", 1)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const NO_STREAM: Check = claim("no stream was opened before the pane was destroyed");

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    stage.phase("seed");
    let ws = seed_three_turns(stage, stage.name(), vec![]).await?;

    stage.phase("fault");
    let load = stage.proxy.hold(Class::HISTORY, 1);
    let pane = stage.open_pane(ws).await?;
    let load = pane.arrival(load).await?;
    let opened = stage.arrived(Class::EVENTS);
    stage.check(&NO_STREAM, opened == 0, opened)?;
    stage.screenshot("first-paint").await?;
    pane.call("destroy").await?;
    load.release();
    pane.first_load_ended().await?;
    pane.fence().await?;
    stage.read(&["sse"]).await?;

    stage.phase("aftermath");
    stage.mark();
    pane.set_hidden(true).await?;
    pane.set_hidden(false).await?;
    Ok(pane.fence().await?)
}
