use serde_json::json;

use crate::node::{Node, texts};
use crate::pane::{Frame, content, kinds};

const FRESH: [&str; 4] = ["connected", "status", "state_change", "replay_complete"];

/// The ids of ring events.
fn ids(frames: &[Frame]) -> Vec<&str> {
    frames.iter().filter_map(|frame| frame.id.as_deref()).collect()
}

#[tokio::test]
async fn a_first_connection_starts_from_nothing_and_carries_no_ids() {
    let (node, _model, _folder) = Node::with_model(&["--retry-ms", "70..90"]).await;
    let ws = node.create("name").await;
    let mut pane = node.pane(&ws, "").await;
    assert!((70..=90).contains(&pane.retry), "{}", pane.retry);
    let past = pane.past().await;
    assert_eq!(kinds(&past), [&["clear_ui"], &FRESH[..]].concat());
    assert_eq!(ids(&past), [""; 0]);
    assert_eq!(past[0].data["reason"], "tokenless_history_bootstrap");
    assert_eq!(past[1].data["name"], "name");
    assert_eq!(past[1].data["ws_id"], ws.rsplit('/').next().unwrap());
    assert_eq!(past[2].data["turns"], 0);
    assert_eq!(past[3].data["state"], "idle");
    assert_eq!(past[4].data["count"], 0);
}

#[tokio::test]
async fn a_true_token_starts_fresh_and_a_stale_one_is_refused() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.turn(&ws, &mut model, &mut pane, "1").await;
    let token = |history: &serde_json::Value| history["handoff_token"].as_str().unwrap().to_owned();
    let old = token(&node.history(&ws).await);
    let mut proven = node.pane(&ws, &format!("history_token={old}")).await;
    let past = proven.past().await;
    assert_eq!(kinds(&past), FRESH);
    assert_eq!(past[1].data["turns"], 1);

    node.turn(&ws, &mut model, &mut pane, "2").await;
    let last = format!("{}-1", old.split_once('.').unwrap().0);
    for query in [
        format!("history_token={old}"),
        "history_token=".to_owned(),
        format!("history_token={old}&last_event_id={last}"),
        format!("history_token={old}&last_event_id=garbage"),
    ] {
        let frames = node.pane(&ws, &query).await.rest().await;
        assert_eq!(kinds(&frames), ["history_resync"], "{query}");
        assert_eq!(frames[0].data["reason"], "handoff_mismatch");
        assert_eq!(frames[0].id, None);
    }
    let new = token(&node.history(&ws).await);
    assert_ne!(old, new);
    assert_eq!(kinds(&node.pane(&ws, &format!("history_token={new}")).await.past().await), FRESH);
    // A browser that redials by itself repeats the token of its first connection.
    let mut redialled = node.redial(&ws, &format!("history_token={old}"), &last).await;
    assert_eq!(kinds(&redialled.past().await)[..3], FRESH[..3]);
}

#[tokio::test]
async fn a_cursor_in_the_ring_replays_exactly_what_followed_it() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    pane.past().await;
    node.send(&ws, "1").await;
    model.answer("re: 1").await;
    let all = pane.until_idle().await;
    for (n, seen) in all.iter().enumerate() {
        let id = seen.id.as_deref().unwrap();
        for mut pane in [
            node.pane(&ws, &format!("last_event_id={id}")).await,
            node.redial(&ws, "", id).await,
            node.redial(&ws, "last_event_id=garbage&history_token=old", id).await,
        ] {
            let past = pane.past().await;
            assert_eq!(kinds(&past[..3]), FRESH[..3]);
            assert_eq!(past[3..past.len() - 1], all[n + 1..]);
            assert_eq!(past.last().unwrap().data["count"], all.len() - n - 1);
        }
    }
}

