use axum::http::StatusCode;
use camino::Utf8Path;
use reqwest::{Client, Method, RequestBuilder};
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::*;
#[cfg(feature = "control")]
use crate::faults::Faults;
use crate::lane::{Bounds, Limits};
use crate::model::{Backoff, Model, Patience};
use crate::tools::{self, Toolbox};
use crate::workstream::Shared;

/// What requests are answered from, on a folder of its own.
fn app(folder: &Utf8Path) -> Arc<App> {
    let bounds = Bounds { events: 100, bytes: 100_000 };
    let limits = Limits { ring: bounds, listener: bounds };
    let store = Store::open(folder.join("db").as_std_path()).unwrap();
    let roster = Arc::new(Roster::new("node".into(), limits).unwrap());
    let metrics: Arc<Metrics> = Arc::default();
    let (stop, work) = (CancellationToken::new(), TaskTracker::new());
    let second = Duration::from_secs(1);
    let backoff = Backoff { first: second, cap: second };
    let patience = Patience { retries: 0, backoff, silence: second };
    let shared = Arc::new(Shared {
        store: store.clone(),
        roster: roster.clone(),
        limits,
        metrics: metrics.clone(),
        stop: stop.clone(),
        #[cfg(feature = "control")]
        faults: Faults::default(),
    });
    let turns = Arc::new(Turns {
        model: Model::new("m".into(), None, patience).unwrap(),
        model_url: None,
        context_window: 1000,
        tools: Toolbox::new(tools::Options {
            folder: folder.join("work"),
            limit: second,
            output_bytes: 1000,
        }),
        metrics: metrics.clone(),
        stop: stop.clone(),
        work: work.clone(),
    });
    let options = Options {
        public_origins: Vec::new(),
        is_local: true,
        max_connections: 100,
        message_bytes: 1000,
        request_deadline: 30 * second,
        write_deadline: 30 * second,
        cancel_grace: second,
        retry: 1..=1,
        ping: second,
    };
    Arc::new(App {
        connections: Arc::new(Semaphore::new(options.max_connections)),
        options,
        secrets: Secrets::load(folder, None).unwrap(),
        store,
        roster,
        registry: Arc::new(Registry::new(shared, turns.clone())),
        turns,
        metrics,
        stop,
        work,
    })
}

const METHODS: [Method; 6] =
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];

/// A node that listens on loopback.
struct Served {
    app: Arc<App>,
    _folder: TempDir,
    base: String,
    client: Client,
}

impl Served {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let app = app(Utf8Path::from_path(folder.path()).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(serve(listener, app.clone()));
        Self { app, _folder: folder, base, client: Client::builder().no_proxy().build().unwrap() }
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
            let answer = request.bearer_auth(served.app.secrets.token()).send().await;
            assert_eq!(answer.unwrap().status(), StatusCode::FORBIDDEN, "{route} {value}");
        }
    }
}
