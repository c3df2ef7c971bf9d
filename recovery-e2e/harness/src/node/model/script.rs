//! What the model answers, call by call.

use std::future::pending;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::watch;

/// The answer to one call.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) answer: Answer,
    /// Opens when the call may be answered; none: at once.
    gate: Option<watch::Receiver<bool>>,
    /// Opens when the second half of a text may follow the first; none: at once.
    midway: Option<watch::Receiver<bool>>,
}

/// What is sent, once it may be.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// A streamed text that ends in order.
    Text(String),
    /// Calls of tools.
    Calls(Vec<ToolCall>),
}

/// A call of a tool by the model.
#[derive(Clone, Debug)]
pub struct ToolCall {
    pub(super) id: String,
    pub(super) name: &'static str,
    /// JSON in a string, as on the wire.
    pub(super) arguments: String,
}

impl ToolCall {
    /// A command of the shell.
    pub fn bash(id: &str, command: impl Into<String>) -> ToolCall {
        let arguments = json!({"command": command.into()}).to_string();
        ToolCall { id: id.to_owned(), name: "bash", arguments }
    }

    /// A task for an agent, whose own calls of the model take the script's next replies.
    pub fn agent(id: &str, task: &str) -> ToolCall {
        let arguments = json!({"task": task}).to_string();
        ToolCall { id: id.to_owned(), name: "task_agent", arguments }
    }
}

/// Lets one held call go. Dropped without that, the call stays held until the server ends.
#[derive(Debug)]
#[must_use = "without its gate a held call is never answered"]
pub struct Release {
    open: watch::Sender<bool>,
}

impl Reply {
    /// `text`, streamed in a few chunks.
    pub fn text(text: impl Into<String>) -> Reply {
        Reply { answer: Answer::Text(text.into()), gate: None, midway: None }
    }

    /// Calls of tools, which the caller is to run before it asks again.
    pub fn calls(calls: Vec<ToolCall>) -> Reply {
        Reply { answer: Answer::Calls(calls), gate: None, midway: None }
    }

    /// The same answer, of which nothing is sent, no head either, before the gate is released.
    pub fn held(self) -> (Reply, Release) {
        let (open, gate) = watch::channel(false);
        (Reply { gate: Some(gate), ..self }, Release { open })
    }

    /// The same answer, whose text stops in its middle until the gate is released.
    pub fn held_midway(self) -> (Reply, Release) {
        let (open, gate) = watch::channel(false);
        (Reply { midway: Some(gate), ..self }, Release { open })
    }

    /// Waits until it may be sent.
    pub(super) async fn released(&mut self) {
        released(self.gate.take()).await;
    }

    /// What the second half of its text has to wait for.
    pub(super) fn middle(&mut self) -> impl Future<Output = ()> + Send + use<> {
        released(self.midway.take())
    }
}

async fn released(gate: Option<watch::Receiver<bool>>) {
    if let Some(mut gate) = gate
        && gate.wait_for(|open| *open).await.is_err()
    {
        pending().await
    }
}

impl Release {
    /// Lets the call be answered.
    pub fn release(&self) {
        self.open.send_replace(true);
    }
}

/// The script of one workstream, while it plays. Clones watch the same script.
#[derive(Clone, Debug)]
pub struct Script {
    pub(super) base_url: String,
    pub(super) play: Arc<Play>,
}

/// The replies, and how many calls there have been.
#[derive(Debug)]
pub(super) struct Play {
    replies: Vec<Reply>,
    calls: watch::Sender<usize>,
}

impl Script {
    /// `http://127.0.0.1:PORT/<name>/v1`, to which clients add `/chat/completions`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// How many calls have come; counted on arrival, before any gate.
    #[cfg(test)]
    pub fn calls(&self) -> watch::Receiver<usize> {
        self.play.calls.subscribe()
    }

    /// How many calls came beyond the script's end. More than none: the scenario did not go as it
    /// was written, and its verdict proves nothing.
    pub fn overrun(&self) -> usize {
        self.play.calls.borrow().saturating_sub(self.play.replies.len())
    }
}

impl Play {
    pub(super) fn new(replies: Vec<Reply>) -> Play {
        Play { replies, calls: watch::channel(0).0 }
    }

    /// Counts a call; gives its number, from 1, and its reply, if the script has one.
    pub(super) fn call(&self) -> (usize, Option<Reply>) {
        let mut call = 0;
        self.calls.send_modify(|calls| {
            *calls += 1;
            call = *calls;
        });
        (call, self.replies.get(call - 1).cloned())
    }

    pub(super) fn len(&self) -> usize {
        self.replies.len()
    }
}
