//! One loaded workstream: what is committed to the store, and then published on the lane.

mod commit;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::halt::{Halter, Why, halt};
use crate::history::Reads;
use crate::kind::Kind;
use crate::lane::Lane;
use crate::node::Node;
use crate::roster::Entry;
use crate::row::Row;
use crate::store::{Arrival, Store, StoreError, Stored};
use crate::turn;

/// A workstream in memory.
pub struct Workstream {
    /// Its id.
    pub ws_id: String,
    /// Its name.
    pub name: String,
    /// The base URL of its model, if it has one of its own.
    pub model_url: Option<String>,
    /// What it is for.
    kind: Kind,
    /// The workstream that it works for.
    parent_ws_id: Option<String>,
    /// Its events.
    pub lane: Lane,
    /// Cancelled when it is unloaded: its lane publishes nothing more.
    pub unloaded: CancellationToken,
    /// Held from before a commit until its publication, and over a read. So whoever holds it
    /// finds the same rows in the store and on the lane, and a token fits the rows it is minted
    /// with.
    pub(crate) journal: Mutex<Journal>,
    /// The reads of its history that are under way.
    pub(crate) reads: Reads,
    /// Runs of agents so far.
    runs: AtomicU64,
}

/// What a workstream is about.
#[derive(Debug, Default)]
pub(crate) struct Journal {
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

/// What became of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is stored and its turn runs; or it was accepted before.
    Accepted,
    /// It is stored and waits for the end of other turns.
    Queued,
    /// The workstream is being closed; nothing is stored.
    Closed,
}

/// What became of a rewind.
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
    pub fn load(stored: Stored, node: &Node) -> Result<Self, getrandom::Error> {
        let lane = Lane::new(
            &stored.ws_id,
            &stored.name,
            stored.turns,
            node.settings.limits(),
            node.roster.clone(),
        )?;
        Ok(Self {
            ws_id: stored.ws_id,
            name: stored.name,
            model_url: stored.model_url,
            kind: stored.kind,
            parent_ws_id: stored.parent_ws_id,
            lane,
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
    /// A send of a known id is accepted and changes nothing.
    ///
    /// # Errors
    /// When the store fails; the send is then not accepted.
    pub async fn send(
        self: Arc<Self>,
        node: Arc<Node>,
        message: String,
        send_id: Option<String>,
    ) -> Result<Sent, StoreError> {
        let mut journal = self.journal.lock().await;
        let behind_others = match node.store.arrival(&self.ws_id, send_id.as_deref()).await? {
            Arrival::Taken => return Ok(Sent::Accepted),
            Arrival::Waiting => return Ok(Sent::Queued),
            Arrival::New { behind_others } => behind_others,
        };
        if journal.closed {
            return Ok(Sent::Closed);
        }
        if journal.turn.is_some() || behind_others {
            node.store.enqueue(&self.ws_id, message, send_id).await?;
            self.next_turn(&node, &mut journal).await;
            return Ok(Sent::Queued);
        }
        self.settle(&node.store).await?;
        let row = Row::user(message, self.lane.name_row(), send_id);
        node.store.append(&self.ws_id, row.clone()).await?;
        self.begin_turn(&node, &mut journal, &row);
        Ok(Sent::Accepted)
    }

    /// Takes up what waits, if nothing runs.
    pub async fn take_up(self: Arc<Self>, node: Arc<Node>) {
        let mut journal = self.journal.lock().await;
        self.next_turn(&node, &mut journal).await;
    }

    /// Begins the turn of the message that waits longest. What cannot be taken up now waits on.
    async fn next_turn(self: &Arc<Self>, node: &Arc<Node>, journal: &mut Journal) {
        if journal.turn.is_some() || journal.closed || node.stop.is_cancelled() {
            return;
        }
        let taken = async {
            if !node.store.waits(&self.ws_id).await? {
                return Ok(None);
            }
            self.settle(&node.store).await?;
            node.store.take_up(&self.ws_id, self.lane.name_row()).await
        };
        match taken.await {
            Ok(Some(row)) => self.begin_turn(node, journal, &row),
            Ok(None) => {}
            Err::<_, StoreError>(error) => {
                tracing::error!(ws_id = self.ws_id, %error, "what waits is not taken up");
            }
        }
    }

    fn begin_turn(self: &Arc<Self>, node: &Arc<Node>, journal: &mut Journal, row: &Row) {
        self.lane.begin_turn(row);
        let (halter, halted) = halt();
        let ended = CancellationToken::new();
        journal.turn = Some(Running { halter: halter.clone(), ended });
        node.work.spawn(turn::run(node.clone(), self.clone(), halter, halted));
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
    pub async fn rewind(
        &self,
        store: &Store,
        turns: u64,
        request: Option<String>,
    ) -> Result<Rewound, StoreError> {
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
    pub async fn is_busy(&self, store: &Store) -> Result<bool, StoreError> {
        let journal = self.journal.lock().await;
        Ok(journal.turn.is_some() || (!journal.closed && store.waits(&self.ws_id).await?))
    }

    /// The number of an agent's run.
    pub fn begin_run(&self) -> u64 {
        self.runs.fetch_add(1, Ordering::Relaxed) + 1
    }
}
