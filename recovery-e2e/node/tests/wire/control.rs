#![cfg(feature = "control")]

use std::os::unix::net::UnixListener;
use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use crate::model::Model;
use crate::node::{Folder, Node, is_private};
use crate::within;

const CONTROL: &str = env!("CARGO_BIN_EXE_recovery-node-control");

async fn counters(socket: &Path) -> Value {
    let mut stream = UnixStream::connect(socket).await.unwrap();
    let request = "GET /counters HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    within("the counters", stream.read_to_string(&mut answer)).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    serde_json::from_str(body).unwrap()
}

#[tokio::test]
async fn the_control_socket_counts_and_its_head_never_lags_behind_an_answer() {
    let (folder, mut model) = (Folder::new(), Model::start().await);
    let socket = folder.file("control");
    // What a killed node left behind is in nobody's way.
    drop(UnixListener::bind(&socket).unwrap());
    let args = ["--model-url", &model.url, "--control-socket", socket.to_str().unwrap()];
    let node = Node::run(folder.command(CONTROL, &args)).await;
    assert!(is_private(&socket));
    let empty = json!({ "load_calls": 0, "model_calls": 0, "lanes": {} });
    assert_eq!(counters(&socket).await, empty);

    let ws = node.create("a").await;
    let ws_id = ws.rsplit('/').next().unwrap();
    let lane = counters(&socket).await["lanes"][ws_id].clone();
    assert_eq!(lane, json!({ "head": null, "first": null, "listeners": 0 }));
    let mut pane = node.pane(&ws, "").await;
    pane.past().await;
    node.turn(&ws, &mut model, &mut pane, "1").await;
    node.history(&ws).await;
    let before = counters(&socket).await;
    assert_eq!((&before["load_calls"], &before["model_calls"]), (&json!(1), &json!(1)));
    let lane = &before["lanes"][ws_id];
    assert_eq!(lane["listeners"], 1);
    assert!(lane["first"].as_str().unwrap().ends_with("-1"));

    for _ in 0..20 {
        node.post(&format!("{ws}/rewind"), json!({ "turns": 1 })).await;
        let head = counters(&socket).await["lanes"][ws_id]["head"].clone();
        let cleared = pane.take().await;
        assert_eq!((cleared.kind(), &json!(cleared.id)), ("clear_ui", &head));
    }
    assert_eq!(node.stop().await.code(), Some(0));
    assert!(!socket.exists());
}