#[tokio::test]
async fn a_cursor_that_cannot_be_continued_is_truncated_with_its_reason() {
    let (node, mut model, _folder) = Node::with_model(&["--ring-events", "3"]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    pane.past().await;
    node.send(&ws, "1").await;
    model.answer("re: 1").await;
    let all = pane.until_idle().await;
    let (epoch, head) = all.last().unwrap().id.as_deref().unwrap().split_once('-').unwrap();
    let head: u64 = head.parse().unwrap();
    let token = node.history(&ws).await["handoff_token"].as_str().unwrap().to_owned();
    for (cursor, reason, lost) in [
        (format!("{epoch}-1"), "ring_evicted", json!(head - 4)),
        (format!("{epoch}-{}", head + 1), "future_cursor", json!(null)),
        (format!("0123456789abcdef-{head}"), "boot_epoch", json!(null)),
        (head.to_string(), "malformed_cursor", json!(null)),
        (format!("{epoch}-0"), "malformed_cursor", json!(null)),
    ] {
        for mut pane in [
            node.pane(&ws, &format!("last_event_id={cursor}")).await,
            node.pane(&ws, &format!("last_event_id={cursor}&history_token={token}")).await,
            node.redial(&ws, "", &cursor).await,
            node.redial(&ws, &format!("last_event_id={epoch}-{head}"), &cursor).await,
        ] {
            let past = pane.past().await;
            assert_eq!(kinds(&past), [&["replay_truncated"], &FRESH[..]].concat(), "{cursor}");
            assert_eq!(
                past[0].data,
                json!({
                    "type": "replay_truncated",
                    "reason": reason,
                    "lost_count": lost,
                    "earliest_available_id": format!("{epoch}-{}", head - 2),
                })
            );
            assert_eq!(ids(&past), [""; 0]);
        }
    }
    let mut pane = node.redial(&ws, "", &format!("{epoch}-{}", head - 3)).await;
    assert_eq!(pane.past().await.last().unwrap().data["count"], 3);
}

#[tokio::test]
async fn a_pane_that_connects_in_mid_turn_gets_the_text_so_far_and_then_only_the_rest() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut first = node.pane(&ws, "").await;
    node.send(&ws, "1").await;
    let mut call = model.call().await;
    call.say("so far");
    let seen = first.until(|frame| frame.kind() == "content").await;
    let mut second = node.pane(&ws, "").await;
    let past = second.past().await;
    let snapshot = &past[past.len() - 2];
    assert_eq!(snapshot.data["content"], "so far");
    assert_eq!(snapshot.data["row_id"], seen.last().unwrap().data["row_id"]);
    assert_eq!(past[past.len() - 3].data["state"], "thinking");
    // A replay brings the text itself, so it brings no snapshot of it.
    let mut third = node.redial(&ws, "", seen[seen.len() - 2].id.as_deref().unwrap()).await;
    let replayed = third.past().await;
    assert!(!kinds(&replayed).contains(&"in_progress_snapshot"));
    assert_eq!(content(&replayed), "so far");

    call.say(" and on");
    call.done();
    for pane in [&mut first, &mut second, &mut third] {
        assert_eq!(content(&pane.until_idle().await), " and on");
    }
}

#[tokio::test]
async fn a_connection_that_falls_behind_is_told_so_and_its_redial_loses_nothing() {
    let (node, mut model, _folder) = Node::with_model(&["--listener-bytes", "1000"]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.turn(&ws, &mut model, &mut pane, "short").await;
    let id = pane_head(&node, &ws).await;
    node.send(&ws, &"long".repeat(500)).await;
    let frames = pane.rest().await;
    assert_eq!(kinds(&frames), ["stream_overflow"]);
    assert_eq!(frames[0].id, None);
    let mut pane = node.redial(&ws, "", &id).await;
    let past = pane.past().await;
    assert_eq!(kinds(&past)[3..5], ["user_turn", "state_change"]);
    model.answer("end").await;
    assert_eq!(content(&pane.until_idle().await), "end");
    assert_eq!(texts(&node.history(&ws).await).len(), 4);
}

/// The id of the last event, from a pane that starts at the first.
async fn pane_head(node: &Node, ws: &str) -> String {
    let token = node.history(ws).await["handoff_token"].as_str().unwrap().to_owned();
    let first = format!("{}-1", token.split_once('.').unwrap().0);
    let past = node.redial(ws, "", &first).await.past().await;
    ids(&past).last().unwrap().to_string()
}

#[tokio::test]
async fn an_idle_stream_is_kept_open_by_comments() {
    let (node, _model, _folder) = Node::with_model(&["--ping-ms", "1"]).await;
    let ws = node.create("a").await;
    let request = node.request(reqwest::Method::GET, &format!("{ws}/events"));
    let mut response = crate::within("a stream", request.send()).await.unwrap();
    let mut text = String::new();
    while !text.ends_with(": ping\n\n: ping\n\n") {
        let chunk = crate::within("a ping", response.chunk()).await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
}
