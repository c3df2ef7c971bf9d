//! One loaded workstream: what is committed to the store, and then published on the lane.

mod commit;
mod flight;
mod history;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

#[cfg(feature = "control")]
use crate::faults::Faults;
use crate::halt::{Halted, Halter, Why, halt};
use crate::lane::{Entry, Lane, Limits, Roster};
use crate::metrics::Metrics;
use crate::record::{Kind, Row};
use crate::store::{Arrival, Store, StoreError, Stored};
use history::Reads;

/// What all workstreams of a node use.
pub struct Shared {
    /// Where rows are committed.
    pub store: Store,
    /// Where changes of state are published too.
    pub roster: Arc<Roster>,
    /// What each lane may hold.
    pub limits: Limits,
    /// The counters of the node.
    pub metrics: Arc<Metrics>,
    /// Cancelled when the node is to stop: no turn begins then.
    pub stop: CancellationToken,
    /// The faults that the control socket has set.
    #[cfg(feature = "control")]
    pub faults: Faults,
}

/// A workstream in memory.
pub struct Workstream {
    /// Its id.
    pub ws_id: String,
    /// Its name.
    pub name: String,
    /// The base URL of its model, if it has one of its own.
    pub model_url: Option<String>,
    /// Its kind.
    kind: Kind,
    /// The workstream that it works for.
    parent_ws_id: Option<String>,
    /// Its events.
    pub lane: Lane,
    shared: Arc<Shared>,
    /// Cancelled when it is unloaded: its lane publishes nothing more.
    pub unloaded: CancellationToken,
    /// Held from before a commit until its publication, and over a read. So its holder
    /// finds the same rows in the store and on the lane, and a token fits the rows it is minted
    /// with.
    journal: Mutex<Journal>,
    /// The reads of its history that are under way.
    reads: Reads,
    /// Runs of agents so far.
    runs: AtomicU64,
}

/// What a workstream does now.
#[derive(Debug, Default)]
struct Journal {
    /// The turn that runs.
    turn: Option<Running>,
    /// Nothing begins any more.
    closed: bool,
}

/// A turn that runs.
#[derive(Clone, Debug)]
struct Running {
    halter: Halter,
    /// Cancelled when it has ended.
    ended: CancellationToken,
}

/// A turn that has begun. The receiver must run it to [`Workstream::end_turn`].
#[must_use]
#[derive(Debug)]
pub struct Begun {
    /// Asks the turn to end.
    pub halter: Halter,
    /// Reports that the turn is asked to end.
    pub halted: Halted,
}

/// The outcome of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is stored and its turn has begun; or it was accepted before.
    Accepted,
    /// It is stored and waits for the end of other turns.
    Queued,
    /// The workstream is being closed; nothing is stored.
    Closed,
}

/// The outcome of a rewind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Rewound {
    /// This many turns were taken back, now or by an earlier try of the same request.
    Ok {
        /// Turns.
        removed: u32,
    },
    /// A turn runs; nothing is cut.
    Busy,
}

