//! The running proxy, as a scenario holds it.

use std::collections::HashMap;
use std::future::pending;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::door::Door;
use super::exchange;
use super::receipt::Receipt;
use super::request_log::RequestLog;
use super::route::Route;
use super::socket::{SocketIo, Sockets};
use super::upstream::Upstream;
use crate::record::class::Class;
use crate::record::counters::Counters;
use crate::record::request::Record;
use crate::record::trace::{Trace, TraceError};
use crate::wait::{self, WaitTimeout};

/// How many round trips a fence takes, one after the other; `socket` says why.
const FENCE_TRIPS: usize = 2;

/// How many severings a stream may not have seen yet. A scenario makes them one by one.
const SEVERED_AT_ONCE: usize = 16;

/// What a proxy is made with.
#[derive(Debug)]
pub struct ProxyConfig {
    /// The port of 127.0.0.1 to listen on; 0 takes a free one.
    pub port: u16,
    /// Where requests go; without one, connections are broken off.
    pub upstream: Option<SocketAddr>,
    /// Which request has which class; what none of them matches is [`Class::OTHER`].
    pub routes: &'static [Route],
    /// What the proxy answers itself.
    pub pages: Vec<LocalPage>,
    /// Where every event of a request is written.
    pub trace: Trace,
}

/// A document that the proxy answers itself, whatever the upstream has there.
#[derive(Clone, Debug)]
pub struct LocalPage {
    /// The exact path, without a query.
    pub path: String,
    /// The value of `Content-Type`.
    pub content_type: String,
    /// The document.
    pub body: Bytes,
}

/// The proxy could not be set up, or did not keep its records.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// No such port on the loopback interface.
    #[error(
        "cannot listen on port {port} of 127.0.0.1: {source}; name another, 0 takes a free one"
    )]
    Listen {
        /// The port that was asked for.
        port: u16,
        /// What the kernel says.
        source: io::Error,
    },
    /// A local page with a content type that is none.
    #[error("the page {path} has the content type {content_type:?}, which no header can carry")]
    ContentType {
        /// The page.
        path: String,
        /// What was given.
        content_type: String,
    },
    /// No more connections could be taken in.
    #[error("the proxy stopped accepting connections: {0}; raise the limit of open files")]
    Accept(#[source] io::Error),
    /// The file of request events is not complete.
    #[error(transparent)]
    Log(#[from] TraceError),
}

/// A running proxy. Dropping it ends all its tasks; [`Proxy::shutdown`] also waits for them.
#[derive(Debug)]
pub struct Proxy {
    origin: String,
    pub(super) shared: Arc<Shared>,
}

/// What the tasks of a proxy share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) request_log: Arc<RequestLog>,
    pub(super) sockets: Sockets,
    pub(super) door: Door,
    pub(super) routes: &'static [Route],
    upstream: Mutex<Option<Upstream>>,
    pages: HashMap<String, Page>,
    accept_failed: Mutex<Option<io::Error>>,
    /// Announces to open event streams that those of a class are severed.
    pub(super) severed: broadcast::Sender<(Class, Receipt)>,
    tasks: TaskTracker,
    ending: CancellationToken,
}

/// A local page, ready to be served.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) content_type: HeaderValue,
    pub(super) body: Bytes,
}

