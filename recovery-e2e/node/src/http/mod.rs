//! The wire: routes, and the doors in front of them.

mod assets;
mod error;
mod routes;
mod sse;

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

use crate::node::Node;
use crate::origin;
pub use error::ApiError;
#[cfg(feature = "control")]
pub use routes::read;

/// What a browser may do with anything that comes from here.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Room for everything in a request but the message itself.
const ENVELOPE: usize = 64 << 10;

/// JSON may write one byte of a message as six (`\u0000`).
const ESCAPED: usize = 6;

/// What needs no login.
fn open() -> Vec<(&'static str, MethodRouter<Arc<Node>>)> {
    vec![
        ("/health", get(routes::health)),
        ("/login", get(routes::login)),
        ("/static/{*path}", get(assets::file)),
    ]
}

/// What needs a login.
fn closed() -> Vec<(&'static str, MethodRouter<Arc<Node>>)> {
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
pub fn router(node: Arc<Node>) -> Router {
    let body = node.settings.message_bytes.saturating_mul(ESCAPED).saturating_add(ENVELOPE);
    let (mut open, mut closed) = (open(), closed());
    // A scraper on the same machine needs no token; what others can reach tells them nothing.
    let metrics = ("/metrics", get(routes::metrics));
    if node.settings.is_local() {
        open.push(metrics)
    } else {
        closed.push(metrics)
    }
    let closed = routed(closed)
        .fallback(async || ApiError::NO_ROUTE)
        .method_not_allowed_fallback(async || ApiError::NO_METHOD)
        .layer(middleware::from_fn_with_state(node.clone(), require_login));
    routed(open)
        .merge(closed)
        .layer(DefaultBodyLimit::max(body))
        .layer(middleware::from_fn_with_state(node.clone(), guard))
        .with_state(node)
}

fn routed(routes: Vec<(&'static str, MethodRouter<Arc<Node>>)>) -> Router<Arc<Node>> {
    routes.into_iter().fold(Router::new(), |router, (path, methods)| router.route(path, methods))
}

/// Answers whoever comes when every place is taken.
pub fn refusal() -> Router {
    Router::new().fallback(async || ([(header::CONNECTION, "close")], ApiError::FULL))
}

/// A body that breaks off when it does not come in time.
fn in_time(request: Request, limit: Duration) -> Request {
    request.map(|body| {
        let late = tokio::time::sleep(limit);
        Body::from_stream(body.into_data_stream().take_until(late))
    })
}

/// Refuses foreign hosts and origins, and stamps every answer with what a browser must know.
async fn guard(State(node): State<Arc<Node>>, request: Request, next: Next) -> Response {
    let mut response = if origin::admits(&node.settings.public_origins, request.headers()) {
        next.run(in_time(request, node.settings.request_deadline)).await
    } else {
        ApiError::FOREIGN.into_response()
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

async fn require_login(State(node): State<Arc<Node>>, request: Request, next: Next) -> Response {
    if node.secrets.admit(request.headers()) {
        return next.run(request).await;
    }
    let path = request.uri().path();
    if path == "/" || path.starts_with("/ws/") || path.starts_with("/coord/") {
        assets::login_needed()
    } else {
        ApiError::NO_LOGIN.into_response()
    }
}

#[cfg(test)]
mod tests;
