//! Accepts connections: their maximum number, their timeouts, and their end.

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

/// How many connections over the limit get an error at a time; more are closed without one.
const REFUSALS: usize = 32;

/// Wait after an accept that failed for lack of a resource, such as file descriptors: no event
/// reports when one is free again.
const RESOURCE_RETRY: Duration = Duration::from_millis(200);

/// Serves connections until the node stops, and then until each has ended.
pub async fn serve(listener: TcpListener, app: Arc<App>) {
    let acceptor = Acceptor {
        router: router(app.clone()),
        refusal: refusal(),
        refusals: Arc::new(Semaphore::new(REFUSALS)),
        open: TaskTracker::new(),
        app,
    };
    loop {
        match acceptor.app.stop.run_until_cancelled(listener.accept()).await {
            None => break,
            Some(Ok((stream, _))) => acceptor.admit(stream),
            // The peer closed the connection before it was accepted.
            Some(Err(error)) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Some(Err(error)) => {
                tracing::warn!(%error, "cannot accept a connection; trying again");
                tokio::time::sleep(RESOURCE_RETRY).await;
            }
        }
    }
    drop(listener);
    acceptor.open.close();
    acceptor.open.wait().await;
}

struct Acceptor {
    app: Arc<App>,
    router: Router,
    refusal: Router,
    refusals: Arc<Semaphore>,
    open: TaskTracker,
}

impl Acceptor {
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
        // The peer has closed it already; the first read or write fails.
        tracing::debug!(%error, "cannot set the options of a connection");
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
        tracing::debug!(%error, "a connection ended with an error");
    }
}

/// Whether the write deadline has passed, here or in the kernel.
fn is_late(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut)
}

/// Sends an event at once, not when the peer has acknowledged the one before it. And lets the
/// kernel apply the write deadline too: only the kernel sees missing acknowledgements while its
/// send buffer still accepts data.
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
