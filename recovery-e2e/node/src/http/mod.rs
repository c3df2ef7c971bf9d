//! The HTTP server: routes, login, and the checks before each route.

mod accept;
mod assets;
mod auth;
mod deadline;
mod error;
mod origin;
mod routes;
mod sse;

use std::future::Future;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get, post};
use futures_util::StreamExt as _;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::lane::Roster;
use crate::metrics::Metrics;
use crate::registry::Registry;
use crate::store::Store;
use crate::turn::Turns;

pub use accept::serve;
pub use auth::{SecretError, Secrets, read_or_make};
pub use error::ApiError;
#[cfg(feature = "control")]
pub use error::BadRequest;
pub use origin::Origin;
#[cfg(feature = "control")]
pub use routes::read;

/// The content security policy of every response.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Room for everything in a request but the message itself.
const ENVELOPE: usize = 64 << 10;

/// JSON may write one byte of a message as six (`\u0000`).
const ESCAPED: usize = 6;

/// What the server allows, and how long it waits.
#[derive(Clone, Debug)]
pub struct Options {
    /// The origins that browsers reach the node by, beside its own.
    pub public_origins: Vec<Origin>,
    /// Whether only this machine can reach the node.
    pub is_local: bool,
    /// How many connections there may be.
    pub max_connections: usize,
    /// Bytes that a message may have.
    pub message_bytes: usize,
    /// How long a peer may take to send the head of a request, and then its body.
    pub request_deadline: Duration,
    /// How long a peer may take no bytes.
    pub write_deadline: Duration,
    /// How long the tools of a cancelled turn may take to end.
    pub cancel_grace: Duration,
    /// The time before a browser redials, in milliseconds.
    pub retry: RangeInclusive<u32>,
    /// The time between the comments that keep a stream open.
    pub ping: Duration,
}

/// What requests are answered from.
pub struct App {
    /// What the server allows.
    pub options: Options,
    /// The credentials of the node.
    pub secrets: Secrets,
    /// What is stored.
    pub store: Store,
    /// What is loaded, and the global lane.
    pub roster: Arc<Roster>,
    /// The workstreams.
    pub registry: Arc<Registry>,
    /// What runs the turns of messages.
    pub turns: Arc<Turns>,
    /// The counters of the node.
    pub metrics: Arc<Metrics>,
    /// Permits for connections, `max_connections` of them.
    pub connections: Arc<Semaphore>,
    /// Cancelled when the node is to stop.
    pub stop: CancellationToken,
    /// What must end before the store may close.
    pub work: TaskTracker,
}

impl App {
    /// Runs `work` to its end, also when the client that asked for it goes away: what is
    /// committed must be published.
    ///
    /// # Errors
    /// When `work` panicked.
    async fn carry_out<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, tokio::task::JoinError> {
        self.work.spawn(work).await
    }
}

/// What needs no login.
fn open() -> Vec<(&'static str, MethodRouter<Arc<App>>)> {
    vec![
        ("/health", get(routes::health)),
        ("/login", get(routes::login)),
        ("/static/{*path}", get(assets::file)),
    ]
}

/// What needs a login.
fn closed() -> Vec<(&'static str, MethodRouter<Arc<App>>)> {
    vec![
        ("/", get(assets::index)),
        ("/ws/{ws_id}", get(assets::workstream)),
        ("/coord/{ws_id}", get(assets::coordinator)),
        ("/v1/api/events/global", get(sse::global_events)),
        ("/v1/api/workstreams", get(routes::list).post(routes::create)),
        ("/v1/api/workstreams/{ws_id}", get(routes::detail).delete(routes::delete)),
        ("/v1/api/workstreams/{ws_id}/open", post(routes::open)),
        ("/v1/api/workstreams/{ws_id}/close", post(routes::close)),
        ("/v1/api/workstreams/{ws_id}/cancel", post(routes::cancel)),
        ("/v1/api/workstreams/{ws_id}/send", post(routes::send)),
        ("/v1/api/workstreams/{ws_id}/rewind", post(routes::rewind)),
        ("/v1/api/workstreams/{ws_id}/history", get(routes::history)),
        ("/v1/api/workstreams/{ws_id}/events", get(sse::events)),
        ("/v1/api/workstreams/{ws_id}/children", get(routes::children)),
        ("/v1/api/workstreams/{ws_id}/tasks", get(routes::tasks)),
    ]
}

/// All routes of a node.
fn router(app: Arc<App>) -> Router {
    let body = app.options.message_bytes.saturating_mul(ESCAPED).saturating_add(ENVELOPE);
    let (mut open, mut closed) = (open(), closed());
    // A scraper on the same machine needs no token; other machines need one.
    let metrics = ("/metrics", get(routes::metrics));
    if app.options.is_local {
        open.push(metrics)
    } else {
        closed.push(metrics)
    }
    let closed = routed(closed)
        .fallback(async || ApiError::NoRoute)
        .method_not_allowed_fallback(async || ApiError::NoMethod)
        .layer(middleware::from_fn_with_state(app.clone(), require_login));
    routed(open)
        .merge(closed)
        .layer(DefaultBodyLimit::max(body))
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

fn routed(routes: Vec<(&'static str, MethodRouter<Arc<App>>)>) -> Router<Arc<App>> {
    routes.into_iter().fold(Router::new(), |router, (path, methods)| router.route(path, methods))
}

/// The response to every request over the limit of connections.
fn refusal() -> Router {
    Router::new().fallback(async || ([(header::CONNECTION, "close")], ApiError::Full))
}

/// Limits the time to receive the body; the body then ends with an error.
fn in_time(request: Request, limit: Duration) -> Request {
    request.map(|body| {
        let late = tokio::time::sleep(limit);
        Body::from_stream(body.into_data_stream().take_until(late))
    })
}

/// Refuses unknown hosts and origins, and adds the security headers to every response.
async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = if origin::admits(&app.options.public_origins, request.headers()) {
        next.run(in_time(request, app.options.request_deadline)).await
    } else {
        ApiError::Foreign.into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

async fn require_login(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if app.secrets.admit(request.headers()) {
        return next.run(request).await;
    }
    let path = request.uri().path();
    if path == "/" || path.starts_with("/ws/") || path.starts_with("/coord/") {
        assets::login_needed()
    } else {
        ApiError::NoLogin.into_response()
    }
}

#[cfg(test)]
mod tests;
