//! An event stream that a scenario can break off in the middle.

use std::error::Error;
use std::future::pending;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::broadcast;

use super::receipt::Receipt;
use super::request_log::Entry;
use crate::record::class::Class;
use crate::record::event::FaultKind;

/// Severings, by the class of the streams that they break.
type Severings = broadcast::Receiver<(Class, Receipt)>;

/// A body that ends with a broken connection as soon as the streams of its class are severed.
pub(super) struct Severable<B> {
    body: B,
    entry: Entry,
    /// Ends with the receipt of the fault; none for what does not stream.
    severed: Option<Pin<Box<dyn Future<Output = Receipt> + Send>>>,
}

/// The end of a severed stream.
#[derive(Debug, thiserror::Error)]
#[error("severed (a fault of the proxy)")]
struct Severed;

impl<B> Severable<B> {
    /// A body of `class` that listens to `severings`, if it is to be severed at all.
    pub(super) fn new(
        body: B,
        class: Class,
        entry: Entry,
        severings: Option<Severings>,
    ) -> Severable<B> {
        let severed = severings.map(|severings| Box::pin(first_of(class, severings)) as _);
        Severable { body, entry, severed }
    }
}

async fn first_of(class: Class, mut severings: Severings) -> Receipt {
    loop {
        match severings.recv().await {
            Ok((of, receipt)) if of == class => return receipt,
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            // The proxy has ended, and every stream with it.
            Err(broadcast::error::RecvError::Closed) => pending().await,
        }
    }
}

impl<B> Body for Severable<B>
where
    B: Body<Data = Bytes, Error = Box<dyn Error + Send + Sync>> + Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if let Some(severed) = &mut self.severed
            && let Poll::Ready(receipt) = severed.as_mut().poll(cx)
        {
            self.severed = None;
            self.entry.fired(FaultKind::Sever, &receipt);
            self.entry.broken(&Severed.to_string());
            return Poll::Ready(Some(Err(Box::new(Severed))));
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
