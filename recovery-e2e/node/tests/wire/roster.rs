use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::model::Model;
use crate::node::{Folder, Node};
use crate::pane::{Frame, Pane, kinds};

/// The id of a workstream, from its path.
fn id(ws: &str) -> &str {
    ws.rsplit('/').next().unwrap()
}

fn entry(ws: &str, name: &str, state: &str) -> Value {
    json!({
        "ws_id": id(ws), "name": name, "state": state, "kind": "interactive", "parent_ws_id": null,
    })
}

/// The global stream as a browser redials it by itself.
async fn redial(node: &Node, header: &str) -> Pane {
    let request = node.request(Method::GET, "/v1/api/events/global");
    Pane::open(request.header("Last-Event-ID", header)).await
}

fn head(frames: &[Frame]) -> (&str, u64) {
    let id = frames.last().unwrap().id.as_deref().unwrap();
    let (epoch, seq) = id.split_once('-').unwrap();
    (epoch, seq.parse().unwrap())
}

#[tokio::test]
async fn the_global_stream_starts_with_what_is_loaded_and_then_tells_every_change_in_order() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let a = node.create("a").await;
    let mut roster = node.roster("").await;
    let past = roster.past().await;
    assert_eq!(kinds(&past), ["node_snapshot", "replay_complete"]);
    assert!(past.iter().all(|frame| frame.id.is_none()));
    assert!(!past[0].data["node_id"].as_str().unwrap().is_empty());
    assert_eq!(past[0].data["workstreams"], json!([entry(&a, "a", "idle")]));

    let b = node.create("b").await;
    let mut pane = node.pane(&b, "").await;
    node.turn(&b, &mut model, &mut pane, "1").await;
    let mut created = entry(&b, "b", "idle");
    created["type"] = json!("ws_created");
    assert_eq!(roster.take().await.data, created);
    for state in ["thinking", "idle"] {
        let expected = json!({ "type": "ws_state", "ws_id": id(&b), "state": state });
        assert_eq!(roster.take().await.data, expected);
    }
    let (_, listed) = node.get("/v1/api/workstreams").await;
    let mut snapshot = node.roster("").await;
    assert_eq!(
        snapshot.take().await.data["workstreams"].as_array().unwrap().len(),
        listed["workstreams"].as_array().unwrap().len()
    );
}

#[tokio::test]
async fn a_workstream_appears_once_it_is_loaded_and_a_stop_closes_none() {
    let (folder, model) = (Folder::new(), Model::start().await);
    let args = ["--model-url", &model.url];
    let node = folder.start(&args).await;
    let a = node.create("a").await;
    let mut roster = node.roster("").await;
    let first = roster.past().await;
    node.signal(Signal::TERM);
    assert_eq!(kinds(&roster.rest().await), [""; 0]);
    assert_eq!(node.ended().await.code(), Some(0));

    let node = folder.start(&args).await;
    let mut roster = node.roster("").await;
    let again = roster.past().await;
    assert_eq!(again[0].data["workstreams"], json!([]));
    assert_eq!(again[0].data["node_id"], first[0].data["node_id"]);
    node.history(&a).await;
    node.history(&a).await;
    node.create("b").await;
    let expected = [roster.take().await, roster.take().await];
    assert_eq!(kinds(&expected), ["ws_created"; 2]);
    assert_eq!((&expected[0].data["name"], &expected[1].data["name"]), (&json!("a"), &json!("b")));
}

