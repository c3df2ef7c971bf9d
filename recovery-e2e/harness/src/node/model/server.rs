//! The HTTP side: finds the script of a call, and sends its reply.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::script::{Answer, Play, Reply, Script};
use super::wire::{self, Call};

/// The largest request that is read: a whole conversation with tool outputs of 10 MiB, the most
/// that the node keeps of one, and room for its escapes.
const REQUEST_LIMIT: usize = 32 << 20;

/// The model server, or a script of it, could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// No port on the loopback interface.
    #[error("cannot listen on 127.0.0.1: {0}; check that the loopback interface is up")]
    Listen(#[source] std::io::Error),
    /// The name would need escaping in a URL.
    #[error("a script cannot be named {0:?}; use letters, digits, '-' and '_'")]
    Name(String),
    /// Two workstreams would take each other's replies.
    #[error("there is a script named {0:?} already; give each workstream its own")]
    Taken(String),
}

/// A running model server. Dropping it ends all its tasks.
#[derive(Debug)]
pub struct ModelServer {
    origin: String,
    scripts: Arc<Scripts>,
    ending: CancellationToken,
}

type Scripts = Mutex<HashMap<String, Arc<Play>>>;
type AnswerBody = UnsyncBoxBody<Bytes, Cut>;

/// The end of a reply that is cut: the connection breaks here.
#[derive(Debug, thiserror::Error)]
#[error("the script cuts the connection here")]
struct Cut;

impl ModelServer {
    /// Listens on a free port of 127.0.0.1, and serves from now on.
    ///
    /// # Errors
    /// [`ModelError::Listen`] when there is no port.
    pub async fn start() -> Result<ModelServer, ModelError> {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = bound.map_err(ModelError::Listen)?;
        let address = listener.local_addr().map_err(ModelError::Listen)?;
        let scripts = Arc::new(Scripts::default());
        let ending = CancellationToken::new();
        tokio::spawn(ending.clone().run_until_cancelled_owned(accept(
            listener,
            Arc::clone(&scripts),
            ending.clone(),
        )));
        Ok(ModelServer { origin: format!("http://{address}"), scripts, ending })
    }

    /// Answers the calls to `<origin>/<name>/v1/chat/completions` with `replies`, one by one.
    ///
    /// # Errors
    /// [`ModelError::Name`] and [`ModelError::Taken`].
    pub fn script(&self, name: &str, replies: Vec<Reply>) -> Result<Script, ModelError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(ModelError::Name(name.to_owned()));
        }
        let mut scripts = lock(&self.scripts);
        if scripts.contains_key(name) {
            return Err(ModelError::Taken(name.to_owned()));
        }
        let play = Arc::new(Play::new(replies));
        scripts.insert(name.to_owned(), Arc::clone(&play));
        Ok(Script { base_url: format!("{}/{name}/v1", self.origin), play })
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.ending.cancel();
    }
}

fn lock(scripts: &Scripts) -> MutexGuard<'_, HashMap<String, Arc<Play>>> {
    scripts.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Takes in connections until the listener fails; what cannot connect shows in the node's turns.
async fn accept(listener: TcpListener, scripts: Arc<Scripts>, ending: CancellationToken) {
    while let Ok((stream, _)) = listener.accept().await {
        let serving = serve(stream, Arc::clone(&scripts));
        tokio::spawn(ending.clone().run_until_cancelled_owned(serving));
    }
}

async fn serve(stream: TcpStream, scripts: Arc<Scripts>) {
    // Fails on a dead connection only, and reading it fails then too.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let scripts = Arc::clone(&scripts);
        async move { Ok::<_, Cut>(answer(&scripts, request).await) }
    });
    // One call a connection: a client that meets a cut on one that it has used before may call
    // again by itself, and take the next reply.
    let server =
        http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
    // A broken connection is the caller's: it has left.
    let _ = server.await;
}

async fn answer(scripts: &Scripts, request: Request<Incoming>) -> Response<AnswerBody> {
    let path = request.uri().path().to_owned();
    let name = path.strip_prefix('/').and_then(|path| path.strip_suffix("/v1/chat/completions"));
    let play = name.and_then(|name| lock(scripts).get(name).cloned());
    let Some(play) = play.filter(|_| request.method() == Method::POST) else {
        let text = format!("no script answers {} {path}", request.method());
        return refusal(StatusCode::NOT_FOUND, &text);
    };
    let call = match Limited::new(request.into_body(), REQUEST_LIMIT).collect().await {
        Ok(body) => serde_json::from_slice::<Call>(&body.to_bytes()).map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let model = match call {
        Ok(Call { model, stream: true }) => model,
        Ok(Call { stream: false, .. }) => {
            return refusal(StatusCode::BAD_REQUEST, "only \"stream\": true is scripted");
        }
        Err(error) => return refusal(StatusCode::BAD_REQUEST, &format!("not a call: {error}")),
    };
    let (number, reply) = play.call();
    let Some(mut reply) = reply else {
        let text = format!("call {number} is beyond the script {name:?}, of {}", play.len());
        return refusal(StatusCode::INTERNAL_SERVER_ERROR, &text);
    };
    reply.released().await;
    let middle = reply.middle();
    let end = |reason| wire::end_events(number, &model, reason);
    match &reply.answer {
        Answer::Text(text) => {
            let events = wire::text_events(number, &model, text);
            streamed(events.into_iter().chain(end("stop")).collect(), middle)
        }
        Answer::Calls(calls) => {
            let events = wire::call_events(number, &model, calls);
            streamed(events.into_iter().chain(end("tool_calls")).collect(), middle)
        }
    }
}

/// The events as one stream, which waits for `middle`.
fn streamed(
    mut events: Vec<String>,
    middle: impl Future<Output = ()> + Send + 'static,
) -> Response<AnswerBody> {
    let frame = |event| Ok(Frame::data(Bytes::from(event)));
    let rest = events.split_off(events.len() / 2);
    let rest = stream::iter(rest.into_iter().map(frame));
    let rest = stream::once(async move {
        middle.await;
        rest
    });
    let frames = stream::iter(events.into_iter().map(frame)).chain(rest.flatten());
    respond(StatusCode::OK, "text/event-stream", StreamBody::new(frames).boxed_unsync())
}

fn refusal(status: StatusCode, message: &str) -> Response<AnswerBody> {
    let body = Full::from(wire::error(message)).map_err(|never| match never {});
    respond(status, "application/json", body.boxed_unsync())
}

fn respond(
    status: StatusCode,
    content_type: &'static str,
    body: AnswerBody,
) -> Response<AnswerBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
