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

use super::App;
use super::auth::is_local_path;
use super::error::{ApiError, BadRequest};
use crate::lane::{Activity, Entry};
use crate::metrics::{self, Present};
use crate::registry::{LoadError, Plan};
use crate::store::Stored;
use crate::workstream::{Rewound, Sent, Workstream};
use crate::{model, turn};

/// Rows of a history if the request names no limit, and at most (protocol, "HTTP").
const HISTORY_DEFAULT: u32 = 100;
pub const HISTORY_MAX: u32 = 500;

/// Characters of a workstream's name.
pub const NAME_MAX: usize = 200;

/// Characters of an id that a client makes up.
pub const CLIENT_ID_MAX: usize = 128;

type Answer<T = Json<Value>> = Result<T, ApiError>;
/// The query as it came: a repeated or unknown parameter is no error, the first one counts.
pub type Params = Query<Vec<(String, String)>>;

/// The first parameter of this name.
pub fn param<'a>(params: &'a Params, name: &str) -> Option<&'a str> {
    params.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// The workstream id in a path.
pub struct Named(String);

impl FromRequestParts<Arc<App>> for Named {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Answer<Self> {
        // A path that is not UTF-8 names no workstream.
        let path = Path::<String>::from_request_parts(parts, app).await;
        path.map(|Path(ws_id)| Self(ws_id)).map_err(|_| ApiError::NoWorkstream)
    }
}

/// The workstream that a path names, loaded if it was not.
pub struct Opened(pub Arc<Workstream>);

impl FromRequestParts<Arc<App>> for Opened {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Answer<Self> {
        let Named(ws_id) = Named::from_request_parts(parts, app).await?;
        app.registry.workstream(&ws_id).await?.map(Self).ok_or(ApiError::NoWorkstream)
    }
}

/// As [`Opened`], for the routes that a pane retries: none if the workstream was deleted while
/// this node ran.
pub struct Latched(pub Option<Arc<Workstream>>);

impl FromRequestParts<Arc<App>> for Latched {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Answer<Self> {
        let Named(ws_id) = Named::from_request_parts(parts, app).await?;
        match app.registry.workstream(&ws_id).await? {
            None if app.registry.is_gone(&ws_id).await => Ok(Self(None)),
            None => Err(ApiError::NoWorkstream),
            found => Ok(Self(found)),
        }
    }
}

