//! The model: any OpenAI-compatible chat-completions endpoint that streams.

mod answer;
mod backoff;
mod calls;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode, header};
use reqwest::Response;
use serde_json::{Value, json};

pub use answer::Answer;
pub use backoff::Backoff;

use crate::record::Part;

/// The environment variable with the API key. The tools of the node do not inherit it.
pub const KEY_VARIABLE: &str = "RECOVERY_NODE_MODEL_KEY";

/// How long a connection to the model may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// Why the model gave no answer, or only a part of one. Each is shown to a person in the pane.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// It could not be reached, or the connection broke.
    #[error(
        "cannot connect to the model ({0}); check --model-url, or the model_url of the workstream, \
         and send again"
    )]
    Unreachable(String),
    /// It refuses the API key.
    #[error(
        "the model refuses the API key ({0}); set RECOVERY_NODE_MODEL_KEY and restart the node"
    )]
    Forbidden(StatusCode),
    /// It refused, more than once where that may help.
    #[error("the model responded with status {0}; check its URL and its log, or send again later")]
    Status(StatusCode),
    /// It sent nothing for too long.
    #[error("the model sent nothing for too long (silent); the text so far is kept, send again")]
    Silent,
    /// The stream ended before its end was announced.
    #[error("the model's answer broke off; the text so far is kept, send again")]
    Cut,
    /// It sent something else than a stream of chat completions.
    #[error("the model's answer cannot be parsed ({0}); check that its URL is OpenAI-compatible")]
    Unreadable(String),
}

impl From<reqwest::Error> for ModelError {
    fn from(error: reqwest::Error) -> Self {
        // A timeout of the connect itself is reported as unreachable.
        if error.is_timeout() && !error.is_connect() {
            return Self::Silent;
        }
        // The outermost message says only that a request failed; the innermost says why.
        let error = error.without_url();
        let mut cause: &dyn std::error::Error = &error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        Self::Unreachable(cause.to_string())
    }
}

/// How failed requests are retried, and how long the client waits.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Further tries of a call that was refused for the moment.
    pub retries: u32,
    /// The waits before them.
    pub backoff: Backoff,
    /// The longest silence, before an answer and within it.
    pub silence: Duration,
}

/// The client of every model that the node speaks to.
pub struct Model {
    client: reqwest::Client,
    name: String,
    key: Option<String>,
    patience: Patience,
    calls: AtomicU64,
}

impl Model {
    /// A client that asks for the model of this name, with this API key if there is one.
    ///
    /// # Errors
    /// When the HTTP client cannot be set up.
    pub fn new(
        name: String,
        key: Option<String>,
        patience: Patience,
    ) -> Result<Self, reqwest::Error> {
        // It may be installed already, which is no error.
        #[cfg(feature = "tls")]
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            // The key is for the configured address alone.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .read_timeout(patience.silence)
            .build()?;
        Ok(Self { client, name, key, patience, calls: AtomicU64::new(0) })
    }

    /// How many calls were made, each try counted.
    #[cfg(feature = "control")]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Asks for the next answer of a conversation, with these tools.
    ///
    /// # Errors
    /// When the model does not start a stream, after all retries.
    pub async fn answer(
        &self,
        base: &str,
        messages: &[Value],
        tools: &Value,
    ) -> Result<Answer, ModelError> {
        let request = json!({
            "model": self.name,
            "stream": true,
            "stream_options": { "include_usage": true },
            "tools": tools,
            "messages": messages,
        });
        let mut failed = 0;
        loop {
            let response = self.ask(base, &request).await?;
            let status = response.status();
            let for_the_moment =
                status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
            match status {
                _ if status.is_success() => return Ok(Answer::new(response)),
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                    return Err(ModelError::Forbidden(status));
                }
                _ if !for_the_moment || failed == self.patience.retries => {
                    return Err(ModelError::Status(status));
                }
                _ => {}
            }
            failed += 1;
            // Without randomness the wait is the shortest of its range.
            let random = getrandom::u32().unwrap_or_default();
            let wait = self.patience.backoff.wait(failed, retry_after(response.headers()), random);
            tracing::warn!(%status, failed, ?wait, "retrying the model request");
            tokio::time::sleep(wait).await;
        }
    }

    async fn ask(&self, base: &str, request: &Value) -> Result<Response, reqwest::Error> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let url = format!("{}/chat/completions", base.trim_end_matches('/'));
        let mut post = self.client.post(url).json(request);
        if let Some(key) = &self.key {
            post = post.bearer_auth(key);
        }
        post.send().await
    }
}

/// The Retry-After header in seconds. The form with a date is ignored.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

/// A row as a message of the model API.
pub fn message(content: &str, part: &Part) -> Value {
    match part {
        Part::User { .. } => json!({ "role": "user", "content": content }),
        Part::Assistant { tool_calls } if tool_calls.is_empty() => {
            json!({ "role": "assistant", "content": content })
        }
        Part::Assistant { tool_calls } => {
            let calls: Vec<_> = tool_calls
                .iter()
                .map(|call| {
                    let function = json!({ "name": call.name, "arguments": call.arguments });
                    json!({ "id": call.id, "type": "function", "function": function })
                })
                .collect();
            json!({ "role": "assistant", "content": content, "tool_calls": calls })
        }
        Part::Tool { tool_call_id, .. } => {
            json!({ "role": "tool", "tool_call_id": tool_call_id, "content": content })
        }
    }
}

/// Why a text is not the base URL of a model.
#[derive(Debug, thiserror::Error)]
pub enum BaseError {
    /// It is not a URL.
    #[error("not a URL ({0}); write http://HOST[:PORT][/PATH]")]
    NotAUrl(String),
    /// It needs TLS, which this build does not have.
    #[error(
        "this build supports only http to the model; use a TLS proxy, or build the node with the \
         feature tls"
    )]
    NoTls,
    /// It has another scheme.
    #[error("a base URL begins with http:// or https://, such as http://127.0.0.1:8080/v1")]
    Scheme,
    /// It has more than a path.
    #[error("a base URL has no query and no fragment; remove them")]
    NotABase,
}

/// A model's base URL that this build can speak to: `http://HOST[:PORT][/PATH]`, with the feature
/// `tls` also `https://`.
///
/// # Errors
/// When it is not one.
pub fn check_base(url: &str) -> Result<String, BaseError> {
    let parsed = reqwest::Url::parse(url).map_err(|error| BaseError::NotAUrl(error.to_string()))?;
    match parsed.scheme() {
        "http" => {}
        "https" if cfg!(feature = "tls") => {}
        "https" => return Err(BaseError::NoTls),
        _ => return Err(BaseError::Scheme),
    }
    if parsed.query().is_none() && parsed.fragment().is_none() {
        Ok(url.to_owned())
    } else {
        Err(BaseError::NotABase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                (Err(error), Some(said)) => {
                    assert!(error.to_string().contains(said), "{url}: {error}")
                }
                (outcome, _) => panic!("{url}: {outcome:?}"),
            }
        }
    }
}
