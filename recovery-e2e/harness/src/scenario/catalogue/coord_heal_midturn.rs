//! A call begins while the refetch that would heal a coordinator is under way.

use super::stale_backstop::{BOTH_FAILED, fail_twice, idle_edge};
use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "G4",
    name: "coord-heal-midturn",
    family: "coordinator",
    pane: PaneKind::Coordinator,
    proves: "a snapshot that comes while a call runs takes nothing from a coordinator's screen, \
             and the next idle edge heals",
    code: "COORDHEALMIDTURN",
    fields: &[
        field("heal", 1, Read::Holds(ONE_ROW_LEFT), "one row is left, and the pane is current"),
        field("mid", 1, Read::Holds(PAINTED), "rows and call were painted when the snapshot came"),
        field("sse", 0, Read::Since(Class::EVENTS), "streams opened since the failures"),
        field("hist", 2, Read::Since(Class::HISTORY), "histories fetched since the failures"),
        field("posts", 2, Read::Arrived(Class::REWIND), "rewinds in all"),
        field("rows", 0, Read::Page(Quantity::Rows), "user rows after the last rewind"),
    ],
    ready_shows: &[Show::Field("heal"), Show::Field("mid"), Show::Field("sse")],
    rests_on: &[BOTH_FAILED, AFTER_THE_CALL],
    controls: &[Control {
        name: "every-snapshot-is-rendered",
        defect: Defect::Client(&[Edit {
            asset: "/static/recovery/live_calls.js",
            find: "return this.calm && [...this.#painted].every((row) => rows.has(row));",
            replace: "return rows !== null;",
        }]),
        breaks: &[("mid", 0), ("hist", 1)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const AFTER_THE_CALL: Check = need("the refetch was answered 200 after the call had begun");

const PAINTED: Condition<'static> =
    Condition::All(&[Condition::rows(3), Condition::Equals(Quantity::Running, 1)]);

const CALL: &str = "call-1";

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let pane = seeded_pane(stage, vec![]).await?;
    fail_twice(stage, &pane).await?;

    stage.phase("midturn");
    stage.mark();
    let refetch = stage.proxy.hold(Class::HISTORY, 1);
    idle_edge(stage, &pane).await?;
    let refetch = pane.arrival(refetch).await?;
    stage.control.emit_tool_pending(pane.ws(), CALL).await?;
    pane.claim(Condition::Equals(Quantity::Running, 1)).await?;
    refetch.release();
    refetch.answered().await?;
    pane.quiet().await?;
    stage.check(&AFTER_THE_CALL, refetch.is_ok(), refetch.saw())?;
    stage.read(&["mid"]).await?;
    stage.screenshot("fault").await?;

    stage.phase("heal");
    stage.control.emit_tool_result(pane.ws(), CALL).await?;
    idle_edge(stage, &pane).await?;
    pane.quiet().await?;
    stage.read(&["sse", "hist", "heal"]).await?;
    stage.screenshot("healed").await?;
    reopen(stage, "heal").await
}
