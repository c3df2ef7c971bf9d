use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::model::Model;
use crate::node::{Folder, Node};
use crate::pane::{Pane, kinds};

/// A workstream with three turns, and a pane that has seen them.
async fn three_turns() -> (Node, Model, Folder, String, Pane) {
    let (node, mut model, folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    for text in ["1", "2", "3"] {
        node.turn(&ws, &mut model, &mut pane, text).await;
    }
    (node, model, folder, ws, pane)
}

fn removed(n: u64) -> (StatusCode, Value) {
    (StatusCode::OK, json!({ "status": "ok", "removed": n }))
}

#[tokio::test]
async fn a_rewind_cuts_from_a_user_row_on_and_publishes_one_clear_ui() {
    let (node, mut model, _folder, ws, mut pane) = three_turns().await;
    let before = node.history(&ws).await;
    let rewind = format!("{ws}/rewind");
    assert_eq!(node.post(&rewind, json!({ "turns": 2 })).await, removed(2));
    let after = node.history(&ws).await;
    assert_eq!(crate::node::texts(&after), ["1", "re: 1"]);
    assert_ne!(before["handoff_token"], after["handoff_token"]);
    let stale = before["handoff_token"].as_str().unwrap();
    let refused = node.pane(&ws, &format!("history_token={stale}")).await.rest().await;
    assert_eq!(kinds(&refused), ["history_resync"]);

    // The next turn's first event bounds what the rewind published.
    node.send(&ws, "4").await;
    let frames = pane.until(|frame| frame.kind() == "user_turn").await;
    assert_eq!(kinds(&frames), ["clear_ui", "user_turn"]);
    assert_eq!(frames[0].data["reason"], "rewind");
    assert!(frames[0].id.is_some());
    let messages = model.answer("re: 4").await;
    assert_eq!(messages.as_array().unwrap().len(), 3);
    // The names of cut rows are not given again.
    let names = |history: &Value| -> Vec<String> {
        let rows = history["messages"].as_array().unwrap();
        rows.iter().map(|row| row["row_id"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!names(&before).contains(&frames[1].data["row_id"].as_str().unwrap().to_owned()));
}

#[tokio::test]
async fn a_rewind_beyond_the_start_cuts_what_there_is() {
    let (node, _model, _folder, ws, _pane) = three_turns().await;
    let rewind = format!("{ws}/rewind");
    assert_eq!(node.post(&rewind, json!({ "turns": u64::MAX })).await, removed(3));
    assert_eq!(node.texts(&ws).await, [""; 0]);
    assert_eq!(node.post(&rewind, json!({ "turns": 1 })).await, removed(0));
    let (status, _) = node.post("/v1/api/workstreams/x/rewind", json!({ "turns": 1 })).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_repeated_rewind_request_cuts_nothing_more_also_after_a_restart() {
    let (node, mut model, folder, ws, mut pane) = three_turns().await;
    let rewind = format!("{ws}/rewind");
    let request = json!({ "turns": 1, "request_id": "r-1" });
    assert_eq!(node.post(&rewind, request.clone()).await, removed(1));
    assert_eq!(node.post(&rewind, request.clone()).await, removed(1));
    node.send(&ws, "4").await;
    // The first answer is repeated while a turn runs, too.
    assert_eq!(node.post(&rewind, request.clone()).await, removed(1));
    model.answer("re: 4").await;
    let frames = pane.until_idle().await;
    assert_eq!(kinds(&frames).iter().filter(|kind| **kind == "clear_ui").count(), 1);
    node.kill().await;

    let node = folder.start(&[]).await;
    assert_eq!(node.post(&rewind, request).await, removed(1));
    assert_eq!(node.texts(&ws).await.len(), 6);
    let other = json!({ "turns": 1, "request_id": "r-2" });
    assert_eq!(node.post(&rewind, other).await, removed(1));
    assert_eq!(node.texts(&ws).await.len(), 4);
}

#[tokio::test]
async fn a_rewind_during_a_turn_is_busy_and_cuts_nothing() {
    let (node, mut model, _folder, ws, mut pane) = three_turns().await;
    node.send(&ws, "4").await;
    let request = json!({ "turns": 1, "request_id": "r-1" });
    let answer = node.post(&format!("{ws}/rewind"), request.clone()).await;
    assert_eq!(answer, (StatusCode::OK, json!({ "status": "busy" })));
    model.answer("re: 4").await;
    assert!(!kinds(&pane.until_idle().await).contains(&"clear_ui"));
    assert_eq!(node.texts(&ws).await.len(), 8);
    // Busy was no answer to the request; it can be asked again.
    assert_eq!(node.post(&format!("{ws}/rewind"), request).await, removed(1));
}

#[tokio::test]
async fn a_store_that_fails_refuses_and_nothing_is_changed_or_published() {
    let (node, mut model, folder, ws, mut pane) = three_turns().await;
    let before = node.history(&ws).await;
    let database = rusqlite::Connection::open(folder.data().join("node.sqlite")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let request = json!({ "turns": 1, "request_id": "r-1" });
    let (status, body) = node.post(&format!("{ws}/rewind"), request.clone()).await;
    assert_eq!((status, &body["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("storage")));
    let (status, _) = node.post(&format!("{ws}/send"), json!({ "message": "x" })).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    database.execute_batch("ROLLBACK").unwrap();

    assert_eq!(node.history(&ws).await, before);
    assert_eq!(node.post(&format!("{ws}/rewind"), request).await, removed(1));
    node.send(&ws, "4").await;
    let frames = pane.until(|frame| frame.kind() == "user_turn").await;
    assert_eq!(kinds(&frames), ["clear_ui", "user_turn"]);
    model.answer("re: 4").await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_stored_is_said_to_be_lost_and_panes_read_again() {
    let (node, mut model, folder, ws, mut pane) = three_turns().await;
    node.send(&ws, "4").await;
    let mut call = model.call().await;
    call.say("shown");
    pane.until(|frame| frame.kind() == "content").await;
    let database = rusqlite::Connection::open(folder.data().join("node.sqlite")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    call.done();
    let frames = pane.until_idle().await;
    assert_eq!(kinds(&frames), ["stream_end", "error", "history_resync", "state_change"]);
    assert_eq!(frames[2].data["reason"], "commit_failed");
    database.execute_batch("ROLLBACK").unwrap();
    assert_eq!(node.texts(&ws).await.last().unwrap(), "4");
}
