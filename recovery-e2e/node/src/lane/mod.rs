//! The ordered event stream of one workstream, and the one lock around it.
//!
//! Row admission, publication, the token's revision and listener registration happen in one
//! locked step each. So whoever connects has a row in the snapshot, in the replayed slice or in
//! the live queue, and never in none of them. Nothing waits and nothing touches a disk or a
//! socket under the lock.

mod batch;
mod event;
mod feed;
mod listener;
mod replay;
mod ring;
mod roster;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::metrics::Load;
use crate::record::{Cursor, EventId, HandoffToken, Part, Row, RowId};
use event::{ClearReason, Stamped};
use feed::Feed;
#[cfg(feature = "control")]
use replay::Span;
use replay::{Ask, Proof, Shape, decide};

pub use batch::{Batch, at};
pub use event::{Activity, Event, Item, ResyncReason, connection_frame};
pub use feed::{Connection, Limits};
pub use listener::{Listener, Next};
pub use ring::Bounds;
pub use roster::{Entry, Leave, Roster};

/// What a connection presents in its request.
#[derive(Clone, Copy, Debug)]
pub struct Presented<'a> {
    /// From the header.
    pub header: Cursor,
    /// From the query.
    pub query: Cursor,
    /// The handoff token of the query.
    pub token: Option<&'a str>,
}

/// How the streaming of a turn ended.
#[derive(Debug)]
pub enum Ending<'a> {
    /// The text, if any came, is stored as a row.
    Stored,
    /// A text or a result that panes have seen could not be stored.
    Lost,
    /// As `Stored`, but the answer is not complete.
    Failed(&'a str),
    /// As `Stored`, but a person wanted no more.
    Cancelled,
}

/// The text that streams at present.
#[derive(Clone, Debug)]
pub struct Live {
    /// The row it will be.
    pub row_id: RowId,
    /// What was published of it.
    pub text: String,
}

/// The lane of one loaded workstream.
#[derive(Debug)]
pub struct Lane {
    ws_id: String,
    name: String,
    roster: Arc<Roster>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    feed: Feed,
    activity: Activity,
    live: Option<Live>,
    /// Admissions, truncations and losses so far.
    revision: u64,
    /// Truncations so far.
    generation: u64,
    /// Row names given out so far.
    row_names: u64,
    /// User rows in the store, counted along because nothing is read under the lock.
    turns: u32,
}

