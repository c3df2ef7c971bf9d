//! The node's requests by class: the table from which the proxy counts and arms its faults.

use crate::proxy::{Class, Route};

/// The classes of the node's requests, beside those that every application has.
impl Class {
    /// The snapshot of a workstream.
    pub const HISTORY: Class = Class::new("history");
    /// The event stream of a workstream.
    pub const EVENTS: Class = Class::new("events");
    /// The event stream of the roster.
    pub const GLOBAL_EVENTS: Class = Class::new("global_events");
    /// A rewind of a workstream.
    pub const REWIND: Class = Class::new("rewind");
    /// A message to a workstream.
    pub const SEND: Class = Class::new("send");
    /// A cancel of a workstream's turn.
    pub const CANCEL: Class = Class::new("cancel");
    /// A static file.
    pub const ASSET: Class = Class::new("asset");
}

/// Every route that has a class of its own. Only the methods of a row count: a `HEAD` of a history
/// is not a history.
pub const ROUTES: &[Route] = &[
    Route { methods: &["GET"], path: "/v1/api/workstreams/{id}/history", class: Class::HISTORY },
    Route { methods: &["GET"], path: "/v1/api/workstreams/{id}/events", class: Class::EVENTS },
    Route { methods: &["GET"], path: "/v1/api/events/global", class: Class::GLOBAL_EVENTS },
    Route { methods: &["POST"], path: "/v1/api/workstreams/{id}/rewind", class: Class::REWIND },
    Route { methods: &["POST"], path: "/v1/api/workstreams/{id}/send", class: Class::SEND },
    Route { methods: &["POST"], path: "/v1/api/workstreams/{id}/cancel", class: Class::CANCEL },
    Route { methods: &["GET", "HEAD"], path: "/static/{*path}", class: Class::ASSET },
    Route { methods: &["GET", "HEAD"], path: "/", class: Class::PAGE },
];

#[cfg(test)]
mod tests {
    use hyper::Method;

    use super::*;

    #[test]
    fn a_request_is_classified_by_its_method_and_path() {
        let table = [
            ("GET", "/v1/api/workstreams/w1/history", Class::HISTORY),
            ("HEAD", "/v1/api/workstreams/w1/history", Class::OTHER),
            ("POST", "/v1/api/workstreams/w1/history", Class::OTHER),
            ("GET", "/v1/api/workstreams//history", Class::OTHER),
            ("GET", "/v1/api/workstreams/w1/history/", Class::OTHER),
            ("GET", "/v1/api/workstreams/w1/events", Class::EVENTS),
            ("GET", "/v1/api/events/global", Class::GLOBAL_EVENTS),
            ("POST", "/v1/api/workstreams/w1/rewind", Class::REWIND),
            ("GET", "/v1/api/workstreams/w1/rewind", Class::OTHER),
            ("POST", "/v1/api/workstreams/w1/send", Class::SEND),
            ("POST", "/v1/api/workstreams/w1/cancel", Class::CANCEL),
            ("GET", "/v1/api/workstreams/w1", Class::OTHER),
            ("GET", "/v1/api/workstreams", Class::OTHER),
            ("GET", "/static/recovery/gate.js", Class::ASSET),
            ("GET", "/static", Class::OTHER),
            ("GET", "/", Class::PAGE),
            ("GET", "/__fence/a1", Class::FENCE),
            ("GET", "/login", Class::OTHER),
            ("GET", "", Class::OTHER),
        ];
        for (method, path, class) in table {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            assert_eq!(Class::of(ROUTES, &method, path), class, "{method} {path}");
        }
    }
}
