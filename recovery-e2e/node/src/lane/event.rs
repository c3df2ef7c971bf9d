//! The events of a pane lane, and their bytes on the wire.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::replay::{Reason, Span};
use crate::record::{EventId, RowId};

/// What a workstream is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Nothing; a turn can start.
    Idle,
    /// A turn waits for the model or streams its answer.
    Thinking,
    /// A turn's tools run.
    Running,
}

/// Why a pane is to forget its rows.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClearReason {
    /// Rows were cut.
    Rewind,
    /// The connection proved no snapshot.
    TokenlessHistoryBootstrap,
}

/// Why a pane is to read the history again.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResyncReason {
    /// The handoff token is not, or no longer, that of the lane.
    HandoffMismatch,
    /// A row was shown while it streamed, but could not be stored.
    CommitFailed,
    /// The workstream is deleted; there is no history any more.
    WorkstreamGone,
}

/// A call as a person is shown it before it has run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Item<'a> {
    /// Its name, unique among the calls of its row.
    pub call_id: &'a str,
    /// The tool.
    pub name: &'a str,
    /// A short title.
    pub header: &'a str,
    /// What it is asked to do, capped.
    pub preview: &'a str,
}

/// One event of a pane lane.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event<'a> {
    /// The stream of this workstream is open.
    Connected {
        /// The workstream.
        ws_id: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// Numbers for the status bar.
    Status {
        /// User turns so far.
        turns: u32,
    },
    /// What the workstream does from now on.
    StateChange {
        /// Its activity.
        state: Activity,
    },
    /// A user row was admitted.
    UserTurn {
        /// Its text.
        content: &'a str,
        /// The sends it answers.
        client_send_ids: &'a [String],
        /// Its name.
        row_id: &'a RowId,
    },
    /// More text of the row that streams.
    Content {
        /// The text to append.
        text: &'a str,
        /// The row.
        row_id: &'a RowId,
    },
    /// The answer of one model call is complete.
    StreamEnd {
        /// Its row, or none if nothing came.
        row_id: Option<&'a RowId>,
    },
    /// Calls begin to run.
    ToolPending {
        /// The assistant row that makes them; for the calls of an agent, the agent's tool row.
        row_id: &'a RowId,
        /// The calls, in the model's order.
        items: &'a [Item<'a>],
        /// The agent's call, if an agent makes them.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_call_id: Option<&'a str>,
    },
    /// More of what a call writes.
    ToolOutputChunk {
        /// The call.
        call_id: &'a str,
        /// The text to append.
        chunk: &'a str,
        /// The tool row of the call, or of its agent.
        row_id: &'a RowId,
        /// The agent's call, if an agent made it.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_call_id: Option<&'a str>,
    },
    /// A call has ended.
    ToolResult {
        /// The call.
        call_id: &'a str,
        /// The tool.
        name: &'a str,
        /// What it gave back.
        output: &'a str,
        /// Whether it failed.
        is_error: bool,
        /// The row is stored; without it this is only the receipt of the call's end.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        accepted: bool,
        /// The tool row of the call, or of its agent.
        row_id: &'a RowId,
        /// The agent's call, if an agent made it.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_call_id: Option<&'a str>,
    },
    /// How full an agent's context is.
    AgentContext {
        /// The agent's call.
        parent_call_id: &'a str,
        /// Tokens of its conversation, as the model counts them.
        prompt_tokens: u64,
        /// Tokens that the model can take.
        context_window: u64,
    },
    /// A person has cancelled the turn.
    Cancelled {},
    /// What has streamed of the present row so far.
    InProgressSnapshot {
        /// The text.
        content: &'a str,
        /// The row.
        row_id: &'a RowId,
    },
    /// The rows on display are void.
    ClearUi {
        /// Why.
        reason: ClearReason,
    },
    /// The history must be read again.
    HistoryResync {
        /// Why.
        reason: ResyncReason,
    },
    /// The presented cursor cannot be continued.
    ReplayTruncated {
        /// Why.
        reason: Reason,
        /// Events lost, where known.
        lost_count: Option<u64>,
        /// The oldest event that can still be replayed.
        earliest_available_id: Option<String>,
    },
    /// Everything after this is live.
    ReplayComplete {
        /// Events replayed before it.
        count: usize,
    },
    /// This connection fell behind and ends.
    StreamOverflow {},
    /// Something failed that a person should know.
    Error {
        /// What, and what to do.
        message: &'a str,
    },
}

/// An event stamped with its workstream.
#[derive(Debug, Serialize)]
pub struct Stamped<'a> {
    /// The event.
    #[serde(flatten)]
    pub event: &'a Event<'a>,
    /// The workstream.
    pub ws_id: &'a str,
}

impl Event<'_> {
    /// The event for a connection whose cursor cannot be continued from `span`.
    pub fn truncated(reason: Reason, lost_count: Option<u64>, span: &Span) -> Self {
        let earliest_available_id = span.first_id().map(|id| id.to_string());
        Self::ReplayTruncated { reason, lost_count, earliest_available_id }
    }
}

/// An event that belongs to one connection: no id, so a browser keeps the last one it saw.
pub fn connection_frame(event: &impl Serialize) -> Bytes {
    format!("data: {}\n\n", json(event)).into()
}

/// An event of a ring, stamped with its id.
pub fn ring_frame(id: EventId, event: &impl Serialize) -> Bytes {
    format!("id: {id}\ndata: {}\n\n", json(event)).into()
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and numbers always have a JSON form")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::epoch;

    #[test]
    fn a_frame_is_one_data_line_whatever_the_text() {
        let row_id = RowId::new(epoch(1), 2);
        let event = Event::Content { text: "a\nb\r\n\ndata: x", row_id: &row_id };
        let stamped = Stamped { event: &event, ws_id: "w" };
        let frame = ring_frame(EventId { epoch: epoch(1), seq: 7 }, &stamped);
        assert_eq!(
            std::str::from_utf8(&frame).unwrap(),
            "id: 0000000000000001-7\n\
             data: {\"type\":\"content\",\"text\":\"a\\nb\\r\\n\\ndata: x\",\
             \"row_id\":\"0000000000000001.2\",\"ws_id\":\"w\"}\n\n"
        );
    }

    #[test]
    fn a_connection_frame_carries_no_id() {
        let frame = connection_frame(&Event::StreamOverflow {});
        assert_eq!(&frame[..], b"data: {\"type\":\"stream_overflow\"}\n\n");
    }
}
