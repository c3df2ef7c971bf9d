#![cfg(feature = "control")]

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

use crate::model::Model;
use crate::node::{Folder, Node, is_private};
use crate::tools::{bash, work};
use crate::within;

const CONTROL: &str = env!("CARGO_BIN_EXE_recovery-node-control");

/// A request to the control socket; answers the status and the body.
pub async fn ask(socket: &Path, method: &str, path: &str, body: &str) -> (u16, Value) {
    let mut stream = UnixStream::connect(socket).await.unwrap();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    within("an answer of the control socket", stream.read_to_string(&mut answer)).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_else(|_| panic!("not JSON: {answer}")))
}

pub async fn counters(socket: &Path) -> Value {
    let (status, counters) = ask(socket, "GET", "/counters", "").await;
    assert_eq!(status, 200, "{counters}");
    counters
}

/// A node with a model and a control socket.
pub async fn controlled(folder: &Folder, model: &Model) -> (Node, PathBuf) {
    let socket = folder.file("control");
    let args = ["--model-url", &model.url, "--control-socket", socket.to_str().unwrap()];
    (Node::run(folder.command(CONTROL, &args)).await, socket)
}

#[tokio::test]
async fn the_control_socket_counts_and_its_head_never_lags_behind_an_answer() {
    let (folder, mut model) = (Folder::new(), Model::start().await);
    let socket = folder.file("control");
    // A socket that a killed node left behind is replaced.
    drop(UnixListener::bind(&socket).unwrap());
    let (node, socket) = controlled(&folder, &model).await;
    assert!(is_private(&socket));
    let empty = json!({
        "load_calls": 0, "load_joins": 0, "parked_loads": 0, "model_calls": 0, "busy": 0,
        "lanes": {},
    });
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

#[tokio::test]
async fn a_workstream_is_busy_while_a_turn_runs_or_a_message_is_queued() {
    let (folder, mut model) = (Folder::new(), Model::start().await);
    let (node, socket) = controlled(&folder, &model).await;
    let (first, second) = (node.create("a").await, node.create("b").await);
    let mut pane = node.pane(&first, "").await;
    pane.past().await;
    assert_eq!(counters(&socket).await["busy"], 0);

    node.send(&first, "1").await;
    let mut call = model.call().await;
    assert_eq!(counters(&socket).await["busy"], 1);
    let queued = node.post(&format!("{first}/send"), json!({ "message": "2" })).await.1;
    assert_eq!(queued["status"], "queued");
    assert_eq!(counters(&socket).await["busy"], 1);
    call.say("re: 1");
    call.done();
    // The idle edge between the two turns is no end: the queued message is the next turn.
    pane.until_idle().await;
    assert_eq!(counters(&socket).await["busy"], 1);
    let mut call = model.call().await;

    node.send(&second, "3").await;
    let other = model.call().await;
    assert_eq!(counters(&socket).await["busy"], 2);
    assert_eq!(node.post(&format!("{second}/close"), json!({})).await.0, 200);
    assert_eq!(counters(&socket).await["busy"], 1);
    drop(other);

    call.say("re: 2");
    call.done();
    pane.until_idle().await;
    assert_eq!(counters(&socket).await["busy"], 0);
}

#[tokio::test]
async fn an_event_emitted_on_purpose_reaches_panes_and_later_redials_under_the_answered_id() {
    let (folder, model) = (Folder::new(), Model::start().await);
    let (node, socket) = controlled(&folder, &model).await;
    let ws = node.create("a").await;
    let ws_id = ws.rsplit('/').next().unwrap();
    let mut pane = node.pane(&ws, "").await;
    pane.past().await;
    let mut seen = Vec::new();
    for (order, expected) in [
        (json!({ "event": "idle_edge" }), json!({ "type": "state_change", "state": "idle" })),
        (
            json!({ "event": "tool_pending", "call_id": "c", "name": "bash" }),
            json!({ "type": "tool_pending", "items": [
                { "call_id": "c", "name": "bash", "header": "bash", "preview": "" }] }),
        ),
        (
            json!({ "event": "tool_result", "call_id": "c", "name": "bash", "output": "o" }),
            json!({ "type": "tool_result", "call_id": "c", "name": "bash", "output": "o",
                "is_error": false }),
        ),
        (
            json!({ "event": "history_resync", "reason": "handoff_mismatch" }),
            json!({ "type": "history_resync", "reason": "handoff_mismatch" }),
        ),
    ] {
        let mut body = order.clone();
        body["ws_id"] = json!(ws_id);
        let (status, answer) = ask(&socket, "POST", "/emit", &body.to_string()).await;
        assert_eq!(status, 200, "{answer}");
        let mut frame = pane.take().await;
        assert_eq!(answer, json!({ "id": frame.id }), "{order}");
        seen.push(frame.clone());
        let row_id = frame.data.as_object_mut().unwrap().remove("row_id");
        assert_eq!(row_id.is_some(), order["event"].as_str().unwrap().starts_with("tool_"));
        frame.data.as_object_mut().unwrap().remove("ws_id");
        assert_eq!(frame.data, expected);
    }
    let past = node.redial(&ws, "", seen[0].id.as_ref().unwrap()).await.past().await;
    assert_eq!(past[past.len() - 4..past.len() - 1], seen[1..]);
}

#[tokio::test]
async fn the_processes_of_tools_are_listed_while_they_run() {
    let (folder, mut model) = (Folder::new(), Model::start().await);
    let (node, socket) = controlled(&folder, &model).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.send(&ws, "go").await;
    model.call_tools(&[("c", "bash", bash("mkfifo f; echo $$; read -r x < f"))]).await;
    let frames = pane.until_kind("tool_output_chunk").await;
    let (_, mut listed) = ask(&socket, "GET", "/processes", "").await;
    let listed = listed["processes"].as_array_mut().unwrap();
    assert!(listed[0].as_object_mut().unwrap().remove("started_ms").unwrap().is_u64());
    let chunk = frames.last().unwrap().data["chunk"].as_str().unwrap();
    let pid: u32 = chunk.trim().parse().unwrap();
    let ws_id = ws.rsplit('/').next().unwrap();
    let expected = json!({ "pid": pid, "ws_id": ws_id, "call_id": "c", "tool": "bash" });
    assert_eq!(listed[..], [expected]);

    tokio::fs::write(work(&folder, &ws).join("f"), "x\n").await.unwrap();
    model.answer("done").await;
    pane.until_idle().await;
    let (_, listed) = ask(&socket, "GET", "/processes", "").await;
    assert_eq!(listed, json!({ "processes": [] }));
}

#[tokio::test]
async fn an_emit_that_makes_no_sense_publishes_nothing_and_says_why() {
    let (folder, mut model) = (Folder::new(), Model::start().await);
    let (node, socket) = controlled(&folder, &model).await;
    let ws = node.create("a").await;
    let ws_id = ws.rsplit('/').next().unwrap();
    node.send(&ws, "hello").await;
    let mut call = model.call().await;
    let before = counters(&socket).await;
    for (status, order) in [
        (400, json!({ "ws_id": ws_id, "event": "nothing" })),
        (400, json!({ "ws_id": ws_id, "event": "tool_pending" })),
        (400, json!({ "ws_id": ws_id, "event": "history_resync", "reason": "whim" })),
        (404, json!({ "ws_id": "x", "event": "idle_edge" })),
        // A turn runs.
        (409, json!({ "ws_id": ws_id, "event": "idle_edge" })),
    ] {
        let (answered, body) = ask(&socket, "POST", "/emit", &order.to_string()).await;
        assert_eq!(answered, status, "{order} {body}");
        assert!(body["error"].is_string());
    }
    assert_eq!(counters(&socket).await, before);
    call.done();
}
