//! Ends of turns and of workstreams, as people and crashes bring them about.

use reqwest::StatusCode;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use serde_json::{Value, json};

use crate::DEADLINE;
use crate::model::Model;
use crate::node::{Folder, Node};
use crate::pane::{Frame, Pane, kinds};
use crate::tools::{bash, work};

/// Says its id, and ends in order when it is asked to.
const GENTLE: &str = "trap 'echo bye; exit 0' TERM; echo $$; sleep 1000 & wait";

/// Says its id, and does not end when it is asked to.
const STUBBORN: &str = "trap '' TERM; echo $$; while :; do sleep 1000; done";

/// An hour: a test that waits for it misses its deadline.
const LONG: [&str; 2] = ["--cancel-grace-ms", "3600000"];

/// A node whose turn runs these commands as the calls `a`, `b` and so on.
struct Busy {
    node: Node,
    model: Model,
    folder: Folder,
    ws: String,
    pane: Pane,
    processes: Vec<Pid>,
}

impl Busy {
    async fn start(args: &[&str], commands: &[&str]) -> Self {
        let (node, mut model, folder) = Node::with_model(args).await;
        let ws = node.create("a").await;
        let mut pane = node.pane(&ws, "").await;
        node.turn(&ws, &mut model, &mut pane, "1").await;
        node.send(&ws, "2").await;
        let ids = ["a", "b"].into_iter().zip(commands);
        let calls: Vec<_> = ids.map(|(id, command)| (id, "bash", bash(command))).collect();
        model.call_tools(&calls).await;
        let mut processes = Vec::new();
        for _ in commands {
            let frames = pane.until_kind("tool_output_chunk").await;
            let said = frames.last().unwrap().data["chunk"].as_str().unwrap().trim().to_owned();
            processes.push(Pid::from_raw(said.parse().unwrap()).unwrap());
        }
        Self { node, model, folder, ws, pane, processes }
    }

    async fn cancel(&self, body: Value) {
        let (status, answer) = self.node.post(&format!("{}/cancel", self.ws), body).await;
        assert_eq!((status, &answer["status"]), (StatusCode::OK, &json!("ok")));
        assert_eq!(answer["intent_id"].as_str().unwrap().len(), 16);
    }
}

async fn deaths(processes: &[Pid]) {
    for process in processes {
        // One that is not found has ended.
        if let Ok(end) = pidfd_open(*process, PidfdFlags::empty()) {
            let deadline = DEADLINE.try_into().unwrap();
            let ended = tokio::task::spawn_blocking(move || {
                poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&deadline))
            });
            assert_eq!(ended.await.unwrap(), Ok(1), "a tool did not end within {DEADLINE:?}");
        }
    }
}

/// What the results of a history say, without the ids that processes have said.
fn results(history: &Value) -> Vec<String> {
    let rows = history["messages"].as_array().unwrap().iter();
    rows.filter(|row| row["role"] == "tool")
        .map(|row| {
            assert_eq!(row["is_error"], true, "{row}");
            let text = row["content"].as_str().unwrap();
            text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '\n').to_owned()
        })
        .collect()
}

fn accepted(frames: &[Frame]) -> usize {
    frames.iter().filter(|frame| frame.data["accepted"] == true).count()
}

#[tokio::test]
async fn a_cancelled_turn_answers_its_calls_ends_its_processes_and_rests() {
    let mut busy = Busy::start(&["--cancel-grace-ms", "200"], &[GENTLE, STUBBORN]).await;
    busy.cancel(json!({})).await;
    let frames = busy.pane.until_idle().await;
    assert_eq!(kinds(&frames[frames.len() - 2..]), ["cancelled", "state_change"]);
    assert_eq!(accepted(&frames), 2);
    deaths(&busy.processes).await;
    let mut said = results(&busy.node.history(&busy.ws).await);
    said.sort();
    assert_eq!(said, ["[cancelled by the user]\n", "bye\n[cancelled by the user]\n"]);
    // What was interrupted is closed for the model, too.
    busy.node.send(&busy.ws, "3").await;
    let messages = busy.model.answer("re: 3").await;
    let roles: Vec<_> = messages.as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "tool", "tool", "user"]);
}

