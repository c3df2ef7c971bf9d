//! What is kept of one request.

use hyper::header::HeaderName;
use hyper::http::request;
use serde::{Deserialize, Serialize};

use super::class::Class;

/// The header in which an event source hands over its cursor.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// One request, from its arrival to its end. Times are milliseconds on the trace's clock.
///
/// Of the query only the cursor is kept, what kinds of row it asks for, and that a handoff token was
/// there: queries and headers carry secrets.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// The `last_event_id` of the query, as it stands there.
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
    /// When it was handed to the upstream.
    pub forwarded_ms: Option<f64>,
    /// The node's start that it was forwarded to: 1 for the first address that the proxy was given,
    /// 2 for the next, as after a restart. None if it was never forwarded.
    pub upstream: Option<u32>,
    /// When the head of its answer stood: the upstream's, or the proxy's own.
    pub first_byte_ms: Option<f64>,
    /// When its answer had passed whole, or had broken.
    pub ended_ms: Option<f64>,
    /// When the browser was seen to have gone before the end.
    pub aborted_ms: Option<f64>,
    /// Whether its answer is an event stream, which has no end to wait for.
    #[serde(default)]
    pub streams: bool,
    /// The status of the answer that the browser was, or would have been, given.
    pub status: Option<u16>,
    /// How many bytes of the answer's body have passed.
    pub bytes: u64,
    /// For an event stream: the id that the browser holds after what has passed.
    pub last_event_id: Option<String>,
    /// The names of the faults that fired on it, in that order.
    pub faults: Vec<String>,
    /// Why its connection was broken in place of an answer, or in the middle of one.
    pub broken: Option<String>,
}

impl Record {
    /// A request whose head has just been read.
    pub(super) fn arrived(seq: u64, class: Class, head: &request::Parts, now_ms: f64) -> Record {
        let fields = || head.uri.query().unwrap_or_default().split('&');
        let field = |name| fields().filter_map(|field| field.split_once('=')).find(|f| f.0 == name);
        let header = head.headers.get(LAST_EVENT_ID);
        Record {
            seq,
            class,
            method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            cursor_header: header.map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned()),
            cursor_query: field("last_event_id").map(|(_, value)| value.to_owned()),
            handoff_token: field("history_token").is_some(),
            user_turn: field("user_turn").is_some_and(|(_, value)| value == "1"),
            tool_turn: field("tool_turn").is_some_and(|(_, value)| value == "1"),
            arrived_ms: now_ms,
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

    /// Whether the browser still waits for it.
    pub fn in_flight(&self) -> bool {
        self.ended_ms.is_none() && self.aborted_ms.is_none()
    }

    /// Whether it stands in a hold, be the browser still there or not.
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

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn record(uri: &str, header: Option<&str>) -> Record {
        let mut request = Request::get(uri).header("cookie", "session=0123456789abcdef");
        if let Some(header) = header {
            request = request.header("Last-Event-ID", header);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        Record::arrived(1, Class::EVENTS, &head, 0.0)
    }

    #[test]
    fn only_what_is_asked_for_and_the_presence_of_a_token_are_kept_of_query_and_headers() {
        let uri = "/events?last_event_id=a-1&history_token=s3cr3t&user_turn=1&tool_turn=0&key=k3y";
        let seen = record(uri, Some("a-2"));
        assert_eq!(seen.path, "/events");
        assert_eq!(seen.cursor_query.as_deref(), Some("a-1"));
        assert_eq!(seen.cursor_header.as_deref(), Some("a-2"));
        assert!(seen.handoff_token && seen.user_turn && !seen.tool_turn);
        let line = serde_json::to_string(&seen).unwrap();
        for secret in ["s3cr3t", "k3y", "0123456789abcdef"] {
            assert!(!line.contains(secret), "{line}");
        }
    }

    #[test]
    fn a_request_without_cursor_and_token_has_neither() {
        let seen = record("/events?xlast_event_id=1&history_tokens=2", None);
        assert_eq!(
            (seen.cursor_query, seen.cursor_header, seen.handoff_token),
            (None, None, false)
        );
    }
}
