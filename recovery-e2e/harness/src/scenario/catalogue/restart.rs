//! The node is restarted while the page is hidden, in the middle of a tool's work.

use crate::node::client::Pane;
use crate::node::tool_gate::{InGate, ToolGate};
use crate::node::wire::Follower;
use crate::proxy::Record;
use crate::scenario::prelude::*;

pub const INTERACTIVE: Scenario = Scenario {
    id: "B",
    name: "restart",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "a page that was hidden over a restart shows the turn that it missed, once",
    code: "RESTART",
    fields: &[ROWS, BUSY, DISC, HEALED, TRUNC],
    ready_shows: &[Show::Field("rows"), Show::Field("trunc")],
    rests_on: &[AT_WORK, REDIAL_CARRIED, ANOTHER_PROCESS],
    controls: &[CURSOR_IS_NOT_CAPTURED],
    story: |stage| Box::pin(story(stage)),
};

pub const COORDINATOR: Scenario = Scenario {
    id: "C",
    name: "coord-restart",
    family: "coordinator",
    pane: PaneKind::Coordinator,
    proves: "a coordinator that was hidden over a restart shows the turn that it missed, once",
    code: "COORD",
    fields: &[ROWS, REOPENED, DISC, HEALED, TRUNC],
    rests_on: &[AT_WORK, ANOTHER_PROCESS],
    ..INTERACTIVE
};

const ROWS: Field = field("rows", 1, Read::Page(Quantity::ToolsOnTop), "rows of the one call");
const BUSY: Field = field("busy", 0, Read::Holds(Condition::Is(Flag::Busy)), "the turn still runs");
const REOPENED: Field =
    field("reopened", 1, Read::AnySince(Class::EVENTS), "a stream was opened after the restart");
const DISC: Field =
    field("disc", 0, Read::Holds(Condition::Not(Flag::Open)), "the pane is disconnected");
const HEALED: Field = field(
    "healed",
    1,
    Read::Holds(Condition::Equals(Quantity::Text(MISSED), 1)),
    "the missed answer is painted, once",
);
const TRUNC: Field =
    field("trunc", 1, Read::Page(Quantity::Frames("replay_truncated")), "truncated replays");

const AT_WORK: Check =
    claim("the page was hidden while a tool was at work, after two events or more");
const REDIAL_CARRIED: Check = claim("the redial carried the cursor that the pane had");
const ANOTHER_PROCESS: Check = need("the redial was answered by the restarted node");

const CURSOR_IS_NOT_CAPTURED: Control = Control {
    name: "cursor-is-not-captured",
    defect: Defect::Client(&[Edit {
        asset: "/static/recovery/stream.js",
        find: "this.#capture(message.lastEventId);",
        replace: "",
    }]),
    breaks: &[("trunc", 0)],
};

const FIRST: &str = "sounding the depth";
const MISSED: &str = "Four fathoms, and a sandy bottom.";

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let (pane, mut turn) = begin(stage).await?;
    match stage.pane_kind() {
        PaneKind::Interactive => {
            pane.claim(Condition::Output { call: "call-1", text: FIRST }).await?;
        }
        PaneKind::Coordinator => {
            pane.claim(Condition::Equals(Quantity::Running, 1)).await?;
        }
    }
    let (seen, moves) = (pane.look().await?, pane.measure(Quantity::CursorMoves).await?);
    stage.check(&AT_WORK, seen.busy && moves >= 2, format!("{seen}, {moves} events"))?;
    let own = pane.hide().await?.cursor;
    turn.working.release();
    end_of_turn(&mut turn.events).await?;

    stage.phase("restart");
    stage.restart().await?;
    stage.mark();
    pane.show().await?;
    pane.claim(Condition::painted(MISSED)).await?;
    pane.settled().await?;
    let redial = newest_stream(stage);
    let by = redial.as_ref().and_then(|stream| stream.upstream);
    stage.check(&ANOTHER_PROCESS, by == Some(2), format!("start {by:?} of the node"))?;
    if stage.pane_kind() == PaneKind::Interactive {
        let carried = first_since_mark(stage).and_then(|stream| stream.cursor_query);
        stage.check(&REDIAL_CARRIED, carried == own, format!("{carried:?} of {own:?}"))?;
    }
    Ok(())
}

/// A turn whose tool is in a gate.
pub(super) struct Turn {
    events: Follower,
    working: InGate,
}

/// Opens the scenario's pane on a new workstream, with a turn whose one tool is at work, and frozen
/// time.
pub(super) async fn begin(stage: &mut Stage) -> Result<(Pane, Turn), StageError> {
    let gate = ToolGate::new().await?;
    let sound = ToolCall::bash("call-1", format!("echo {FIRST}; {}", gate.command()));
    let replies = vec![Reply::calls(vec![sound]), Reply::text(MISSED)];
    let ws = workstream(stage, stage.name(), replies).await?;
    let pane = open_pane(stage, ws, 0).await?;

    stage.phase("hidden in mid-turn");
    let events = stage.wire.follow(pane.ws()).await?;
    pane.send("How deep is it here?").await?;
    let working = gate.arrived(1).await?;
    Ok((pane, Turn { events, working }))
}

fn streams(stage: &Stage) -> impl Iterator<Item = Record> {
    stage.proxy.records().into_iter().filter(|record| record.class == Class::EVENTS)
}

fn newest_stream(stage: &Stage) -> Option<Record> {
    streams(stage).last()
}

/// The first stream that was opened since the last mark.
fn first_since_mark(stage: &Stage) -> Option<Record> {
    let before = stage.arrived(Class::EVENTS) - stage.since_mark(Class::EVENTS);
    streams(stage).nth(usize::try_from(before).ok()?)
}
