//! The registry: the workstreams that are loaded.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::Mutex;

use crate::lane::{Event, Leave, ResyncReason, Roster};
use crate::record::Kind;
use crate::store::{StoreError, Stored};
use crate::turn::Turns;
use crate::workstream::{Shared, Workstream};

/// A workstream could not be loaded or made.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There are no random bytes for an epoch or an id.
    #[error("the operating system returned no random bytes: {0}; retry")]
    Random(#[from] getrandom::Error),
}

/// A request for a new workstream.
#[derive(Debug, Deserialize)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// The base URL of its model, if it is to have one of its own.
    pub model_url: Option<String>,
    /// Its kind.
    #[serde(default)]
    pub kind: Kind,
    /// The workstream that it is to work for.
    pub parent_ws_id: Option<String>,
}

/// The workstreams of one node. A stored one is loaded when it is needed.
pub struct Registry {
    shared: Arc<Shared>,
    turns: Arc<Turns>,
    /// Held over a load, so that a workstream never has two lanes.
    loaded: Mutex<Loaded>,
}

#[derive(Default)]
struct Loaded {
    workstreams: HashMap<String, Arc<Workstream>>,
    /// Those that were deleted; panes may still show them.
    gone: HashSet<String>,
}

impl Loaded {
    /// Unloads a workstream that is closed; its streams end.
    fn unload(&mut self, ws: &Arc<Workstream>, roster: &Roster, leave: Leave) {
        // Another may be in its place by now.
        if self.workstreams.get(&ws.ws_id).is_some_and(|loaded| Arc::ptr_eq(loaded, ws)) {
            self.workstreams.remove(&ws.ws_id);
            roster.dismiss(&ws.ws_id, leave);
        }
        ws.unloaded.cancel();
        tracing::info!(ws_id = ws.ws_id, "unloaded");
    }
}

impl Registry {
    /// A registry with nothing loaded.
    pub fn new(shared: Arc<Shared>, turns: Arc<Turns>) -> Self {
        Self { shared, turns, loaded: Mutex::default() }
    }

    /// Makes, stores and loads a workstream.
    ///
    /// # Errors
    /// When the store fails or there are no random bytes.
    pub async fn create(&self, plan: Plan) -> Result<Arc<Workstream>, LoadError> {
        let ws_id = format!("{:016x}", getrandom::u64()?);
        let Plan { name, model_url, kind, parent_ws_id } = plan;
        let stored = Stored { ws_id: ws_id.clone(), name, model_url, kind, parent_ws_id, turns: 0 };
        let ws = Arc::new(Workstream::load(stored.clone(), self.shared.clone())?);
        let mut loaded = self.loaded.lock().await;
        self.shared.store.create(stored).await?;
        self.shared.roster.admit(ws.entry());
        loaded.workstreams.insert(ws_id, ws.clone());
        Ok(ws)
    }

    /// The workstream of this id, loaded if it was not; none if there is none. What waits in a
    /// loaded one is taken up.
    ///
    /// # Errors
    /// When the store fails or there are no random bytes.
    pub async fn workstream(&self, ws_id: &str) -> Result<Option<Arc<Workstream>>, LoadError> {
        let mut loaded = self.loaded.lock().await;
        if let Some(ws) = loaded.workstreams.get(ws_id) {
            return Ok(Some(ws.clone()));
        }
        let Some(stored) = self.shared.store.find(ws_id).await? else {
            return Ok(None);
        };
        let ws = Arc::new(Workstream::load(stored, self.shared.clone())?);
        self.shared.roster.admit(ws.entry());
        loaded.workstreams.insert(ws_id.to_owned(), ws.clone());
        self.turns.work.spawn(self.turns.clone().take_up(ws.clone()));
        tracing::info!(ws_id, "loaded");
        Ok(Some(ws))
    }

    /// What is loaded, in no order.
    pub async fn loaded(&self) -> Vec<Arc<Workstream>> {
        self.loaded.lock().await.workstreams.values().cloned().collect()
    }

    /// Whether a workstream was deleted while this node ran.
    pub async fn is_gone(&self, ws_id: &str) -> bool {
        self.loaded.lock().await.gone.contains(ws_id)
    }

    /// Ends the turn of a workstream within `grace` and unloads it; returns whether there is one.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn close(&self, ws_id: &str, grace: Duration) -> Result<bool, StoreError> {
        let Some(ws) = self.settled(ws_id, grace).await else {
            return Ok(self.shared.store.find(ws_id).await?.is_some());
        };
        self.loaded.lock().await.unload(&ws, &self.shared.roster, Leave::Closed);
        Ok(true)
    }

    /// Deletes a workstream, its rows and its files; returns whether there was one.
    /// Panes that show it get an event.
    ///
    /// # Errors
    /// When the store fails; it is only closed then.
    pub async fn delete(&self, ws_id: &str) -> Result<bool, StoreError> {
        let settled = self.settled(ws_id, Duration::ZERO).await;
        let mut loaded = self.loaded.lock().await;
        let deleted = self.shared.store.delete(ws_id).await;
        // It may have been loaded meanwhile; whatever that one begins can store nothing.
        let showing = loaded.workstreams.get(ws_id).cloned().or(settled);
        let leave = if matches!(deleted, Ok(true)) { Leave::Deleted } else { Leave::Closed };
        if leave == Leave::Deleted {
            loaded.gone.insert(ws_id.to_owned());
        }
        if let Some(ws) = &showing {
            if leave == Leave::Deleted {
                ws.lane.publish(&Event::HistoryResync { reason: ResyncReason::WorkstreamGone });
            }
            loaded.unload(ws, &self.shared.roster, leave);
            ws.cancel(Duration::ZERO).await;
        }
        drop(loaded);
        if leave == Leave::Deleted {
            self.turns.tools.delete_files(ws_id).await;
        }
        deleted
    }

    /// The workstream of this id, if it is loaded, once nothing runs in it nor ever will.
    async fn settled(&self, ws_id: &str, grace: Duration) -> Option<Arc<Workstream>> {
        let ws = self.loaded.lock().await.workstreams.get(ws_id).cloned()?;
        ws.close(grace).await;
        Some(ws)
    }
}
