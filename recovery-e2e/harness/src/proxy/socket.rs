//! The browser's connections, and the proof that none of them has an uncounted request.
//!
//! A fence must say: whatever the page sent before the marker has been counted. Three things
//! could break that, and each is met at its place:
//!
//! - *In the browser.* A request and a later marker travel on two connections, and the marker's
//!   may be quicker. So a marker takes two round trips, one after the other, and only the second
//!   proves anything. The browser's network thread starts requests in the order in which the page
//!   issued them; where its six connections to a host are taken, they wait in that order too. What
//!   was issued before the first marker has been written to its socket by the time that the page
//!   has read the first answer and issued the second marker. This half is the browser's
//!   behaviour, which the proxy cannot enforce, and it has one exception: the browser's cache lets
//!   one GET of a URL through at a time, and keeps the next back. What a fence is to count, and the
//!   marker itself, must be fetched past the cache (`cache: "no-store"`).
//! - *In the kernel.* Over loopback, bytes that have been written lie in the receiver's buffer, and
//!   a connection that has been made lies in the accept queue. So when the second marker has been
//!   read, the earlier request is there to be found. Where, is not certain: browsers open
//!   connections in advance, so the marker may have come over an older one.
//! - *In the proxy.* Each connection has a task, and tasks run in any order: the marker's may run
//!   while the earlier request lies unaccepted or unread. So the marker's answer waits until the
//!   accept queue is empty and no connection has bytes of a request that is not counted:
//!   [`Sockets::caught_up`]. It asks the kernel, not the runtime, whose own news may be late.
//!
//! A connection serves one request (the proxy answers all with `Connection: close`), so a
//! connection that has counted has nothing more to say.

use std::future::{pending, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Context, Poll, ready};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Where the browser connects, and what came of it.
#[derive(Debug)]
pub(super) struct Sockets {
    listener: TcpListener,
    /// Those that may not have counted a request yet. Accepting and listing are one step under
    /// this lock: a connection is always either in the kernel's queue or in this list.
    accepted: Mutex<Vec<Weak<Socket>>>,
    /// Changes whenever a connection is accepted, counts, or closes.
    progress: watch::Sender<()>,
}

/// One connection of the browser.
#[derive(Debug)]
pub(super) struct Socket {
    /// Reading and marking what was read are one step under this lock: bytes are always either
    /// in the kernel or known to have left it.
    inner: Mutex<Inner>,
    progress: watch::Sender<()>,
}

#[derive(Debug)]
struct Inner {
    stream: TcpStream,
    started: bool,
    counted: bool,
}

impl Sockets {
    pub(super) fn new(listener: TcpListener) -> Sockets {
        Sockets { listener, accepted: Mutex::default(), progress: watch::channel(()).0 }
    }

    /// Waits for the next connection.
    pub(super) async fn accept(&self) -> io::Result<Arc<Socket>> {
        let socket = poll_fn(|cx| {
            let mut accepted = self.lock();
            let (stream, _) = ready!(self.listener.poll_accept(cx))?;
            // Fails on a dead connection only, and reading it fails then too.
            let _ = stream.set_nodelay(true);
            let inner = Inner { stream, started: false, counted: false };
            let progress = self.progress.clone();
            let socket = Arc::new(Socket { inner: Mutex::new(inner), progress });
            accepted.retain(|known| known.upgrade().is_some_and(|known| !known.lock().counted));
            accepted.push(Arc::downgrade(&socket));
            Poll::Ready(io::Result::Ok(socket))
        });
        let socket = socket.await?;
        self.progress.send_replace(());
        Ok(socket)
    }

    /// Waits until every request that has reached this machine's side of a connection is counted.
    ///
    /// A connection that never sent anything (browsers open some in advance) is not waited for.
    pub(super) async fn caught_up(&self) {
        let mut progress = self.progress.subscribe();
        while self.behind() {
            // The sender lives in `self`: there is always a receiver.
            let _ = progress.changed().await;
        }
    }

