//! The write deadline: the connection of a peer that accepts no bytes for too long is closed.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A connection whose writes fail once the peer has taken nothing for `limit`.
///
/// Time runs only while something waits to be written, and starts anew with every byte taken.
pub struct WriteDeadline<Io> {
    io: Io,
    limit: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<Io> WriteDeadline<Io> {
    /// Watches the writes to `io`.
    pub fn new(io: Io, limit: Duration) -> Self {
        Self { io, limit, waiting: None }
    }

    fn within<T>(
        &mut self,
        cx: &mut Context<'_>,
        write: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if write.is_ready() {
            self.waiting = None;
            return write;
        }
        let limit = self.limit;
        ready!(self.waiting.get_or_insert_with(|| Box::pin(sleep(limit))).as_mut().poll(cx));
        self.waiting = None;
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer accepts no bytes")))
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for WriteDeadline<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for WriteDeadline<Io> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.within(cx, write)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.io).poll_write_vectored(cx, bytes);
        self.within(cx, write)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flush = Pin::new(&mut self.io).poll_flush(cx);
        self.within(cx, flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shutdown = Pin::new(&mut self.io).poll_shutdown(cx);
        self.within(cx, shutdown)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::time::Instant;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    /// A connection that holds four bytes which the peer has not taken.
    fn four_bytes() -> (WriteDeadline<DuplexStream>, DuplexStream) {
        let (io, peer) = duplex(4);
        (WriteDeadline::new(io, LIMIT), peer)
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_is_ended_at_the_deadline() {
        let (mut node, _peer) = four_bytes();
        let start = Instant::now();
        let error = node.write_all(b"12345").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        // The timer wheel counts in milliseconds, and rounds up.
        let late = start.elapsed() - LIMIT;
        assert!(late <= Duration::from_millis(1), "{late:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_a_little_in_time_is_slow_and_not_gone() {
        let (mut node, mut peer) = four_bytes();
        let writing = tokio::spawn(async move { node.write_all(&[7; 40]).await });
        for _ in 0..10 {
            sleep(LIMIT - Duration::from_secs(1)).await;
            peer.read_exact(&mut [0; 4]).await.unwrap();
        }
        writing.await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_writes_nothing_does_not_start_the_deadline() {
        let (mut node, mut peer) = four_bytes();
        node.write_all(b"1234").await.unwrap();
        sleep(LIMIT * 3).await;
        peer.read_exact(&mut [0; 4]).await.unwrap();
        node.write_all(b"5678").await.unwrap();
    }
}
