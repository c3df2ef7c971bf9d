//! The JSON routes.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::error::ApiError;
use crate::auth::is_local_path;
use crate::event::Activity;
use crate::metrics;
use crate::model;
use crate::node::{LoadError, Node, Plan};
use crate::roster::Entry;
use crate::store::Stored;
use crate::task;
use crate::workstream::{Rewound, Sent, Workstream};

/// Rows of a history if the request names no limit, and at most (protocol, "HTTP").
const HISTORY_DEFAULT: u32 = 100;
const HISTORY_MAX: u32 = 500;

/// Characters of a workstream's name.
const NAME_MAX: usize = 200;

/// Characters of an id that a client makes up.
const CLIENT_ID_MAX: usize = 128;

type Answer<T = Json<Value>> = Result<T, ApiError>;
/// The query as it came: a repeated or unknown parameter is no error, the first one counts.
pub type Params = Query<Vec<(String, String)>>;

/// The first parameter of this name.
pub fn param<'a>(params: &'a Params, name: &str) -> Option<&'a str> {
    params.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// The workstream id in a path.
pub struct Named(String);

impl FromRequestParts<Arc<Node>> for Named {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, node: &Arc<Node>) -> Answer<Self> {
        // A path that is no text names nothing.
        let path = Path::<String>::from_request_parts(parts, node).await;
        path.map(|Path(ws_id)| Self(ws_id)).map_err(|_| ApiError::NO_WORKSTREAM)
    }
}

/// The workstream that a path names, loaded if it was not.
pub struct Opened(pub Arc<Workstream>);

impl FromRequestParts<Arc<Node>> for Opened {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, node: &Arc<Node>) -> Answer<Self> {
        let Named(ws_id) = Named::from_request_parts(parts, node).await?;
        node.workstream(&ws_id).await?.map(Self).ok_or(ApiError::NO_WORKSTREAM)
    }
}

/// As [`Opened`], for those whom a pane asks again and again: none, where it was deleted while
/// this node ran.
pub struct Latched(pub Option<Arc<Workstream>>);

impl FromRequestParts<Arc<Node>> for Latched {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, node: &Arc<Node>) -> Answer<Self> {
        let Named(ws_id) = Named::from_request_parts(parts, node).await?;
        match node.workstream(&ws_id).await? {
            None if node.is_gone(&ws_id).await => Ok(Self(None)),
            None => Err(ApiError::NO_WORKSTREAM),
            found => Ok(Self(found)),
        }
    }
}