#[tokio::test]
async fn a_forced_cancel_cuts_the_grace_of_an_earlier_one_short() {
    let mut busy = Busy::start(&LONG, &[STUBBORN]).await;
    busy.cancel(json!({ "force": false })).await;
    assert_eq!(busy.node.get(&busy.ws).await.1["state"], "running");
    busy.cancel(json!({ "force": true })).await;
    busy.pane.until_idle().await;
    deaths(&busy.processes).await;
    let said = results(&busy.node.history(&busy.ws).await);
    assert_eq!(said, ["[cancelled by the user]\n"]);
}

#[tokio::test]
async fn an_answer_that_is_cancelled_keeps_what_had_arrived_and_the_next_message_has_its_turn() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    pane.past().await;
    let cancel = format!("{ws}/cancel");
    // Nothing runs; nothing is published.
    assert_eq!(node.post(&cancel, json!({})).await.1["status"], "ok");
    node.send(&ws, "1").await;
    let mut call = model.call().await;
    call.say("half");
    let frames = pane.until_kind("content").await;
    assert_eq!(kinds(&frames), ["user_turn", "state_change", "content"]);
    let queued = node.post(&format!("{ws}/send"), json!({ "message": "2" })).await;
    assert_eq!(queued.1["status"], "queued");
    assert_eq!(node.post(&cancel, json!({})).await.1["status"], "ok");
    call.hung_up().await;
    let frames = pane.until_idle().await;
    assert_eq!(kinds(&frames), ["stream_end", "cancelled", "state_change"]);
    assert_eq!(node.metric("turns_total{outcome=\"cancelled\"}").await, 1);
    assert_eq!(node.metric("turns_total{outcome=\"incomplete\"}").await, 0);
    model.answer("re: 2").await;
    pane.until_idle().await;
    assert_eq!(node.texts(&ws).await, ["1", "half", "2", "re: 2"]);
}

#[tokio::test]
async fn an_agent_that_is_cancelled_keeps_its_steps() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.send(&ws, "go").await;
    model.call_tools(&[("p", "task_agent", json!({ "task": "t" }))]).await;
    model.call_tools(&[("c", "bash", bash("echo first"))]).await;
    let _held = model.call().await;
    assert_eq!(node.post(&format!("{ws}/cancel"), json!({})).await.1["status"], "ok");
    let frames = pane.until_idle().await;
    assert_eq!(kinds(&frames[frames.len() - 2..]), ["cancelled", "state_change"]);
    let history = node.history(&ws).await;
    assert_eq!(results(&history), ["the agent was cancelled by the user"]);
    assert_eq!(history["messages"][2]["agent_steps"][0]["output"], "first\n");
}

#[tokio::test]
async fn a_closed_workstream_is_settled_and_unloaded_and_opens_again() {
    let busy = Busy::start(&LONG, &[GENTLE]).await;
    let Busy { node, ws, processes, pane, .. } = busy;
    let ok = (StatusCode::OK, json!({ "status": "ok" }));
    assert_eq!(node.post(&format!("{ws}/close"), json!({})).await, ok);
    assert_eq!(node.get("/v1/api/workstreams").await.1["workstreams"], json!([]));
    deaths(&processes).await;
    let frames = pane.rest().await;
    assert_eq!(kinds(&frames[frames.len() - 2..]), ["cancelled", "state_change"]);
    // One that is not loaded is closed.
    assert_eq!(node.post(&format!("{ws}/close"), json!({})).await, ok);
    assert_eq!(node.get("/v1/api/workstreams").await.1["workstreams"], json!([]));

    let (status, opened) = node.post(&format!("{ws}/open"), json!({})).await;
    assert_eq!((status, &opened["name"]), (StatusCode::OK, &json!("a")));
    assert_eq!(node.get("/v1/api/workstreams").await.1["workstreams"][0]["state"], "idle");
    let said = results(&node.history(&ws).await);
    assert_eq!(said, ["bye\n[cancelled by the user]\n"]);
    for (path, status) in [("open", StatusCode::NOT_FOUND), ("close", StatusCode::NOT_FOUND)] {
        let unknown = format!("/v1/api/workstreams/x/{path}");
        assert_eq!(node.post(&unknown, json!({})).await.0, status);
    }
}

