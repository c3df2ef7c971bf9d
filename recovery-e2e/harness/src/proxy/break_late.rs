//! A body that breaks the connection only after what came before has been written out.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Frame, SizeHint};

/// Hands the error of a body on one turn late.
///
/// The HTTP server drops the connection as soon as it meets an error, with all that it has not
/// written out yet; it writes when a body has nothing at hand. A kernel that closes the sockets of
/// a dead process delivers what the process had sent, and so must everything that plays one.
#[derive(Debug)]
pub(crate) struct BreakLate<B: Body> {
    body: B,
    error: Option<B::Error>,
}

impl<B: Body> BreakLate<B> {
    pub(crate) fn new(body: B) -> BreakLate<B> {
        BreakLate { body, error: None }
    }
}

impl<B: Body + Unpin> Body for BreakLate<B>
where
    B::Error: Unpin,
{
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        if let Some(error) = self.error.take() {
            return Poll::Ready(Some(Err(error)));
        }
        match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
            Some(Err(error)) => {
                self.error = Some(error);
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            frame => Poll::Ready(frame),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.error.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures_util::stream;
    use http_body_util::{BodyExt, StreamBody};

    use super::*;

    #[tokio::test]
    async fn an_error_comes_one_turn_after_the_data_before_it_and_wakes_its_reader() {
        let frames = [Ok(Frame::data(Bytes::from("last words"))), Err("reset")];
        let mut body = BreakLate::new(StreamBody::new(stream::iter(frames)));
        let mut turns = 0;
        let mut next = async || {
            let mut frame = body.frame();
            std::future::poll_fn(|cx| {
                turns += 1;
                Pin::new(&mut frame).poll(cx)
            })
            .await
            .map(|frame| frame.map(|frame| frame.into_data().unwrap()))
        };
        assert_eq!(next().await, Some(Ok(Bytes::from("last words"))));
        assert_eq!(next().await, Some(Err("reset")));
        assert_eq!(turns, 3);
    }
}
