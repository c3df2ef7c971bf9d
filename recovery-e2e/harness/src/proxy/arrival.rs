//! What is kept of the head of a request.

use hyper::header::HeaderName;
use hyper::http::request;

use crate::record::class::Class;
use crate::record::event::Arrival;

/// The header in which an event source sends its cursor.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What a request of `class` with this head asked for.
pub(super) fn arrival(class: Class, head: &request::Parts) -> Arrival {
    let fields = || head.uri.query().unwrap_or_default().split('&');
    let field = |name| fields().filter_map(|field| field.split_once('=')).find(|f| f.0 == name);
    let header = head.headers.get(LAST_EVENT_ID);
    Arrival {
        class,
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        cursor_header: header.map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned()),
        cursor_query: field("last_event_id").map(|(_, value)| value.to_owned()),
        handoff_token: field("history_token").is_some(),
        user_turn: field("user_turn").is_some_and(|(_, value)| value == "1"),
        tool_turn: field("tool_turn").is_some_and(|(_, value)| value == "1"),
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn asked(uri: &str, header: Option<&str>) -> Arrival {
        let mut request = Request::get(uri).header("cookie", "session=0123456789abcdef");
        if let Some(header) = header {
            request = request.header("Last-Event-ID", header);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        arrival(Class::EVENTS, &head)
    }

    #[test]
    fn only_what_is_asked_for_and_the_presence_of_a_token_are_kept_of_query_and_headers() {
        let uri = "/events?last_event_id=a-1&history_token=s3cr3t&user_turn=1&tool_turn=0&key=k3y";
        let seen = asked(uri, Some("a-2"));
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
        let seen = asked("/events?xlast_event_id=1&history_tokens=2", None);
        assert_eq!(
            (seen.cursor_query, seen.cursor_header, seen.handoff_token),
            (None, None, false)
        );
    }
}