#[tokio::test]
async fn a_deleted_workstream_ends_at_once_and_panes_are_told_that_it_is_gone() {
    let busy = Busy::start(&LONG, &[STUBBORN]).await;
    let (node, ws) = (&busy.node, &busy.ws);
    assert_eq!(node.delete(ws).await, (StatusCode::OK, json!({ "status": "ok" })));
    deaths(&busy.processes).await;
    let frames = busy.pane.rest().await;
    let last = frames.last().unwrap();
    assert_eq!((last.kind(), &last.data["reason"]), ("history_resync", &json!("workstream_gone")));

    let (status, body) = node.get(&format!("{ws}/history")).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body["code"], "workstream_gone");
    // A pane that was away meets the same.
    let frames = node.pane(ws, "").await.rest().await;
    assert_eq!((frames.len(), frames[0].kind()), (1, "history_resync"));
    assert_eq!(frames[0].data["reason"], "workstream_gone");
    for path in ["/send", "/rewind", "/open", "/close"] {
        let body = json!({ "message": "x", "turns": 1 });
        assert_eq!(
            node.post(&format!("{ws}{path}"), body).await.0,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    assert_eq!(node.delete(ws).await.0, StatusCode::NOT_FOUND);
    assert_eq!(node.get("/v1/api/workstreams?stored=1").await.1["workstreams"], json!([]));
    assert!(!work(&busy.folder, ws).exists());
}

#[tokio::test]
async fn a_stopping_node_ends_its_tools_and_stores_that_it_did() {
    for command in [GENTLE, STUBBORN] {
        let busy = Busy::start(&LONG, &[command]).await;
        busy.node.signal(Signal::TERM);
        deaths(&busy.processes).await;
        assert_eq!(busy.node.ended().await.code(), Some(0));

        let node = busy.folder.start(&[]).await;
        let said = results(&node.history(&busy.ws).await);
        let bye = if command == GENTLE { "bye\n" } else { "" };
        assert_eq!(said, [format!("{bye}[ended because the node stopped]\n")]);
    }
}

/// A node that was killed while a call ran, and its successor.
async fn crashed() -> (Node, Model, String) {
    let Busy { node, model, folder, ws, processes, .. } = Busy::start(&[], &[GENTLE]).await;
    node.kill().await;
    deaths(&processes).await;
    let node = folder.start(&["--model-url", &model.url]).await;
    (node, model, ws)
}

#[tokio::test]
async fn the_tools_of_a_node_that_is_killed_die_with_it() {
    let Busy { node, processes, .. } = Busy::start(&[], &[STUBBORN, GENTLE]).await;
    node.kill().await;
    deaths(&processes).await;
}

#[tokio::test]
async fn a_call_that_a_crash_interrupts_stays_unanswered_until_a_rewind_takes_its_turn_back() {
    let (node, mut model, ws) = crashed().await;
    for _ in 0..2 {
        let history = node.history(&ws).await;
        let last = history["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(
            (&last["role"], &last["tool_calls"][0]["id"]),
            (&json!("assistant"), &json!("a"))
        );
    }
    assert_eq!(node.get(&ws).await.1["state"], "idle");
    let (_, rewound) = node.post(&format!("{ws}/rewind"), json!({ "turns": 1 })).await;
    assert_eq!(rewound, json!({ "status": "ok", "removed": 1 }));
    assert_eq!(node.texts(&ws).await, ["1", "re: 1", "2"]);
    let mut pane = node.pane(&ws, "").await;
    assert_eq!(pane.past().await.iter().find(|f| f.kind() == "status").unwrap().data["turns"], 2);
    node.turn(&ws, &mut model, &mut pane, "3").await;
    assert_eq!(node.texts(&ws).await, ["1", "re: 1", "2", "3", "re: 3"]);
}

#[tokio::test]
async fn a_call_that_a_crash_interrupts_is_settled_by_the_next_turn() {
    let (node, mut model, ws) = crashed().await;
    let mut pane = node.pane(&ws, "").await;
    pane.past().await;
    node.send(&ws, "3").await;
    let messages = model.answer("re: 3").await;
    let roles: Vec<_> = messages.as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "tool", "user"]);
    let frames = pane.until_idle().await;
    assert_eq!(kinds(&frames[..2]), ["tool_result", "user_turn"]);
    assert_eq!(frames[0].data["accepted"], true);
    let said = results(&node.history(&ws).await);
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("interrupted"));
}
