//! The node as a whole: its secrets, its store, and the workstreams that are loaded.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::Secrets;
use crate::cli::Settings;
use crate::event::{Event, ResyncReason};
#[cfg(feature = "control")]
use crate::faults::Faults;
use crate::keeper::Keeper;
use crate::kind::Kind;
use crate::metrics::{Metrics, Present};
use crate::model::Model;
#[cfg(feature = "control")]
use crate::processes::Processes;
use crate::roster::{Leave, Roster};
use crate::store::{Store, StoreError, Stored};
use crate::workstream::Workstream;

/// A workstream could not be loaded or made.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no randomness for an epoch or an id.
    #[error("the operating system gives no random bytes: {0}; retry")]
    Random(#[from] getrandom::Error),
}

/// A workstream to be made.
#[derive(Debug, Deserialize)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// The base URL of its model, if it is to have one of its own.
    pub model_url: Option<String>,
    /// What it is for.
    #[serde(default)]
    pub kind: Kind,
    /// The workstream that it is to work for.
    pub parent_ws_id: Option<String>,
}

/// One running node.
pub struct Node {
    /// How it was started.
    pub settings: Settings,
    /// What opens it.
    pub secrets: Secrets,
    /// What survives it.
    pub store: Store,
    /// What answers in it.
    pub model: Model,
    /// What is loaded, and the global lane.
    pub roster: Arc<Roster>,
    /// What it has counted.
    pub metrics: Metrics,
    /// Places for connections.
    pub connections: Arc<Semaphore>,
    /// What ends its tools if it dies.
    pub keeper: Keeper,
    /// Cancelled when it is to stop.
    pub stop: CancellationToken,
    /// What must end before the store may close.
    pub work: TaskTracker,
    /// What it is made to suffer.
    #[cfg(feature = "control")]
    pub faults: Faults,
    /// The tools that run.
    #[cfg(feature = "control")]
    pub processes: Processes,
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
    /// Lets go of a workstream that is closed; its streams end.
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

impl Node {
    /// A node with nothing loaded.
    pub fn new(
        settings: Settings,
        secrets: Secrets,
        store: Store,
        model: Model,
        roster: Roster,
    ) -> Self {
        let connections = Arc::new(Semaphore::new(settings.max_connections));
        Self {
            connections,
            settings,
            secrets,
            store,
            model,
            roster: Arc::new(roster),
            metrics: Metrics::default(),
            keeper: Keeper::default(),
            stop: CancellationToken::new(),
            work: TaskTracker::new(),
            #[cfg(feature = "control")]
            faults: Faults::default(),
            #[cfg(feature = "control")]
            processes: Processes::default(),
            loaded: Mutex::default(),
        }
    }

    /// Makes, stores and loads a workstream.
    ///
    /// # Errors
    /// When the store fails or there is no randomness.
    pub async fn create(&self, plan: Plan) -> Result<Arc<Workstream>, LoadError> {
        let ws_id = format!("{:016x}", getrandom::u64()?);
        let Plan { name, model_url, kind, parent_ws_id } = plan;
        let stored = Stored { ws_id: ws_id.clone(), name, model_url, kind, parent_ws_id, turns: 0 };
        let ws = Arc::new(Workstream::load(stored.clone(), self)?);
        let mut loaded = self.loaded.lock().await;
        self.store.create(stored).await?;
        self.roster.admit(ws.entry());
        loaded.workstreams.insert(ws_id, ws.clone());
        Ok(ws)
    }

    /// The workstream of this id, loaded if it was not; none if there is none. What waits in a
    /// loaded one is taken up.
    ///
    /// # Errors
    /// When the store fails or there is no randomness.
    pub async fn workstream(
        self: &Arc<Self>,
        ws_id: &str,
    ) -> Result<Option<Arc<Workstream>>, LoadError> {
        let mut loaded = self.loaded.lock().await;
        if let Some(ws) = loaded.workstreams.get(ws_id) {
            return Ok(Some(ws.clone()));
        }
        let Some(stored) = self.store.find(ws_id).await? else {
            return Ok(None);
        };
        let ws = Arc::new(Workstream::load(stored, self)?);
        self.roster.admit(ws.entry());
        loaded.workstreams.insert(ws_id.to_owned(), ws.clone());
        self.work.spawn(ws.clone().take_up(self.clone()));
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

    /// Ends what a workstream does and unloads it; answers whether there is one.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn close(&self, ws_id: &str) -> Result<bool, StoreError> {
        let Some(ws) = self.settled(ws_id, self.settings.turns.cancel_grace).await else {
            return Ok(self.store.find(ws_id).await?.is_some());
        };
        self.loaded.lock().await.unload(&ws, &self.roster, Leave::Closed);
        Ok(true)
    }

    /// Deletes a workstream, its rows and its files; answers whether there was one. Panes that
    /// show it are told.
    ///
    /// # Errors
    /// When the store fails; it is only closed then.
    pub async fn delete(&self, ws_id: &str) -> Result<bool, StoreError> {
        let settled = self.settled(ws_id, Duration::ZERO).await;
        let mut loaded = self.loaded.lock().await;
        let deleted = self.store.delete(ws_id).await;
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
            loaded.unload(ws, &self.roster, leave);
            ws.cancel(Duration::ZERO).await;
        }
        drop(loaded);
        if leave == Leave::Deleted {
            let folder = self.settings.work_dir(ws_id);
            match tokio::fs::remove_dir_all(&folder).await {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::warn!(%folder, %error, "the files of a deleted workstream remain");
                }
                _ => {}
            }
        }
        deleted
    }

    /// The workstream of this id, if it is loaded, once nothing runs in it nor ever will.
    async fn settled(&self, ws_id: &str, grace: Duration) -> Option<Arc<Workstream>> {
        let ws = self.loaded.lock().await.workstreams.get(ws_id).cloned()?;
        ws.close(grace).await;
        Some(ws)
    }

    /// What stands at present, for those who measure it.
    pub async fn present(&self) -> Present {
        let loaded = self.loaded().await;
        Present {
            workstreams: loaded.len(),
            connections: self.settings.max_connections - self.connections.available_permits(),
            panes: loaded.iter().map(|ws| ws.lane.load()).sum(),
            global: self.roster.load(),
        }
    }

    /// Runs `work` to its end, also when whoever asked for it goes away: what is committed must
    /// be published.
    ///
    /// # Errors
    /// When `work` panicked.
    pub async fn carry_out<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, tokio::task::JoinError> {
        self.work.spawn(work).await
    }
}

#[cfg(test)]
pub mod tests {
    use camino::Utf8Path;
    use clap::Parser;
    use tempfile::TempDir;

    use super::*;

    /// A node without a listener, on a folder that goes with it.
    pub struct TestNode {
        pub node: Arc<Node>,
        pub _folder: TempDir,
    }

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        settings: Settings,
    }

    /// A workstream of this name, and of nothing else.
    pub fn plan(name: &str) -> Plan {
        Plan { name: name.into(), model_url: None, kind: Kind::default(), parent_ws_id: None }
    }

    /// A node of the default settings.
    pub fn node() -> TestNode {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let Flags { settings } = Flags::parse_from(["node", "--data-dir", path.as_str()]);
        let secrets = Secrets::load(path, None).unwrap();
        let store = Store::open(path.join("node.sqlite").as_std_path()).unwrap();
        let model = Model::new("m".into(), None, settings.turns.patience()).unwrap();
        let roster = Roster::new("node".into(), settings.limits()).unwrap();
        let node = Node::new(settings, secrets, store, model, roster);
        TestNode { node: Arc::new(node), _folder: folder }
    }
}