    fn behind(&self) -> bool {
        let accepted = self.lock();
        is_readable(&self.listener)
            || accepted.iter().filter_map(Weak::upgrade).any(|socket| socket.has_uncounted_bytes())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Socket>>> {
        self.accepted.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Whether a connection waits to be accepted. If the question fails there is no listener left,
/// and nothing to wait for.
fn is_readable(listener: &TcpListener) -> bool {
    let mut queue = [PollFd::new(listener, PollFlags::IN)];
    poll(&mut queue, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

impl Socket {
    /// Its request is in the request_log.
    pub(super) fn counted(&self) {
        self.lock().counted = true;
        self.progress.send_replace(());
    }

    /// Waits until a byte has come that was not read. Of one that the browser has given up, none
    /// ever does.
    pub(super) async fn sent_something(&self) {
        let mut byte = [0];
        let peeked = poll_fn(|cx| self.lock().stream.poll_peek(cx, &mut ReadBuf::new(&mut byte)));
        if !peeked.await.is_ok_and(|bytes| bytes > 0) {
            pending().await
        }
    }

    /// Has its end look to the browser like that of a port without a listener.
    pub(super) fn reset_on_close(&self) {
        // Fails on a dead connection only, which has its end.
        let _ = self.lock().stream.set_zero_linger();
    }

    fn has_uncounted_bytes(&self) -> bool {
        let inner = self.lock();
        // An error of the question means that the connection is dead: nothing will come of it.
        let readable = || rustix::io::ioctl_fionread(&inner.stream).is_ok_and(|bytes| bytes > 0);
        !inner.counted && (inner.started || readable())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.progress.send_replace(());
    }
}

/// A socket as the HTTP server reads and writes it.
#[derive(Debug)]
pub(super) struct SocketIo(pub(super) Arc<Socket>);

impl AsyncRead for SocketIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut inner = self.0.lock();
        let before = buffer.filled().len();
        let polled = Pin::new(&mut inner.stream).poll_read(cx, buffer);
        inner.started |= buffer.filled().len() > before;
        polled
    }
}

impl AsyncWrite for SocketIo {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.lock().stream).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.lock().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.lock().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn sockets() -> Sockets {
        Sockets::new(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    async fn connect(sockets: &Sockets) -> TcpStream {
        TcpStream::connect(sockets.listener.local_addr().unwrap()).await.unwrap()
    }

    /// The browser's end and the proxy's end of one connection.
    async fn connection(sockets: &Sockets) -> (TcpStream, Arc<Socket>) {
        (connect(sockets).await, sockets.accept().await.unwrap())
    }

    #[tokio::test]
    async fn a_marker_waits_for_bytes_that_nobody_has_read_yet_until_they_are_counted() {
        let sockets = sockets().await;
        let (mut browser, socket) = connection(&sockets).await;
        browser.write_all(b"POST /").await.unwrap();
        let mut fence = Box::pin(sockets.caught_up());
        assert!(fence.as_mut().now_or_never().is_none());

        let mut read = [0; 6];
        SocketIo(Arc::clone(&socket)).read_exact(&mut read).await.unwrap();
        assert!(sockets.caught_up().now_or_never().is_none(), "read, but not counted");

        socket.counted();
        fence.await;
    }

    #[tokio::test]
    async fn a_marker_waits_for_a_connection_that_is_not_accepted_yet() {
        let sockets = sockets().await;
        let mut browser = connect(&sockets).await;
        browser.write_all(b"POST /").await.unwrap();
        let mut fence = Box::pin(sockets.caught_up());
        assert!(fence.as_mut().now_or_never().is_none());

        let socket = sockets.accept().await.unwrap();
        assert!(sockets.caught_up().now_or_never().is_none(), "accepted, but not counted");

        socket.counted();
        fence.await;
    }

    #[tokio::test]
    async fn a_marker_does_not_wait_for_a_silent_a_closed_or_a_counted_connection() {
        let sockets = sockets().await;
        let _silent = connection(&sockets).await;
        let (mut closed, its_end) = connection(&sockets).await;
        closed.write_all(b"POST /").await.unwrap();
        drop(its_end);
        let (mut counted, its_end) = connection(&sockets).await;
        counted.write_all(b"POST / HTTP/1.1").await.unwrap();
        its_end.counted();
        sockets.caught_up().await;
    }

    #[tokio::test]
    async fn a_connection_that_ends_with_half_a_head_lets_the_marker_go() {
        let sockets = sockets().await;
        let (mut browser, socket) = connection(&sockets).await;
        browser.write_all(b"POST /").await.unwrap();
        let mut fence = Box::pin(sockets.caught_up());
        assert!(fence.as_mut().now_or_never().is_none());
        drop(socket);
        fence.await;
    }
}
