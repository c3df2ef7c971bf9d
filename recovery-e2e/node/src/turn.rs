//! One turn: the model's answer, from the first word to the stored row.

use std::time::Instant;

use crate::batch::Batch;
use crate::model::{Answer, ModelError};
use crate::node::Node;
use crate::store::StoreError;
use crate::workstream::Workstream;

/// Why a turn has no complete answer.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// Nobody said where the model is.
    #[error("no model is set; start the node with --model-url, or create with a model_url")]
    NoModel,
    /// The node is asked to stop.
    #[error("the node stopped before the answer was complete; send again when it is up")]
    Stopping,
    /// The conversation could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Runs the turn that was begun on `ws`, whatever happens to its end.
pub async fn run(node: &Node, ws: &Workstream) {
    let ended = tokio::select! {
        biased;
        () = node.stop.cancelled() => Err(TurnError::Stopping),
        ended = answer(node, ws) => ended,
    };
    match &ended {
        Ok(()) => {
            node.metrics.turns_complete.count();
            tracing::info!(ws_id = ws.ws_id, "turn complete");
        }
        Err(error) => {
            node.metrics.turns_incomplete.count();
            tracing::warn!(ws_id = ws.ws_id, %error, "turn incomplete");
        }
    }
    ws.end_turn(&node.store, ended).await;
}

async fn answer(node: &Node, ws: &Workstream) -> Result<(), TurnError> {
    let base = ws.model_url.as_ref().or(node.settings.model_url.as_ref());
    let base = base.ok_or(TurnError::NoModel)?;
    let rows = node.store.rows(&ws.ws_id, u32::MAX).await?;
    let mut answer = node.model.answer(base, &rows).await?;
    let mut pending = Pending { ws, batch: Batch::default() };
    pending.stream(&mut answer).await?;
    Ok(())
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

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
