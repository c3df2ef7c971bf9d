//! A second rewind click lands after the first one's refetch has failed, before the retry.

use crate::scenario::prelude::*;

pub const INTERACTIVE: Scenario = Scenario {
    id: "E3",
    name: "rewind-failed-window",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "a failed refetch leaves the rows and their gate shut until a retry heals both",
    code: "REWINDFAIL",
    fields: &[
        field("closed", 1, Read::Arrived(Class::REWIND), "rewinds before the heal"),
        field(
            "heal",
            1,
            Read::Holds(ONE_ROW_LEFT),
            "the retry left one row, and the pane is current",
        ),
        field("posts", 2, Read::Arrived(Class::REWIND), "rewinds in all"),
        field("rows", 0, Read::Page(Quantity::Rows), "user rows after the last rewind"),
    ],
    ready_shows: &[Show::Field("posts"), Show::Field("heal")],
    rests_on: &[FAILED],
    controls: &[Control {
        name: "gate-is-the-quiesce",
        defect: Defect::Client(&[Edit {
            asset: "/static/recovery/gate.js",
            find: "return state.busy || state.latch;",
            replace: "return state.busy || state.queued !== null;",
        }]),
        breaks: &[("closed", 2), ("heal", 0)],
    }],
    story: |stage| Box::pin(story(stage)),
};

pub const COORDINATOR: Scenario = Scenario {
    id: "G2",
    name: "coord-rewind-failed-window",
    family: "coordinator",
    pane: PaneKind::Coordinator,
    proves: "a failed refetch leaves a coordinator's rows and their gate shut until a retry heals \
             both",
    code: "COORDREWINDFAIL",
    controls: &[Control {
        name: "gate-is-the-refetch",
        defect: Defect::Client(&[Edit {
            asset: "/static/pane/conversation.js",
            find: "return rowsGated(this.#recovery.state());",
            replace: "return rowsGated({ ...this.#recovery.state(), latch: this.#recovery.reloading });",
        }]),
        breaks: &[("closed", 2), ("heal", 0)],
    }],
    ..INTERACTIVE
};

const FAILED: Check = claim("at the second click the refetch had failed, over three stale rows");

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let pane = seeded_pane(stage, vec![]).await?;

    stage.phase("fault");
    stage.proxy.fail(Class::HISTORY, 1, StatusCode::INTERNAL_SERVER_ERROR);
    // The next fetch of the history, whatever causes it: the retry, if all is well.
    let next = stage.proxy.hold(Class::HISTORY, 1);
    pane.click_rewind(1).await?;
    let seen = pane.click_rewind_when(REFETCH_FAILED, 0).await?;
    pane.fence().await?;
    stage.read(&["closed"]).await?;
    stage.check(&FAILED, seen.rows == 3 && seen.stale, seen)?;
    stage.screenshot("fault").await?;

    stage.phase("heal");
    pane.outlast(Timing::stale_retry).await?;
    let next = pane.arrival(next).await?;
    next.release();
    pane.settled().await?;
    stage.screenshot("healed").await?;
    stage.read(&["heal"]).await?;
    reopen(stage, "heal").await
}
