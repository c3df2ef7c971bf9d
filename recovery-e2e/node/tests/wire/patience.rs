use reqwest::StatusCode;
use serde_json::json;

use crate::node::Node;
use crate::pane::{Frame, Pane, kinds};

/// The error that ends a turn without a row.
async fn refused(pane: &mut Pane) -> String {
    let frames = pane.until_idle().await;
    let tail: &[Frame] = &frames[frames.len() - 3..];
    assert_eq!(kinds(tail), ["stream_end", "error", "state_change"]);
    assert_eq!(tail[0].data["row_id"], json!(null));
    tail[1].data["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_model_that_refuses_for_good_is_asked_once() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    for status in [401, 403, 400, 404] {
        node.send(&ws, "hello").await;
        model.call().await.refuse(StatusCode::from_u16(status).unwrap());
        assert!(refused(&mut pane).await.contains(&status.to_string()));
    }
    assert_eq!(node.texts(&ws).await, ["hello"; 4]);
}

#[tokio::test]
async fn a_model_that_refuses_for_the_moment_is_asked_again_up_to_a_limit() {
    let args = ["--model-retries", "2", "--model-backoff-ms", "1..2"];
    let (node, mut model, _folder) = Node::with_model(&args).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.send(&ws, "one").await;
    // The cap holds also over what the model asks for.
    model.call().await.answer((StatusCode::TOO_MANY_REQUESTS, [("retry-after", "3600")]));
    model.call().await.refuse(StatusCode::SERVICE_UNAVAILABLE);
    model.answer("re: one").await;
    pane.until_idle().await;
    assert_eq!(node.texts(&ws).await, ["one", "re: one"]);

    node.send(&ws, "two").await;
    for _ in 0..3 {
        model.call().await.refuse(StatusCode::INTERNAL_SERVER_ERROR);
    }
    assert!(refused(&mut pane).await.contains("500"));
}

#[tokio::test]
async fn a_model_that_falls_silent_is_given_up_and_what_it_said_is_kept() {
    let (node, mut model, _folder) = Node::with_model(&["--model-silence-ms", "300"]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.send(&ws, "one").await;
    let _unanswered = model.call().await;
    assert!(refused(&mut pane).await.contains("silent"));

    node.send(&ws, "two").await;
    let mut call = model.call().await;
    call.say("half");
    let frames = pane.until_idle().await;
    let error = frames.iter().find(|frame| frame.kind() == "error").unwrap();
    assert!(error.data["message"].as_str().unwrap().contains("silent"));
    assert_eq!(node.texts(&ws).await, ["one", "two", "half"]);
}
