//! The steps that several scenarios take.

use hyper::StatusCode;
use serde_json::Value;

use crate::node::client::{Condition, Flag, Held, Pane, Timing, TwoPanes};
use crate::node::model::Reply;
use crate::node::wire::{Follower, WsId};
use crate::proxy::{Class, Record};
use crate::scenario::stage::{Stage, StageError};

/// A failed refetch, with a retry to come.
pub const REFETCH_FAILED: Condition<'static> = Condition::Is(Flag::RefetchFailed);

/// The heal after two of three turns were rewound: one row is left, and the pane is current.
pub const ONE_ROW_LEFT: Condition<'static> =
    Condition::All(&[Condition::rows(1), Condition::Is(Flag::Current)]);

/// The turns of [`seed_three_turns`]: the question, and what the model answers.
const SEED: [(&str, &str); 3] = [
    ("How is the weather at sea?", "Calm, with a light swell from the west."),
    ("And tomorrow?", "A front comes in. Expect rain before noon."),
    ("Shall we sail?", "Sail early, and be back by eleven."),
];

/// A workstream whose model gives these replies.
///
/// # Errors
/// When the node does not make it.
pub async fn workstream(
    stage: &mut Stage,
    name: &str,
    replies: Vec<Reply>,
) -> Result<WsId, StageError> {
    let model = stage.script(name, replies)?;
    Ok(stage.wire.create(name, &model).await?)
}

/// A workstream with three finished turns, made before any page is open. The model has `further`
/// replies for the turns to come.
///
/// # Errors
/// When the node does not make it.
pub async fn seed_three_turns(
    stage: &mut Stage,
    name: &str,
    further: Vec<Reply>,
) -> Result<WsId, StageError> {
    let replies = SEED.map(|(_, answer)| Reply::text(answer)).into_iter().chain(further).collect();
    let ws = workstream(stage, name, replies).await?;
    for (question, _) in SEED {
        take_turn(stage, &ws, question).await?;
    }
    Ok(ws)
}

/// Sends a message straight to the node, and waits until its turn has ended.
///
/// # Errors
/// A need when it does not end.
pub async fn take_turn(stage: &Stage, ws: &WsId, message: &str) -> Result<(), StageError> {
    let mut events = stage.wire.follow(ws).await?;
    stage.wire.send(ws, message).await?;
    end_of_turn(&mut events).await
}

/// Waits for the end of a turn in `events`, which were opened before.
///
/// # Errors
/// A need when it does not end.
pub async fn end_of_turn(events: &mut Follower) -> Result<(), StageError> {
    let idle = |event: &Value| event["type"] == "state_change" && event["state"] == "idle";
    events.until("the idle edge of a turn", idle).await?;
    Ok(())
}

/// Opens the scenario's pane on `ws`, which shows `rows` user rows; its stream has caught up, and
/// its time is frozen.
///
/// # Errors
/// A claim when the pane does not paint or catch up.
pub async fn open_pane(stage: &mut Stage, ws: WsId, rows: u64) -> Result<Pane, StageError> {
    stage.phase("first paint");
    let pane = stage.open_pane(ws).await?;
    pane.claim(Condition::rows(rows)).await?;
    pane.claim(Condition::frames("replay_complete", 1)).await?;
    stage.screenshot("first-paint").await?;
    pane.freeze().await?;
    Ok(pane)
}

/// The scenario's pane over [`seed_three_turns`], with frozen time.
///
/// # Errors
/// As [`open_pane`].
pub async fn seeded_pane(stage: &mut Stage, further: Vec<Reply>) -> Result<Pane, StageError> {
    stage.phase("seed");
    let ws = seed_three_turns(stage, stage.name(), further).await?;
    open_pane(stage, ws, 3).await
}

/// Rewinds two of three turns, fails the refetch that follows, and holds the one retry of it; the
/// rows are stale meanwhile.
///
/// # Errors
/// A claim when the client does not refetch, or does not try again.
pub async fn hold_retry_of_failed_rewind(stage: &Stage, pane: &Pane) -> Result<Held, StageError> {
    stage.proxy.fail(Class::HISTORY, 1, StatusCode::INTERNAL_SERVER_ERROR);
    let hold = stage.proxy.hold(Class::HISTORY, 1);
    pane.click_rewind(1).await?;
    pane.claim(REFETCH_FAILED).await?;
    pane.outlast(Timing::stale_retry).await?;
    Ok(pane.arrival(hold).await?)
}

/// Rewinds the first row, if the pane has healed as the field `heal` says: its gate must be open.
///
/// # Errors
/// A claim when the click cannot be made, or the pane does not settle.
pub async fn reopen(stage: &mut Stage, heal: &'static str) -> Result<(), StageError> {
    stage.phase("reopen");
    if stage.is_as_expected(heal)? {
        let pane = stage.pane()?.clone();
        pane.click_rewind(0).await?;
        pane.fence().await?;
        pane.settled().await?;
    }
    Ok(())
}

/// Opens two panes on `ws`, which have caught up, with frozen time.
///
/// # Errors
/// A claim when they do not catch up.
pub async fn open_two_panes(stage: &mut Stage, ws: WsId) -> Result<TwoPanes, StageError> {
    let both = stage.open_two_panes(ws).await?;
    both.quiet().await?;
    stage.screenshot("first-paint").await?;
    both.freeze().await?;
    Ok(both)
}

/// Of each stream that the page has opened: whether its query had what `asked` looks for.
pub fn each_stream_asked(stage: &Stage, asked: fn(&Record) -> bool) -> Vec<bool> {
    let records = stage.proxy.records().into_iter();
    records.filter(|record| record.class == Class::EVENTS).map(|record| asked(&record)).collect()
}
