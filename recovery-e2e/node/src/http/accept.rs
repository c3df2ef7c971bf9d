//! Takes connections: how many there may be, how long each may dawdle, and how it ends.

use std::error::Error as _;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

use super::deadline::WriteDeadline;
use super::{App, refusal, router};

/// Bytes of a request's head, and of what waits for a connection outside its queue.
const BUFFER: usize = 64 << 10;

/// How many connections over the limit are told so at a time; more are dropped without a word.
const REFUSALS: usize = 32;

/// After an accept that failed for want of a resource, such as file descriptors: no event tells
/// when there is one again.
const RESOURCE_RETRY: Duration = Duration::from_millis(200);

/// Serves connections until the node stops, and then until each has ended.
pub async fn serve(listener: TcpListener, app: Arc<App>) {
    let doors = Doors {
        router: router(app.clone()),
        refusal: refusal(),
        refusals: Arc::new(Semaphore::new(REFUSALS)),
        open: TaskTracker::new(),
        app,
    };
    loop {
        match doors.app.stop.run_until_cancelled(listener.accept()).await {
            None => break,
            Some(Ok((stream, _))) => doors.admit(stream),
            // The peer left before it was let in.
            Some(Err(error)) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Some(Err(error)) => {
                tracing::warn!(%error, "no connection can be accepted");
                tokio::time::sleep(RESOURCE_RETRY).await;
            }
        }
    }
    drop(listener);
    doors.open.close();
    doors.open.wait().await;
}

struct Doors {
    app: Arc<App>,
    router: Router,
    refusal: Router,
    refusals: Arc<Semaphore>,
    open: TaskTracker,
}

impl Doors {
    fn admit(&self, stream: TcpStream) {
        let (router, place) = match self.app.connections.clone().try_acquire_owned() {
            Ok(place) => (&self.router, place),
            Err(_) => {
                self.app.metrics.connections_refused.count();
                let Ok(place) = self.refusals.clone().try_acquire_owned() else { return };
                (&self.refusal, place)
            }
        };
        self.open.spawn(connection(self.app.clone(), stream, router.clone(), place));
    }
}

async fn connection(
    app: Arc<App>,
    stream: TcpStream,
    router: Router,
    _place: OwnedSemaphorePermit,
) {
    let options = &app.options;
    if let Err(error) = prepare(&stream, options.write_deadline) {
        // It is gone already, and the first read or write will say so.
        tracing::debug!(%error, "a connection without its options");
    }
    let io = WriteDeadline::new(stream, options.write_deadline);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(options.request_deadline)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(io), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = app.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        if is_late(&error) {
            app.metrics.write_deadlines.count();
        }
        tracing::debug!(%error, "a connection broke");
    }
}

/// Whether the peer took nothing in time, or the kernel found it gone.
fn is_late(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut)
}

/// An event leaves at once, not when the peer has acknowledged the one before it; and a peer that
/// acknowledges nothing is gone for the kernel too, which alone can tell while its buffer takes
/// what is written.
fn prepare(stream: &TcpStream, write_deadline: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    socket2::SockRef::from(stream).set_tcp_user_timeout(Some(write_deadline))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_kernel_too_ends_a_peer_that_acknowledges_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let deadline = Duration::from_secs(30);
        prepare(&stream, deadline).unwrap();
        assert_eq!(socket2::SockRef::from(&stream).tcp_user_timeout().unwrap(), Some(deadline));
        assert!(stream.nodelay().unwrap());
    }
}
