//! Start and stop of a node.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

#[cfg(feature = "control")]
use crate::faults::Faults;
use crate::http::{self, App, SecretError, Secrets};
use crate::lane::Roster;
use crate::metrics::Metrics;
use crate::model::{self, Model};
use crate::registry::Registry;
use crate::settings::Settings;
use crate::store::{Store, StoreError};
use crate::tools::Toolbox;
use crate::turn::Turns;
use crate::workstream::Shared;

/// How long a stop waits for connections and turns to end.
pub const GRACE: Duration = Duration::from_secs(2);

/// The database, in the data folder.
const DATABASE: &str = "node.sqlite";

/// Why a node cannot start, or has ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The threads of the runtime cannot be started.
    #[error("cannot start the threads of the runtime: {0}; raise the limits on threads and memory")]
    Threads(io::Error),
    /// The data folder cannot be used.
    #[error(
        "cannot use the data folder {path}: {source}; use a folder that can be written with --data-dir"
    )]
    DataDir {
        /// The folder.
        path: Utf8PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another node has the data folder.
    #[error("another node runs on the data folder {0}; stop it, or use another --data-dir")]
    InUse(Utf8PathBuf),
    /// The secrets cannot be used.
    #[error(transparent)]
    Secrets(#[from] SecretError),
    /// The database cannot be used.
    #[error("cannot open the database in {path}: {source}")]
    Store {
        /// The data folder.
        path: Utf8PathBuf,
        /// Why.
        source: StoreError,
    },
    /// There is no randomness for an epoch.
    #[error("the operating system returned no random bytes: {0}; start the node again")]
    Random(#[from] getrandom::Error),
    /// The HTTP client cannot be used.
    #[error("cannot create the HTTP client for the model: {0}; start the node again")]
    Model(#[from] reqwest::Error),
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}; use another address with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The control socket cannot be used.
    #[cfg(feature = "control")]
    #[error("cannot listen on the socket {path}: {source}; use another --control-socket")]
    Control {
        /// The socket.
        path: Utf8PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The signals cannot be received.
    #[error("cannot install handlers for SIGTERM and SIGINT: {0}; start the node again")]
    Signals(io::Error),
    /// The line with the address cannot be written.
    #[error("cannot write the address to standard output: {0}; keep standard output open")]
    Announce(io::Error),
    /// The server ended without a signal.
    #[error("the server ended unexpectedly; restart the node, no committed data is lost")]
    Ended,
}

impl ServeError {
    /// Whether the node could not start.
    pub fn is_at_start(&self) -> bool {
        !matches!(self, Self::Ended)
    }
}

/// The parts of a node that the control socket reads and changes.
#[cfg(feature = "control")]
#[derive(Clone)]
pub struct Inner {
    /// What the workstreams use, with the faults.
    pub shared: Arc<Shared>,
    /// What runs turns.
    pub turns: Arc<Turns>,
    /// The workstreams.
    pub registry: Arc<Registry>,
}

/// A node that listens.
pub struct Running {
    app: Arc<App>,
    /// What the control socket reads and changes.
    #[cfg(feature = "control")]
    pub inner: Inner,
    address: SocketAddr,
    server: JoinHandle<()>,
    signals: [Signal; 2],
    /// Locked as long as the node has the data folder.
    _lock: File,
}

/// Locks the data folder, opens the store and listens.
///
/// # Errors
/// When one of them fails; nothing listens then.
pub async fn start(settings: Settings) -> Result<Running, ServeError> {
    let lock = take_data_dir(&settings.data_dir)?;
    let secrets = Secrets::load(&settings.data_dir, settings.token_file.as_deref())?;
    let store = Store::open(settings.data_dir.join(DATABASE).as_std_path())
        .map_err(|source| ServeError::Store { path: settings.data_dir.clone(), source })?;
    let key = std::env::var(model::KEY_VARIABLE).ok();
    let model = Model::new(settings.model_name.clone(), key, settings.turns.patience())?;
    let failed = |source| ServeError::Listen { address: settings.listen, source };
    let listener = TcpListener::bind(settings.listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let on = |kind| signal(kind).map_err(ServeError::Signals);
    let signals = [on(SignalKind::terminate())?, on(SignalKind::interrupt())?];
    // It has the format of a secret, but it is public.
    let node_id = http::read_or_make(&settings.data_dir.join("node-id"))?;
    let roster = Arc::new(Roster::new(node_id, settings.limits())?);
    let metrics = Arc::new(Metrics::default());
    let (stop, work) = (CancellationToken::new(), TaskTracker::new());
    let shared = Arc::new(Shared {
        store: store.clone(),
        roster: roster.clone(),
        limits: settings.limits(),
        metrics: metrics.clone(),
        stop: stop.clone(),
        #[cfg(feature = "control")]
        faults: Faults::default(),
    });
    let turns = Arc::new(Turns {
        model,
        model_url: settings.model_url.clone(),
        context_window: settings.turns.context_window,
        tools: Toolbox::new(settings.tools()),
        metrics: metrics.clone(),
        stop: stop.clone(),
        work: work.clone(),
    });
    let registry = Arc::new(Registry::new(shared.clone(), turns.clone()));
    #[cfg(feature = "control")]
    let inner = Inner { shared, turns: turns.clone(), registry: registry.clone() };
    let options = settings.http();
    let app = Arc::new(App {
        connections: Arc::new(Semaphore::new(options.max_connections)),
        options,
        secrets,
        store,
        roster: roster.clone(),
        registry,
        turns,
        metrics,
        stop: stop.clone(),
        work: work.clone(),
    });
    work.spawn(publish_numbers(roster, settings.aggregate, stop));
    if !address.ip().is_loopback() {
        tracing::warn!(%address, "other machines can reach this node; only the login token protects it");
    }
    let server = tokio::spawn(http::serve(listener, app.clone()));
    tracing::info!(%address, "listening");
    Ok(Running {
        app,
        #[cfg(feature = "control")]
        inner,
        address,
        server,
        signals,
        _lock: lock,
    })
}

impl Running {
    /// Prints the one line of standard output: the address and the login URL.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn announce(&self) -> Result<(), ServeError> {
        let own = format!("http://{}", self.address);
        let public = self.app.options.public_origins.first().map(ToString::to_string);
        let origin = public.unwrap_or(own);
        let login_url = format!("{origin}/login?token={}", self.app.secrets.token());
        let line = json!({ "address": self.address, "login_url": login_url });
        let mut out = io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush()).map_err(ServeError::Announce)
    }

    /// Serves until a signal asks to stop; then ends streams and turns, keeping what arrived,
    /// and closes the store, within [`GRACE`].
    ///
    /// # Errors
    /// When the server ends without being asked.
    pub async fn until_stopped(mut self) -> Result<(), ServeError> {
        let [terminate, interrupt] = &mut self.signals;
        let asked = tokio::select! {
            _ = terminate.recv() => true,
            _ = interrupt.recv() => true,
            _ = &mut self.server => false,
        };
        tracing::info!(asked, "stopping");
        self.app.stop.cancel();
        self.app.work.close();
        let rest = async {
            if asked {
                // The stop has ended it; its result does not matter any more.
                let _ = (&mut self.server).await;
            }
            self.app.work.wait().await;
        };
        if tokio::time::timeout(GRACE, rest).await.is_err() {
            tracing::warn!("a connection or turn did not end in time");
        }
        self.app.store.close();
        if asked { Ok(()) } else { Err(ServeError::Ended) }
    }
}

/// Publishes the numbers of all that is loaded on the global lane, until the node stops.
async fn publish_numbers(roster: Arc<Roster>, period: Duration, stop: CancellationToken) {
    let mut due = tokio::time::interval_at(Instant::now() + period, period);
    while stop.run_until_cancelled(due.tick()).await.is_some() {
        roster.aggregate();
    }
}

fn take_data_dir(path: &Utf8Path) -> Result<File, ServeError> {
    let failed = |source| ServeError::DataDir { path: path.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    let lock = open_private(&path.join("lock")).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(ServeError::InUse(path.to_owned())),
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    // SQLite gives its other files the permissions of this one.
    open_private(&path.join(DATABASE)).map_err(failed)?;
    Ok(lock)
}

/// Opens or creates a file that only its owner can read: the folder may be readable by others.
fn open_private(path: &Utf8Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}
