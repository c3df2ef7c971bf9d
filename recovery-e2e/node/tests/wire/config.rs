use std::fs;

use reqwest::{Method, StatusCode};
use serde_json::Value;
use tokio::process::Command;

use crate::node::{Folder, NODE};
use crate::within;

/// What `recovery-node config` prints.
async fn shown(args: &[&str]) -> String {
    let output = Command::new(NODE).arg("config").args(args).env_remove("RUST_LOG").output();
    let output = within("the settings", output).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn a_file_gives_what_no_flag_gives_and_is_shown_in_force() {
    let folder = Folder::new();
    let file = folder.file("node.toml");
    fs::write(&file, "retry = '70ms..80ms'\nping = '1h'\npublic-origin = ['http://a']").unwrap();
    let config = ["--config", file.to_str().unwrap()];
    let node = folder.start(&[&config[..], &["--public-origin", "http://b"]].concat()).await;
    assert!(node.login_url.starts_with("http://b/"), "{}", node.login_url);
    let ws = node.create("a").await;
    let pane = node.pane(&ws, "").await;
    assert!((70..=80).contains(&pane.retry), "{}", pane.retry);

    let text = shown(&[&config[..], &["--ping", "2s"]].concat()).await;
    for line in [
        "retry = \"70ms..80ms\"",
        "ping = \"2s\"",
        "public-origin = [\"http://a\"]",
        "# Default: 30s.\nwrite-deadline = \"30s\"",
        "max-connections = 1024",
        "# Default: none.\n# data-dir =",
    ] {
        assert!(text.contains(&format!("\n{line}\n")), "{line} is not in\n{text}");
    }
    let shown_file = folder.file("shown.toml");
    fs::write(&shown_file, &text).unwrap();
    assert_eq!(shown(&["--config", shown_file.to_str().unwrap()]).await, text);
}

#[tokio::test]
async fn a_file_with_a_setting_that_there_is_not_stops_the_start_with_2() {
    let folder = Folder::new();
    let file = folder.file("node.toml");
    for (text, said) in [("pnig = 1", "pnig"), ("ping = 'soon'", "--ping"), ("ping", "TOML")] {
        fs::write(&file, text).unwrap();
        let (code, error) = folder.refused(&["--config", file.to_str().unwrap()]).await;
        assert_eq!(code, Some(2));
        assert!(error.contains("node.toml") && error.contains(said), "{error}");
    }
}

#[tokio::test]
async fn a_log_in_json_is_an_object_a_line() {
    let folder = Folder::new();
    let node = folder.start(&["--log-format", "json", "--log", "info,recovery_node=debug"]).await;
    node.create("a").await;
    node.stop().await;
    let log = folder.log();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["fields"]["message"] == "listening"), "{log}");
}

#[tokio::test]
async fn metrics_need_a_login_where_others_can_reach_the_node() {
    for (origin, status) in
        [("http://localhost:1", StatusCode::OK), ("https://app.example", StatusCode::UNAUTHORIZED)]
    {
        let node = Folder::new().start(&["--public-origin", origin]).await;
        let bare = node.bare(Method::GET, "/metrics").send().await.unwrap();
        assert_eq!(bare.status(), status, "{origin}");
        let known = node.request(Method::GET, "/metrics").send().await.unwrap();
        assert_eq!(known.status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn a_node_that_other_machines_can_reach_says_so() {
    let folder = Folder::new();
    for (listen, warned) in [("127.0.0.1:0", false), ("0.0.0.0:0", true)] {
        let mut command = Command::new(NODE);
        let log = fs::File::create(folder.file("log")).unwrap();
        command.args(["serve", "--listen", listen, "--data-dir"]).arg(folder.data());
        command.env_remove("RUST_LOG").stdout(std::process::Stdio::piped()).stderr(log);
        let node = crate::node::Node::run(command).await;
        node.stop().await;
        assert_eq!(folder.log().contains("other machines can reach this node"), warned);
    }
}

#[tokio::test]
async fn health_says_that_the_store_does_not_answer() {
    let folder = Folder::new();
    let node = folder.start(&[]).await;
    let (status, _) = crate::node::answer(node.bare(Method::GET, "/health")).await;
    assert_eq!(status, StatusCode::OK);
    let database = rusqlite::Connection::open(folder.data().join("node.sqlite")).unwrap();
    database.execute_batch("ALTER TABLE workstreams RENAME TO gone").unwrap();
    let (status, body) = crate::node::answer(node.bare(Method::GET, "/health")).await;
    assert_eq!((status, &body["code"]), (StatusCode::SERVICE_UNAVAILABLE, &Value::from("storage")));
}
