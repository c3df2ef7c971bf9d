//! One request to the upstream, over a connection of its own, and its answer as it passes.

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

use super::break_late::BreakLate;
use super::headers;
use super::request_log::Entry;
use super::sse::IdScanner;
use crate::record::event::Event;

/// Where requests go: one start of the node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Upstream {
    pub(super) address: SocketAddr,
    /// 1 for the first that the proxy was pointed at, 2 for the next.
    pub(super) start: u32,
}

/// The upstream gave no answer: its connection could not be made, or broke before the head.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("the upstream {address} does not accept: {source}")]
    Connect { address: SocketAddr, source: std::io::Error },
    #[error("the upstream {address} broke the connection before an answer: {}", chain(source))]
    Broke { address: SocketAddr, source: hyper::Error },
}

/// Sends `request` to `upstream`, and returns the answer when its head has come.
///
/// No connection is used twice: a request never finds one that the upstream is about to close,
/// and dropping the answer closes its connection at once.
pub(super) async fn send(
    upstream: Upstream,
    request: Request<Full<Bytes>>,
    entry: &Entry,
) -> Result<Response<Passing>, NoAnswer> {
    let Upstream { address, start } = upstream;
    let connect = |source| NoAnswer::Connect { address, source };
    let broke = |source| NoAnswer::Broke { address, source };
    let stream = TcpStream::connect(address).await.map_err(connect)?;
    stream.set_nodelay(true).map_err(connect)?;
    let (mut sender, connection) =
        http1::handshake::<_, Full<Bytes>>(TokioIo::new(stream)).await.map_err(broke)?;
    let driver = AbortOnDropHandle::new(tokio::spawn(async move {
        // What breaks it is also returned to the one who waits for the answer or its body.
        let _ = connection.await;
    }));
    entry.happen(Event::Forwarded { upstream: start });
    let mut response = sender.send_request(request).await.map_err(broke)?;
    headers::strip_hop_by_hop(response.headers_mut());
    let entry = entry.clone();
    Ok(response.map(|incoming| Passing {
        incoming: BreakLate::new(incoming),
        scanner: IdScanner::default(),
        streams: false,
        entry,
        _driver: driver,
    }))
}

/// An error and all its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn broke_midway(error: &hyper::Error) -> String {
    format!("the upstream broke the connection in the middle of the answer: {}", chain(error))
}

/// An answer's body on its way from the upstream to the browser; each chunk passes as it comes.
#[derive(Debug)]
pub(super) struct Passing {
    incoming: BreakLate<Incoming>,
    scanner: IdScanner,
    streams: bool,
    entry: Entry,
    _driver: AbortOnDropHandle<()>,
}

impl Passing {
    /// The body, with the ids followed if it is an event stream. One that is empty has ended.
    pub(super) fn start(mut self, streams: bool) -> Passing {
        self.streams = streams;
        if self.incoming.is_end_stream() {
            self.entry.happen(Event::Ended);
        }
        self
    }

    /// The whole body, not passed on; none if the upstream broke it, which the record then says.
    pub(super) async fn whole(self) -> Option<Bytes> {
        match self.incoming.collect().await {
            Ok(body) => Some(body.to_bytes()),
            Err(error) => {
                self.entry.broken(&broke_midway(&error));
                None
            }
        }
    }

    fn pass(&mut self, data: &[u8]) {
        let last_event_id = if self.streams { self.scanner.feed(data) } else { None };
        self.entry.passed(data.len() as u64, last_event_id);
        // A body of known length is not asked again after its last byte.
        if self.incoming.is_end_stream() {
            self.entry.happen(Event::Ended);
        }
    }
}

impl Body for Passing {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.incoming).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    this.pass(data);
                }
            }
            Some(Err(error)) => this.entry.broken(&broke_midway(error)),
            None => this.entry.happen(Event::Ended),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
