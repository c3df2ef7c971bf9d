//! One request, from its head to its answer.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::http::{request, response};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use tokio::sync::oneshot;

use super::faults::{Action, Fault};
use super::headers;
use super::hold::PassLater;
use super::patch::Misfit;
use super::receipt::Receipt;
use super::request_log::{Browser, Entry};
use super::rewrite::Rewrite;
use super::server::Shared;
use super::sever::Severable;
use super::socket::Socket;
use super::upstream::{self, Passing, Upstream};
use crate::record::class::Class;
use crate::record::event::{Event, FaultKind};

/// The largest request body that is taken in: twice the node's own limit of a message, 1 MiB.
const BODY_LIMIT: usize = 2 << 20;

/// There is no answer: the browser's connection is to be broken. The record says why.
#[derive(Debug, thiserror::Error)]
#[error("the connection is broken off; its record says why")]
pub(super) struct BreakOff;

type Answered = Result<Response<AnswerBody>, BreakOff>;
type AnswerBody = Either<Full<Bytes>, Passing>;

/// Counts a request at once, and returns what will answer it.
pub(super) fn serve(
    shared: &Arc<Shared>,
    socket: &Socket,
    request: Request<Incoming>,
) -> impl Future<Output = Result<Response<ToBrowser>, BreakOff>> + use<> {
    let (head, body) = request.into_parts();
    let class = match shared.local_page(head.uri.path()) {
        Some(_) => Class::PAGE,
        None => Class::of(shared.routes, &head.method, head.uri.path()),
    };
    // Here, not in the future: the same turn that read the head counts it.
    let (entry, fault) = shared.request_log.arrive(class, &head);
    socket.counted();

    let exchange = Exchange { shared: Arc::clone(shared), class, entry };
    let browser = Browser(exchange.entry.clone());
    async move {
        // From here on, so that a stream whose answer is on its way is severed too.
        let severed = exchange.shared.severed.subscribe();
        let entry = exchange.entry.clone();
        let response = exchange.answer(head, body, fault).await?;
        let severed = is_event_stream(response.headers()).then_some(severed);
        Ok(response.map(|body| ToBrowser {
            body: Severable::new(body, class, entry, severed),
            _browser: browser,
        }))
    }
}

/// An answer's body in the hands of the browser's connection.
pub(super) struct ToBrowser {
    body: Severable<AnswerBody>,
    _browser: Browser,
}

