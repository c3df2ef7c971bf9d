//! One loaded workstream: what is committed to the store, and then published on the lane.

use std::sync::Arc;

use serde::Serialize;
use tokio::sync::Mutex;

use crate::event::Activity;
use crate::history::Reads;
use crate::lane::{Ending, Lane};
use crate::node::Node;
use crate::roster::Entry;
use crate::store::{Role, Row, Store, StoreError, Stored};
use crate::turn::{self, TurnError};

/// A workstream in memory.
pub struct Workstream {
    /// Its id.
    pub ws_id: String,
    /// Its name.
    pub name: String,
    /// The base URL of its model, if it has one of its own.
    pub model_url: Option<String>,
    /// Its events.
    pub lane: Lane,
    /// Held from before a commit until its publication, and over a history read. So whoever holds
    /// it finds the same rows in the store and on the lane, and a token fits the rows it is
    /// minted with.
    pub journal: Mutex<()>,
    /// The history reads that are under way.
    pub reads: Reads,
}

/// What became of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is stored and its turn runs; or it was accepted before.
    Accepted,
    /// Another turn runs; nothing is stored.
    Busy,
}

/// What became of a rewind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Rewound {
    /// This many user turns were cut, now or by an earlier try of the same request.
    Ok {
        /// User turns.
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
            lane,
            journal: Mutex::new(()),
            reads: Reads::new(),
        })
    }

    /// It, as lists show it.
    pub fn entry(&self) -> Entry {
        Entry::interactive(&self.ws_id, &self.name, self.lane.activity())
    }

    /// Stores a user row and starts its turn. A send of a known id is accepted without either.
    ///
    /// # Errors
    /// When the store fails; the send is then not accepted.
    pub async fn send(
        self: Arc<Self>,
        node: Arc<Node>,
        message: String,
        send_id: Option<String>,
    ) -> Result<Sent, StoreError> {
        let _journal = self.journal.lock().await;
        if let Some(id) = &send_id
            && node.store.knows_send(&self.ws_id, id).await?
        {
            return Ok(Sent::Accepted);
        }
        if self.is_busy() {
            return Ok(Sent::Busy);
        }
        let row = Row {
            role: Role::User,
            content: message,
            row_id: self.lane.name_row(),
            client_send_ids: send_id.into_iter().collect(),
        };
        node.store.append(&self.ws_id, row.clone()).await?;
        self.lane.begin_turn(&row);
        let ws = self.clone();
        node.clone().work.spawn(async move { turn::run(&node, &ws).await });
        Ok(Sent::Accepted)
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
        let _journal = self.journal.lock().await;
        if let Some(request) = &request
            && let Some(removed) = store.rewound(&self.ws_id, request).await?
        {
            return Ok(Rewound::Ok { removed });
        }
        if self.is_busy() {
            return Ok(Rewound::Busy);
        }
        let removed = store.rewind(&self.ws_id, turns, request).await?;
        self.lane.cut(removed);
        Ok(Rewound::Ok { removed })
    }

    /// Stores what streamed, and ends the turn.
    pub async fn end_turn(&self, store: &Store, ended: Result<(), TurnError>) {
        let _journal = self.journal.lock().await;
        let message = ended.err().map(|error| error.to_string());
        let mut ending = message.as_deref().map_or(Ending::Stored, Ending::Failed);
        if let Some(live) = self.lane.live() {
            let row = Row {
                role: Role::Assistant,
                content: live.text,
                row_id: live.row_id,
                client_send_ids: Vec::new(),
            };
            if let Err(error) = store.append(&self.ws_id, row).await {
                tracing::error!(ws_id = self.ws_id, %error, "the answer is lost");
                ending = Ending::Lost;
            }
        }
        self.lane.end_turn(&ending);
    }

    fn is_busy(&self) -> bool {
        self.lane.activity() != Activity::Idle
    }
}
