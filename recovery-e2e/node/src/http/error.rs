//! Errors of the API: a status, a code for programs, a message for people.

use std::borrow::Cow;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::registry::LoadError;
use crate::store::StoreError;

/// Why a request failed.
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
        refusal(StatusCode::NOT_FOUND, "no_route", "unknown path; check the URL");
    /// No such method on this route.
    pub const NO_METHOD: Self = refusal(
        StatusCode::METHOD_NOT_ALLOWED,
        "no_method",
        "this path does not support this method; use another",
    );
    /// No such workstream.
    pub const NO_WORKSTREAM: Self = refusal(
        StatusCode::NOT_FOUND,
        "no_workstream",
        "unknown workstream; GET /v1/api/workstreams?stored=1 lists them",
    );
    /// Neither token nor cookie.
    pub const NO_LOGIN: Self = refusal(
        StatusCode::UNAUTHORIZED,
        "no_login",
        "not logged in; open the login URL that the node printed at start, or send the token as bearer",
    );
    /// The token of a login is wrong.
    pub const WRONG_TOKEN: Self = refusal(
        StatusCode::UNAUTHORIZED,
        "wrong_token",
        "wrong token; use the login URL that the node printed at start",
    );
    /// An unknown host or origin.
    pub const FOREIGN: Self = refusal(
        StatusCode::FORBIDDEN,
        "foreign",
        "unknown host or origin; start the node with --public-origin to allow it",
    );
    /// The workstream was deleted; panes that show it keep what they show.
    pub const GONE: Self = refusal(
        StatusCode::SERVICE_UNAVAILABLE,
        "workstream_gone",
        "this workstream is deleted, so it has no history; open another",
    );
    /// The workstream is about to be unloaded.
    pub const CLOSING: Self = refusal(
        StatusCode::CONFLICT,
        "closing",
        "this workstream is being closed; open it again, then send again",
    );
    /// A turn runs.
    #[cfg(feature = "control")]
    pub const BUSY: Self =
        refusal(StatusCode::CONFLICT, "busy", "a turn is running; retry when it has ended");

    /// The limit of connections is reached.
    pub const FULL: Self = refusal(
        StatusCode::SERVICE_UNAVAILABLE,
        "full",
        "too many connections; retry later, or start the node with a higher --max-connections",
    );

    /// The request itself is wrong; `error` says how.
    pub fn bad(error: impl Into<Cow<'static, str>>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code: "bad_request", error: error.into() }
    }
}

/// A failed store. The client gets neither its path nor the message of SQLite.
const STORAGE: ApiError = refusal(
    StatusCode::SERVICE_UNAVAILABLE,
    "storage",
    "the node cannot read or write its database; nothing was changed, retry",
);

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed");
        STORAGE
    }
}

impl From<LoadError> for ApiError {
    fn from(error: LoadError) -> Self {
        tracing::error!(%error, "a workstream could not be loaded");
        STORAGE
    }
}

impl From<tokio::task::JoinError> for ApiError {
    fn from(error: tokio::task::JoinError) -> Self {
        tracing::error!(%error, "a request panicked");
        refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "internal error of the node; see its log",
        )
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.error, "code": self.code }))).into_response()
    }
}