impl Body for ToBrowser {
    type Data = Bytes;
    type Error = <AnswerBody as Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

struct Exchange {
    shared: Arc<Shared>,
    class: Class,
    entry: Entry,
}

impl Exchange {
    /// Reads the body, and applies the fault.
    async fn answer(self, head: request::Parts, body: Incoming, fault: Option<Fault>) -> Answered {
        let body = match Limited::new(body, BODY_LIMIT).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                let text = format!("the proxy takes request bodies of up to {BODY_LIMIT} bytes");
                return Ok(self.say(StatusCode::PAYLOAD_TOO_LARGE, text));
            }
            // The browser went away in the middle of its request.
            Err(_) => return Err(BreakOff),
        };
        let request = Request::from_parts(head, Full::new(body));
        match fault {
            None => self.respond(request, None).await,
            Some(Fault { action: Action::Fail(status), receipt }) => {
                self.entry.fired(FaultKind::Fail, &receipt);
                Ok(self.say(status, format!("{} (a fault of the proxy)", receipt.name())))
            }
            Some(Fault { action: Action::Tokenless, receipt }) => {
                self.respond(request, Some((Rewrite::WithoutToken, receipt))).await
            }
            Some(Fault { action: Action::Hold(gate), receipt }) => {
                self.entry.fired(FaultKind::Hold, &receipt);
                self.entry.happen(Event::Held);
                self.hold(gate, request).await
            }
        }
    }

    /// Keeps the request in a task of its own, so that a browser that goes away changes nothing
    /// for the upstream: once released, the request still reaches it.
    async fn hold(self, gate: PassLater, request: Request<Full<Bytes>>) -> Answered {
        let (give, take) = oneshot::channel();
        let shared = Arc::clone(&self.shared);
        shared.spawn(async move {
            gate.pass(self.entry.seq()).await;
            if let Err(Ok(unclaimed)) = give.send(self.respond(request, None).await)
                && !is_event_stream(unclaimed.headers())
            {
                // The browser has gone, but the record needs the end, which may be an error.
                let _ = unclaimed.into_body().collect().await;
            }
        });
        take.await.unwrap_or(Err(BreakOff))
    }

    /// Answers as if there were no faults, but for the `rewrite` of the upstream's answer.
    async fn respond(
        self,
        request: Request<Full<Bytes>>,
        rewrite: Option<(Rewrite, Receipt)>,
    ) -> Answered {
        if let Some(page) = self.shared.local_page(request.uri().path()) {
            let mut response = self.whole(Response::new(page.body.clone()));
            response.headers_mut().insert(CONTENT_TYPE, page.content_type.clone());
            headers::for_changed_text(response.headers_mut());
            return Ok(response);
        }
        if self.class == Class::FENCE {
            self.shared.sockets.caught_up().await;
            return Ok(self.say(StatusCode::NO_CONTENT, String::new()));
        }
        let Some(upstream) = self.shared.upstream() else {
            self.entry.broken("no upstream is set");
            return Err(BreakOff);
        };
        self.forward(upstream, request, rewrite).await
    }

    async fn forward(
        self,
        upstream: Upstream,
        mut request: Request<Full<Bytes>>,
        rewrite: Option<(Rewrite, Receipt)>,
    ) -> Answered {
        let mut rewrites: Vec<_> = rewrite.into_iter().collect();
        if request.method() == Method::GET {
            let patches = self.shared.request_log.patches(request.uri().path()).into_iter();
            rewrites.extend(patches.map(|(patch, receipt)| (Rewrite::Patch(patch), receipt)));
        }
        headers::strip_hop_by_hop(request.headers_mut());
        if !rewrites.is_empty() {
            headers::ask_for_whole_text(request.headers_mut());
        }
        // The target without scheme and host, in whichever form it came.
        let target = request.uri().path_and_query().cloned();
        *request.uri_mut() = target.map_or_else(Uri::default, Uri::from);

        let response = match upstream::send(upstream, request, &self.entry).await {
            Ok(response) => response,
            Err(error) => {
                self.entry.broken(&error.to_string());
                return Err(BreakOff);
            }
        };
        if !rewrites.is_empty() {
            return self.rewritten(response, rewrites).await;
        }
        let streams = is_event_stream(response.headers());
        self.entry.happen(Event::Headed { status: response.status().as_u16(), streams });
        Ok(response.map(|body| Either::Right(body.start(streams))))
    }

    /// The answer with its text changed, or a 500 that says why it could not be.
    async fn rewritten(
        self,
        response: Response<Passing>,
        rewrites: Vec<(Rewrite, Receipt)>,
    ) -> Answered {
        let (mut head, body) = response.into_parts();
        let mut text = text_of(&head, body.whole().await.ok_or(BreakOff)?);
        for (rewrite, receipt) in &rewrites {
            let rewritten = text.and_then(|text| rewrite.apply(&text));
            if let Err(misfit) = &rewritten {
                receipt.break_off(misfit.to_string());
                let text = format!("{} does not apply: {misfit}", receipt.name());
                return Ok(self.say(StatusCode::INTERNAL_SERVER_ERROR, text));
            }
            text = rewritten;
        }
        for (rewrite, receipt) in &rewrites {
            self.entry.fired(rewrite.kind(), receipt);
        }
        headers::for_changed_text(&mut head.headers);
        let text = text.unwrap_or_default();
        Ok(self.whole(Response::from_parts(head, Bytes::from(text))))
    }

    /// An answer of the proxy's own.
    fn say(&self, status: StatusCode, text: String) -> Response<AnswerBody> {
        let mut response = Response::new(Bytes::from(text));
        *response.status_mut() = status;
        headers::for_changed_text(response.headers_mut());
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        self.whole(response)
    }

    /// Hands over an answer that is complete already: for the record it has passed.
    fn whole(&self, response: Response<Bytes>) -> Response<AnswerBody> {
        let status = response.status().as_u16();
        self.entry.happen(Event::Headed { status, streams: false });
        self.entry.passed(response.body().len() as u64, None);
        self.entry.happen(Event::Ended);
        response.map(|body| Either::Left(Full::new(body)))
    }
}

/// Whether an answer goes on until somebody leaves.
fn is_event_stream(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type
        .and_then(|value| value.split(';').next())
        .is_some_and(|mime| mime.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// The text of an answer as it was served.
fn text_of(head: &response::Parts, body: Bytes) -> Result<String, Misfit> {
    if head.status != StatusCode::OK {
        return Err(Misfit::NotServed { status: head.status.as_u16() });
    }
    match head.headers.get(CONTENT_ENCODING) {
        Some(encoding) if encoding != "identity" => Err(Misfit::NotText),
        _ => String::from_utf8(body.into()).map_err(|_| Misfit::NotText),
    }
}