pub async fn health(State(node): State<Arc<Node>>) -> Answer {
    node.store.ping().await?;
    Ok(Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") })))
}

pub async fn metrics(State(node): State<Arc<Node>>) -> Response {
    let text = metrics::text(&node.metrics, &node.present().await);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

pub async fn login(State(node): State<Arc<Node>>, params: Params) -> Answer<Response> {
    if !param(&params, "token").is_some_and(|token| node.secrets.is_token(token)) {
        return Err(ApiError::WRONG_TOKEN);
    }
    let next = param(&params, "next").filter(|next| is_local_path(next)).unwrap_or("/");
    let headers =
        [(header::SET_COOKIE, node.secrets.set_cookie()), (header::LOCATION, next.to_owned())];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

pub async fn list(State(node): State<Arc<Node>>, params: Params) -> Answer {
    let mut all = node.roster.list();
    if param(&params, "stored") == Some("1") {
        let mut asleep = node.store.all().await?;
        asleep.retain(|ws| !all.iter().any(|loaded| loaded.ws_id == ws.ws_id));
        all.extend(asleep.iter().map(|ws| Entry::of(ws, Activity::Idle)));
    }
    Ok(Json(json!({ "workstreams": all })))
}

pub async fn create(
    State(node): State<Arc<Node>>,
    body: Result<Bytes, BytesRejection>,
) -> Answer<Response> {
    let mut plan: Plan = read(body)?;
    if plan.name.trim().is_empty() || plan.name.chars().count() > NAME_MAX {
        return Err(ApiError::bad(format!("name must have 1 to {NAME_MAX} characters")));
    }
    let model_url = plan.model_url.as_deref().map(model::check_base).transpose();
    plan.model_url = model_url.map_err(|error| ApiError::bad(format!("model_url: {error}")))?;
    if let Some(parent) = &plan.parent_ws_id
        && node.store.find(parent).await?.is_none()
    {
        return Err(ApiError::bad("parent_ws_id names no workstream; make that one first"));
    }
    let made = node.clone();
    let ws = node.carry_out(async move { made.create(plan).await }).await??;
    let answer = json!({ "ws_id": ws.ws_id, "name": ws.name });
    Ok((StatusCode::CREATED, Json(answer)).into_response())
}

pub async fn detail(Opened(ws): Opened) -> Json<Entry> {
    Json(ws.entry())
}

pub async fn children(State(node): State<Arc<Node>>, Opened(ws): Opened) -> Answer {
    let loaded = node.roster.list();
    let entry = |child: &Stored| {
        let loaded = loaded.iter().find(|entry| entry.ws_id == child.ws_id);
        loaded.cloned().unwrap_or_else(|| Entry::of(child, Activity::Idle))
    };
    let children: Vec<_> = node.store.children(&ws.ws_id).await?.iter().map(entry).collect();
    Ok(Json(json!({ "children": children })))
}

pub async fn tasks(State(node): State<Arc<Node>>, Opened(ws): Opened) -> Answer {
    let rows = node.store.rows(&ws.ws_id, HISTORY_MAX).await?;
    let tasks = task::tasks(&rows, ws.lane.activity() != Activity::Idle);
    Ok(Json(json!({ "tasks": tasks })))
}

pub async fn send(
    State(node): State<Arc<Node>>,
    Opened(ws): Opened,
    body: Result<Bytes, BytesRejection>,
) -> Answer {
    #[derive(Deserialize)]
    struct Send {
        message: String,
        client_send_id: Option<String>,
    }
    let Send { message, client_send_id } = read(body)?;
    let max = node.settings.message_bytes;
    if message.trim().is_empty() || message.len() > max {
        return Err(ApiError::bad(format!("message must have 1 to {max} bytes, not all blank")));
    }
    check_client_id("client_send_id", client_send_id.as_deref())?;
    match node.carry_out(ws.send(node.clone(), message, client_send_id)).await?? {
        Sent::Accepted => Ok(Json(json!({ "status": "ok" }))),
        Sent::Queued => Ok(Json(json!({ "status": "queued" }))),
        Sent::Closed => Err(ApiError::CLOSING),
    }
}

pub async fn cancel(
    State(node): State<Arc<Node>>,
    Opened(ws): Opened,
    body: Result<Bytes, BytesRejection>,
) -> Answer {
    #[derive(Default, Deserialize)]
    struct Cancel {
        #[serde(default)]
        force: bool,
    }
    let Cancel { force } = match body {
        Ok(body) if body.is_empty() => Cancel::default(),
        body => read(body)?,
    };
    let intent = getrandom::u64().map_err(LoadError::Random)?;
    ws.cancel(if force { Duration::ZERO } else { node.settings.turns.cancel_grace }).await;
    Ok(Json(json!({ "status": "ok", "intent_id": format!("{intent:016x}") })))
}

pub async fn open(Opened(ws): Opened) -> Json<Value> {
    Json(json!({ "ws_id": ws.ws_id, "name": ws.name }))
}

pub async fn close(State(node): State<Arc<Node>>, Named(ws_id): Named) -> Answer {
    let closing = node.clone();
    let known = node.carry_out(async move { closing.close(&ws_id).await }).await??;
    if known { Ok(Json(json!({ "status": "ok" }))) } else { Err(ApiError::NO_WORKSTREAM) }
}

pub async fn delete(State(node): State<Arc<Node>>, Named(ws_id): Named) -> Answer {
    let deleting = node.clone();
    let known = node.carry_out(async move { deleting.delete(&ws_id).await }).await??;
    if known { Ok(Json(json!({ "status": "ok" }))) } else { Err(ApiError::NO_WORKSTREAM) }
}

pub async fn rewind(
    State(node): State<Arc<Node>>,
    Opened(ws): Opened,
    body: Result<Bytes, BytesRejection>,
) -> Answer<Json<Rewound>> {
    #[derive(Deserialize)]
    struct Rewind {
        turns: NonZeroU64,
        request_id: Option<String>,
    }
    let Rewind { turns, request_id } = read(body)?;
    check_client_id("request_id", request_id.as_deref())?;
    let store = node.store.clone();
    let work = async move { ws.rewind(&store, turns.get(), request_id).await };
    Ok(Json(node.carry_out(work).await??))
}

pub async fn history(
    State(node): State<Arc<Node>>,
    Latched(ws): Latched,
    params: Params,
) -> Answer {
    let ws = ws.ok_or(ApiError::GONE)?;
    let limit = match param(&params, "limit") {
        None => HISTORY_DEFAULT,
        Some(text) => text
            .parse()
            .ok()
            .filter(|limit| (1..=HISTORY_MAX).contains(limit))
            .ok_or_else(|| ApiError::bad(format!("limit must be 1 to {HISTORY_MAX}")))?,
    };
    // Others may wait for this read by now, so it goes on when its own client goes away.
    let history = node.carry_out(ws.clone().history(node.clone(), limit)).await??;
    Ok(Json(json!({
        "ws_id": ws.ws_id,
        "messages": history.rows,
        "cursor": null,
        "handoff_token": history.token.to_string(),
    })))
}

/// Reads a JSON body; what is wrong with it becomes the answer.
pub fn read<T: DeserializeOwned>(body: Result<Bytes, BytesRejection>) -> Result<T, ApiError> {
    let body = body.map_err(|error| ApiError::bad(error.body_text()))?;
    serde_json::from_slice(&body).map_err(|error| ApiError::bad(format!("the body: {error}")))
}

fn check_client_id(name: &str, id: Option<&str>) -> Result<(), ApiError> {
    let plain = |id: &str| {
        (1..=CLIENT_ID_MAX).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    };
    if id.is_none_or(plain) {
        Ok(())
    } else {
        Err(ApiError::bad(format!(
            "{name} must have 1 to {CLIENT_ID_MAX} letters, digits, '-' or '_'"
        )))
    }
}