pub async fn health(State(app): State<Arc<App>>) -> Answer {
    app.store.ping().await?;
    Ok(Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") })))
}

pub async fn metrics(State(app): State<Arc<App>>) -> Response {
    let loaded = app.registry.loaded().await;
    let present = Present {
        workstreams: loaded.len(),
        connections: app.options.max_connections - app.connections.available_permits(),
        panes: loaded.iter().map(|ws| ws.lane.load()).sum(),
        global: app.roster.load(),
    };
    let text = metrics::text(&app.metrics, &present);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

pub async fn login(State(app): State<Arc<App>>, params: Params) -> Answer<Response> {
    if !param(&params, "token").is_some_and(|token| app.secrets.is_token(token)) {
        return Err(ApiError::WrongToken);
    }
    let next = param(&params, "next").filter(|next| is_local_path(next)).unwrap_or("/");
    let headers =
        [(header::SET_COOKIE, app.secrets.set_cookie()), (header::LOCATION, next.to_owned())];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

pub async fn list(State(app): State<Arc<App>>, params: Params) -> Answer {
    let mut all = app.roster.list();
    if param(&params, "stored") == Some("1") {
        let mut asleep = app.store.all().await?;
        asleep.retain(|ws| !all.iter().any(|loaded| loaded.ws_id == ws.ws_id));
        all.extend(asleep.iter().map(unloaded));
    }
    Ok(Json(json!({ "workstreams": all })))
}

/// A workstream that is not loaded, as lists show it: nothing runs in it.
fn unloaded(ws: &Stored) -> Entry {
    Entry {
        ws_id: ws.ws_id.clone(),
        name: ws.name.clone(),
        state: Activity::Idle,
        kind: ws.kind,
        parent_ws_id: ws.parent_ws_id.clone(),
    }
}

pub async fn create(
    State(app): State<Arc<App>>,
    body: Result<Bytes, BytesRejection>,
) -> Answer<Response> {
    let mut plan: Plan = read(body)?;
    if plan.name.trim().is_empty() || plan.name.chars().count() > NAME_MAX {
        return Err(BadRequest::Name.into());
    }
    let model_url = plan.model_url.as_deref().map(model::check_base).transpose();
    plan.model_url = model_url.map_err(BadRequest::from)?;
    if let Some(parent) = &plan.parent_ws_id
        && app.store.find(parent).await?.is_none()
    {
        return Err(BadRequest::NoParent.into());
    }
    let registry = app.registry.clone();
    let ws = app.carry_out(async move { registry.create(plan).await }).await??;
    let answer = json!({ "ws_id": ws.ws_id, "name": ws.name });
    Ok((StatusCode::CREATED, Json(answer)).into_response())
}

pub async fn detail(Opened(ws): Opened) -> Json<Entry> {
    Json(ws.entry())
}

pub async fn children(State(app): State<Arc<App>>, Opened(ws): Opened) -> Answer {
    let loaded = app.roster.list();
    let entry = |child: &Stored| {
        let loaded = loaded.iter().find(|entry| entry.ws_id == child.ws_id);
        loaded.cloned().unwrap_or_else(|| unloaded(child))
    };
    let children: Vec<_> = app.store.children(&ws.ws_id).await?.iter().map(entry).collect();
    Ok(Json(json!({ "children": children })))
}

pub async fn tasks(Opened(ws): Opened) -> Answer {
    let rows = ws.rows(HISTORY_MAX).await?;
    let tasks = turn::tasks(&rows, ws.lane.activity() != Activity::Idle);
    Ok(Json(json!({ "tasks": tasks })))
}

pub async fn send(
    State(app): State<Arc<App>>,
    Opened(ws): Opened,
    body: Result<Bytes, BytesRejection>,
) -> Answer {
    #[derive(Deserialize)]
    struct Send {
        message: String,
        client_send_id: Option<String>,
    }
    let Send { message, client_send_id } = read(body)?;
    let max = app.options.message_bytes;
    if message.trim().is_empty() || message.len() > max {
        return Err(BadRequest::Message { max }.into());
    }
    check_client_id("client_send_id", client_send_id.as_deref())?;
    match app.carry_out(app.turns.clone().send(ws, message, client_send_id)).await?? {
        Sent::Accepted => Ok(Json(json!({ "status": "ok" }))),
        Sent::Queued => Ok(Json(json!({ "status": "queued" }))),
        Sent::Closed => Err(ApiError::Closing),
    }
}

pub async fn cancel(
    State(app): State<Arc<App>>,
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
    ws.cancel(if force { Duration::ZERO } else { app.options.cancel_grace }).await;
    Ok(Json(json!({ "status": "ok", "intent_id": format!("{intent:016x}") })))
}

pub async fn open(Opened(ws): Opened) -> Json<Value> {
    Json(json!({ "ws_id": ws.ws_id, "name": ws.name }))
}

pub async fn close(State(app): State<Arc<App>>, Named(ws_id): Named) -> Answer {
    let (registry, grace) = (app.registry.clone(), app.options.cancel_grace);
    let known = app.carry_out(async move { registry.close(&ws_id, grace).await }).await??;
    if known { Ok(Json(json!({ "status": "ok" }))) } else { Err(ApiError::NoWorkstream) }
}

pub async fn delete(State(app): State<Arc<App>>, Named(ws_id): Named) -> Answer {
    let registry = app.registry.clone();
    let known = app.carry_out(async move { registry.delete(&ws_id).await }).await??;
    if known { Ok(Json(json!({ "status": "ok" }))) } else { Err(ApiError::NoWorkstream) }
}

pub async fn rewind(
    State(app): State<Arc<App>>,
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
    let work = async move { ws.rewind(turns.get(), request_id).await };
    Ok(Json(app.carry_out(work).await??))
}

pub async fn history(State(app): State<Arc<App>>, Latched(ws): Latched, params: Params) -> Answer {
    let ws = ws.ok_or(ApiError::Gone)?;
    let limit = match param(&params, "limit") {
        None => HISTORY_DEFAULT,
        Some(text) => text
            .parse()
            .ok()
            .filter(|limit| (1..=HISTORY_MAX).contains(limit))
            .ok_or(BadRequest::Limit)?,
    };
    // Others may wait for this read by now, so it goes on when its own client goes away.
    let history = app.carry_out(ws.clone().history(limit)).await??;
    Ok(Json(json!({
        "ws_id": ws.ws_id,
        "messages": history.rows,
        "cursor": null,
        "handoff_token": history.token.to_string(),
    })))
}

/// Parses a JSON body; a parse error becomes the response.
pub fn read<T: DeserializeOwned>(body: Result<Bytes, BytesRejection>) -> Result<T, ApiError> {
    let body = body.map_err(|error| BadRequest::Body(error.body_text()))?;
    Ok(serde_json::from_slice(&body).map_err(BadRequest::from)?)
}

fn check_client_id(field: &'static str, id: Option<&str>) -> Result<(), BadRequest> {
    let plain = |id: &str| {
        (1..=CLIENT_ID_MAX).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    };
    if id.is_none_or(plain) { Ok(()) } else { Err(BadRequest::ClientId { field }) }
}
