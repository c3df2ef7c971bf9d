//! Publishes an event on request, in the same way as the node itself.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::{ApiError, read};
use crate::lane::{Activity, Event, Item, ResyncReason};
use crate::serve::Inner;

#[derive(Deserialize)]
struct Order {
    ws_id: String,
    #[serde(flatten)]
    pulse: Pulse,
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Pulse {
    /// As at the end of a turn.
    IdleEdge,
    /// As when a call begins.
    ToolPending { call_id: String, name: String },
    /// As when a call ends, before its row is stored.
    ToolResult {
        call_id: String,
        name: String,
        #[serde(default)]
        output: String,
    },
    /// As when panes must load the history again.
    HistoryResync { reason: ResyncReason },
}

/// Publishes one event; responds with its id.
pub async fn emit(
    State(inner): State<Inner>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, ApiError> {
    let Order { ws_id, pulse } = read(body)?;
    let ws = inner.registry.workstream(&ws_id).await?.ok_or(ApiError::NoWorkstream)?;
    let lane = &ws.lane;
    let id = match pulse {
        // While a turn runs the state is not idle.
        Pulse::IdleEdge if lane.activity() != Activity::Idle => return Err(ApiError::Busy),
        Pulse::IdleEdge => lane.enter(Activity::Idle),
        Pulse::ToolPending { call_id, name } => lane.publish(&Event::ToolPending {
            row_id: &lane.name_row(),
            items: &[Item { call_id: &call_id, name: &name, header: &name, preview: "" }],
            parent_call_id: None,
        }),
        Pulse::ToolResult { call_id, name, output } => lane.publish(&Event::ToolResult {
            call_id: &call_id,
            name: &name,
            output: &output,
            is_error: false,
            accepted: false,
            row_id: &lane.name_row(),
            parent_call_id: None,
        }),
        Pulse::HistoryResync { reason } => lane.publish(&Event::HistoryResync { reason }),
    };
    Ok(Json(json!({ "id": id.to_string() })))
}
