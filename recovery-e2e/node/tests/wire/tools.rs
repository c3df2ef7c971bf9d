use std::path::PathBuf;

use serde_json::{Value, json};

use crate::model::Model;
use crate::node::{Folder, NODE, Node};
use crate::pane::{Frame, Pane, kinds};

pub fn bash(command: &str) -> Value {
    json!({ "command": command })
}

/// The folder that the tools of a workstream work in.
pub fn work(folder: &Folder, ws: &str) -> PathBuf {
    folder.data().join("work").join(ws.rsplit('/').next().unwrap())
}

/// A message, the calls that it leads to, and a last answer; every event of the pane.
async fn turn_of(
    node: &Node,
    model: &mut Model,
    ws: &str,
    pane: &mut Pane,
    calls: &[(&str, &str, Value)],
) -> Vec<Frame> {
    node.send(ws, "go").await;
    model.call_tools(calls).await;
    model.answer("done").await;
    pane.until_idle().await
}

/// The results that are stored, in the order of the calls.
async fn results(node: &Node, ws: &str, ids: &[&str]) -> Vec<(String, bool)> {
    let history = node.history(ws).await;
    let rows = history["messages"].as_array().unwrap();
    ids.iter()
        .map(|id| {
            let row = rows.iter().find(|row| row["tool_call_id"] == *id).expect("a result");
            (row["content"].as_str().unwrap().to_owned(), row["is_error"].as_bool().unwrap())
        })
        .collect()
}

#[tokio::test]
async fn a_call_is_run_and_its_result_goes_back_to_the_model() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    pane.past().await;
    node.send(&ws, "go").await;
    let mut call = model.call().await;
    let declared: Vec<_> = call.request["tools"].as_array().unwrap().clone();
    let names: Vec<_> = declared.iter().map(|tool| tool["function"]["name"].clone()).collect();
    assert_eq!(names, ["bash", "task_agent"]);
    call.say("Let me see.");
    call.call(&[("call_1", "bash", bash("echo one; echo two >&2; echo three"))]);
    call.done();
    let mut frames = pane.until(|frame| frame.data["accepted"] == true).await;
    let call = model.call().await;
    let arguments = r#"{"command":"echo one; echo two >&2; echo three"}"#;
    let output = "one\ntwo\nthree\n";
    assert_eq!(
        call.messages(),
        &json!([
            { "role": "user", "content": "go" },
            { "role": "assistant", "content": "Let me see.", "tool_calls": [
                { "id": "call_1", "type": "function",
                  "function": { "name": "bash", "arguments": arguments } } ] },
            { "role": "tool", "tool_call_id": "call_1", "content": output },
        ])
    );
    let mut call = call;
    call.say("Three lines.");
    call.done();
    frames.extend(pane.until_idle().await);

    let mut names = kinds(&frames);
    names.dedup();
    assert_eq!(
        names,
        [
            "user_turn",
            "state_change",
            "content",
            "stream_end",
            "state_change",
            "tool_pending",
            "tool_output_chunk",
            "tool_result",
            "state_change",
            "content",
            "stream_end",
            "state_change",
        ]
    );
    let of = |kind| frames.iter().filter(move |frame| frame.kind() == kind);
    let states: Vec<_> = of("state_change").map(|frame| frame.data["state"].clone()).collect();
    assert_eq!(states, ["thinking", "running", "thinking", "idle"]);
    let chunks: String =
        of("tool_output_chunk").map(|f| f.data["chunk"].as_str().unwrap()).collect();
    assert_eq!(chunks, output);

    let history = node.history(&ws).await;
    let rows = history["messages"].as_array().unwrap();
    let call = json!({ "id": "call_1", "name": "bash", "arguments": arguments });
    assert_eq!((&rows[1]["role"], &rows[1]["tool_calls"]), (&json!("assistant"), &json!([call])));
    let row_id = &rows[2]["row_id"];
    assert_eq!(
        rows[2],
        json!({ "role": "tool", "tool_call_id": "call_1", "name": "bash", "content": output,
            "is_error": false, "row_id": row_id })
    );
    let pending = of("tool_pending").next().unwrap();
    assert_eq!(pending.data["row_id"], rows[1]["row_id"]);
    let preview = "echo one; echo two >&2; echo three";
    let item = json!({ "call_id": "call_1", "name": "bash", "header": "bash", "preview": preview });
    assert_eq!(pending.data["items"], json!([item]));
    let results: Vec<_> = of("tool_result").collect();
    assert_eq!((results.len(), &results[0].data["accepted"]), (2, &Value::Null));
    for frame in results {
        assert_eq!(frame.data["output"], output);
        assert_eq!((&frame.data["call_id"], &frame.data["row_id"]), (&json!("call_1"), row_id));
    }
    assert!(of("tool_output_chunk").all(|frame| &frame.data["row_id"] == row_id));
}

