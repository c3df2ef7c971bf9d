//! What happens to the requests of one case: the lines of its file `requests.jsonl`.
//!
//! The first line of the file is a [`Header`]. Every other is a [`Line`]: one [`Event`] of one
//! request, written when it happens, in this order:
//!
//! ```json
//! {"t_ms":812.4,"phase":"fault","request":7,"event":"arrived","class":"history","method":"GET",…}
//! {"t_ms":812.9,"phase":"fault","request":7,"event":"fault","kind":"fail","name":"fail history x1 with 500"}
//! {"t_ms":812.9,"phase":"fault","request":7,"event":"headed","status":500,"streams":false}
//! {"t_ms":812.9,"phase":"fault","request":7,"event":"passed","bytes":49,"last_event_id":null}
//! {"t_ms":812.9,"phase":"fault","request":7,"event":"ended"}
//! ```
//!
//! The file is the only evidence of the requests: records, counters and the timeline are folded
//! from it by [`Requests`](super::requests::Requests), by the proxy while it runs and by the report
//! afterwards.

use serde::{Deserialize, Serialize};

use super::class::Class;

/// The version of the file's format, and the only one that is read. Files before 2 have one line
/// for each request and no header.
pub const VERSION: u32 = 2;

/// The first line of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`VERSION`].
    pub v: u32,
}

/// Every other line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When it happened, in milliseconds since the file was created.
    pub t_ms: f64,
    /// The phase of the scenario.
    pub phase: String,
    /// The number of the request in the order of arrival, from 1.
    pub request: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happens to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Its head was read.
    Arrived(Arrival),
    /// A fault acted on it.
    Fault(Fault),
    /// It was put on hold, its body read.
    Held,
    /// It was sent to the upstream.
    Forwarded {
        /// The node's start: 1 for the first address that the proxy was given, 2 for the next, as
        /// after a restart.
        upstream: u32,
    },
    /// The head of its answer came: the upstream's, or the proxy's own.
    Headed {
        /// The status that the browser was, or would have been, given.
        status: u16,
        /// Whether the answer is an event stream, which has no end to wait for.
        streams: bool,
    },
    /// A part of its answer's body passed. One event for each new id of an event stream; all else
    /// that passed is in one event just before the end.
    Passed {
        /// How many bytes passed since the last such event.
        bytes: u64,
        /// For an event stream: the id that the browser holds now.
        last_event_id: Option<String>,
    },
    /// Its answer passed whole.
    Ended,
    /// Its connection was broken in place of an answer, or in the middle of one.
    Broken {
        /// Why.
        reason: String,
    },
    /// The browser left before the end.
    Aborted,
}

/// What a request asked for.
///
/// Of the query only the cursor is kept, which kinds of row it asks for, and that a handoff token
/// was there: queries and headers carry secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// What kind of request it is.
    pub class: Class,
    /// Its method.
    pub method: String,
    /// Its path, without the query.
    pub path: String,
    /// The `Last-Event-ID` header.
    pub cursor_header: Option<String>,
    /// The `last_event_id` of the query, still encoded.
    pub cursor_query: Option<String>,
    /// Whether the query had a `history_token`; its value is never kept.
    pub handoff_token: bool,
    /// Whether the query asked for user turns as they are stored.
    pub user_turn: bool,
    /// Whether the query asked for the results of tools as they are stored.
    pub tool_turn: bool,
}

/// A fault that acted on a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What it does.
    pub kind: FaultKind,
    /// Its name, which its receipt has too.
    pub name: String,
}

/// What a fault does to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Answers it in place of the upstream.
    Fail,
    /// Keeps it from the upstream for some time.
    Hold,
    /// Changes the text of its answer.
    Patch,
    /// Breaks the event stream that answers it.
    Sever,
    /// Takes the handoff token out of its answer.
    Tokenless,
}

impl Event {
    /// Whether the answer is over for the browser or for the upstream.
    pub fn is_end(&self) -> bool {
        matches!(self, Event::Ended | Event::Broken { .. } | Event::Aborted)
    }
}
