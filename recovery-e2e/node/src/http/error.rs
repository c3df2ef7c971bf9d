//! Errors of the API: a status, a code for programs, a message for people.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::routes::{CLIENT_ID_MAX, HISTORY_MAX, NAME_MAX};
use crate::model::BaseError;
use crate::registry::LoadError;
use crate::store::StoreError;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// No such route.
    #[error("unknown path; check the URL")]
    NoRoute,
    /// No such method on this route.
    #[error("this path does not support this method; use another")]
    NoMethod,
    /// No such workstream.
    #[error("unknown workstream; GET /v1/api/workstreams?stored=1 lists them")]
    NoWorkstream,
    /// Neither token nor cookie.
    #[error(
        "not logged in; open the login URL that the node printed at start, or send the token as \
         bearer"
    )]
    NoLogin,
    /// The token of a login is wrong.
    #[error("wrong token; use the login URL that the node printed at start")]
    WrongToken,
    /// An unknown host or origin.
    #[error("unknown host or origin; start the node with --public-origin to allow it")]
    Foreign,
    /// The workstream was deleted; panes that show it keep what they show.
    #[error("this workstream is deleted, so it has no history; open another")]
    Gone,
    /// The workstream is about to be unloaded.
    #[error("this workstream is being closed; open it again, then send again")]
    Closing,
    /// A turn runs.
    #[cfg(feature = "control")]
    #[error("a turn is running; retry when it has ended")]
    Busy,
    /// The limit of connections is reached.
    #[error("too many connections; retry later, or start the node with a higher --max-connections")]
    Full,
    /// The store failed. The client gets neither its path nor the message of SQLite.
    #[error("the node cannot read or write its database; nothing was changed, retry")]
    Storage,
    /// The node failed at the request.
    #[error("internal error of the node; see its log")]
    Internal,
    /// The request itself is wrong.
    #[error(transparent)]
    Bad(#[from] BadRequest),
}

/// What is wrong with a request.
#[derive(Debug, thiserror::Error)]
pub enum BadRequest {
    /// The body is too large, or did not arrive.
    #[error(
        "cannot read the body of the request: {0}; send all of it before the request deadline, and \
         no more than the node accepts"
    )]
    Body(String),
    /// The body cannot be parsed.
    #[error("cannot parse the body as JSON: {0}; correct the body and send it again")]
    NotJson(#[from] serde_json::Error),
    /// The name of a workstream.
    #[error("name must have 1 to {NAME_MAX} characters and not be blank")]
    Name,
    /// The URL of a model.
    #[error("model_url: {0}")]
    ModelUrl(#[from] BaseError),
    /// The parent of a workstream.
    #[error("parent_ws_id is not a workstream; create the parent first")]
    NoParent,
    /// A message.
    #[error("message must have 1 to {max} bytes and not be blank")]
    Message {
        /// Bytes that it may have.
        max: usize,
    },
    /// An id that a client makes up.
    #[error("{field} must have 1 to {CLIENT_ID_MAX} letters, digits, '-' or '_'")]
    ClientId {
        /// The field of the body that has the id.
        field: &'static str,
    },
    /// The number of rows of a history.
    #[error("limit must be a number from 1 to {HISTORY_MAX}")]
    Limit,
    /// The defect to turn on.
    #[cfg(feature = "control")]
    #[error("unknown defect; the only one is flight-key-without-generation")]
    Defect,
}

impl ApiError {
    /// The status of the response, and the code in its body.
    pub fn status(&self) -> (StatusCode, &'static str) {
        match self {
            Self::NoRoute => (StatusCode::NOT_FOUND, "no_route"),
            Self::NoMethod => (StatusCode::METHOD_NOT_ALLOWED, "no_method"),
            Self::NoWorkstream => (StatusCode::NOT_FOUND, "no_workstream"),
            Self::NoLogin => (StatusCode::UNAUTHORIZED, "no_login"),
            Self::WrongToken => (StatusCode::UNAUTHORIZED, "wrong_token"),
            Self::Foreign => (StatusCode::FORBIDDEN, "foreign"),
            Self::Gone => (StatusCode::SERVICE_UNAVAILABLE, "workstream_gone"),
            Self::Closing => (StatusCode::CONFLICT, "closing"),
            #[cfg(feature = "control")]
            Self::Busy => (StatusCode::CONFLICT, "busy"),
            Self::Full => (StatusCode::SERVICE_UNAVAILABLE, "full"),
            Self::Storage => (StatusCode::SERVICE_UNAVAILABLE, "storage"),
            Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
            Self::Bad(_) => (StatusCode::BAD_REQUEST, "bad_request"),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed");
        Self::Storage
    }
}

impl From<LoadError> for ApiError {
    fn from(error: LoadError) -> Self {
        tracing::error!(%error, "a workstream could not be loaded");
        Self::Storage
    }
}

impl From<tokio::task::JoinError> for ApiError {
    fn from(error: tokio::task::JoinError) -> Self {
        tracing::error!(%error, "a request panicked");
        Self::Internal
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, code) = self.status();
        (status, Json(json!({ "error": self.to_string(), "code": code }))).into_response()
    }
}
