//! The node's public wire, as the harness itself uses it: straight, not through the proxy,
//! so that the proxy's counters count what the page does and nothing else.

use std::net::SocketAddr;
use std::pin::Pin;

use eventsource_stream::{Event, Eventsource};
use futures_util::{Stream, StreamExt};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::wait::{self, WaitTimeout};

/// A request of the harness that the node did not serve.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// It answered otherwise than asked.
    #[error("the node refused {what} with {status}: {body}; node.log may say why")]
    Refused {
        /// What it was asked for.
        what: String,
        /// The status.
        status: StatusCode,
        /// The start of the body.
        body: String,
    },
    /// It did not answer, or something else than its protocol says.
    #[error("the node did not answer {what}: {source}; node.log may say why")]
    Transport {
        /// What it was asked for.
        what: String,
        /// What came instead.
        source: reqwest::Error,
    },
    /// A condition that was not met.
    #[error("the node: {0}")]
    Wait(#[from] WaitTimeout),
    /// Its event stream ended before an awaited event.
    #[error(
        "the event stream of the node ended before {awaited}; its last event was {last}; node.log may say why"
    )]
    StreamEnded {
        /// What was waited for.
        awaited: String,
        /// The last event that came.
        last: String,
    },
}

/// A workstream's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WsId(String);

impl WsId {
    /// As in URLs.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A client of one node.
pub struct Wire {
    client: reqwest::Client,
    base: String,
    token: String,
}

impl Wire {
    /// A client of the node at `address`.
    pub fn new(address: SocketAddr, token: &str) -> Wire {
        Wire {
            client: reqwest::Client::new(),
            base: format!("http://{address}/v1/api"),
            token: token.to_owned(),
        }
    }

    /// Makes a workstream whose model is at `model_url`.
    ///
    /// # Errors
    /// When the node does not make it.
    pub async fn create(&self, name: &str, model_url: &str) -> Result<WsId, WireError> {
        #[derive(Deserialize)]
        struct Created {
            ws_id: String,
        }
        let body = json!({"name": name, "model_url": model_url});
        let created: Created = self.post("a workstream", "/workstreams", &body).await?;
        Ok(WsId(created.ws_id))
    }

    /// Loads a workstream that is stored.
    ///
    /// # Errors
    /// When the node does not load it.
    pub async fn open(&self, ws: &WsId) -> Result<(), WireError> {
        let path = format!("/workstreams/{}/open", ws.0);
        self.post::<Value>("a stored workstream", &path, &json!({})).await.map(drop)
    }

    /// Sends a message as a person would.
    ///
    /// # Errors
    /// When the node does not take it.
    pub async fn send(&self, ws: &WsId, message: &str) -> Result<(), WireError> {
        let path = format!("/workstreams/{}/send", ws.0);
        self.post::<Value>("a send", &path, &json!({"message": message})).await.map(drop)
    }

    /// The rows of a workstream that a person has written, as its history has them.
    ///
    /// # Errors
    /// When the node gives no history.
    pub async fn user_rows(&self, ws: &WsId) -> Result<Vec<String>, WireError> {
        #[derive(Deserialize)]
        struct Message {
            role: String,
            content: String,
        }
        #[derive(Deserialize)]
        struct History {
            messages: Vec<Message>,
        }
        let path = format!("/workstreams/{}/history", ws.0);
        let response = self.request(Method::GET, "a history", &path, None).await?;
        let history: History = response.json().await.map_err(transport("a history"))?;
        let of_user = history.messages.into_iter().filter(|message| message.role == "user");
        Ok(of_user.map(|message| message.content).collect())
    }

    /// The workstream's live events, from now on.
    ///
    /// # Errors
    /// When the node does not open the stream.
    pub async fn follow(&self, ws: &WsId) -> Result<Follower, WireError> {
        let path = format!("/workstreams/{}/events", ws.0);
        let response = self.request(Method::GET, "an event stream", &path, None).await?;
        let mut follower =
            Follower { events: Box::pin(response.bytes_stream().eventsource()), read: Vec::new() };
        follower.until("the end of the replay", |event| event["type"] == "replay_complete").await?;
        Ok(follower)
    }

    async fn post<T: for<'a> Deserialize<'a>>(
        &self,
        what: &str,
        path: &str,
        body: &Value,
    ) -> Result<T, WireError> {
        let response = self.request(Method::POST, what, path, Some(body)).await?;
        response.json().await.map_err(transport(what))
    }

    async fn request(
        &self,
        method: Method,
        what: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<reqwest::Response, WireError> {
        let mut request =
            self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = wait::within(what, request.send(), || "no answer".to_owned())
            .await?
            .map_err(transport(what))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = response.text().await.unwrap_or_default().chars().take(200).collect();
        Err(WireError::Refused { what: what.to_owned(), status, body })
    }
}

fn transport(what: &str) -> impl Fn(reqwest::Error) -> WireError {
    let what = what.to_owned();
    // The URL says nothing that `what` does not.
    move |source| WireError::Transport { what: what.clone(), source: source.without_url() }
}

type Events =
    dyn Stream<Item = Result<Event, eventsource_stream::EventStreamError<reqwest::Error>>> + Send;

/// One reader of a workstream's events.
pub struct Follower {
    events: Pin<Box<Events>>,
    read: Vec<Value>,
}

impl Follower {
    /// Reads until an event that is `wanted`, and returns it.
    ///
    /// # Errors
    /// When the stream ends or the deadline passes first.
    pub async fn until(
        &mut self,
        awaited: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Result<Value, WireError> {
        let (events, read) = (&mut self.events, &mut self.read);
        let found = tokio::time::timeout(wait::DEADLINE, async {
            while let Some(Ok(event)) = events.next().await {
                let value: Value = serde_json::from_str(&event.data).unwrap_or_default();
                read.push(value.clone());
                if wanted(&value) {
                    return Some(value);
                }
            }
            None
        });
        match found.await {
            Ok(Some(event)) => Ok(event),
            Ok(None) => {
                Err(WireError::StreamEnded { awaited: awaited.to_owned(), last: self.last() })
            }
            Err(_) => Err(WaitTimeout::need(awaited, self.last()).into()),
        }
    }

    /// How many events so far are `wanted`.
    pub fn count(&self, wanted: impl Fn(&Value) -> bool) -> usize {
        self.read.iter().filter(|event| wanted(event)).count()
    }

    fn last(&self) -> String {
        self.read.last().map_or("no event".to_owned(), Value::to_string)
    }
}
