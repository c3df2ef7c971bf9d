//! The browser has given the dashboard's stream up when the node comes back.

use crate::node::client::{Dashboard, Loaded};
use crate::node::wire::WsId;
use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "F1",
    name: "roster-restart",
    family: "roster",
    pane: PaneKind::Interactive,
    proves: "a dashboard that reconnects by itself to a restarted node drops what is no longer \
             loaded",
    code: "ROSTER",
    fields: &[TRUNC, CURSOR, GHOST_LOADED, KEEPER_LOADED],
    ready_shows: &[Show::Field("trunc"), Show::Field("cursor")],
    rests_on: &[LIVE_CURSOR, REFUSED, PRESENTED],
    controls: &[Control {
        name: "snapshot-merges",
        defect: Defect::Client(&[Edit {
            asset: "/static/recovery/roster.js",
            find: "return new Map(frame.workstreams?.map((entry) => [entry.ws_id, entry]));",
            replace: "return new Map([...roster, \
                      ...(frame.workstreams ?? []).map((entry) => [entry.ws_id, entry])]);",
        }]),
        breaks: &[("ghost", 1)],
    }],
    story: |stage| Box::pin(story(stage)),
};

pub(super) const TRUNC: Field =
    field("trunc", 1, Read::Page(Quantity::Frames("replay_truncated")), "truncated replays");
const CURSOR: Field = field(
    "cursor",
    1,
    Read::By(|stage| Box::pin(presented(stage))),
    "streams that presented a cursor in their address",
);
pub(super) const GHOST_LOADED: Field = field(
    "ghost",
    0,
    Read::By(|stage| Box::pin(ghost(stage))),
    "the workstream that was not loaded again is shown as loaded",
);
pub(super) const KEEPER_LOADED: Field = field(
    "keeper",
    1,
    Read::By(|stage| Box::pin(keeper(stage))),
    "the workstream that was loaded again is shown, in the model and in the rail",
);

pub(super) const LIVE_CURSOR: Check =
    claim("the cursor was live, and neither truncated nor presented");
const REFUSED: Check =
    claim("the one redial of the browser was refused with a 503, and the page did not ask again");
const PRESENTED: Check =
    claim("the page then presented the cursor that it had, to the restarted node");

/// The workstream that is loaded again after a restart.
const KEEPER: &str = "keeper";

/// The workstream that is not.
const GHOST: &str = "ghost";

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let (dashboard, keeper) = open(stage).await?;

    stage.phase("given up");
    dashboard.set_hidden(true).await?;
    stage.proxy.fail(Class::GLOBAL_EVENTS, 1, StatusCode::SERVICE_UNAVAILABLE);
    stage.stop_node().await?;
    dashboard.given_up().await?;
    stage.start_node().await?;
    stage.wire.open(&keeper).await?;
    let refused: Vec<_> = dashboard.redials().iter().map(|redial| redial.status).collect();
    stage.check(&REFUSED, refused == [Some(503)], format!("redials {refused:?}"))?;
    stage.screenshot("fault").await?;

    stage.phase("heal");
    dashboard.set_hidden(false).await?;
    dashboard.caught_up(2).await?;
    let redials = dashboard.redials();
    let last = redials.last();
    let presented = last.and_then(|redial| redial.cursor_query.as_deref());
    let by = last.and_then(|redial| redial.upstream);
    let own = dashboard.cursor();
    stage.check(
        &PRESENTED,
        redials.len() == 2 && presented == own && by == Some(2),
        format!("{presented:?} of {own:?}, start {by:?} of the node, {} redials", redials.len()),
    )
}

/// Opens the dashboard over two workstreams, with a live cursor and frozen time; returns it and the
/// keeper.
pub(super) async fn open(stage: &mut Stage) -> Result<(Dashboard, WsId), StageError> {
    stage.phase("first paint");
    let keeper = workstream(stage, KEEPER, vec![]).await?;
    let ghost = workstream(stage, GHOST, vec![Reply::text("Aye.")]).await?;
    let dashboard = stage.open_dashboard(vec![(KEEPER, keeper.clone()), (GHOST, ghost.clone())]);
    let dashboard = dashboard.await?;
    // The creation of the ghost was before the page; its turn is news.
    take_turn(stage, &ghost, "Anyone there?").await?;
    dashboard.claim(Condition::frames("ws_state", 2)).await?;
    dashboard.quiet().await?;
    stage.screenshot("first-paint").await?;
    let dashboard = stage.count_redials_from_now_on()?;
    let truncated = dashboard.measure(Quantity::Frames("replay_truncated")).await?;
    let (own, presented) = (dashboard.cursor(), dashboard.presented());
    stage.check(
        &LIVE_CURSOR,
        own.is_some() && truncated == 0 && presented == 0,
        format!("{own:?}, truncated {truncated}, presented {presented}"),
    )?;
    Ok((dashboard, keeper))
}

pub(super) async fn presented(stage: &Stage) -> Result<u64, StageError> {
    Ok(stage.dashboard()?.presented())
}

async fn ghost(stage: &Stage) -> Result<u64, StageError> {
    Ok(u64::from(stage.dashboard()?.loaded(GHOST).await? != Loaded::Nowhere))
}

async fn keeper(stage: &Stage) -> Result<u64, StageError> {
    Ok(u64::from(stage.dashboard()?.loaded(KEEPER).await? == Loaded::Everywhere))
}
