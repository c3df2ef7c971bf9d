//! The bodies of the chat-completions wire.

use serde::Deserialize;
use serde_json::{Value, json};

use super::script::ToolCall;

/// Into how many chunks a text is streamed: more than one or two, so that a reader meets a text
/// that is neither new nor complete.
const CHUNKS: usize = 4;

/// What is read of a request; the script decides the rest.
#[derive(Debug, Deserialize)]
pub(super) struct Call {
    #[serde(default)]
    pub(super) model: String,
    #[serde(default)]
    pub(super) stream: bool,
}

/// The events that stream `text`, without the end of the answer.
pub(super) fn text_events(call: usize, model: &str, text: &str) -> Vec<String> {
    let role = json!({"role": "assistant", "content": ""});
    let texts = pieces(text).into_iter().map(|piece| json!({"content": piece}));
    std::iter::once(role)
        .chain(texts)
        .map(|delta| event(&chunk(call, model, &delta, &Value::Null)))
        .collect()
}

/// The events that stream calls of tools, each in two pieces, without the end of the answer.
pub(super) fn call_events(call: usize, model: &str, calls: &[ToolCall]) -> Vec<String> {
    let role = json!({"role": "assistant", "content": null});
    let deltas = calls.iter().enumerate().flat_map(|(index, ToolCall { id, name, arguments })| {
        let begin = json!({"name": name, "arguments": ""});
        [
            json!({"index": index, "id": id, "type": "function", "function": begin}),
            json!({"index": index, "function": {"arguments": arguments}}),
        ]
    });
    std::iter::once(role)
        .chain(deltas.map(|delta| json!({"tool_calls": [delta]})))
        .map(|delta| event(&chunk(call, model, &delta, &Value::Null)))
        .collect()
}

/// The events that end an answer, for a `reason` of the protocol.
pub(super) fn end_events(call: usize, model: &str, reason: &str) -> Vec<String> {
    vec![event(&chunk(call, model, &json!({}), &json!(reason))), "data: [DONE]\n\n".to_owned()]
}

/// The body of a refusal.
pub(super) fn error(message: &str) -> String {
    json!({"error": {"message": message, "type": "scripted"}}).to_string()
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn chunk(call: usize, model: &str, delta: &Value, finish_reason: &Value) -> Value {
    json!({
        "id": format!("chatcmpl-{call}"),
        "object": "chat.completion.chunk",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
    })
}

/// `text` in at most [`CHUNKS`] pieces, none empty, each of whole characters.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let size = characters.len().div_ceil(CHUNKS).max(1);
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_pieces_of_a_text_are_few_and_make_up_the_text(text in "\\PC{0,40}") {
            let pieces = pieces(&text);
            prop_assert_eq!(pieces.concat(), text);
            prop_assert!(pieces.len() <= CHUNKS);
            prop_assert!(pieces.iter().all(|piece| !piece.is_empty()));
        }
    }
}