#[tokio::test]
async fn the_calls_of_one_answer_run_side_by_side() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    // Each waits for the other.
    let (one, two) = (
        bash("mkfifo f g 2>/dev/null; echo 1 > f; read -r x < g; echo $x"),
        bash("mkfifo f g 2>/dev/null; read -r x < f; echo 2 > g; echo $x"),
    );
    turn_of(&node, &mut model, &ws, &mut pane, &[("a", "bash", one), ("b", "bash", two)]).await;
    let expected = [("2\n".to_owned(), false), ("1\n".to_owned(), false)];
    assert_eq!(results(&node, &ws, &["a", "b"]).await, expected);
}

#[tokio::test]
async fn what_fails_is_said_to_have_failed_and_the_turn_goes_on() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    let long = json!({ "command": "echo begun; sleep 1000 & wait", "timeout_s": 0.2 });
    let calls = [
        ("exit", "bash", bash("printf x; exit 3")),
        ("signal", "bash", bash("kill -9 $$")),
        ("late", "bash", long),
        ("json", "bash", json!("{\"command\":")),
        ("kind", "bash", json!({ "command": 1 })),
        ("name", "rm", json!({})),
        ("twice", "bash", bash("touch never")),
        ("twice", "bash", bash("touch never")),
        ("", "bash", bash("touch never")),
        ("well", "bash", bash("cat < /dev/null; test ! -e never")),
    ];
    let frames = turn_of(&node, &mut model, &ws, &mut pane, &calls).await;
    let ids = ["exit", "signal", "late", "json", "kind", "name", "twice", "twice.2", "unnamed.2"];
    for ((output, is_error), said) in results(&node, &ws, &ids).await.into_iter().zip([
        "x\n[exit status 3]\n",
        "[ended by signal 9]\n",
        "begun\n[killed after 0.2 s]\n",
        "invalid arguments of bash",
        "invalid arguments of bash",
        "there is no tool \"rm\"",
        "several calls have the id \"twice\"",
        "several calls have the id \"twice\"",
        "the call has no id",
    ]) {
        assert!(output.starts_with(said) && is_error, "{said}: {output}");
    }
    assert_eq!(results(&node, &ws, &["well"]).await, [(String::new(), false)]);
    let pending = frames.iter().find(|frame| frame.kind() == "tool_pending").unwrap();
    assert_eq!(pending.data["items"].as_array().unwrap().len(), calls.len());
    assert_eq!(node.texts(&ws).await.last().unwrap(), "done");
}

#[tokio::test]
async fn output_over_the_limit_is_counted_and_the_chunks_are_the_result() {
    let (node, mut model, _folder) = Node::with_model(&["--tool-output-bytes", "10"]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    let calls = [("a", "bash", bash("printf 0123456789abc; exit 1"))];
    let frames = turn_of(&node, &mut model, &ws, &mut pane, &calls).await;
    let output = "0123456789\n[3 bytes more were not kept]\n[exit status 1]\n";
    assert_eq!(results(&node, &ws, &["a"]).await, [(output.to_owned(), true)]);
    let of = |kind| frames.iter().filter(move |frame| frame.kind() == kind);
    let chunks: String =
        of("tool_output_chunk").map(|f| f.data["chunk"].as_str().unwrap()).collect();
    assert_eq!(chunks, output);
    let last_chunk = frames.iter().rposition(|frame| frame.kind() == "tool_output_chunk");
    assert!(last_chunk < frames.iter().position(|frame| frame.kind() == "tool_result"));
}

#[tokio::test]
async fn a_command_does_not_see_the_key_of_the_model() {
    let (folder, mut model) = (Folder::new(), Model::start().await);
    let mut command = folder.command(NODE, &["--model-url", &model.url]);
    command.env("RECOVERY_NODE_MODEL_KEY", "secret");
    let node = Node::run(command).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    let calls = [("a", "bash", bash("echo ${RECOVERY_NODE_MODEL_KEY-unset}; pwd -P"))];
    turn_of(&node, &mut model, &ws, &mut pane, &calls).await;
    let folder = work(&folder, &ws).canonicalize().unwrap();
    let expected = format!("unset\n{}\n", folder.display());
    assert_eq!(results(&node, &ws, &["a"]).await, [(expected, false)]);
}

#[tokio::test]
async fn a_result_that_cannot_be_stored_is_said_to_be_lost_and_its_call_is_settled_later() {
    let (node, mut model, folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.send(&ws, "go").await;
    model.call_tools(&[("a", "bash", bash("mkfifo f; echo ready; read -r x < f"))]).await;
    pane.until_kind("tool_output_chunk").await;
    let before = node.history(&ws).await;
    let database = rusqlite::Connection::open(folder.data().join("node.sqlite")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    tokio::fs::write(work(&folder, &ws).join("f"), "x\n").await.unwrap();
    let frames = pane.until_idle().await;
    assert_eq!(kinds(&frames), ["tool_result", "error", "history_resync", "state_change"]);
    assert_eq!(frames[2].data["reason"], "commit_failed");
    database.execute_batch("ROLLBACK").unwrap();

    let after = node.history(&ws).await;
    assert_eq!(after["messages"], before["messages"]);
    assert_ne!(after["handoff_token"], before["handoff_token"]);
    node.send(&ws, "again").await;
    let messages = model.answer("done").await;
    assert!(messages[2]["content"].as_str().unwrap().starts_with("interrupted"));
}
