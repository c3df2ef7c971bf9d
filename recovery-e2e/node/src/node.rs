//! The node as a whole: its secrets, its store, and the workstreams that are loaded.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::Secrets;
use crate::cli::Settings;
#[cfg(feature = "control")]
use crate::faults::Faults;
use crate::metrics::Metrics;
use crate::model::Model;
use crate::roster::Roster;
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
    /// Cancelled when it is to stop.
    pub stop: CancellationToken,
    /// What must end before the store may close.
    pub work: TaskTracker,
    /// What it is made to suffer.
    #[cfg(feature = "control")]
    pub faults: Faults,
    /// Held over a load, so that a workstream never has two lanes.
    loaded: Mutex<HashMap<String, Arc<Workstream>>>,
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
        Self {
            settings,
            secrets,
            store,
            model,
            roster: Arc::new(roster),
            metrics: Metrics::default(),
            stop: CancellationToken::new(),
            work: TaskTracker::new(),
            #[cfg(feature = "control")]
            faults: Faults::default(),
            loaded: Mutex::default(),
        }
    }

    /// Makes, stores and loads a workstream.
    ///
    /// # Errors
    /// When the store fails or there is no randomness.
    pub async fn create(
        &self,
        name: String,
        model_url: Option<String>,
    ) -> Result<Arc<Workstream>, LoadError> {
        let ws_id = format!("{:016x}", getrandom::u64()?);
        let stored = Stored { ws_id: ws_id.clone(), name, model_url, turns: 0 };
        let ws = Arc::new(Workstream::load(stored.clone(), self)?);
        let mut loaded = self.loaded.lock().await;
        self.store.create(stored).await?;
        self.roster.admit(ws.entry());
        loaded.insert(ws_id, ws.clone());
        Ok(ws)
    }

    /// The workstream of this id, loaded if it was not; none if there is none.
    ///
    /// # Errors
    /// When the store fails or there is no randomness.
    pub async fn workstream(&self, ws_id: &str) -> Result<Option<Arc<Workstream>>, LoadError> {
        let mut loaded = self.loaded.lock().await;
        if let Some(ws) = loaded.get(ws_id) {
            return Ok(Some(ws.clone()));
        }
        let Some(stored) = self.store.find(ws_id).await? else {
            return Ok(None);
        };
        let ws = Arc::new(Workstream::load(stored, self)?);
        self.roster.admit(ws.entry());
        loaded.insert(ws_id.to_owned(), ws.clone());
        tracing::info!(ws_id, "loaded");
        Ok(Some(ws))
    }

    /// What is loaded, in no order.
    #[cfg(feature = "control")]
    pub async fn loaded(&self) -> Vec<Arc<Workstream>> {
        self.loaded.lock().await.values().cloned().collect()
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

    /// A node of the default settings.
    pub fn node() -> TestNode {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let Flags { settings } = Flags::parse_from(["node", "--data-dir", path.as_str()]);
        let secrets = Secrets::load(path, None).unwrap();
        let store = Store::open(path.join("node.sqlite").as_std_path()).unwrap();
        let model = Model::new("m".into(), None).unwrap();
        let roster = Roster::new("node".into(), settings.limits()).unwrap();
        let node = Node::new(settings, secrets, store, model, roster);
        TestNode { node: Arc::new(node), _folder: folder }
    }
}
