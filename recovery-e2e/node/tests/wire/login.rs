use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::model::Model;
use crate::node::{Folder, Node, answer, is_private};

async fn cookie(node: &Node) -> String {
    let login = format!("/login?token={}", node.token());
    let response = node.bare(Method::GET, &login).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    assert_eq!(response.headers()["location"], "/");
    let cookie = response.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    assert!(!cookie.contains(node.token()));
    cookie.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_login_survives_a_restart() {
    let folder = Folder::new();
    let node = folder.start(&[]).await;
    let (cookie, token) = (cookie(&node).await, node.token().to_owned());
    for file in ["token", "cookie"] {
        assert!(is_private(&folder.data().join(file)), "{file}");
    }
    node.stop().await;

    let node = folder.start(&[]).await;
    assert_eq!(node.token(), token);
    let listed = answer(node.bare(Method::GET, "/v1/api/workstreams").header("cookie", cookie));
    assert_eq!(listed.await, (StatusCode::OK, json!({ "workstreams": [] })));
    assert_eq!(node.get("/v1/api/workstreams").await.0, StatusCode::OK);
}

#[tokio::test]
async fn nobody_else_can_read_a_data_folder_that_was_open_to_all() {
    let folder = Folder::new();
    fs::create_dir(folder.data()).unwrap();
    fs::set_permissions(folder.data(), Permissions::from_mode(0o755)).unwrap();
    // As an earlier node may have left it.
    fs::write(folder.data().join("lock"), "").unwrap();
    let node = folder.start(&[]).await;
    node.create("a").await;
    let files: Vec<_> = fs::read_dir(folder.data()).unwrap().map(|file| file.unwrap()).collect();
    for name in ["token", "cookie", "node-id", "lock", "node.sqlite", "node.sqlite-wal"] {
        assert!(files.iter().any(|file| file.file_name() == name), "no {name} in {files:?}");
    }
    for file in &files {
        assert!(is_private(&file.path()), "{file:?}");
    }
}

#[tokio::test]
async fn nothing_but_health_login_and_assets_is_open_without_a_login() {
    let node = Folder::new().start(&[]).await;
    for path in ["/v1/api/workstreams", "/v1/api/workstreams/x/events", "/v1/api/no/such", "/x"] {
        for value in ["", "Bearer ", "Bearer 0000", "Basic Og=="] {
            let request = node.bare(Method::GET, path).header("authorization", value);
            let (status, body) = answer(request).await;
            assert_eq!((status, &body["code"]), (StatusCode::UNAUTHORIZED, &json!("no_login")));
            assert!(body["error"].is_string());
        }
    }
    for path in ["/", "/ws/x", "/coord/x"] {
        let response = node.bare(Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
        assert!(response.text().await.unwrap().contains("login URL"));
    }
    let (status, health) = answer(node.bare(Method::GET, "/health")).await;
    assert_eq!(
        (status, health),
        (StatusCode::OK, json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
    );
    let (status, _) = answer(node.bare(Method::GET, "/static/no/such.js")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_wrong_token_opens_nothing_and_a_login_leads_only_to_this_origin() {
    let node = Folder::new().start(&[]).await;
    for query in
        ["", "?token=", "?token=0000000000000000000000000000000000000000000000000000000000"]
    {
        let (status, body) = answer(node.bare(Method::GET, &format!("/login{query}"))).await;
        assert_eq!((status, &body["code"]), (StatusCode::UNAUTHORIZED, &json!("wrong_token")));
    }
    for (next, location) in
        [("/ws/a?b=c", "/ws/a?b=c"), ("//evil.test", "/"), ("/\\evil.test", "/"), ("http://e", "/")]
    {
        let login = format!("/login?token={}&next={next}", node.token());
        let response = node.bare(Method::GET, &login).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        assert_eq!(response.headers()["location"], location, "{next}");
    }
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused_even_with_the_token() {
    let folder = Folder::new();
    let public = "https://app.example";
    let node = folder.start(&["--public-origin", public, "--public-origin", "http://b"]).await;
    assert!(node.login_url.starts_with("https://app.example/login?token="));
    let ask = async |name: &str, value: &str| {
        let request = node.request(Method::GET, "/v1/api/workstreams").header(name, value);
        answer(request).await
    };
    for (name, value) in [("host", "evil.test"), ("origin", "http://evil.test"), ("origin", "null")]
    {
        let (status, body): (_, Value) = ask(name, value).await;
        assert_eq!((status, &body["code"]), (StatusCode::FORBIDDEN, &json!("foreign")), "{value}");
    }
    for (name, value) in [("host", "app.example"), ("origin", public), ("origin", "http://b")] {
        assert_eq!(ask(name, value).await.0, StatusCode::OK, "{value}");
    }
}

#[tokio::test]
async fn every_answer_carries_the_policy() {
    let node = Folder::new().start(&[]).await;
    for path in ["/", "/static/x.js", "/health"] {
        let response = node.request(Method::GET, path).send().await.unwrap();
        let policy = response.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        assert_eq!(response.headers()["referrer-policy"], "no-referrer");
    }
}

#[tokio::test]
async fn the_client_is_served_byte_for_byte_and_nothing_beside_it() {
    let node = Folder::new().start(&[]).await;
    let web = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/static");
    for (path, file) in [("/", "index.html"), ("/ws/x", "ws.html"), ("/coord/x", "coord.html")] {
        let expected = fs::read(web.join(file)).unwrap();
        let response = node.request(Method::GET, path).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
        assert_eq!(response.headers()["cache-control"], "no-cache");
        assert_eq!(response.bytes().await.unwrap(), expected);
        let asset = node.bare(Method::GET, &format!("/static/{file}")).send().await.unwrap();
        assert_eq!(asset.bytes().await.unwrap(), expected);
    }
    for path in [
        "/static/.gitkeep",
        "/static/./index.html",
        "/static//index.html",
        "/static/../static/index.html",
        "/static/../package.json",
        "/static/package.json",
        "/static/jsconfig.json",
        "/static/../node/src/main.rs",
        "/static/..%2fnode%2fsrc%2fmain.rs",
        "/static/%2e%2e/node/src/main.rs",
        "/static/index.html%00",
        "/static/index.html/",
    ] {
        let status = node.status_of(path).await;
        assert!(status.starts_with("HTTP/1.1 404 "), "{path}: {status}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_in_json() {
    let node = Folder::new().start(&[]).await;
    let (status, body) = node.get("/v1/api/nothing").await;
    assert_eq!((status, &body["code"]), (StatusCode::NOT_FOUND, &json!("no_route")));
    let (status, body) = node.post("/v1/api/workstreams/x/nothing", json!({})).await;
    assert_eq!((status, &body["code"]), (StatusCode::NOT_FOUND, &json!("no_route")));
    let (status, body) = node.get("/v1/api/workstreams/x/send").await;
    assert_eq!((status, &body["code"]), (StatusCode::METHOD_NOT_ALLOWED, &json!("no_method")));
    for ws_id in ["x", "%ff", "%2f", "..%2f"] {
        for path in ["", "/events", "/history"] {
            let (status, body) = node.get(&format!("/v1/api/workstreams/{ws_id}{path}")).await;
            assert_eq!((status, &body["code"]), (StatusCode::NOT_FOUND, &json!("no_workstream")));
        }
    }
}

#[tokio::test]
async fn no_secret_ever_reaches_the_log() {
    let (folder, mut model) = (Folder::new(), Model::start().await);
    let mut command = folder.command(crate::node::NODE, &["--model-url", &model.url]);
    command.env("RUST_LOG", "trace").env("RECOVERY_NODE_MODEL_KEY", "key-of-the-model-0123456789");
    let node = Node::run(command).await;
    let cookie = cookie(&node).await;
    let request = node.bare(Method::GET, "/v1/api/workstreams").header("cookie", &cookie);
    assert_eq!(answer(request).await.0, StatusCode::OK);
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.turn(&ws, &mut model, &mut pane, "hello").await;
    let token = node.token().to_owned();
    node.stop().await;

    let log = folder.log();
    assert!(log.contains("listening") && log.contains("turn complete"), "{log}");
    let cookie = cookie.split_once('=').unwrap().1;
    for secret in [token.as_str(), cookie, "key-of-the-model"] {
        assert!(!log.contains(secret), "the log contains a secret");
    }
}
