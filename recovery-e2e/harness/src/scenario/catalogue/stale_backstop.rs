//! A refetch and its one retry both fail; only the next idle edge can heal.

use crate::node::client::Pane;
use crate::scenario::prelude::*;

pub const INTERACTIVE: Scenario = Scenario {
    id: "E4",
    name: "stale-backstop",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "after two failed refetches the next idle edge heals, without a new connection",
    code: "STALEBACKSTOP",
    fields: &[
        field("heal", 1, Read::Holds(ONE_ROW_LEFT), "one row is left, and the pane is current"),
        field("sse", 0, Read::Since(Class::EVENTS), "streams that the idle edge opened"),
        field("hist", 1, Read::Since(Class::HISTORY), "histories that it fetched"),
        field("gated", 1, Read::Arrived(Class::REWIND), "rewinds before it"),
        field("posts", 2, Read::Arrived(Class::REWIND), "rewinds in all"),
        field("rows", 0, Read::Page(Quantity::Rows), "user rows after the last rewind"),
    ],
    ready_shows: &[Show::Field("heal"), Show::Field("sse")],
    rests_on: &[BOTH_FAILED],
    controls: &[
        THROUGH_THE_TRANSPORT,
        Control {
            name: "no-backstop",
            defect: Defect::Client(&[Edit {
                asset: "/static/recovery/core.js",
                find: "if (!this.#truncation.idleEdge()) this.#history.idleEdge();",
                replace: "this.#truncation.idleEdge();",
            }]),
            breaks: &[("heal", 0), ("hist", 0), ("posts", 1), ("rows", 3)],
        },
    ],
    story: |stage| Box::pin(story(stage)),
};

pub const COORDINATOR: Scenario = Scenario {
    id: "G3",
    name: "coord-stale-backstop",
    family: "coordinator",
    pane: PaneKind::Coordinator,
    proves: "after two failed refetches a coordinator's next idle edge heals, without a new \
             connection",
    code: "COORDSTALEBACKSTOP",
    controls: &[THROUGH_THE_TRANSPORT],
    ..INTERACTIVE
};

const THROUGH_THE_TRANSPORT: Control = Control {
    name: "backstop-goes-through-the-transport",
    defect: Defect::Client(&[Edit {
        asset: "/static/recovery/core.js",
        find: "if (!this.#truncation.idleEdge()) this.#history.idleEdge();",
        replace: "if (!this.#truncation.idleEdge() && this.#history.latch) void this.#reload();",
    }]),
    breaks: &[("sse", 1)],
};

pub(super) const BOTH_FAILED: Check =
    claim("refetch and retry had both failed, over three stale rows");

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let pane = seeded_pane(stage, vec![]).await?;
    fail_twice(stage, &pane).await?;

    stage.phase("backstop");
    pane.click_rewind(0).await?;
    pane.fence().await?;
    stage.read(&["gated"]).await?;
    stage.mark();
    idle_edge(stage, &pane).await?;
    pane.quiet().await?;
    stage.read(&["heal", "sse", "hist"]).await?;
    stage.screenshot("healed").await?;
    reopen(stage, "heal").await
}

/// Rewinds two of three turns, and fails the refetch and its retry.
pub(super) async fn fail_twice(stage: &mut Stage, pane: &Pane) -> Result<(), StageError> {
    stage.phase("fault");
    stage.mark();
    stage.proxy.fail(Class::HISTORY, 2, StatusCode::INTERNAL_SERVER_ERROR);
    pane.click_rewind(1).await?;
    pane.claim(REFETCH_FAILED).await?;
    pane.outlast(Timing::stale_retry).await?;
    let (seen, fetches) = (pane.look().await?, stage.since_mark(Class::HISTORY));
    let failed = seen.rows == 3 && seen.stale && fetches == 2;
    stage.check(&BOTH_FAILED, failed, format!("{seen}, {fetches} fetches"))?;
    stage.screenshot("fault").await
}

/// Has the node publish an idle edge, and waits until the page has it.
pub(super) async fn idle_edge(stage: &Stage, pane: &Pane) -> Result<(), StageError> {
    let edges = pane.measure(Quantity::Frames("state_change")).await?;
    stage.control.emit_idle_edge(pane.ws()).await?;
    Ok(pane.claim(Condition::frames("state_change", edges + 1)).await?)
}