impl Proxy {
    /// Listens on 127.0.0.1, and serves from now on.
    ///
    /// # Errors
    /// [`ProxyError`] when there is no port, or a page that cannot be served.
    pub async fn start(config: ProxyConfig) -> Result<Proxy, ProxyError> {
        let pages = config.pages.into_iter().map(page).collect::<Result<_, _>>()?;
        let failed = |source| ProxyError::Listen { port: config.port, source };
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, config.port)).await;
        let listener = bound.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let ending = CancellationToken::new();
        let shared = Arc::new(Shared {
            request_log: Arc::new(RequestLog::new(config.trace, ending.clone())),
            sockets: Sockets::new(listener),
            door: Door::open(),
            routes: config.routes,
            upstream: Mutex::new(config.upstream.map(|address| Upstream { address, start: 1 })),
            pages,
            accept_failed: Mutex::default(),
            severed: broadcast::channel(SEVERED_AT_ONCE).0,
            tasks: TaskTracker::new(),
            ending,
        });
        shared.spawn(accept(Arc::clone(&shared)));
        Ok(Proxy { origin: format!("http://{address}"), shared })
    }

    /// `http://127.0.0.1:PORT`
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Sends what is forwarded from now on to `upstream`, which counts as the node's next start
    /// ([`Record::upstream`]). Open connections stay where they are.
    pub fn point_at(&self, upstream: SocketAddr) {
        let mut now = lock(&self.shared.upstream);
        let start = now.map_or(1, |before| before.start + 1);
        *now = Some(Upstream { address: upstream, start });
    }

    /// The receipts of all faults that were armed, in the order of arming.
    pub fn receipts(&self) -> Vec<Receipt> {
        self.shared.request_log.receipts()
    }

    /// All requests so far, in the order of arrival.
    pub fn records(&self) -> Vec<Record> {
        self.shared.request_log.records()
    }

    /// The counters of the requests so far, and every change of them.
    pub fn counters(&self) -> watch::Receiver<Counters> {
        self.shared.request_log.counters()
    }

    /// Waits until the page has been answered both its markers `/__fence/<id>`.
    ///
    /// From then on every request that the page issued before the first marker is counted. The
    /// page sends the second when it has the answer to the first, and uses each id for one fence.
    ///
    /// # Errors
    /// [`WaitTimeout`] when the markers do not come, or an earlier request stays half sent.
    pub async fn fence_arrived(&self, id: &str) -> Result<(), WaitTimeout> {
        let path = format!("/__fence/{id}");
        let marker = |record: &Record| {
            record.class == Class::FENCE && record.path == path && record.answered() && record.ok()
        };
        let trips = || self.records().iter().filter(|record| marker(record)).count();
        let mut counters = self.counters();
        let both = async {
            while trips() < FENCE_TRIPS {
                if counters.changed().await.is_err() {
                    pending::<()>().await;
                }
            }
        };
        let saw = || {
            let counters = self.shared.request_log.counters();
            format!("{} of {FENCE_TRIPS} round trips; {:?}", trips(), *counters.borrow())
        };
        wait::within(&format!("fence {id}"), both, saw).await
    }

    /// Ends all tasks, and waits until the end of every request is in its file.
    ///
    /// # Errors
    /// [`ProxyError::Accept`] and [`ProxyError::Log`]: what would make the records incomplete.
    pub async fn shutdown(&self) -> Result<(), ProxyError> {
        self.shared.ending.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        if let Some(error) = lock(&self.shared.accept_failed).take() {
            return Err(ProxyError::Accept(error));
        }
        Ok(self.shared.request_log.check()?)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ending.cancel();
    }
}

impl Shared {
    /// Runs `task` until it ends or the proxy does.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let ending = self.ending.clone();
        self.tasks.spawn(async move {
            ending.run_until_cancelled(task).await;
        });
    }

    pub(super) fn local_page(&self, path: &str) -> Option<&Page> {
        self.pages.get(path)
    }

    pub(super) fn upstream(&self) -> Option<Upstream> {
        *lock(&self.upstream)
    }
}

fn page(page: LocalPage) -> Result<(String, Page), ProxyError> {
    let LocalPage { path, content_type, body } = page;
    match HeaderValue::from_str(&content_type) {
        Ok(content_type) => Ok((path, Page { content_type, body })),
        Err(_) => Err(ProxyError::ContentType { path, content_type }),
    }
}

/// Takes in connections, and gives each a task.
async fn accept(shared: Arc<Shared>) {
    loop {
        let socket = match shared.sockets.accept().await {
            Ok(socket) => socket,
            // The browser was quicker to leave than the proxy to accept.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            Err(error) => {
                *lock(&shared.accept_failed) = Some(error);
                return;
            }
        };
        let serving = Arc::clone(&shared);
        shared.spawn(async move {
            if !serving.door.admits(&socket).await {
                return;
            }
            let io = TokioIo::new(SocketIo(Arc::clone(&socket)));
            let service = service_fn(|request| exchange::serve(&serving, &socket, request));
            let connection = http1::Builder::new().keep_alive(false).serve_connection(io, service);
            // How it ended is in the record of its request.
            let _ = connection.await;
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