impl Workstream {
    /// Loads a stored workstream.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn load(stored: Stored, shared: Arc<Shared>) -> Result<Self, getrandom::Error> {
        let Stored { ws_id, name, model_url, kind, parent_ws_id, turns } = stored;
        let lane = Lane::new(&ws_id, &name, turns, shared.limits, shared.roster.clone())?;
        Ok(Self {
            ws_id,
            name,
            model_url,
            kind,
            parent_ws_id,
            lane,
            shared,
            unloaded: CancellationToken::new(),
            journal: Mutex::default(),
            reads: Reads::new(),
            runs: AtomicU64::new(0),
        })
    }

    /// It, as lists show it.
    pub fn entry(&self) -> Entry {
        Entry {
            ws_id: self.ws_id.clone(),
            name: self.name.clone(),
            state: self.lane.activity(),
            kind: self.kind,
            parent_ws_id: self.parent_ws_id.clone(),
        }
    }

    /// Stores a message. It becomes a user row and starts its turn, or waits for those before it.
    /// A send of a known id is accepted and changes nothing. The caller runs the turn that has
    /// begun, if there is one: it may be that of an earlier message.
    ///
    /// # Errors
    /// When the store fails; the send is then not accepted.
    pub async fn send(
        &self,
        message: String,
        id: Option<String>,
    ) -> Result<(Sent, Option<Begun>), StoreError> {
        let store = &self.shared.store;
        let mut journal = self.journal.lock().await;
        let behind_others = match store.arrival(&self.ws_id, id.as_deref()).await? {
            Arrival::Taken => return Ok((Sent::Accepted, None)),
            Arrival::Waiting => return Ok((Sent::Queued, None)),
            Arrival::New { behind_others } => behind_others,
        };
        if journal.closed {
            return Ok((Sent::Closed, None));
        }
        if journal.turn.is_some() || behind_others {
            store.enqueue(&self.ws_id, message, id).await?;
            return Ok((Sent::Queued, self.next_turn(&mut journal).await));
        }
        self.settle().await?;
        let row = Row::user(message, self.lane.name_row(), id);
        store.append(&self.ws_id, row.clone()).await?;
        Ok((Sent::Accepted, Some(self.begin_turn(&mut journal, &row))))
    }

    /// Begins the turn of the message that waits longest, if nothing runs.
    pub async fn take_up(&self) -> Option<Begun> {
        self.next_turn(&mut *self.journal.lock().await).await
    }

    /// Begins the turn of the message that waits longest. What cannot be taken up now waits on.
    async fn next_turn(&self, journal: &mut Journal) -> Option<Begun> {
        let Shared { store, stop, .. } = &*self.shared;
        if journal.turn.is_some() || journal.closed || stop.is_cancelled() {
            return None;
        }
        let taken = async {
            if !store.waits(&self.ws_id).await? {
                return Ok(None);
            }
            self.settle().await?;
            store.take_up(&self.ws_id, self.lane.name_row()).await
        };
        match taken.await {
            Ok(row) => row.map(|row| self.begin_turn(journal, &row)),
            Err::<_, StoreError>(error) => {
                tracing::error!(ws_id = self.ws_id, %error, "cannot start the turn of a queued message");
                None
            }
        }
    }

    fn begin_turn(&self, journal: &mut Journal, row: &Row) -> Begun {
        self.lane.begin_turn(row);
        let (halter, halted) = halt();
        let ended = CancellationToken::new();
        journal.turn = Some(Running { halter: halter.clone(), ended });
        Begun { halter, halted }
    }

    /// Asks the turn that runs, if one does, to end within `grace`.
    pub async fn cancel(&self, grace: Duration) {
        if let Some(turn) = &self.journal.lock().await.turn {
            turn.halter.ask(Why::Cancelled, grace);
        }
    }

    /// Lets nothing begin any more, and waits until the turn that runs has ended, within `grace`.
    pub async fn close(&self, grace: Duration) {
        let running = {
            let mut journal = self.journal.lock().await;
            journal.closed = true;
            journal.turn.clone()
        };
        if let Some(turn) = running {
            turn.halter.ask(Why::Cancelled, grace);
            turn.ended.cancelled().await;
        }
    }

    /// Cuts the last user turns and what followed them.
    ///
    /// # Errors
    /// When the store fails; nothing is cut then.
    pub async fn rewind(&self, turns: u64, request: Option<String>) -> Result<Rewound, StoreError> {
        let store = &self.shared.store;
        let journal = self.journal.lock().await;
        if let Some(request) = &request
            && let Some(removed) = store.rewound(&self.ws_id, request).await?
        {
            return Ok(Rewound::Ok { removed });
        }
        if journal.turn.is_some() || journal.closed {
            return Ok(Rewound::Busy);
        }
        let cut = store.rewind(&self.ws_id, turns, request).await?;
        self.lane.cut(cut.user_rows);
        Ok(Rewound::Ok { removed: cut.turns })
    }

    /// Whether a turn runs, or a message is queued that will start one. It waits for a commit in
    /// progress, so it never contradicts an event that was published before the call.
    ///
    /// # Errors
    /// When the store fails.
    #[cfg(feature = "control")]
    pub async fn is_busy(&self) -> Result<bool, StoreError> {
        let journal = self.journal.lock().await;
        let is_queued = !journal.closed && self.shared.store.waits(&self.ws_id).await?;
        Ok(journal.turn.is_some() || is_queued)
    }

    /// The newest rows, at most `limit`, the oldest of them first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn rows(&self, limit: u32) -> Result<Vec<Row>, StoreError> {
        self.shared.store.rows(&self.ws_id, limit).await
    }

    /// The number of an agent's run.
    pub fn begin_run(&self) -> u64 {
        self.runs.fetch_add(1, Ordering::Relaxed) + 1
    }
}
