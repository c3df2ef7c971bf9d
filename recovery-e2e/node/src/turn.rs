//! One turn: the model is asked, what it calls is run, and it is asked again until it calls
//! nothing more.

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::Value;

use crate::batch::{Batch, at};
use crate::call::Site;
use crate::event::Activity;
use crate::halt::{Halted, Halter, Why};
use crate::model::{Answer, ModelError, message};
use crate::node::Node;
use crate::row::Call;
use crate::store::StoreError;
use crate::tool::{self, Caller};
use crate::workstream::Workstream;

/// How long a stopping node waits for tools after SIGTERM; less than [`crate::serve::GRACE`], so
/// that their results are stored.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// Why a turn has no complete answer.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// Nobody said where the model is.
    #[error("no model is set; start the node with --model-url, or create with a model_url")]
    NoModel,
    /// A person has cancelled it.
    #[error("the turn was cancelled")]
    Cancelled,
    /// The node is asked to stop.
    #[error("the node stopped before the answer was complete; send again when it is up")]
    Stopping,
    /// The conversation could not be read or continued.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What a call came to was shown, and could not be stored.
    #[error("a result is lost: {0}")]
    ResultLost(StoreError),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl From<Why> for TurnError {
    fn from(why: Why) -> Self {
        match why {
            Why::Cancelled => Self::Cancelled,
            Why::Stopping => Self::Stopping,
        }
    }
}

/// Runs the turn that was begun on `ws`, whatever happens to its end.
pub async fn run(node: Arc<Node>, ws: Arc<Workstream>, halter: Halter, halted: Halted) {
    let stop = async {
        node.stop.cancelled().await;
        halter.ask(Why::Stopping, STOP_GRACE);
        pending().await
    };
    let ended = tokio::select! {
        ended = converse(&node, &ws, &halted) => ended,
        ended = stop => ended,
    };
    match &ended {
        Ok(()) => {
            node.metrics.turns_complete.count();
            tracing::info!(ws_id = ws.ws_id, "turn complete");
        }
        Err(TurnError::Cancelled) => {
            node.metrics.turns_cancelled.count();
            tracing::info!(ws_id = ws.ws_id, "turn cancelled");
        }
        Err(error) => {
            node.metrics.turns_incomplete.count();
            tracing::warn!(ws_id = ws.ws_id, %error, "turn incomplete");
        }
    }
    ws.end_turn(&node, ended).await;
}

async fn converse(node: &Node, ws: &Workstream, halted: &Halted) -> Result<(), TurnError> {
    let base = ws.model_url.as_ref().or(node.settings.model_url.as_ref());
    let base = base.ok_or(TurnError::NoModel)?;
    let site = Site { node, ws, base, halted };
    let mut asked = halted.clone();
    loop {
        let rows = node.store.rows(&ws.ws_id, u32::MAX).await?;
        let messages: Vec<_> = rows.iter().map(|row| message(&row.content, &row.part)).collect();
        let calls = tokio::select! {
            biased;
            why = asked.asked() => return Err(why.into()),
            calls = ask(&site, &messages) => calls?,
        };
        if calls.is_empty() {
            return Ok(());
        }
        let planned = tool::plan(calls, Caller::Turn);
        ws.begin_calls(&node.store, &planned).await?;
        let rows = join_all(planned.iter().map(|planned| site.run(planned))).await;
        rows.into_iter().collect::<Result<(), _>>().map_err(TurnError::ResultLost)?;
        if let Some(why) = halted.why() {
            return Err(why.into());
        }
        ws.lane.enter(Activity::Thinking);
    }
}

/// Streams one answer to the lane; gives what it calls.
async fn ask(site: &Site<'_>, messages: &[Value]) -> Result<Vec<Call>, ModelError> {
    let tools = tool::declarations(Caller::Turn);
    let mut answer = site.node.model.answer(site.base, messages, &tools).await?;
    Pending { ws: site.ws, batch: Batch::default() }.stream(&mut answer).await?;
    Ok(answer.into_calls())
}

/// The text between the model and the lane. Dropped, it hands on what it still holds: a turn that
/// is given up keeps all that had arrived.
struct Pending<'a> {
    ws: &'a Workstream,
    batch: Batch,
}

impl Pending<'_> {
    async fn stream(&mut self, answer: &mut Answer) -> Result<(), ModelError> {
        loop {
            let due = self.batch.due();
            let text = tokio::select! {
                fragment = answer.next() => match fragment? {
                    Some(fragment) => self.batch.push(&fragment, Instant::now()),
                    None => return Ok(()),
                },
                () = at(due) => self.batch.flush(Instant::now()),
            };
            if let Some(text) = text {
                self.ws.lane.append_text(&text);
            }
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(text) = self.batch.flush(Instant::now()) {
            self.ws.lane.append_text(&text);
        }
    }
}
