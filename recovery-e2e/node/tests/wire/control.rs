#![cfg(feature = "control")]

use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use crate::model::Model;
use crate::node::{Folder, Node, is_private};
use crate::within;

pub const CONTROL: &str = env!("CARGO_BIN_EXE_recovery-node-control");

/// A control socket.
pub struct Control(pub PathBuf);

impl Control {
    /// A node with a model and a control socket, all new.
    pub async fn with_node() -> (Self, Node, Model, Folder) {
        let (folder, model) = (Folder::new(), Model::start().await);
        let socket = folder.file("control");
        let args = ["--model-url", &model.url, "--control-socket", socket.to_str().unwrap()];
        let node = Node::run(folder.command(CONTROL, &args)).await;
        (Self(socket), node, model, folder)
    }

    /// One request; answers the status and the body.
    pub async fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let mut stream = UnixStream::connect(&self.0).await.unwrap();
        let body = body.to_string();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len(),
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        within("an answer of the control socket", stream.read_to_string(&mut answer))
            .await
            .unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    /// Has a command done.
    pub async fn order(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.ask("POST", path, &body).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }

    pub async fn counters(&self) -> Value {
        let (status, counters) = self.ask("GET", "/counters", &Value::Null).await;
        assert_eq!(status, 200, "{counters}");
        counters
    }

    /// Waits until a counter has this value.
    pub async fn until(&self, counter: &str, value: u64) {
        let reached = async { while self.counters().await[counter] != value {} };
        within(&format!("{counter} reaching {value}"), reached).await;
    }
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
    let control = Control(socket);
    let empty = json!({
        "load_calls": 0, "load_joins": 0, "parked_loads": 0, "model_calls": 0, "lanes": {},
    });
    assert_eq!(control.counters().await, empty);

    let ws = node.create("a").await;
    let ws_id = ws.rsplit('/').next().unwrap();
    let lane = control.counters().await["lanes"][ws_id].clone();
    assert_eq!(lane, json!({ "head": null, "first": null, "listeners": 0 }));
    let mut pane = node.pane(&ws, "").await;
    pane.past().await;
    node.turn(&ws, &mut model, &mut pane, "1").await;
    node.history(&ws).await;
    let before = control.counters().await;
    assert_eq!((&before["load_calls"], &before["model_calls"]), (&json!(1), &json!(1)));
    let lane = &before["lanes"][ws_id];
    assert_eq!(lane["listeners"], 1);
    assert!(lane["first"].as_str().unwrap().ends_with("-1"));

    for _ in 0..20 {
        node.post(&format!("{ws}/rewind"), json!({ "turns": 1 })).await;
        let head = control.counters().await["lanes"][ws_id]["head"].clone();
        let cleared = pane.take().await;
        assert_eq!((cleared.kind(), &json!(cleared.id)), ("clear_ui", &head));
    }
    assert_eq!(node.stop().await.code(), Some(0));
    assert!(!control.0.exists());
}
