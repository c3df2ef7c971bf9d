//! The model server over real HTTP.

use futures_util::FutureExt;
use serde_json::{Value, json};

use super::*;
use crate::wait::{until, within};

async fn call(script: &Script) -> reqwest::Response {
    let url = format!("{}/chat/completions", script.base_url());
    let body = json!({"model": "m", "stream": true, "messages": []});
    let sent = reqwest::Client::builder().no_proxy().build().unwrap().post(url).json(&body).send();
    within("answer", sent, String::new).await.unwrap().unwrap()
}

/// The text of a streamed answer, from how many events, and whether it ended in order.
fn read(body: &str) -> (String, usize, bool) {
    let events: Vec<&str> =
        body.split_terminator("\n\n").filter_map(|event| event.strip_prefix("data: ")).collect();
    let deltas: Vec<String> = events
        .iter()
        .filter_map(|event| serde_json::from_str::<Value>(event).ok())
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned))
        .filter(|text| !text.is_empty())
        .collect();
    (deltas.concat(), deltas.len(), events.last() == Some(&"[DONE]"))
}

#[tokio::test]
async fn each_call_gets_the_next_reply_streamed_in_a_few_chunks() {
    let model = ModelServer::start().await.unwrap();
    let replies = vec![Reply::text("the first answer"), Reply::text("the second answer")];
    let script = model.script("ws-1", replies).unwrap();
    for (k, text) in [(1, "the first answer"), (2, "the second answer")] {
        let answer = call(&script).await;
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        assert_eq!(read(&answer.text().await.unwrap()), (text.to_owned(), 4, true));
        assert_eq!(*script.calls().borrow(), k);
    }
    assert_eq!(script.overrun(), 0);
}

#[tokio::test]
async fn a_call_beyond_the_script_is_refused_and_remembered() {
    let model = ModelServer::start().await.unwrap();
    let script = model.script("short", vec![]).unwrap();
    let answer = call(&script).await;
    assert_eq!(answer.status(), 500);
    let text = answer.text().await.unwrap();
    assert!(text.contains("call 1 is beyond the script"), "{text}");
    assert_eq!(script.overrun(), 1);
}

#[tokio::test]
async fn a_held_call_has_arrived_but_is_not_answered_until_its_gate_is_released() {
    let model = ModelServer::start().await.unwrap();
    let (reply, gate) = Reply::text("late").held();
    let script = model.script("held", vec![reply]).unwrap();
    let mut calls = script.calls();
    let mut answer = std::pin::pin!(call(&script));
    tokio::select! {
        biased;
        _ = &mut answer => panic!("answered before its gate was released"),
        arrived = until("call", &mut calls, |calls| *calls == 1) => { arrived.unwrap(); }
    }
    gate.release();
    assert_eq!(read(&answer.await.text().await.unwrap()).0, "late");
}

#[tokio::test]
async fn an_answer_held_midway_stops_in_its_middle_until_its_gate_is_released() {
    let model = ModelServer::start().await.unwrap();
    let (reply, gate) = Reply::text("ebb and flow").held_midway();
    let script = model.script("midway", vec![reply]).unwrap();
    let mut answer = call(&script).await;
    let mut seen = String::new();
    while read(&seen).0 != "ebb an" {
        let chunk = within("first half", answer.chunk(), || seen.clone()).await.unwrap();
        seen.push_str(std::str::from_utf8(&chunk.unwrap().unwrap()).unwrap());
    }
    assert!(answer.chunk().now_or_never().is_none());
    gate.release();
    seen.push_str(&answer.text().await.unwrap());
    assert_eq!(read(&seen), ("ebb and flow".to_owned(), 4, true));
}

#[tokio::test]
async fn calls_of_tools_are_streamed_with_their_arguments_whole() {
    let model = ModelServer::start().await.unwrap();
    let calls = vec![ToolCall::bash("c1", "echo \"ebb\""), ToolCall::bash("c2", "date")];
    let script = model.script("calls", vec![Reply::calls(calls)]).unwrap();
    let body = call(&script).await.text().await.unwrap();
    let chunks = body.split("\n\n").filter_map(|event| event.strip_prefix("data: {"));
    let chunks: Vec<Value> =
        chunks.map(|chunk| serde_json::from_str(&format!("{{{chunk}")).unwrap()).collect();
    let mut ids = [const { String::new() }; 2];
    let mut arguments = [const { String::new() }; 2];
    for delta in chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]["tool_calls"][0]) {
        let Some(index) = delta["index"].as_u64() else { continue };
        let index = usize::try_from(index).unwrap();
        ids[index].push_str(delta["id"].as_str().unwrap_or_default());
        arguments[index].push_str(delta["function"]["arguments"].as_str().unwrap());
    }
    assert_eq!(ids, ["c1", "c2"]);
    assert_eq!(arguments, [r#"{"command":"echo \"ebb\""}"#, r#"{"command":"date"}"#]);
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "tool_calls");
}

#[tokio::test]
async fn what_is_no_streaming_call_of_a_script_is_refused_and_takes_no_reply() {
    let model = ModelServer::start().await.unwrap();
    let script = model.script("one", vec![Reply::text("kept")]).unwrap();
    let url = format!("{}/chat/completions", script.base_url());
    let unknown = url.replace("/one/", "/two/");
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (request, status) in [
        (client.post(&url).body("{}"), 400),
        (client.post(&url).body("no json"), 400),
        (client.get(&url), 404),
        (client.post(unknown).body("{\"stream\":true}"), 404),
    ] {
        assert_eq!(request.send().await.unwrap().status(), status);
    }
    assert_eq!(*script.calls().borrow(), 0);
}

#[tokio::test]
async fn a_script_has_a_name_of_its_own_that_stands_in_a_url() {
    let model = ModelServer::start().await.unwrap();
    model.script("ws-1", vec![]).unwrap();
    assert!(matches!(model.script("ws-1", vec![]), Err(ModelError::Taken(_))));
    for name in ["", "a/b", "a b", "ä"] {
        assert!(matches!(model.script(name, vec![]), Err(ModelError::Name(_))), "{name}");
    }
}
