//! One turn: the model is asked, what it calls is run, and it is asked again until it calls
//! nothing more.

mod agent;
mod call;
mod task;

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::halt::{Halted, Why};
use crate::lane::{Activity, Batch, Ending, Item, at};
use crate::metrics::Metrics;
use crate::model::{Answer, Model, ModelError, message};
use crate::record::Call;
use crate::store::StoreError;
use crate::tools::{self, Caller, Planned, Toolbox};
use crate::workstream::{Begun, Sent, Workstream};
use call::Site;

#[cfg(test)]
#[cfg(feature = "control")]
pub use agent::AgentError;
pub use task::tasks;

/// How long a stopping node waits for tools after SIGTERM; less than the time that the
/// node takes to stop, so that their results are stored.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// Why a turn has no complete answer.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// There is no URL of a model.
    #[error(
        "no model is configured; start the node with --model-url, or set the model_url of a workstream"
    )]
    NoModel,
    /// A person has cancelled it.
    #[error("the turn was cancelled by the user")]
    Cancelled,
    /// The node is asked to stop.
    #[error("the node stopped before the answer was complete; send again when the node runs again")]
    Stopping,
    /// The conversation could not be read or continued.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The result of a call was published, and could not be stored.
    #[error("the result of a tool call could not be stored: {0}")]
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

/// Runs the turns of all workstreams of a node.
pub struct Turns {
    /// The client of the model.
    pub model: Model,
    /// The base URL of the model, for workstreams without one of their own.
    pub model_url: Option<String>,
    /// Tokens that the model can take.
    pub context_window: u64,
    /// What runs the calls.
    pub tools: Toolbox,
    /// The counters of the node.
    pub metrics: Arc<Metrics>,
    /// Cancelled when the node is to stop.
    pub stop: CancellationToken,
    /// What must end before the store may close.
    pub work: TaskTracker,
}

impl Turns {
    /// Stores a message, and runs its turn as soon as it is the next.
    ///
    /// # Errors
    /// When the store fails; the send is then not accepted.
    pub async fn send(
        self: Arc<Self>,
        ws: Arc<Workstream>,
        message: String,
        send_id: Option<String>,
    ) -> Result<Sent, StoreError> {
        let (sent, begun) = ws.send(message, send_id).await?;
        if let Some(begun) = begun {
            self.work.spawn(self.clone().run(ws, begun));
        }
        Ok(sent)
    }

    /// Runs the turns of the messages that wait in a workstream, if nothing runs in it.
    pub async fn take_up(self: Arc<Self>, ws: Arc<Workstream>) {
        if let Some(begun) = ws.take_up().await {
            self.run(ws, begun).await;
        }
    }

    /// Runs a turn that was begun, and then those of the messages that wait.
    async fn run(self: Arc<Self>, ws: Arc<Workstream>, first: Begun) {
        let mut next = Some(first);
        while let Some(begun) = next {
            let ended = self.run_one(&ws, begun).await;
            let message = ended.as_ref().err().map(ToString::to_string);
            let ending = match &ended {
                Err(TurnError::Cancelled) => Ending::Cancelled,
                Err(TurnError::ResultLost(_)) => Ending::Lost,
                _ => message.as_deref().map_or(Ending::Stored, Ending::Failed),
            };
            next = ws.end_turn(ending).await;
        }
    }

    async fn run_one(&self, ws: &Workstream, begun: Begun) -> Result<(), TurnError> {
        let Begun { halter, halted } = begun;
        let stop = async {
            self.stop.cancelled().await;
            halter.ask(Why::Stopping, STOP_GRACE);
            pending().await
        };
        let ended = tokio::select! {
            ended = converse(self, ws, &halted) => ended,
            ended = stop => ended,
        };
        match &ended {
            Ok(()) => {
                self.metrics.turns_complete.count();
                tracing::info!(ws_id = ws.ws_id, "turn complete");
            }
            Err(TurnError::Cancelled) => {
                self.metrics.turns_cancelled.count();
                tracing::info!(ws_id = ws.ws_id, "turn cancelled");
            }
            Err(error) => {
                self.metrics.turns_incomplete.count();
                tracing::warn!(ws_id = ws.ws_id, %error, "turn incomplete");
            }
        }
        ended
    }
}

async fn converse(turns: &Turns, ws: &Workstream, halted: &Halted) -> Result<(), TurnError> {
    let base = ws.model_url.as_ref().or(turns.model_url.as_ref());
    let base = base.ok_or(TurnError::NoModel)?;
    let site = Site { turns, ws, base, halted };
    let mut asked = halted.clone();
    loop {
        let rows = ws.rows(u32::MAX).await?;
        let messages: Vec<_> = rows.iter().map(|row| message(&row.content, &row.part)).collect();
        let calls = tokio::select! {
            biased;
            why = asked.asked() => return Err(why.into()),
            calls = ask(&site, &messages) => calls?,
        };
        if calls.is_empty() {
            return Ok(());
        }
        let planned = tools::plan(calls, Caller::Turn);
        let calls = planned.iter().map(|planned| planned.call.clone()).collect();
        let items: Vec<Item<'_>> = planned.iter().map(Planned::item).collect();
        ws.begin_calls(calls, &items).await?;
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
    let tools = tools::declarations(Caller::Turn);
    let mut answer = site.turns.model.answer(site.base, messages, &tools).await?;
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
