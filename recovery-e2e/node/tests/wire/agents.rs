use serde_json::{Value, json};

use crate::node::Node;
use crate::pane::Frame;
use crate::tools::bash;

fn text<'a>(frame: &'a Frame, field: &str) -> &'a str {
    frame.data[field].as_str().unwrap()
}

#[tokio::test]
async fn an_agent_works_in_a_conversation_of_its_own_and_its_steps_are_kept_with_its_row() {
    let (node, mut model, _folder) = Node::with_model(&["--context-window", "1000"]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    pane.past().await;
    // The same ids in two turns: nothing of the first may pass for the second.
    for run in ["1", "2"] {
        node.send(&ws, "go").await;
        model.call_tools(&[("p", "task_agent", json!({ "task": format!("task {run}") }))]).await;

        let mut call = model.call().await;
        let expected = json!([{ "role": "user", "content": format!("task {run}") }]);
        assert_eq!(call.messages(), &expected);
        assert_eq!(call.request["tools"].as_array().unwrap().len(), 1);
        call.call(&[("c", "bash", bash(&format!("echo {run}"))), ("d", "task_agent", json!({}))]);
        call.usage(900);
        call.done();

        let mut call = model.call().await;
        let messages = call.messages().as_array().unwrap();
        assert_eq!(messages[1]["tool_calls"][0]["id"], "c");
        assert_eq!(
            (&messages[2]["tool_call_id"], &messages[2]["content"]),
            (&json!("c"), &json!(format!("{run}\n")))
        );
        assert!(messages[3]["content"].as_str().unwrap().contains("no tool \"task_agent\""));
        call.say("the answer");
        call.done();

        let call = model.call().await;
        let last = call.messages().as_array().unwrap().last().unwrap();
        assert_eq!(last, &json!({ "role": "tool", "tool_call_id": "p", "content": "the answer" }));
        let mut call = call;
        call.done();
        let frames = pane.until_idle().await;

        let children: Vec<_> =
            frames.iter().filter(|frame| frame.data["parent_call_id"].is_string()).collect();
        assert!(children.iter().all(|frame| text(frame, "parent_call_id") == "p"));
        let of = |kind| children.iter().filter(move |frame| frame.kind() == kind);
        let child = format!("p::r{run}s1::c");
        let pending = of("tool_pending").next().unwrap();
        let first = &pending.data["items"][0];
        assert_eq!((&first["call_id"], &first["name"]), (&json!(child), &json!("bash")));
        let chunk = of("tool_output_chunk").next().unwrap();
        assert_eq!((text(chunk, "call_id"), text(chunk, "chunk")), (&*child, &*format!("{run}\n")));
        assert_eq!(of("tool_result").count(), 2);
        assert!(of("tool_result").all(|frame| frame.data["accepted"] == Value::Null));
        let context = of("agent_context").next().unwrap();
        assert_eq!(
            (&context.data["prompt_tokens"], &context.data["context_window"]),
            (&json!(900), &json!(1000))
        );

        let history = node.history(&ws).await;
        let rows = history["messages"].as_array().unwrap();
        let row = rows.iter().rfind(|row| row["role"] == "tool").unwrap();
        assert_eq!((&row["tool_call_id"], &row["content"]), (&json!("p"), &json!("the answer")));
        // Whatever fed the card names the row that it is stored in.
        assert!(of("tool_result").all(|frame| frame.data["row_id"] == row["row_id"]));
        assert_eq!(pending.data["row_id"], row["row_id"]);
        assert_eq!(
            row["agent_steps"][0],
            json!({ "call_id": child, "name": "bash", "header": "bash",
                "preview": format!("echo {run}"), "output": format!("{run}\n"),
                "is_error": false })
        );
        assert_eq!(row["agent_steps"][1]["is_error"], true);
    }
}

#[tokio::test]
async fn an_agent_whose_model_fails_is_a_failed_call_and_the_turn_goes_on() {
    let (node, mut model, _folder) = Node::with_model(&[]).await;
    let ws = node.create("a").await;
    let mut pane = node.pane(&ws, "").await;
    node.send(&ws, "go").await;
    model.call_tools(&[("p", "task_agent", json!({ "task": "t" }))]).await;
    let mut call = model.call().await;
    call.say("half");
    call.cut();
    model.answer("done").await;
    pane.until_idle().await;
    let history = node.history(&ws).await;
    let row = &history["messages"][2];
    assert_eq!(row["is_error"], true);
    assert!(row["content"].as_str().unwrap().contains("the agent has no answer"));
    assert_eq!(node.texts(&ws).await.last().unwrap(), "done");
}
