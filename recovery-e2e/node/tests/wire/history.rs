#![cfg(feature = "control")]

use std::future::Future;
use std::path::PathBuf;

use futures_util::future::join;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::control::{ask, controlled, counters};
use crate::model::Model;
use crate::node::{Folder, Node, texts};
use crate::within;

/// A control socket.
struct Control(PathBuf);

impl Control {
    /// Has a command done.
    async fn order(&self, path: &str, body: Value) {
        let (status, answer) = ask(&self.0, "POST", path, &body.to_string()).await;
        assert_eq!(status, 200, "{answer}");
    }

    async fn loads(&self) -> Value {
        counters(&self.0).await["load_calls"].clone()
    }

    /// Waits until a counter has this value.
    async fn until(&self, counter: &str, value: u64) {
        let reached = async { while counters(&self.0).await[counter] != value {} };
        within(&format!("{counter} reaching {value}"), reached).await;
    }
}

/// A workstream with three turns.
async fn three_turns() -> (Control, Node, Model, Folder, String) {
    let (folder, mut model) = (Folder::new(), Model::start().await);
    let (node, socket) = controlled(&folder, &model).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    for text in ["1", "2", "3"] {
        node.turn(&ws, &mut model, &mut pane, text).await;
    }
    (Control(socket), node, model, folder, ws)
}

/// How many rows of a person a history has.
fn users(history: &Value) -> usize {
    let messages = history["messages"].as_array().unwrap();
    messages.iter().filter(|row| row["role"] == "user").count()
}

/// Both histories: one asked for while reads are held, one after three turns were cut to one;
/// `overlap` comes once both are under way.
async fn across_a_rewind(
    control: &Control,
    node: &Node,
    ws: &str,
    overlap: impl Future<Output = ()>,
) -> [Value; 2] {
    control.order("/hold/load", json!({})).await;
    let late = async {
        control.until("parked_loads", 1).await;
        let (_, rewound) = node.post(&format!("{ws}/rewind"), json!({ "turns": 2 })).await;
        assert_eq!(rewound["removed"], 2);
        let release = async {
            overlap.await;
            control.order("/release/load", json!({})).await;
        };
        join(node.history(ws), release).await.0
    };
    join(node.history(ws), late).await.into()
}

#[tokio::test]
async fn histories_asked_for_at_the_same_time_share_one_read_and_later_ones_do_not() {
    let (control, node, _model, _folder, ws) = three_turns().await;
    control.order("/hold/load", json!({})).await;
    let other_limit = format!("{ws}/history?limit=2");
    let release = async {
        control.until("load_joins", 1).await;
        control.until("parked_loads", 2).await;
        control.order("/release/load", json!({})).await;
    };
    let same = join(node.history(&ws), node.history(&ws));
    let ((one, two), ((_, shorter), ())) = join(same, join(node.get(&other_limit), release)).await;
    assert_eq!(one, two);
    assert_eq!(texts(&one).len(), 6);
    assert_eq!(texts(&shorter), ["3", "re: 3"]);
    assert_eq!(control.loads().await, 2);
    assert_eq!(node.history(&ws).await, one);
    assert_eq!(control.loads().await, 3);
}

#[tokio::test]
async fn a_history_asked_for_after_a_rewind_never_joins_a_read_from_before_it() {
    let (control, node, _model, _folder, ws) = three_turns().await;
    let overlap = control.until("parked_loads", 2);
    let [before, after] = across_a_rewind(&control, &node, &ws, overlap).await;
    assert_eq!((users(&before), users(&after)), (3, 1));
    assert_eq!(control.loads().await, 2);
    // The parked pane must refetch as soon as it presents its token.
    let token = |history: &Value| history["handoff_token"].as_str().unwrap().to_owned();
    let stale = node.pane(&ws, &format!("history_token={}", token(&before))).await;
    assert_eq!(stale.rest().await[0].kind(), "history_resync");
    let mut proven = node.pane(&ws, &format!("history_token={}", token(&after))).await;
    assert_eq!(proven.take().await.kind(), "connected");
}

#[tokio::test]
async fn the_defect_that_forgets_the_generation_hands_out_rows_that_were_cut() {
    let (control, node, _model, _folder, ws) = three_turns().await;
    let unknown = json!({ "name": "no-such-defect" });
    assert_eq!(ask(&control.0, "POST", "/defect", &unknown.to_string()).await.0, 400);
    control.order("/defect", json!({ "name": "flight-key-without-generation" })).await;
    let overlap = control.until("load_joins", 1);
    let [before, after] = across_a_rewind(&control, &node, &ws, overlap).await;
    assert_eq!((users(&before), users(&after)), (3, 3));
    assert_eq!(control.loads().await, 1);
}

#[tokio::test]
async fn a_read_that_others_wait_for_goes_on_when_its_client_leaves() {
    let (control, node, _model, _folder, ws) = three_turns().await;
    control.order("/hold/load", json!({})).await;
    let leaving = node.request(reqwest::Method::GET, &format!("{ws}/history")).send();
    let leaving = tokio::spawn(leaving);
    control.until("parked_loads", 1).await;
    let release = async {
        control.until("load_joins", 1).await;
        leaving.abort();
        assert!(leaving.await.unwrap_err().is_cancelled());
        control.order("/release/load", json!({})).await;
    };
    let (joined, ()) = join(node.history(&ws), release).await;
    assert_eq!(users(&joined), 3);
    assert_eq!(control.loads().await, 1);
}

#[tokio::test]
async fn a_store_that_cannot_be_read_is_an_answer_of_503_and_never_an_empty_history() {
    let (node, mut model, folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.turn(&ws, &mut model, &mut pane, "1").await;
    let database = rusqlite::Connection::open(folder.data().join("node.sqlite")).unwrap();
    database.execute_batch("ALTER TABLE rows RENAME TO gone").unwrap();
    let (status, body) = node.get(&format!("{ws}/history")).await;
    assert_eq!((status, &body["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("storage")));
    assert_eq!(body.get("messages"), None);
    database.execute_batch("ALTER TABLE gone RENAME TO rows").unwrap();
    assert_eq!(node.texts(&ws).await, ["1", "re: 1"]);
}

#[tokio::test]
async fn a_held_read_does_not_hold_up_a_stop() {
    let (control, node, _model, folder, ws) = three_turns().await;
    control.order("/hold/load", json!({})).await;
    let asked = tokio::spawn(node.request(reqwest::Method::GET, &format!("{ws}/history")).send());
    control.until("parked_loads", 1).await;
    assert_eq!(node.stop().await.code(), Some(0));
    asked.await.unwrap().ok();
    assert!(!folder.log().contains("did not end in time"), "{}", folder.log());
}
