//! The vocabulary of the scenarios: the few things that they do and wait for.

mod coord;
pub mod cursor;
mod dashboard;
mod pane;
pub mod told;
mod two;

use hyper::StatusCode;

use crate::node::model::Reply;
use crate::node::wire::{Follower, WsId};
use crate::proxy::{Class, Hold};
use crate::scenario::stage::{Stage, StageError};
use crate::wait;

pub use coord::Coord;
pub use dashboard::{Dashboard, Loaded};
pub use pane::{Mounted, Pane, Sight, Tools};
pub use two::{Shown, Traffic, TwoPanes, each_stream_asked};

/// The longest wait before a failed refetch is tried again, in the client's own terms.
pub const STALE_RETRY: &str = "t.STALE_RETRY_MS + t.STALE_RETRY_JITTER_MS";

/// The longest wait before the reload after a truncated replay, in the client's own terms.
pub const TRUNCATED_RELOAD: &str = "t.TRUNCATED_JITTER_MS";

/// The turns of [`seed_three_turns`], what is asked and what the model answers.
const SEED: [(&str, &str); 3] = [
    ("How is the weather at sea?", "Calm, with a light swell from the west."),
    ("And tomorrow?", "A proxy comes in. Expect rain before noon."),
    ("Shall we sail?", "Sail early, and be back by eleven."),
];

/// A workstream with three finished turns, made before any page is open. The model has `further`
/// replies for the turns to come.
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

/// Rewinds two of three turns, fails the refetch that follows, and holds the one retry of it; the
/// stale rows stand meanwhile.
pub async fn hold_retry_of_failed_rewind(stage: &Stage, pane: &Pane) -> Result<Held, StageError> {
    stage.proxy.fail(Class::HISTORY, 1, StatusCode::INTERNAL_SERVER_ERROR);
    let hold = stage.proxy.hold(Class::HISTORY, 1);
    pane.click_rewind(1).await?;
    pane.until("a failed refetch, with a retry to come", "s.retryArmed").await?;
    pane.outlast(stage, STALE_RETRY).await?;
    Held::arrived(hold).await
}

/// Requests that stand in a hold, or have stood.
pub struct Held {
    hold: Hold,
    seqs: Vec<u64>,
}

impl Held {
    /// Waits until all that the hold was armed for stand in it.
    pub async fn arrived(hold: Hold) -> Result<Held, StageError> {
        let seqs = hold.arrived().await?;
        Ok(Held { hold, seqs })
    }

    /// Lets them go on.
    pub fn release(&self) {
        self.hold.release();
    }

    /// Waits until each is answered, also one that nobody waits for any more.
    pub async fn answered(&self, stage: &Stage) -> Result<(), StageError> {
        let mut counters = stage.proxy.counters();
        let all = async {
            while self.statuses(stage).contains(&None) {
                // The proxy outlives the stage's borrow: there is always somebody to tell.
                let _ = counters.changed().await;
            }
        };
        let saw = || told::each_or_none(self.statuses(stage));
        Ok(wait::within("the answers to what was held", all, saw).await?)
    }

    /// The status of each answer, none while there is no answer.
    pub fn statuses(&self, stage: &Stage) -> Vec<Option<u16>> {
        let records = stage.proxy.records().into_iter();
        let held = records.filter(|record| self.seqs.contains(&record.seq));
        held.map(|record| record.status).collect()
    }
}

/// A workstream whose model gives these replies.
pub async fn workstream(
    stage: &mut Stage,
    name: &str,
    replies: Vec<Reply>,
) -> Result<WsId, StageError> {
    let model = stage.script(name, replies)?;
    Ok(stage.wire.create(name, &model).await?)
}

/// Sends a message straight to the node, and waits until its turn is over.
pub async fn take_turn(stage: &Stage, ws: &WsId, message: &str) -> Result<(), StageError> {
    let mut events = stage.wire.follow(ws).await?;
    stage.wire.send(ws, message).await?;
    end_of_turn(&mut events).await
}

/// Waits for the end of the turn that `events`, opened before, will tell.
pub async fn end_of_turn(events: &mut Follower) -> Result<(), StageError> {
    let idle =
        |event: &serde_json::Value| event["type"] == "state_change" && event["state"] == "idle";
    events.until("the idle edge of a turn", idle).await?;
    Ok(())
}

/// How many requests of `class` have reached the proxy.
pub fn arrived(stage: &Stage, class: Class) -> u64 {
    stage.proxy.counters().borrow().of(class).arrived
}

/// How many rewinds have reached the proxy.
pub fn rewinds(stage: &Stage) -> u64 {
    arrived(stage, Class::REWIND)
}
