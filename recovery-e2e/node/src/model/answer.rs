//! An answer, as it streams.

use eventsource_stream::{Event, EventStreamError, Eventsource as _};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use serde::Deserialize;

use super::ModelError;
use super::calls::{CallDelta, Calls};
use crate::record::Call;

/// An answer as it arrives.
pub struct Answer {
    events: BoxStream<'static, Result<Event, ModelError>>,
    calls: Calls,
    prompt_tokens: Option<u64>,
}

impl Answer {
    /// Reads the answer of a model that has begun to stream.
    pub fn new(response: reqwest::Response) -> Self {
        let events = response.bytes_stream().eventsource().map(|event| {
            event.map_err(|error| match error {
                EventStreamError::Transport(error) if error.is_timeout() => ModelError::Silent,
                // Broken UTF-8, or a connection that broke off.
                _ => ModelError::Cut,
            })
        });
        Self { events: events.boxed(), calls: Calls::default(), prompt_tokens: None }
    }

    /// The next piece of text, or none when the answer is complete. Nothing is lost when the
    /// waiting is given up.
    ///
    /// # Errors
    /// When the stream breaks off or makes no sense.
    pub async fn next(&mut self) -> Result<Option<String>, ModelError> {
        loop {
            let event = self.events.next().await.ok_or(ModelError::Cut)??;
            if event.data == "[DONE]" {
                return Ok(None);
            }
            let chunk = Chunk::read(&event.data)?;
            self.prompt_tokens =
                chunk.usage.map(|usage| usage.prompt_tokens).or(self.prompt_tokens);
            let Some(Choice { delta }) = chunk.choices.into_iter().next() else { continue };
            for call in delta.tool_calls.unwrap_or_default() {
                self.calls.push(call);
            }
            if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
                return Ok(Some(text));
            }
        }
    }

    /// How many tokens the conversation has, if the model reported it.
    pub fn prompt_tokens(&self) -> Option<u64> {
        self.prompt_tokens
    }

    /// What a complete answer asks for.
    pub fn into_calls(self) -> Vec<Call> {
        self.calls.finish()
    }
}

#[derive(Deserialize)]
struct Chunk {
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: u64,
}

impl Chunk {
    fn read(data: &str) -> Result<Self, ModelError> {
        serde_json::from_str(data).map_err(|error| ModelError::Unreadable(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_gives_its_text_and_one_without_text_gives_none() {
        for (data, text) in [
            (r#"{"choices":[{"index":0,"delta":{"content":"hi"}}]}"#, Some("hi")),
            (r#"{"choices":[{"delta":{"role":"assistant","content":null}}],"usage":null}"#, None),
            (r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#, None),
            (r#"{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}"#, None),
            (r#"{"choices":[],"usage":{"prompt_tokens":2,"total_tokens":3}}"#, None),
        ] {
            let choice = Chunk::read(data).unwrap().choices.into_iter().next();
            let found = choice.and_then(|choice| choice.delta.content);
            assert_eq!(found.as_deref(), text, "{data}");
        }
    }

    #[test]
    fn what_is_no_chunk_is_an_error_and_never_silence() {
        for data in ["", "hello", "{}", r#"{"error":{"message":"overloaded"}}"#] {
            assert!(matches!(Chunk::read(data), Err(ModelError::Unreadable(_))), "{data}");
        }
    }
}