#[tokio::test]
async fn a_global_cursor_replays_what_followed_it_or_is_truncated_with_its_reason() {
    let node = Folder::new().start(&["--ring-events", "2"]).await;
    let mut roster = node.roster("").await;
    roster.past().await;
    let mut all = Vec::new();
    for name in ["a", "b", "c", "d"] {
        node.create(name).await;
        all.push(roster.take().await);
    }
    let (epoch, head) = head(&all);
    for seq in [head - 2, head - 1, head] {
        let cursor = format!("{epoch}-{seq}");
        for mut stream in
            [node.roster(&format!("last_event_id={cursor}")).await, redial(&node, &cursor).await]
        {
            let past = stream.past().await;
            let (slice, end) = past.split_at(past.len() - 1);
            assert_eq!(slice, &all[usize::try_from(seq).unwrap()..]);
            assert_eq!(end[0].data["count"], head - seq);
        }
    }
    for (cursor, reason, lost) in [
        (format!("{epoch}-1"), "ring_evicted", json!(1)),
        (format!("{epoch}-{}", head + 1), "future_cursor", json!(null)),
        (format!("0123456789abcdef-{head}"), "boot_epoch", json!(null)),
        ("7".to_owned(), "malformed_cursor", json!(null)),
    ] {
        for mut stream in
            [node.roster(&format!("last_event_id={cursor}")).await, redial(&node, &cursor).await]
        {
            let past = stream.past().await;
            assert_eq!(kinds(&past), ["replay_truncated", "node_snapshot", "replay_complete"]);
            assert_eq!(
                (&past[0].data["reason"], &past[0].data["lost_count"]),
                (&json!(reason), &lost)
            );
            assert_eq!(past[1].data["workstreams"].as_array().unwrap().len(), 4);
            assert!(past.iter().all(|frame| frame.id.is_none()));
        }
    }
}

#[tokio::test]
async fn the_numbers_of_all_that_is_loaded_come_by_themselves_and_move_the_cursor() {
    let (folder, mut model) = (Folder::new(), Model::start().await);
    let node = folder.start(&["--model-url", &model.url, "--aggregate-ms", "5"]).await;
    let (a, _b) = (node.create("a").await, node.create("b").await);
    let mut roster = node.roster("").await;
    let counts = |total: u64, active: u64| {
        move |frame: &Frame| {
            frame.kind() == "aggregate"
                && frame.id.is_some()
                && frame.data["total_count"] == total
                && frame.data["active_count"] == active
        }
    };
    roster.until(counts(2, 0)).await;
    node.send(&a, "1").await;
    roster.until(counts(2, 1)).await;
    model.answer("done").await;
    roster.until(counts(2, 0)).await;
}

#[tokio::test]
async fn a_global_connection_that_falls_behind_is_told_so_and_its_redial_loses_nothing() {
    let node = Folder::new().start(&["--listener-bytes", "300"]).await;
    let mut roster = node.roster("").await;
    node.create("short").await;
    let frames = roster.until(|frame| frame.kind() == "ws_created").await;
    let cursor = frames.last().unwrap().id.clone().unwrap();
    node.create(&"long".repeat(50)).await;
    let rest = roster.rest().await;
    assert_eq!(kinds(&rest), ["stream_overflow"]);
    assert_eq!(rest[0].id, None);
    let past = redial(&node, &cursor).await.past().await;
    assert_eq!(kinds(&past), ["ws_created", "replay_complete"]);
}

#[tokio::test]
async fn what_is_closed_or_deleted_leaves_the_roster_and_what_runs_tools_is_said_to_run() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let (a, b) = (node.create("a").await, node.create("b").await);
    let mut pane = node.pane(&a, "").await;
    let mut roster = node.roster("").await;
    roster.past().await;
    node.send(&a, "go").await;
    model.call_tools(&[("c", "bash", json!({ "command": "true" }))]).await;
    model.answer("done").await;
    pane.until_idle().await;
    for state in ["thinking", "running", "thinking", "idle"] {
        assert_eq!(roster.take().await.data["state"], state);
    }
    node.post(&format!("{a}/close"), json!({})).await;
    node.delete(&b).await;
    // Not loaded any more: it leaves no second time.
    node.delete(&a).await;
    let c = node.create("c").await;
    for (ws, name, reason) in [(&a, "a", "closed"), (&b, "b", "deleted")] {
        let expected =
            json!({ "type": "ws_closed", "ws_id": id(ws), "name": name, "reason": reason });
        assert_eq!(roster.take().await.data, expected);
    }
    assert_eq!(roster.take().await.data["ws_id"], id(&c));
}
