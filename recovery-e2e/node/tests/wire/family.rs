//! Who works for a workstream: its children, and the agents of its turns.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::model::Model;
use crate::node::{Folder, Node};

async fn child(node: &Node, name: &str, parent: &str) -> (StatusCode, Value) {
    let parent = parent.rsplit('/').next().unwrap();
    let plan = json!({ "name": name, "kind": "coordinator", "parent_ws_id": parent });
    node.post("/v1/api/workstreams", plan).await
}

async fn children(node: &Node, ws: &str) -> Value {
    node.get(&format!("{ws}/children")).await.1["children"].take()
}

async fn task(node: &Node, ws: &str) -> Value {
    node.get(&format!("{ws}/tasks")).await.1["tasks"][0].take()
}

#[tokio::test]
async fn children_are_told_by_name_with_what_they_do_also_after_a_restart() {
    let (folder, model) = (Folder::new(), Model::start().await);
    let args = ["--model-url", &model.url];
    let node = folder.start(&args).await;
    let parent = node.create("parent").await;
    assert_eq!(children(&node, &parent).await, json!([]));
    let mut expected = Vec::new();
    for name in ["b", "a"] {
        let (status, made) = child(&node, name, &parent).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        expected.push(json!({
            "ws_id": made["ws_id"], "name": name, "state": "idle", "kind": "coordinator",
            "parent_ws_id": parent.rsplit('/').next().unwrap(),
        }));
    }
    expected.reverse();
    assert_eq!(children(&node, &parent).await, json!(expected));
    let a = format!("/v1/api/workstreams/{}", expected[0]["ws_id"].as_str().unwrap());
    assert_eq!(node.get(&a).await.1, expected[0]);
    node.send(&a, "go").await;
    assert_eq!(children(&node, &parent).await[0]["state"], "thinking");
    assert_eq!(children(&node, &a).await, json!([]));
    node.kill().await;

    let node = folder.start(&args).await;
    assert_eq!(children(&node, &parent).await, json!(expected));
    assert_eq!(node.get(&a).await.1, expected[0]);
}

#[tokio::test]
async fn a_workstream_of_no_kind_or_of_a_parent_that_is_not_there_is_not_made() {
    let node = Folder::new().start(&[]).await;
    for plan in [
        json!({ "name": "a", "kind": "boss" }),
        json!({ "name": "a", "parent_ws_id": "0123456789abcdef" }),
    ] {
        let (status, answer) = node.post("/v1/api/workstreams", plan).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
    }
    assert_eq!(node.get("/v1/api/workstreams?stored=1").await.1["workstreams"], json!([]));
    for what in ["children", "tasks"] {
        let path = format!("/v1/api/workstreams/none/{what}");
        assert_eq!(node.get(&path).await.0, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn a_task_is_told_from_the_call_on_and_is_interrupted_where_the_node_dies_over_it() {
    let (folder, mut model) = (Folder::new(), Model::start().await);
    let url = model.url.clone();
    let args = ["--model-url", &url];
    let node = folder.start(&args).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.send(&ws, "go").await;
    model.call_tools(&[("p", "task_agent", json!({ "task": "look" }))]).await;
    let mut agent = model.call().await;
    let row = node.history(&ws).await["messages"][1]["row_id"].take();
    let expected = |state, steps| json!({ "row_id": row, "call_id": "p", "task": "look", "state": state, "steps": steps });
    assert_eq!(task(&node, &ws).await, expected("running", 0));
    agent.call(&[("c", "bash", json!({ "command": "true" }))]);
    agent.done();
    model.answer("seen").await;
    model.answer("done").await;
    pane.until_idle().await;
    assert_eq!(task(&node, &ws).await, expected("done", 1));

    node.send(&ws, "again").await;
    model.call_tools(&[("p", "task_agent", json!({ "task": "look again" }))]).await;
    let _agent = model.call().await;
    node.kill().await;
    let node = folder.start(&args).await;
    assert_eq!(task(&node, &ws).await["state"], "interrupted");
    assert_eq!(node.get(&format!("{ws}/tasks")).await.1["tasks"][1], expected("done", 1));
}
