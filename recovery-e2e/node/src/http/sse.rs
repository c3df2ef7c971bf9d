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

use super::App;
use super::routes::{Latched, Params, param};
use crate::lane::{Connection, Event, Listener, Next, Presented, ResyncReason, connection_frame};
use crate::metrics::{Counter, Metrics};
use crate::record::Cursor;

pub async fn events(
    State(app): State<Arc<App>>,
    Latched(ws): Latched,
    params: Params,
    headers: HeaderMap,
) -> Response {
    let (header, query) = cursors(&params, &headers);
    let token = param(&params, "history_token");
    let overflows: Overflows = |metrics| &metrics.pane_overflows;
    match ws {
        Some(ws) => {
            let connection = ws.lane.connect(&Presented { header, query, token });
            stream(app, connection, ws.unloaded.clone(), overflows)
        }
        None => {
            let gone = Event::HistoryResync { reason: ResyncReason::WorkstreamGone };
            let refusal = Connection { past: vec![connection_frame(&gone)], live: None };
            let unloaded = app.stop.clone();
            stream(app, refusal, unloaded, overflows)
        }
    }
}

pub async fn global_events(
    State(app): State<Arc<App>>,
    params: Params,
    headers: HeaderMap,
) -> Response {
    let (header, query) = cursors(&params, &headers);
    let connection = app.roster.connect(header, query);
    let unloaded = app.stop.clone();
    stream(app, connection, unloaded, |metrics| &metrics.global_overflows)
}

/// The cursors of the header and of the query.
fn cursors(params: &Params, headers: &HeaderMap) -> (Cursor, Cursor) {
    // A header that is no text is one that no node gave out.
    let header = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("malformed"));
    (Cursor::read(header), Cursor::read(param(params, "last_event_id")))
}

/// The stream of a connection, which ends when the node stops or the workstream is unloaded.
fn stream(
    app: Arc<App>,
    connection: Connection,
    unloaded: CancellationToken,
    overflows: Overflows,
) -> Response {
    let retry = Bytes::from(format!("retry: {}\n\n", pick(&app.options.retry)));
    let past = stream::iter([retry].into_iter().chain(connection.past));
    let live = stream::iter(connection.live)
        .map(move |listener| {
            let mut ping = interval_at(Instant::now() + app.options.ping, app.options.ping);
            ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
            live(Live { listener, ping, app: app.clone(), unloaded: unloaded.clone(), overflows })
        })
        .flatten();
    let body = Body::from_stream(past.chain(live).map(Ok::<_, Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// The counter of the connections of this lane that fall behind.
type Overflows = fn(&Metrics) -> &Counter;

struct Live {
    listener: Listener,
    ping: Interval,
    app: Arc<App>,
    unloaded: CancellationToken,
    overflows: Overflows,
}

/// Everything from now on, until the node stops, the workstream is unloaded or the connection
/// falls behind.
fn live(live: Live) -> impl Stream<Item = Bytes> {
    stream::unfold(Some(live), async |live| {
        let mut live = live?;
        tokio::select! {
            biased;
            () = live.app.stop.cancelled() => None,
            next = live.listener.next() => match next {
                Next::Frame(frame) => Some((frame, Some(live))),
                Next::Overflow => {
                    (live.overflows)(&live.app.metrics).count();
                    Some((connection_frame(&Event::StreamOverflow {}), None))
                }
            },
            // What was published before has been taken.
            () = live.unloaded.cancelled() => None,
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