impl Lane {
    /// A lane with an epoch of its own; `turns` user rows are stored already.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn new(
        ws_id: &str,
        name: &str,
        turns: u32,
        limits: Limits,
        roster: Arc<Roster>,
    ) -> Result<Self, getrandom::Error> {
        Ok(Self {
            ws_id: ws_id.to_owned(),
            name: name.to_owned(),
            roster,
            state: Mutex::new(State {
                feed: Feed::new(limits)?,
                activity: Activity::Idle,
                live: None,
                revision: 0,
                generation: 0,
                row_names: 0,
                turns,
            }),
        })
    }

    /// What the workstream does.
    pub fn activity(&self) -> Activity {
        self.locked().state.activity
    }

    /// The token that is true now.
    pub fn token(&self) -> HandoffToken {
        self.locked().token()
    }

    /// How often rows were cut. It rises in the step that makes every token untrue.
    pub fn generation(&self) -> u64 {
        self.locked().state.generation
    }

    /// A row name that was never given out.
    pub fn name_row(&self) -> RowId {
        self.locked().name_row()
    }

    /// Publishes what changes no state of the lane.
    pub fn publish(&self, event: &Event<'_>) -> EventId {
        self.locked().publish(event)
    }

    /// Publishes what the workstream does from now on.
    pub fn enter(&self, activity: Activity) -> EventId {
        self.locked().enter(activity)
    }

    /// Admits a user row that is stored, and starts its turn.
    pub fn begin_turn(&self, row: &Row) {
        let mut lane = self.locked();
        lane.state.revision += 1;
        lane.state.turns += 1;
        lane.publish(&Event::UserTurn {
            content: &row.content,
            client_send_ids: row.part.client_send_ids(),
            row_id: &row.row_id,
        });
        lane.enter(Activity::Thinking);
    }

    /// Appends text to the row that streams; the first text names the row.
    pub fn append_text(&self, text: &str) {
        let mut lane = self.locked();
        let mut live = lane
            .state
            .live
            .take()
            .unwrap_or_else(|| Live { row_id: lane.name_row(), text: String::new() });
        live.text.push_str(text);
        lane.publish(&Event::Content { text, row_id: &live.row_id });
        lane.state.live = Some(live);
    }

    /// The row that streams, to be stored.
    pub fn live(&self) -> Option<Live> {
        self.locked().state.live.clone()
    }

    /// Admits the row of an answer that makes calls; they run from now on.
    pub fn begin_calls(&self, row_id: &RowId, items: &[Item<'_>]) {
        let mut lane = self.locked();
        lane.state.live = None;
        lane.state.revision += 1;
        lane.publish(&Event::StreamEnd { row_id: Some(row_id) });
        lane.enter(Activity::Running);
        lane.publish(&Event::ToolPending { row_id, items, parent_call_id: None });
    }

    /// Admits the row of a call that has ended. Rows of others are not for it.
    pub fn admit_result(&self, row: &Row) {
        let Part::Tool { tool_call_id, name, is_error, .. } = &row.part else { return };
        let mut lane = self.locked();
        lane.state.revision += 1;
        lane.publish(&Event::ToolResult {
            call_id: tool_call_id,
            name,
            output: &row.content,
            is_error: *is_error,
            accepted: true,
            row_id: &row.row_id,
            parent_call_id: None,
        });
    }

    /// Ends the turn; its row, if there is one, is admitted or lost.
    pub fn end_turn(&self, ending: &Ending<'_>) {
        let mut lane = self.locked();
        let live = lane.state.live.take();
        if live.is_some() || matches!(ending, Ending::Lost) {
            // Loss counts too: the token of a pane that shows the lost text must become stale.
            lane.state.revision += 1;
        }
        // While tools run the answer that called them has ended already.
        if lane.state.activity == Activity::Thinking {
            lane.publish(&Event::StreamEnd { row_id: live.as_ref().map(|live| &live.row_id) });
        }
        match ending {
            Ending::Stored => {}
            Ending::Cancelled => {
                lane.publish(&Event::Cancelled {});
            }
            Ending::Failed(message) => {
                lane.publish(&Event::Error { message });
            }
            Ending::Lost => {
                lane.publish(&Event::Error {
                    message: "the answer could not be stored; free disk space on the node and send again",
                });
                lane.publish(&Event::HistoryResync { reason: ResyncReason::CommitFailed });
            }
        }
        lane.enter(Activity::Idle);
    }

    /// Publishes that the last `turns` user turns are cut from the store.
    pub fn cut(&self, turns: u32) {
        let mut lane = self.locked();
        lane.state.revision += 1;
        lane.state.generation += 1;
        lane.state.turns = lane.state.turns.saturating_sub(turns);
        lane.publish(&Event::ClearUi { reason: ClearReason::Rewind });
    }

    /// Decides what a connection gets, and registers it if it gets anything live.
    pub fn connect(&self, presented: &Presented<'_>) -> Connection {
        let mut lane = self.locked();
        let ask = Ask {
            header: presented.header,
            query: presented.query,
            token: match presented.token {
                None => Proof::Absent,
                Some(token) if lane.token().is(token) => Proof::True,
                Some(_) => Proof::Stale,
            },
        };
        let span = lane.state.feed.span();
        let mut past = Vec::new();
        let mut send = |event: Event<'_>| past.push(connection_frame(&event));
        let replay_from = match decide(&ask, &span) {
            Shape::Refused => {
                send(Event::HistoryResync { reason: ResyncReason::HandoffMismatch });
                return Connection { past, live: None };
            }
            Shape::Truncated { reason, lost } => {
                send(Event::truncated(reason, lost, &span));
                None
            }
            Shape::Fresh { bootstrap } => {
                if bootstrap {
                    send(Event::ClearUi { reason: ClearReason::TokenlessHistoryBootstrap });
                }
                None
            }
            Shape::Replay { after } => Some(after),
        };
        send(Event::Connected { ws_id: &self.ws_id, name: &self.name });
        send(Event::Status { turns: lane.state.turns });
        send(Event::StateChange { state: lane.state.activity });
        // A replay brings the streaming row's text itself.
        if let (None, Some(live)) = (replay_from, &lane.state.live) {
            send(Event::InProgressSnapshot { content: &live.text, row_id: &live.row_id });
        }
        lane.state.feed.connect(past, replay_from)
    }

    /// What it holds.
    pub fn load(&self) -> Load {
        self.locked().state.feed.load()
    }

    /// What the ring holds, and how many connections listen.
    #[cfg(feature = "control")]
    pub fn span(&self) -> (Span, usize) {
        let feed = &self.locked().state.feed;
        (feed.span(), feed.load().listeners)
    }

    fn locked(&self) -> Locked<'_> {
        // A panic elsewhere cannot leave a half-made step: every step only assigns.
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Locked { lane: self, state }
    }
}

/// A lane while its lock is held.
struct Locked<'a> {
    lane: &'a Lane,
    state: MutexGuard<'a, State>,
}

impl Locked<'_> {
    fn token(&self) -> HandoffToken {
        HandoffToken { epoch: self.state.feed.epoch(), revision: self.state.revision }
    }

    fn name_row(&mut self) -> RowId {
        self.state.row_names += 1;
        RowId::new(self.state.feed.epoch(), self.state.row_names)
    }

    fn enter(&mut self, activity: Activity) -> EventId {
        self.state.activity = activity;
        self.lane.roster.enter(&self.lane.ws_id, activity);
        self.publish(&Event::StateChange { state: activity })
    }

    fn publish(&mut self, event: &Event<'_>) -> EventId {
        self.state.feed.publish(&Stamped { event, ws_id: &self.lane.ws_id })
    }
}

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;
