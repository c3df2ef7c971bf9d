use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::model::Model;
use crate::node::{Folder, Node, answer, client};
use crate::pane::{content, kinds};

#[tokio::test]
async fn a_turn_is_published_in_order_and_stands_in_the_history() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    pane.past().await;
    let send = json!({ "message": "hello", "client_send_id": "c-1" });
    assert_eq!(node.post(&format!("{ws}/send"), send).await.0, StatusCode::OK);
    let mut call = model.call().await;
    call.say("one ");
    call.say("two ");
    call.say("three");
    call.done();
    let frames = pane.until_idle().await;

    let names = kinds(&frames);
    let mut without_text = names.clone();
    without_text.retain(|kind| *kind != "content");
    assert_eq!(without_text, ["user_turn", "state_change", "stream_end", "state_change"]);
    assert_eq!((names[0], names[1], names[2]), ("user_turn", "state_change", "content"));
    assert_eq!(content(&frames), "one two three");
    let ws_id = ws.rsplit('/').next().unwrap();
    let numbers: Vec<u64> = frames
        .iter()
        .map(|frame| {
            assert_eq!(frame.data["ws_id"], ws_id);
            frame.id.as_ref().unwrap().split_once('-').unwrap().1.parse().unwrap()
        })
        .collect();
    assert_eq!(numbers, (1..=frames.len() as u64).collect::<Vec<_>>());

    let history = node.history(&ws).await;
    let (user, assistant) = (&frames[0].data["row_id"], &frames[2].data["row_id"]);
    assert!(user.is_string() && assistant.is_string() && user != assistant);
    let stream_end = &frames[frames.len() - 2];
    assert_eq!(&stream_end.data["row_id"], assistant);
    assert_eq!(
        history["messages"],
        json!([
            { "role": "user", "content": "hello", "row_id": user, "client_send_ids": ["c-1"] },
            { "role": "assistant", "content": "one two three", "row_id": assistant },
        ])
    );
    assert_eq!(history["cursor"], json!(null));
}

#[tokio::test]
async fn the_model_is_asked_with_the_whole_conversation() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.turn(&ws, &mut model, &mut pane, "one").await;
    node.send(&ws, "two").await;
    let mut call = model.call().await;
    assert_eq!(call.request["stream"], true);
    assert_eq!(
        call.request["messages"],
        json!([
            { "role": "user", "content": "one" },
            { "role": "assistant", "content": "re: one" },
            { "role": "user", "content": "two" },
        ])
    );
    call.done();
    pane.until_idle().await;
}

#[tokio::test]
async fn a_workstream_can_have_a_model_of_its_own() {
    let (node, _unused, _folder) = Node::with_model(&[]).await;
    let mut own = Model::start().await;
    let body = json!({ "name": "a", "model_url": own.url });
    let (_, made) = node.post("/v1/api/workstreams", body).await;
    let ws = format!("/v1/api/workstreams/{}", made["ws_id"].as_str().unwrap());
    let mut pane = node.pane(&ws, "").await;
    node.turn(&ws, &mut own, &mut pane, "hi").await;
    assert_eq!(node.texts(&ws).await, ["hi", "re: hi"]);
}

#[tokio::test]
async fn a_repeated_send_is_the_same_send_even_while_its_turn_runs_and_after_a_restart() {
    let (node, mut model, folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    let path = format!("{ws}/send");
    let send = json!({ "message": "hello", "client_send_id": "c-1" });
    let accepted = (StatusCode::OK, json!({ "status": "ok" }));
    assert_eq!(node.post(&path, send.clone()).await, accepted);
    assert_eq!(node.post(&path, send.clone()).await, accepted);
    model.answer("hi").await;
    pane.until_idle().await;
    assert_eq!(node.post(&path, send.clone()).await, accepted);
    node.stop().await;

    let node = folder.start(&[]).await;
    assert_eq!(node.post(&path, send.clone()).await, accepted);
    assert_eq!(node.texts(&ws).await, ["hello", "hi"]);
    let (_, rewound) = node.post(&format!("{ws}/rewind"), json!({ "turns": 1 })).await;
    assert_eq!(rewound["removed"], 1);
    assert_eq!(node.post(&path, send).await, accepted);
    assert_eq!(node.texts(&ws).await, [""; 0]);
}

#[tokio::test]
async fn an_answer_that_breaks_off_keeps_what_had_arrived() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    pane.past().await;
    node.send(&ws, "hello").await;
    let mut call = model.call().await;
    call.say("half");
    pane.until(|frame| frame.kind() == "content").await;
    call.cut();
    let frames = pane.until_idle().await;
    assert_eq!(kinds(&frames), ["stream_end", "error", "state_change"]);
    assert!(frames[0].data["row_id"].is_string());
    assert!(frames[1].data["message"].as_str().unwrap().contains("broke off"));
    assert_eq!(node.texts(&ws).await, ["hello", "half"]);
}

