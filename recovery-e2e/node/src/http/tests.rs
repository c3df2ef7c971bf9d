use axum::http::StatusCode;
use reqwest::{Client, Method, RequestBuilder};
use tokio::net::TcpListener;

use super::*;
use crate::accept;
use crate::node::tests::{TestNode, node};

const METHODS: [Method; 6] =
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];

/// A node that listens on loopback.
struct Served {
    node: TestNode,
    base: String,
    client: Client,
}

impl Served {
    async fn start() -> Self {
        let node = node();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(accept::serve(listener, node.node.clone()));
        Self { node, base, client: Client::builder().no_proxy().build().unwrap() }
    }

    /// A request to a route, whose parameters get some value.
    fn request(&self, method: &Method, route: &str) -> RequestBuilder {
        let path = route.replace("{ws_id}", "x").replace("{*path}", "index.html");
        assert!(!path.contains('{'), "a parameter without a value: {path}");
        self.client.request(method.clone(), format!("{}{path}", self.base))
    }
}

#[tokio::test]
async fn no_route_but_the_open_ones_tells_anything_without_a_login() {
    let served = Served::start().await;
    let beyond = ["/v1", "/v1/api/", "/v1/api/workstreams/{ws_id}/nothing", "/metrics/x", "/.git"];
    for route in closed().into_iter().map(|(route, _)| route).chain(beyond) {
        for method in METHODS {
            let answer = served.request(&method, route).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{method} {route}");
        }
    }
    let open: Vec<_> = open().into_iter().map(|(route, _)| route).collect();
    assert_eq!(open, ["/health", "/login", "/static/{*path}"]);
    for route in ["/health", "/static/{*path}", "/metrics"] {
        let answer = served.request(&Method::GET, route).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{route}");
    }
}

#[tokio::test]
async fn no_route_at_all_answers_a_foreign_host_or_origin_even_with_the_token() {
    let served = Served::start().await;
    let routes = open().into_iter().chain(closed()).map(|(route, _)| route);
    for route in routes.chain(["/metrics", "/nothing"]) {
        for (name, value) in [
            ("host", "evil.test"),
            ("host", "127.0.0.1.evil.test"),
            ("origin", "http://evil.test"),
            ("origin", "null"),
        ] {
            let request = served.request(&Method::GET, route).header(name, value);
            let answer = request.bearer_auth(served.node.node.secrets.token()).send().await;
            assert_eq!(answer.unwrap().status(), StatusCode::FORBIDDEN, "{route} {value}");
        }
    }
}
