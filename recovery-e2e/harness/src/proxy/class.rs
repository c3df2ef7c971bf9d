//! What kind of request it is.

use hyper::Method;
use serde::{Deserialize, Serialize};

/// A kind of request; counters are kept and faults are armed per class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The snapshot of a workstream.
    History,
    /// The event stream of a workstream.
    Events,
    /// The event stream of the roster.
    GlobalEvents,
    /// A rewind of a workstream.
    Rewind,
    /// A message to a workstream.
    Send,
    /// A cancel of a workstream's turn.
    Cancel,
    /// A static file of the node.
    Asset,
    /// A document, of the node or of the proxy itself.
    Page,
    /// A marker that the page sends after what it marks.
    Fence,
    /// Everything else.
    Other,
}

impl Class {
    /// Every class, in the order of the declaration.
    pub const ALL: [Class; 10] = [
        Class::History,
        Class::Events,
        Class::GlobalEvents,
        Class::Rewind,
        Class::Send,
        Class::Cancel,
        Class::Asset,
        Class::Page,
        Class::Fence,
        Class::Other,
    ];

    /// The class of a request, by its method and its path (without the query).
    ///
    /// Only the method that a route is made for counts: a `HEAD` of a history is no history.
    pub fn of(method: &Method, path: &str) -> Class {
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        match (method.as_str(), segments.as_slice()) {
            (_, ["__fence", id]) if !id.is_empty() => Class::Fence,
            ("GET", ["v1", "api", "events", "global"]) => Class::GlobalEvents,
            (method, ["v1", "api", "workstreams", id, action]) if !id.is_empty() => {
                match (method, *action) {
                    ("GET", "history") => Class::History,
                    ("GET", "events") => Class::Events,
                    ("POST", "rewind") => Class::Rewind,
                    ("POST", "send") => Class::Send,
                    ("POST", "cancel") => Class::Cancel,
                    _ => Class::Other,
                }
            }
            ("GET" | "HEAD", ["static", _, ..]) => Class::Asset,
            ("GET" | "HEAD", [""]) => Class::Page,
            _ => Class::Other,
        }
    }

    /// The name in traces and receipts.
    pub fn name(self) -> &'static str {
        match self {
            Class::History => "history",
            Class::Events => "events",
            Class::GlobalEvents => "global_events",
            Class::Rewind => "rewind",
            Class::Send => "send",
            Class::Cancel => "cancel",
            Class::Asset => "asset",
            Class::Page => "page",
            Class::Fence => "fence",
            Class::Other => "other",
        }
    }

    /// Whether its answer is an event stream, which ends when somebody leaves.
    pub fn streams(self) -> bool {
        matches!(self, Class::Events | Class::GlobalEvents)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_request_is_classed_by_its_method_and_path() {
        let table = [
            ("GET", "/v1/api/workstreams/w1/history", Class::History),
            ("HEAD", "/v1/api/workstreams/w1/history", Class::Other),
            ("POST", "/v1/api/workstreams/w1/history", Class::Other),
            ("GET", "/v1/api/workstreams//history", Class::Other),
            ("GET", "/v1/api/workstreams/w1/history/", Class::Other),
            ("GET", "/v1/api/workstreams/w1/events", Class::Events),
            ("GET", "/v1/api/events/global", Class::GlobalEvents),
            ("POST", "/v1/api/workstreams/w1/rewind", Class::Rewind),
            ("GET", "/v1/api/workstreams/w1/rewind", Class::Other),
            ("POST", "/v1/api/workstreams/w1/send", Class::Send),
            ("POST", "/v1/api/workstreams/w1/cancel", Class::Cancel),
            ("GET", "/v1/api/workstreams/w1", Class::Other),
            ("GET", "/v1/api/workstreams", Class::Other),
            ("GET", "/static/recovery/gate.js", Class::Asset),
            ("GET", "/static", Class::Other),
            ("GET", "/", Class::Page),
            ("GET", "/__fence/a1", Class::Fence),
            ("POST", "/__fence/a1", Class::Fence),
            ("GET", "/__fence/", Class::Other),
            ("GET", "/login", Class::Other),
            ("GET", "", Class::Other),
        ];
        for (method, path, class) in table {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            assert_eq!(Class::of(&method, path), class, "{method} {path}");
        }
    }

    #[test]
    fn all_lists_each_class_once_at_its_own_place() {
        for (place, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, place, "{class:?}");
        }
    }

    proptest! {
        #[test]
        fn no_workstream_id_changes_the_class_of_its_history(id in "[^/?#]{1,40}") {
            let path = format!("/v1/api/workstreams/{id}/history");
            prop_assert_eq!(Class::of(&Method::GET, &path), Class::History);
        }
    }
}
