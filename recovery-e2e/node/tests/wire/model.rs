//! A model whose every word is given by the test.

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
        let chunk = json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
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

    pub fn refuse(mut self, status: StatusCode) {
        self.respond.take().unwrap().send(status.into_response()).unwrap();
    }

    /// Until the node has hung up.
    pub async fn hung_up(&self) {
        within("the node hanging up", self.body.as_ref().unwrap().closed()).await;
    }
}
