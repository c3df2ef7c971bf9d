use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::node::Node;
use crate::pane::kinds;

async fn send(node: &Node, ws: &str, message: &str, id: &str) -> Value {
    let send = json!({ "message": message, "client_send_id": id });
    let (status, answer) = node.post(&format!("{ws}/send"), send).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    answer["status"].clone()
}

#[tokio::test]
async fn what_is_sent_during_a_turn_has_its_own_turn_afterwards_in_order() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    pane.past().await;
    assert_eq!(send(&node, &ws, "1", "c-1").await, "ok");
    let mut call = model.call().await;
    assert_eq!(send(&node, &ws, "2", "c-2").await, "queued");
    assert_eq!(send(&node, &ws, "3", "c-3").await, "queued");
    // A repeated send is the same send.
    assert_eq!(send(&node, &ws, "2", "c-2").await, "queued");
    assert_eq!(node.texts(&ws).await, ["1"]);
    call.say("re: 1");
    call.done();
    let messages = model.answer("re: 2").await;
    assert_eq!(messages.as_array().unwrap().len(), 3);
    model.answer("re: 3").await;
    for (turn, id) in ["c-1", "c-2", "c-3"].into_iter().enumerate() {
        let frames = pane.until_idle().await;
        assert_eq!(frames[0].data["client_send_ids"], json!([id]), "{turn}");
        assert_eq!(kinds(&frames).iter().filter(|kind| **kind == "user_turn").count(), 1);
    }
    assert_eq!(node.texts(&ws).await, ["1", "re: 1", "2", "re: 2", "3", "re: 3"]);
    assert_eq!(send(&node, &ws, "3", "c-3").await, "ok");
    assert_eq!(node.texts(&ws).await.len(), 6);
}

#[tokio::test]
async fn what_was_queued_survives_every_end_of_the_node() {
    let (mut node, mut model, folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    send(&node, &ws, "1", "c-1").await;
    let _held = model.call().await;
    assert_eq!(send(&node, &ws, "2", "c-2").await, "queued");
    assert_eq!(send(&node, &ws, "3", "c-3").await, "queued");
    node.kill().await;

    node = folder.start(&["--model-url", &model.url]).await;
    // Loading the workstream starts the queued turn.
    node.history(&ws).await;
    let _held = model.call().await;
    assert_eq!(send(&node, &ws, "3", "c-3").await, "queued");
    assert_eq!(node.texts(&ws).await, ["1", "2"]);
    node.stop().await;

    node = folder.start(&["--model-url", &model.url]).await;
    let mut pane = node.pane(&ws, "").await;
    model.answer("re: 3").await;
    pane.until_idle().await;
    assert_eq!(node.texts(&ws).await, ["1", "2", "3", "re: 3"]);
}
