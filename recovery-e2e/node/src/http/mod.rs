//! The wire: routes, and the doors in front of them.

mod assets;
mod error;
mod routes;
mod sse;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};

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

/// All routes of a node.
pub fn router(node: Arc<Node>) -> Router {
    let body = node.settings.message_bytes.saturating_mul(ESCAPED).saturating_add(ENVELOPE);
    let closed = Router::new()
        .route("/", get(assets::index))
        .route("/ws/{ws_id}", get(assets::workstream))
        .route("/v1/api/workstreams", get(routes::list).post(routes::create))
        .route("/v1/api/events/global", get(sse::global_events))
        .route("/v1/api/workstreams/{ws_id}", get(routes::detail))
        .route("/v1/api/workstreams/{ws_id}/send", post(routes::send))
        .route("/v1/api/workstreams/{ws_id}/rewind", post(routes::rewind))
        .route("/v1/api/workstreams/{ws_id}/history", get(routes::history))
        .route("/v1/api/workstreams/{ws_id}/events", get(sse::events))
        .fallback(async || ApiError::NO_ROUTE)
        .method_not_allowed_fallback(async || ApiError::NO_METHOD)
        .layer(middleware::from_fn_with_state(node.clone(), require_login));
    Router::new()
        .route("/health", get(routes::health))
        .route("/login", get(routes::login))
        .route("/static/{*path}", get(assets::file))
        .merge(closed)
        .layer(DefaultBodyLimit::max(body))
        .layer(middleware::from_fn_with_state(node.clone(), guard))
        .with_state(node)
}

/// Refuses foreign hosts and origins, and stamps every answer with what a browser must know.
async fn guard(State(node): State<Arc<Node>>, request: Request, next: Next) -> Response {
    let mut response = if origin::admits(&node.settings.public_origins, request.headers()) {
        next.run(request).await
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
    if path == "/" || path.starts_with("/ws/") {
        assets::login_needed()
    } else {
        ApiError::NO_LOGIN.into_response()
    }
}
