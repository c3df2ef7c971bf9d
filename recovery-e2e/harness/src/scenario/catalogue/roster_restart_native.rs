//! The browser itself redials a restarted node for the dashboard.

use super::roster_restart::{GHOST_LOADED, KEEPER_LOADED, LIVE_CURSOR, TRUNC, open, presented};
use crate::proxy::Record;
use crate::scenario::Alone;
use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "F2",
    name: "roster-restart-native",
    family: "roster",
    pane: PaneKind::Interactive,
    proves: "a cursor that ended with a redial by the browser is never presented by the page",
    code: "ROSTERNATIVE",
    fields: &[TRUNC, CURSOR, OPENS, GHOST_LOADED, KEEPER_LOADED],
    ready_shows: &[Show::Field("trunc"), Show::Field("cursor"), Show::Field("opens")],
    rests_on: &[LIVE_CURSOR, BY_HEADER, NONE_CLOSED],
    controls: &[Control {
        name: "cursor-outlives-a-snapshot",
        defect: Defect::Client(&[Edit {
            asset: "/static/recovery/roster_stream.js",
            find: "if (CURSOR_ENDS.has(frame.type)) this.#cursor = null;",
            replace: "",
        }]),
        breaks: &[("trunc", 2), ("cursor", 1)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const CURSOR: Field = field(
    "cursor",
    0,
    Read::By(|stage| Box::pin(presented(stage))),
    "streams that presented a cursor in their address",
)
.alone(Alone::Name("dead-cursor-represented-cursor"));
const OPENS: Field =
    field("opens", 2, Read::Page(Quantity::EventSources), "event sources that the page made");

const BY_HEADER: Check = claim(
    "the one redial of the browser held the old cursor in its header, brought no other, and was \
     answered by the restarted node, on which the keeper was loaded",
);
const NONE_CLOSED: Check = need("no workstream was reported as closed");

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let (dashboard, keeper) = open(stage).await?;

    stage.phase("restart");
    let parked = stage.proxy.park();
    stage.stop_node().await?;
    dashboard.claim_that("the browser redials", parked.arrived(1)).await?;
    stage.start_node().await?;
    stage.wire.open(&keeper).await?;
    stage.screenshot("fault").await?;

    stage.phase("heal");
    stage.proxy.accept();
    dashboard.caught_up(2).await?;
    let redials = dashboard.redials();
    let own = dashboard.cursor();
    let by_header = |redial: &Record| {
        redial.cursor_header.as_deref() == own
            && redial.cursor_query.is_none()
            && redial.last_event_id.is_none()
            && redial.upstream == Some(2)
    };
    let one = matches!(&redials[..], [redial] if by_header(redial));
    stage.check(&BY_HEADER, one, format!("{redials:?}"))?;
    let closed = dashboard.measure(Quantity::Frames("ws_closed")).await?;
    stage.check(&NONE_CLOSED, closed == 0, format!("{closed} closed"))?;
    stage.read(&["ghost", "keeper"]).await?;
    stage.screenshot("healed").await?;

    stage.phase("page's own redial");
    stage.proxy.fail(Class::GLOBAL_EVENTS, 1, StatusCode::SERVICE_UNAVAILABLE);
    stage.proxy.sever(Class::GLOBAL_EVENTS);
    dashboard.given_up().await?;
    dashboard.focus().await?;
    Ok(dashboard.caught_up(3).await?)
}
