//! What is kept of one request.

use super::class::Class;
use super::event::{Arrival, Event, Fault};

/// One request, from its arrival to its end. Times are milliseconds since its file was created.
///
/// Folded from its [`Event`]s; see there and in [`Arrival`] what each field means.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its number in the order of arrival, from 1.
    pub seq: u64,
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
    /// When its head had been read.
    pub arrived_ms: f64,
    /// When it was put on hold, its body read.
    pub held_ms: Option<f64>,
    /// When it was sent to the upstream.
    pub forwarded_ms: Option<f64>,
    /// The node's start that it was forwarded to: 1 for the first address that the proxy was given,
    /// 2 for the next, as after a restart. None if it was never forwarded.
    pub upstream: Option<u32>,
    /// When the head of its answer came: the upstream's, or the proxy's own.
    pub first_byte_ms: Option<f64>,
    /// When its answer had passed whole, or had broken.
    pub ended_ms: Option<f64>,
    /// When the browser was seen to have gone before the end.
    pub aborted_ms: Option<f64>,
    /// Whether its answer is an event stream, which has no end to wait for.
    pub streams: bool,
    /// The status of the answer that the browser was, or would have been, given.
    pub status: Option<u16>,
    /// How many bytes of the answer's body have passed.
    pub bytes: u64,
    /// For an event stream: the id that the browser holds after what has passed.
    pub last_event_id: Option<String>,
    /// The faults that acted on it, in that order.
    pub faults: Vec<Fault>,
    /// Why its connection was broken in place of an answer, or in the middle of one.
    pub broken: Option<String>,
}

impl Record {
    /// A request whose head was read at `t_ms`.
    pub fn arrived(seq: u64, arrival: Arrival, t_ms: f64) -> Record {
        let Arrival { class, method, path, cursor_header, cursor_query, .. } = arrival;
        Record {
            seq,
            class,
            method,
            path,
            cursor_header,
            cursor_query,
            handoff_token: arrival.handoff_token,
            user_turn: arrival.user_turn,
            tool_turn: arrival.tool_turn,
            arrived_ms: t_ms,
            held_ms: None,
            forwarded_ms: None,
            upstream: None,
            first_byte_ms: None,
            ended_ms: None,
            aborted_ms: None,
            streams: false,
            status: None,
            bytes: 0,
            last_event_id: None,
            faults: Vec::new(),
            broken: None,
        }
    }

    /// Adds what happened at `t_ms`, after the arrival.
    pub(super) fn apply(&mut self, t_ms: f64, event: &Event) {
        match event {
            Event::Arrived(_) => {}
            Event::Fault(fault) => self.faults.push(fault.clone()),
            Event::Held => self.held_ms = Some(t_ms),
            Event::Forwarded { upstream } => {
                (self.forwarded_ms, self.upstream) = (Some(t_ms), Some(*upstream));
            }
            Event::Headed { status, streams } => {
                (self.first_byte_ms, self.status) = (Some(t_ms), Some(*status));
                self.streams = *streams;
            }
            Event::Passed { bytes, last_event_id } => {
                self.bytes = self.bytes.saturating_add(*bytes);
                self.last_event_id.clone_from(last_event_id);
            }
            Event::Ended => self.ended_ms = Some(t_ms),
            Event::Broken { reason } => {
                (self.ended_ms, self.broken) = (Some(t_ms), Some(reason.clone()));
            }
            Event::Aborted => self.aborted_ms = Some(t_ms),
        }
    }

    /// Whether the browser still waits for it.
    pub fn in_flight(&self) -> bool {
        self.ended_ms.is_none() && self.aborted_ms.is_none()
    }

    /// Whether a hold keeps it, whether the browser still waits or not.
    pub fn held(&self) -> bool {
        self.held_ms.is_some()
            && self.first_byte_ms.or(self.forwarded_ms).or(self.ended_ms).is_none()
    }

    /// Whether it is on its way: the browser waits, nothing holds it, and its answer has not come.
    /// An event stream has no end to wait for: it is answered by its head.
    pub fn moving(&self) -> bool {
        let is_open = self.streams && self.status.is_some();
        self.in_flight() && !self.held() && !is_open
    }

    /// Whether its answer passed whole.
    pub fn answered(&self) -> bool {
        self.ended_ms.is_some() && self.broken.is_none()
    }

    /// Whether its answer's head said success.
    pub fn ok(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether it was refused (4xx, 5xx) or its connection was broken.
    pub fn failed(&self) -> bool {
        self.broken.is_some() || self.status.is_some_and(|status| status >= 400)
    }
}
