//! The model: any OpenAI-compatible chat-completions endpoint that streams.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use eventsource_stream::{Event, Eventsource as _};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use serde::Deserialize;
use serde_json::json;

use crate::store::Row;

/// How long a connection to the model may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// Why the model gave no answer, or only a part of one. Each is shown to a person in the pane.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// It could not be reached, or the connection broke.
    #[error("the model cannot be reached ({0}); check its URL and send again")]
    Unreachable(String),
    /// It refused.
    #[error("the model answered {0}; check its URL and key, or send again later")]
    Status(StatusCode),
    /// The stream ended before its end was announced.
    #[error("the model's answer broke off; what had arrived is kept, send again for the rest")]
    Cut,
    /// It sent something else than a stream of chat completions.
    #[error("the model's answer cannot be read ({0}); check that its URL is OpenAI-compatible")]
    Unreadable(String),
}

impl From<reqwest::Error> for ModelError {
    fn from(error: reqwest::Error) -> Self {
        // The outermost message says only that a request failed; the innermost says why.
        let error = error.without_url();
        let mut cause: &dyn std::error::Error = &error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        Self::Unreachable(cause.to_string())
    }
}

/// The client of every model that the node speaks to.
pub struct Model {
    client: reqwest::Client,
    name: String,
    key: Option<String>,
    calls: AtomicU64,
}

impl Model {
    /// A client that asks for the model of this name, with this API key if there is one.
    ///
    /// # Errors
    /// When the HTTP client cannot be set up.
    pub fn new(name: String, key: Option<String>) -> Result<Self, reqwest::Error> {
        // Whoever set one before has set it for all.
        #[cfg(feature = "tls")]
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            // The key is for the configured address alone.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .build()?;
        Ok(Self { client, name, key, calls: AtomicU64::new(0) })
    }

    /// How many calls were made.
    #[cfg(feature = "control")]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Asks for the next answer of a conversation.
    ///
    /// # Errors
    /// When the model does not begin a stream.
    pub async fn answer(&self, base: &str, rows: &[Row]) -> Result<Answer, ModelError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let messages: Vec<_> =
            rows.iter().map(|row| json!({ "role": row.role, "content": row.content })).collect();
        let mut request = self
            .client
            .post(format!("{}/chat/completions", base.trim_end_matches('/')))
            .json(&json!({ "model": self.name, "stream": true, "messages": messages }));
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let response = request.send().await?;
        if !response.status().is_success() {
            return Err(ModelError::Status(response.status()));
        }
        let events = response.bytes_stream().eventsource().map(|event| {
            // Broken UTF-8, or a connection that broke off.
            event.map_err(|_| ModelError::Cut)
        });
        Ok(Answer(events.boxed()))
    }
}

/// An answer as it arrives.
pub struct Answer(BoxStream<'static, Result<Event, ModelError>>);

impl Answer {
    /// The next piece of text, or none when the answer is complete. Nothing is lost when the
    /// waiting is given up.
    ///
    /// # Errors
    /// When the stream breaks off or makes no sense.
    pub async fn next(&mut self) -> Result<Option<String>, ModelError> {
        loop {
            let event = self.0.next().await.ok_or(ModelError::Cut)??;
            if event.data == "[DONE]" {
                return Ok(None);
            }
            let text = text_of(&event.data)?;
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
    }
}

/// The text of one chunk; empty when it carries none, such as the first and the last.
fn text_of(data: &str) -> Result<String, ModelError> {
    #[derive(Deserialize)]
    struct Chunk {
        choices: Vec<Choice>,
    }
    #[derive(Deserialize)]
    struct Choice {
        #[serde(default)]
        delta: Delta,
    }
    #[derive(Default, Deserialize)]
    struct Delta {
        content: Option<String>,
    }
    let chunk: Chunk =
        serde_json::from_str(data).map_err(|error| ModelError::Unreadable(error.to_string()))?;
    Ok(chunk.choices.into_iter().next().and_then(|choice| choice.delta.content).unwrap_or_default())
}

/// A model's base URL that this build can speak to: `http://HOST[:PORT][/PATH]`, with the feature
/// `tls` also `https://`.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn check_base(url: &str) -> Result<String, String> {
    let parsed = reqwest::Url::parse(url).map_err(|error| format!("not a URL: {error}"))?;
    match parsed.scheme() {
        "http" => {}
        "https" if cfg!(feature = "tls") => {}
        "https" => {
            return Err(
                "this build speaks plain http to the model; put a TLS proxy in between, or \
                        build the node with the feature tls"
                    .to_owned(),
            );
        }
        _ => return Err("a model's base URL begins with http:// or https://".to_owned()),
    }
    if parsed.query().is_none() && parsed.fragment().is_none() {
        Ok(url.to_owned())
    } else {
        Err("a model's base URL has no query and no fragment".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_gives_its_text_and_one_without_text_gives_none() {
        for (data, text) in [
            (r#"{"choices":[{"index":0,"delta":{"content":"hi"}}]}"#, "hi"),
            (r#"{"choices":[{"delta":{"role":"assistant","content":null}}]}"#, ""),
            (r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#, ""),
            (r#"{"choices":[],"usage":{"total_tokens":3}}"#, ""),
        ] {
            assert_eq!(text_of(data).unwrap(), text, "{data}");
        }
    }

    #[test]
    fn a_base_url_is_one_that_this_build_can_speak_to() {
        for (url, said) in [
            ("http://h:1/v1", None),
            ("https://h/v1", (!cfg!(feature = "tls")).then_some("feature tls")),
            ("ftp://h", Some("begins with http://")),
            ("h", Some("not a URL")),
            ("http://h/?q", Some("no query")),
            ("http://h/#f", Some("no fragment")),
        ] {
            match (check_base(url), said) {
                (Ok(base), None) => assert_eq!(base, url),
                (Err(error), Some(said)) => assert!(error.contains(said), "{url}: {error}"),
                (outcome, _) => panic!("{url}: {outcome:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_chunk_is_an_error_and_never_silence() {
        for data in ["", "hello", "{}", r#"{"error":{"message":"overloaded"}}"#] {
            assert!(matches!(text_of(data), Err(ModelError::Unreadable(_))), "{data}");
        }
    }
}
