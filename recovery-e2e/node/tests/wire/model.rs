//! A model whose answers are given by the test.

use std::convert::Infallible;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::within;

type Chunk = Result<Bytes, std::io::Error>;

pub struct Model {
    pub url: String,
    calls: mpsc::UnboundedReceiver<Call>,
}

/// One request of the node that waits for its answer.
pub struct Call {
    pub request: Value,
    respond: Option<oneshot::Sender<Response>>,
    body: Option<mpsc::UnboundedSender<Chunk>>,
}

impl Model {
    pub async fn start() -> Self {
        let (sender, calls) = mpsc::unbounded_channel();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/chat/completions", post(receive)).with_state(sender);
        tokio::spawn(axum::serve(listener, router).into_future());
        Self { url, calls }
    }

    /// The next call.
    pub async fn call(&mut self) -> Call {
        within("a call of the model", self.calls.recv()).await.unwrap()
    }

    /// Answers the next call with calls of tools.
    pub async fn call_tools(&mut self, calls: &[(&str, &str, Value)]) {
        let mut call = self.call().await;
        call.call(calls);
        call.done();
    }

    /// Answers the next call in full; returns its messages.
    pub async fn answer(&mut self, text: &str) -> Value {
        let mut call = self.call().await;
        call.say(text);
        call.done();
        call.request["messages"].clone()
    }
}

async fn receive(
    State(calls): State<mpsc::UnboundedSender<Call>>,
    body: Bytes,
) -> Result<Response, Infallible> {
    let request = serde_json::from_slice(&body).unwrap();
    let (respond, response) = oneshot::channel();
    calls.send(Call { request, respond: Some(respond), body: None }).unwrap();
    // A call that the test drops without an answer is a connection that breaks.
    Ok(response.await.unwrap_or_else(|_| StatusCode::BAD_GATEWAY.into_response()))
}

impl Call {
    fn send(&mut self, chunk: Chunk) {
        if let Some(respond) = self.respond.take() {
            let (sender, receiver) = mpsc::unbounded_channel();
            let chunks = futures_util::stream::unfold(receiver, async |mut receiver| {
                receiver.recv().await.map(|chunk| (chunk, receiver))
            });
            respond.send(Body::from_stream(chunks).into_response()).unwrap();
            self.body = Some(sender);
        }
        // The node may have hung up; what it does then is for the test to see.
        let _ = self.body.as_ref().unwrap().send(chunk);
    }

    pub fn say(&mut self, text: &str) {
        self.chunk(&json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }));
    }

    /// Makes calls: an id, a tool and its arguments each. What is no text is sent as JSON, in two
    /// pieces.
    pub fn call(&mut self, calls: &[(&str, &str, Value)]) {
        for (index, (id, name, arguments)) in calls.iter().enumerate() {
            let text = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            let (head, tail) = text.split_at(text.floor_char_boundary(text.len() / 2));
            let begin = json!({ "index": index, "id": id, "type": "function",
                "function": { "name": name, "arguments": head } });
            let rest = json!({ "index": index, "function": { "arguments": tail } });
            for delta in [begin, rest] {
                self.chunk(&json!({ "choices": [{ "delta": { "tool_calls": [delta] } }] }));
            }
        }
    }

    /// Says how long the conversation is.
    pub fn usage(&mut self, prompt_tokens: u64) {
        self.chunk(&json!({ "choices": [], "usage": { "prompt_tokens": prompt_tokens } }));
    }

    fn chunk(&mut self, chunk: &Value) {
        self.send(Ok(format!("data: {chunk}\n\n").into()));
    }

    pub fn done(&mut self) {
        self.send(Ok("data: [DONE]\n\n".into()));
        self.body = None;
    }

    /// Breaks the connection.
    pub fn cut(&mut self) {
        self.send(Err(std::io::Error::other("cut by the test")));
    }

    pub fn refuse(self, status: StatusCode) {
        self.answer(status);
    }

    pub fn answer(mut self, answer: impl IntoResponse) {
        self.respond.take().unwrap().send(answer.into_response()).unwrap();
    }

    /// The messages that the node sent.
    pub fn messages(&self) -> &Value {
        &self.request["messages"]
    }

    /// Until the node has hung up.
    pub async fn hung_up(&self) {
        within("the node hanging up", self.body.as_ref().unwrap().closed()).await;
    }
}
