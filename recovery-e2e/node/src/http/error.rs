//! Refusals: a status, a code for programs, a sentence for people.

use std::borrow::Cow;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::registry::LoadError;
use crate::store::StoreError;

/// Why a request is not done.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    code: &'static str,
    error: Cow<'static, str>,
}

const fn refusal(status: StatusCode, code: &'static str, error: &'static str) -> ApiError {
    ApiError { status, code, error: Cow::Borrowed(error) }
}

impl ApiError {
    /// No such route.
    pub const NO_ROUTE: Self =
        refusal(StatusCode::NOT_FOUND, "no_route", "there is nothing at this path");
    /// No such method on this route.
    pub const NO_METHOD: Self =
        refusal(StatusCode::METHOD_NOT_ALLOWED, "no_method", "this path does not take this method");
    /// No such workstream.
    pub const NO_WORKSTREAM: Self = refusal(
        StatusCode::NOT_FOUND,
        "no_workstream",
        "there is no such workstream; list them with GET /v1/api/workstreams?stored=1",
    );
    /// Neither token nor cookie.
    pub const NO_LOGIN: Self = refusal(
        StatusCode::UNAUTHORIZED,
        "no_login",
        "log in with the URL that the node printed at its start, or send its token as bearer",
    );
    /// The token of a login is wrong.
    pub const WRONG_TOKEN: Self = refusal(
        StatusCode::UNAUTHORIZED,
        "wrong_token",
        "this is not the token; use the login URL that the node printed at its start",
    );
    /// A foreign host or origin.
    pub const FOREIGN: Self = refusal(
        StatusCode::FORBIDDEN,
        "foreign",
        "this host or origin is not known; start the node with --public-origin to allow it",
    );
    /// The workstream was deleted, and panes that show it are to keep what they show.
    pub const GONE: Self = refusal(
        StatusCode::SERVICE_UNAVAILABLE,
        "workstream_gone",
        "this workstream is deleted; there is no history of it any more",
    );
    /// The workstream is about to be unloaded.
    pub const CLOSING: Self = refusal(
        StatusCode::CONFLICT,
        "closing",
        "this workstream is being closed; open it when that is done, and send again",
    );
    /// A turn runs.
    #[cfg(feature = "control")]
    pub const BUSY: Self =
        refusal(StatusCode::CONFLICT, "busy", "a turn runs; ask again when it has ended");

    /// No place for another connection.
    pub const FULL: Self = refusal(
        StatusCode::SERVICE_UNAVAILABLE,
        "full",
        "the node has as many connections as it may; try again later, or raise --max-connections",
    );

    /// The request itself is wrong; `error` says how.
    pub fn bad(error: impl Into<Cow<'static, str>>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code: "bad_request", error: error.into() }
    }
}

/// What the client may know of a failed store: not where it is, nor what SQLite says of it.
const STORAGE: ApiError = refusal(
    StatusCode::SERVICE_UNAVAILABLE,
    "storage",
    "the node cannot read or write its store now; nothing was changed, try again",
);

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "store failed");
        STORAGE
    }
}

impl From<LoadError> for ApiError {
    fn from(error: LoadError) -> Self {
        tracing::error!(%error, "load failed");
        STORAGE
    }
}

impl From<tokio::task::JoinError> for ApiError {
    fn from(error: tokio::task::JoinError) -> Self {
        tracing::error!(%error, "request failed");
        refusal(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the node failed; see its log")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.error, "code": self.code }))).into_response()
    }
}
