//! The node is killed in the middle of a tool's work, which leaves a call without a result.

use super::restart::begin;
use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "G6",
    name: "coord-orphan-rewind",
    family: "coordinator",
    pane: PaneKind::Coordinator,
    proves: "a call that a crash has left open is shown as running, and a rewind takes it away",
    code: "COORDORPHANREWIND",
    fields: &[
        field("posts", 1, Read::Arrived(Class::REWIND), "rewinds that left the page"),
        field("hist", 1, Read::Since(Class::HISTORY), "histories that the rewind fetched"),
        field("rows", 1, Read::Page(Quantity::Rows), "user rows after the rewind"),
        field("orphan", 0, Read::Page(Quantity::Running), "batches still shown as running"),
    ],
    ready_shows: &[Show::Field("posts"), Show::Field("rows"), Show::Field("orphan")],
    rests_on: &[ANOTHER_PROCESS, SHOWN],
    controls: &[Control {
        name: "live-calls-are-read-from-the-page",
        defect: Defect::Client(&[Edit {
            asset: "/static/recovery/live_calls.js",
            find: "return this.#calls.size === 0;",
            replace: "return document.querySelector('.conv-batch--running') === null;",
        }]),
        breaks: &[("orphan", 1)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const ANOTHER_PROCESS: Check = need("the history was answered by the node that was started again");
const SHOWN: Check = claim("the call that was left open is shown as running");

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let (pane, turn) = begin(stage).await?;

    stage.phase("crash");
    stage.kill_node().await?;
    drop(turn);
    stage.start_node().await?;
    let before = stage.arrived(Class::HISTORY);
    pane.reload().await?;
    pane.claim_request(Class::HISTORY, before).await?;
    pane.freeze().await?;
    let mut histories = stage.proxy.records().into_iter();
    let by = histories.rfind(|record| record.class == Class::HISTORY).and_then(|it| it.upstream);
    stage.check(&ANOTHER_PROCESS, by == Some(2), format!("start {by:?} of the node"))?;
    let (seen, running) = (pane.look().await?, pane.measure(Quantity::Running).await?);
    let shown = running == 1 && seen.rows == 1 && !seen.busy;
    stage.check(&SHOWN, shown, format!("{running} running, {seen}"))?;
    stage.screenshot("fault").await?;

    stage.phase("rewind");
    stage.mark();
    pane.click_rewind(0).await?;
    pane.claim(Condition::frames("clear_ui", 1)).await?;
    Ok(pane.quiet().await?)
}