#[tokio::test]
async fn a_node_without_a_model_says_so_in_the_pane() {
    let node = Folder::new().start(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.send(&ws, "hello").await;
    let frames = pane.until(|frame| frame.kind() == "error").await;
    assert!(frames.last().unwrap().data["message"].as_str().unwrap().contains("--model-url"));
}

#[tokio::test]
async fn a_wrong_request_is_refused_with_a_reason_and_changes_nothing() {
    let node = Folder::new().start(&["--message-bytes", "100"]).await;
    let ws = node.create("a").await;
    for (path, body) in [
        ("/send", json!({})),
        ("/send", json!({ "message": 1 })),
        ("/send", json!({ "message": "" })),
        ("/send", json!({ "message": " \n" })),
        ("/send", json!({ "message": "x".repeat(101) })),
        ("/send", json!({ "message": "x", "client_send_id": "" })),
        ("/send", json!({ "message": "x", "client_send_id": "a b" })),
        ("/send", json!({ "message": "x", "client_send_id": "a".repeat(129) })),
        ("/rewind", json!({})),
        ("/rewind", json!({ "turns": 0 })),
        ("/rewind", json!({ "turns": -1 })),
        ("/rewind", json!({ "turns": 1.0 })),
        ("/rewind", json!({ "turns": true })),
        ("/rewind", json!({ "turns": "1" })),
        ("/rewind", json!({ "turns": null })),
        ("/rewind", json!({ "turns": 1, "request_id": "a/b" })),
        ("", json!({ "name": "" })),
        ("", json!({ "name": "x".repeat(201) })),
        ("", json!({ "name": "x", "model_url": "ftp://x" })),
        ("", json!({ "name": "x", "model_url": "x" })),
    ] {
        let path =
            if path.is_empty() { "/v1/api/workstreams".into() } else { format!("{ws}{path}") };
        let (status, answer) = node.post(&path, body.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        assert!(answer["error"].is_string() && answer["code"] == "bad_request");
    }
    // So large a body may be hung up on before its sender reads the answer; no other request
    // shares its connection.
    let huge = json!({ "message": "x".repeat(1 << 20) });
    let send = client().post(format!("{}{ws}/send", node.base)).bearer_auth(node.token());
    if let Ok(answer) = send.json(&huge).send().await {
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    }
    let broken = node.request(Method::POST, &format!("{ws}/send")).body("{");
    assert_eq!(answer(broken).await.0, StatusCode::BAD_REQUEST);
    for limit in ["0", "501", "-1", "x", "", "1.5"] {
        let (status, _) = node.get(&format!("{ws}/history?limit={limit}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{limit}");
    }
    assert_eq!(node.history(&ws).await["messages"], json!([]));
    let (_, listed) = node.get("/v1/api/workstreams?stored=1").await;
    assert_eq!(listed["workstreams"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_history_is_the_newest_rows_in_order() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    for text in ["1", "2"] {
        node.turn(&ws, &mut model, &mut pane, text).await;
    }
    let (_, history) = node.get(&format!("{ws}/history?limit=3")).await;
    assert_eq!(crate::node::texts(&history), ["re: 1", "2", "re: 2"]);
    assert_eq!(node.texts(&ws).await, ["1", "re: 1", "2", "re: 2"]);
}

#[tokio::test]
async fn the_roster_is_what_is_loaded_and_a_question_loads() {
    let folder = Folder::new();
    let node = folder.start(&[]).await;
    let (b, a) = (node.create("b").await, node.create("a").await);
    node.stop().await;

    let node = folder.start(&[]).await;
    let listed = async |query: &str| {
        let (_, listed) = node.get(&format!("/v1/api/workstreams{query}")).await;
        let listed = listed["workstreams"].as_array().unwrap().clone();
        listed.iter().map(|ws| ws["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed("").await, [""; 0]);
    assert_eq!(listed("?stored=1").await.len(), 2);
    let ws_id = a.rsplit('/').next().unwrap();
    let expected = json!({
        "ws_id": ws_id, "name": "a", "state": "idle", "kind": "interactive", "parent_ws_id": null,
    });
    assert_eq!(node.get(&a).await, (StatusCode::OK, expected));
    assert_eq!(listed("").await, ["a"]);
    node.history(&b).await;
    assert_eq!(listed("").await, ["a", "b"]);
    assert_eq!(listed("?stored=1").await.len(), 2);
}
