//! The event streams of panes, and the global one.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use super::routes::{Opened, Params, param};
use crate::cursor::Cursor;
use crate::event::{Event, connection_frame};
use crate::feed::Connection;
use crate::lane::Presented;
use crate::listener::{Listener, Next};
use crate::node::Node;

pub async fn events(
    State(node): State<Arc<Node>>,
    Opened(ws): Opened,
    params: Params,
    headers: HeaderMap,
) -> Response {
    let (header, query) = cursors(&params, &headers);
    let token = param(&params, "history_token");
    let connection = ws.lane.connect(&Presented { header, query, token });
    stream(&node, connection)
}

pub async fn global_events(
    State(node): State<Arc<Node>>,
    params: Params,
    headers: HeaderMap,
) -> Response {
    let (header, query) = cursors(&params, &headers);
    let connection = node.roster.connect(header, query);
    stream(&node, connection)
}

/// The cursors of the header and of the query.
fn cursors(params: &Params, headers: &HeaderMap) -> (Cursor, Cursor) {
    // A header that is no text is one that no node gave out.
    let header = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("malformed"));
    (Cursor::read(header), Cursor::read(param(params, "last_event_id")))
}

fn stream(node: &Node, connection: Connection) -> Response {
    let retry = Bytes::from(format!("retry: {}\n\n", pick(&node.settings.retry_ms)));
    let past = stream::iter([retry].into_iter().chain(connection.past));
    let (ping, stop) = (node.settings.ping(), node.stop.clone());
    let live = stream::iter(connection.live)
        .map(move |listener| {
            let mut ping = interval_at(Instant::now() + ping, ping);
            ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
            live(Live { listener, ping, stop: stop.clone() })
        })
        .flatten();
    let body = Body::from_stream(past.chain(live).map(Ok::<_, Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

struct Live {
    listener: Listener,
    ping: Interval,
    stop: CancellationToken,
}

/// Everything from now on, until the node stops or the connection falls behind.
fn live(live: Live) -> impl Stream<Item = Bytes> {
    stream::unfold(Some(live), async |live| {
        let mut live = live?;
        tokio::select! {
            biased;
            () = live.stop.cancelled() => None,
            next = live.listener.next() => match next {
                Next::Frame(frame) => Some((frame, Some(live))),
                Next::Overflow => Some((connection_frame(&Event::StreamOverflow {}), None)),
            },
            _ = live.ping.tick() => Some((Bytes::from_static(b": ping\n\n"), Some(live))),
        }
    })
}

/// A random value of the range, so that panes do not all redial at once.
fn pick(range: &RangeInclusive<u32>) -> u32 {
    let width = u64::from(range.end() - range.start()) + 1;
    // Without randomness they do redial at once, which is no reason to refuse them.
    let random = getrandom::u32().unwrap_or_default();
    range.start() + u32::try_from(u64::from(random) % width).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_retry_is_of_its_range(a: u32, b: u32) {
            let range = a.min(b)..=a.max(b);
            prop_assert!(range.contains(&pick(&range)));
        }
    }
}
