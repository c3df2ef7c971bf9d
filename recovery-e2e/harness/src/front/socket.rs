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
//!   has read the first answer and issued the second marker. (This half is the browser's
//!   behaviour, not something the front can enforce.)
//! - *In the kernel.* Over loopback, bytes that have been written lie in the receiver's buffer,
//!   and the accept queue is first in, first out. So when the second marker has been read, the
//!   earlier request's connection has been accepted, under a lower number, and its bytes can be
//!   read.
//! - *In the front.* Each connection has a task, and tasks run in any order: the marker's may run
//!   while an earlier connection's bytes lie unread. So the marker's answer waits until no
//!   connection of a lower number has bytes of a request that is not counted:
//!   [`Sockets::caught_up`]. It asks the kernel, not the runtime, whose own news may be late.
//!
//! A connection serves one request (the front answers all with `Connection: close`), so a
//! connection that has counted has nothing more to say.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// The connections that have been accepted and have not yet counted a request.
#[derive(Debug)]
pub(super) struct Sockets {
    waiting: Mutex<Vec<Weak<Socket>>>,
    /// Changes whenever one of them counts or closes.
    progress: watch::Sender<()>,
}

/// One connection of the browser.
#[derive(Debug)]
pub(super) struct Socket {
    number: u64,
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
    pub(super) fn new() -> Sockets {
        Sockets { waiting: Mutex::default(), progress: watch::channel(()).0 }
    }

    /// Takes in a connection. `number` rises in the order of accepting.
    pub(super) fn accept(&self, number: u64, stream: TcpStream) -> Arc<Socket> {
        let inner = Inner { stream, started: false, counted: false };
        let progress = self.progress.clone();
        let socket = Arc::new(Socket { number, inner: Mutex::new(inner), progress });
        let mut waiting = self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        waiting.retain(|socket| socket.upgrade().is_some_and(|socket| !socket.lock().counted));
        waiting.push(Arc::downgrade(&socket));
        socket
    }

    /// Waits until no connection accepted before `number` has bytes of an uncounted request.
    ///
    /// A connection that never sent anything (browsers open some in advance) is not waited for.
    pub(super) async fn caught_up(&self, number: u64) {
        let mut progress = self.progress.subscribe();
        while self.behind(number) {
            // The sender lives in `self`: there is always somebody to tell.
            let _ = progress.changed().await;
        }
    }

    fn behind(&self, number: u64) -> bool {
        let waiting = self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let earlier = waiting.iter().filter_map(Weak::upgrade).filter(|at| at.number < number);
        let unread: Vec<Arc<Socket>> = earlier.filter(|at| at.has_uncounted_bytes()).collect();
        // Given back before they drop: the last holder of a socket tells of its end.
        drop(waiting);
        !unread.is_empty()
    }
}

impl Socket {
    /// Its place in the order of accepting.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Its request is in the ledger.
    pub(super) fn counted(&self) {
        self.lock().counted = true;
        self.progress.send_replace(());
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
    use tokio::net::TcpListener;

    use super::*;

    /// A browser's end and the front's end of `N` connections, accepted in order.
    async fn connections<const N: usize>(sockets: &Sockets) -> [(TcpStream, Arc<Socket>); N] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut made = Vec::new();
        for number in 0..N {
            let browser = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            made.push((browser, sockets.accept(number as u64, stream)));
        }
        made.try_into().unwrap_or_else(|_| unreachable!())
    }

    #[tokio::test]
    async fn a_marker_waits_for_bytes_that_nobody_has_read_yet_until_they_are_counted() {
        let sockets = Sockets::new();
        let [(mut browser, earlier), (_marker, marker)] = connections(&sockets).await;
        browser.write_all(b"POST /").await.unwrap();
        let mut fence = Box::pin(sockets.caught_up(marker.number()));
        assert!(fence.as_mut().now_or_never().is_none());

        let mut half = [0; 3];
        SocketIo(Arc::clone(&earlier)).read_exact(&mut half).await.unwrap();
        SocketIo(Arc::clone(&earlier)).read_exact(&mut half).await.unwrap();
        assert!(fence.as_mut().now_or_never().is_none(), "read, but not counted");

        earlier.counted();
        fence.await;
    }

    #[tokio::test]
    async fn a_marker_does_not_wait_for_a_silent_a_closed_or_a_later_connection() {
        let sockets = Sockets::new();
        let [_silent, closed, (_marker, marker), (mut later, _later)] = connections(&sockets).await;
        drop(closed);
        later.write_all(b"POST /").await.unwrap();
        sockets.caught_up(marker.number()).await;
    }

    #[tokio::test]
    async fn a_connection_that_ends_with_half_a_head_lets_the_marker_go() {
        let sockets = Sockets::new();
        let [(mut browser, earlier), (_marker, marker)] = connections(&sockets).await;
        browser.write_all(b"POST /").await.unwrap();
        let mut fence = Box::pin(sockets.caught_up(marker.number()));
        assert!(fence.as_mut().now_or_never().is_none());
        drop(earlier);
        fence.await;
    }
}
