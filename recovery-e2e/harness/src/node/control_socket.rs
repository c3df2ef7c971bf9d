//! The node's control socket: what only the node itself knows.

use std::collections::HashMap;

use camino::Utf8Path;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::node::wire::WsId;
use crate::wait::{self, WaitTimeout};

/// A control socket that does not answer.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// No connection, no answer, or not the one that was to come.
    #[error("the node's control socket: {0}")]
    Transport(#[from] reqwest::Error),
    /// An answer that never came.
    #[error("the node's control socket: {0}")]
    Wait(#[from] WaitTimeout),
}

/// A client of one node's control socket.
#[derive(Clone)]
pub struct ControlSocket {
    client: reqwest::Client,
}

/// The node's own counters.
#[derive(Clone, Debug, Deserialize)]
pub struct NodeCounters {
    /// How often a workstream's rows were read from storage.
    pub load_calls: u64,
    /// How often a read that was under way has served another request too.
    pub load_joins: u64,
    /// Reads that are held.
    pub parked_loads: u64,
    /// Workstreams in which a turn runs or is about to: with none, the node publishes nothing by
    /// itself.
    pub busy: u64,
    lanes: HashMap<String, Lane>,
}

#[derive(Clone, Debug, Deserialize)]
struct Lane {
    head: Option<String>,
}

impl NodeCounters {
    /// The id of the last event that the workstream has published, if it has published any since
    /// it was loaded.
    pub fn head(&self, ws: &WsId) -> Option<&str> {
        self.lanes.get(ws.as_str())?.head.as_deref()
    }
}

impl ControlSocket {
    /// A client of the socket at `path`.
    ///
    /// # Errors
    /// When no client can be made.
    pub fn new(path: &Utf8Path) -> Result<ControlSocket, ControlError> {
        let client = reqwest::Client::builder().unix_socket(path.as_std_path()).build()?;
        Ok(ControlSocket { client })
    }

    /// The id of the last event that the workstream has published, if it has published any since
    /// it was loaded.
    ///
    /// # Errors
    /// When the socket does not answer.
    pub async fn head(&self, ws: &WsId) -> Result<Option<String>, ControlError> {
        Ok(self.counters().await?.head(ws).map(str::to_owned))
    }

    /// Has the node publish an idle edge of a workstream as at the end of a turn, without a turn.
    ///
    /// # Errors
    /// When the socket does not answer, or a turn runs.
    pub async fn emit_idle_edge(&self, ws: &WsId) -> Result<(), ControlError> {
        let order = json!({"ws_id": ws.as_str(), "event": "idle_edge"});
        self.emit("an idle edge", &order).await
    }

    /// Has the node report to the panes of a workstream that they have lost touch with its rows.
    ///
    /// # Errors
    /// When the socket does not answer.
    pub async fn emit_history_resync(&self, ws: &WsId) -> Result<(), ControlError> {
        let order =
            json!({"ws_id": ws.as_str(), "event": "history_resync", "reason": "commit_failed"});
        self.emit("a resync", &order).await
    }

    /// Has the node publish a call that begins, as a turn would.
    ///
    /// # Errors
    /// When the socket does not answer.
    pub async fn emit_tool_pending(&self, ws: &WsId, call_id: &str) -> Result<(), ControlError> {
        self.emit("a call", &call(ws, call_id, "tool_pending")).await
    }

    /// Has the node publish that such a call has ended.
    ///
    /// # Errors
    /// When the socket does not answer.
    pub async fn emit_tool_result(&self, ws: &WsId, call_id: &str) -> Result<(), ControlError> {
        self.emit("a call's end", &call(ws, call_id, "tool_result")).await
    }

    /// Holds every read of rows from now on, when it has read and before it answers.
    ///
    /// # Errors
    /// When the socket does not answer.
    pub async fn hold_loads(&self) -> Result<(), ControlError> {
        self.post("held reads", "hold/load", &Value::Null).await
    }

    /// Lets go of the reads that are held, and holds no others.
    ///
    /// # Errors
    /// When the socket does not answer.
    pub async fn release_loads(&self) -> Result<(), ControlError> {
        self.post("released reads", "release/load", &Value::Null).await
    }

    /// Turns on a defect of the node, by its name.
    ///
    /// # Errors
    /// When the socket does not answer, or the node has no such defect.
    pub async fn turn_on_defect(&self, name: &str) -> Result<(), ControlError> {
        self.post("a defect", "defect", &json!({ "name": name })).await
    }

    /// Waits until the counters are such that `wanted` holds.
    ///
    /// # Errors
    /// When the socket does not answer, or they never are: a need.
    pub async fn until(
        &self,
        condition: &str,
        wanted: impl Fn(&NodeCounters) -> bool,
    ) -> Result<NodeCounters, ControlError> {
        let last = std::sync::Mutex::new(None);
        // No event announces a change: each answer is followed by the next question.
        let met = async {
            loop {
                let now = self.counters().await?;
                if wanted(&now) {
                    return Ok::<_, ControlError>(now);
                }
                *last.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(now);
            }
        };
        let saw = || format!("{:?}", last.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        wait::within(condition, met, saw).await?
    }

    async fn emit(&self, what: &str, order: &Value) -> Result<(), ControlError> {
        self.post(what, "emit", order).await
    }

    async fn post(&self, what: &str, path: &str, order: &Value) -> Result<(), ControlError> {
        let request = self.client.post(format!("http://control/{path}")).json(order).send();
        let answer = wait::within(what, request, || "no answer".to_owned()).await??;
        answer.error_for_status()?;
        Ok(())
    }

    /// The counters now. Whatever the node has answered before is in them.
    ///
    /// # Errors
    /// When the socket does not answer.
    pub async fn counters(&self) -> Result<NodeCounters, ControlError> {
        // The host is part of HTTP and means nothing on a Unix socket.
        let request = self.client.get("http://control/counters").send();
        let answer = wait::within("its counters", request, || "no answer".to_owned()).await??;
        Ok(answer.error_for_status()?.json().await?)
    }
}

fn call(ws: &WsId, call_id: &str, event: &str) -> Value {
    json!({"ws_id": ws.as_str(), "event": event, "call_id": call_id, "name": "bash"})
}
