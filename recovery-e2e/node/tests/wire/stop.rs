use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::json;

use crate::node::{Folder, Node, client};
use crate::pane::kinds;

#[tokio::test]
async fn a_killed_node_loses_nothing_committed_and_its_cursors_are_never_current_again() {
    let (node, mut model, folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.turn(&ws, &mut model, &mut pane, "1").await;
    let before = node.history(&ws).await;
    node.send(&ws, "2").await;
    let mut call = model.call().await;
    call.say("never finished");
    let frames = pane.until(|frame| frame.kind() == "content").await;
    let cursor = frames.last().unwrap().id.clone().unwrap();
    node.kill().await;

    let node = folder.start(&["--model-url", &model.url]).await;
    let after = node.history(&ws).await;
    assert_eq!(crate::node::texts(&after), ["1", "re: 1", "2"]);
    assert_eq!(after["messages"][0], before["messages"][0]);
    assert_eq!(after["messages"][1], before["messages"][1]);
    // Outgrown numbers change nothing: the epoch decides.
    let mut pane = node.pane(&ws, "").await;
    for text in ["3", "4", "5"] {
        node.turn(&ws, &mut model, &mut pane, text).await;
    }
    for mut pane in [
        node.redial(&ws, "", &cursor).await,
        node.pane(&ws, &format!("last_event_id={cursor}")).await,
    ] {
        let past = pane.past().await;
        assert_eq!(past[0].kind(), "replay_truncated");
        assert_eq!(past[0].data["reason"], "boot_epoch");
        assert_eq!(past[0].data["lost_count"], json!(null));
    }
    let token = before["handoff_token"].as_str().unwrap();
    let refused = node.pane(&ws, &format!("history_token={token}")).await.rest().await;
    assert_eq!(kinds(&refused), ["history_resync"]);
}

#[tokio::test]
async fn a_stopping_node_keeps_what_had_arrived_ends_its_streams_and_exits_with_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let (node, mut model, folder) = Node::with_model(&[]).await;
        let ws = node.create("a").await;
        let mut pane = node.pane(&ws, "").await;
        node.send(&ws, "1").await;
        let mut call = model.call().await;
        call.say("half");
        pane.until(|frame| frame.kind() == "content").await;
        let health = format!("{}/health", node.base);
        node.signal(signal);
        call.hung_up().await;
        pane.rest().await;
        assert_eq!(node.ended().await.code(), Some(0));
        assert!(client().get(health).send().await.unwrap_err().is_connect());

        let node = folder.start(&[]).await;
        assert_eq!(node.texts(&ws).await, ["1", "half"]);
        assert_eq!(node.get(&ws).await.1["state"], "idle");
    }
}

#[tokio::test]
async fn a_data_folder_serves_one_node_at_a_time() {
    let folder = Folder::new();
    let node = folder.start(&[]).await;
    let (code, error) = folder.refused(&[]).await;
    assert_eq!(code, Some(2));
    assert!(error.contains("another node runs on the data folder"), "{error}");
    assert_eq!(node.get("/v1/api/workstreams").await.0, StatusCode::OK);
    node.kill().await;
    folder.start(&[]).await;
}

#[tokio::test]
async fn what_cannot_start_says_why_and_exits_with_2() {
    for (args, said) in [
        (&["--control-socket", "/x"][..], "--control-socket"),
        (&["--retry-ms", "9..5"], "--retry"),
        (&["--public-origin", "app.example"], "--public-origin"),
        (&["--model-url", "https://x"], "--model-url"),
        (&["--ping", "0"], "--ping"),
        (&["--max-connections", "0"], "--max-connections"),
        (&["--log", "a=b=c"], "--log"),
        (&["--config", "/no/such/file"], "/no/such/file"),
        (&["--nonsense"], "--nonsense"),
    ] {
        let (code, error) = Folder::new().refused(args).await;
        assert_eq!(code, Some(2), "{args:?}");
        assert!(error.contains(said), "{error}");
    }
    let folder = Folder::new();
    std::fs::write(folder.data(), "a file").unwrap();
    let (code, error) = folder.refused(&[]).await;
    assert_eq!(code, Some(2));
    assert!(error.contains("cannot use the data folder"), "{error}");

    let folder = Folder::new();
    std::fs::create_dir(folder.data()).unwrap();
    std::fs::write(folder.data().join("node.sqlite"), "no database ".repeat(100)).unwrap();
    let (code, error) = folder.refused(&[]).await;
    assert_eq!(code, Some(2));
    assert!(error.contains("cannot open the database"), "{error}");
}
