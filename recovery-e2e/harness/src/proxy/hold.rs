//! A hold: requests kept from the upstream until a scenario lets them go.

use std::future::pending;

use tokio::sync::watch;

use super::receipt::Receipt;
use crate::wait::{self, WaitTimeout};

/// A scenario's end of a hold.
///
/// Dropped without a release it holds on until the proxy ends: a forgotten release must show as
/// a condition that is never met, not as a hold that did nothing.
#[derive(Debug)]
pub struct Hold {
    receipt: Receipt,
    due: u32,
    open: watch::Sender<bool>,
    kept: watch::Receiver<Vec<u64>>,
}

/// The requests' end of a hold.
#[derive(Clone, Debug)]
pub(super) struct PassLater {
    open: watch::Receiver<bool>,
    kept: watch::Sender<Vec<u64>>,
}

impl Hold {
    pub(super) fn new(receipt: Receipt, due: u32) -> (Hold, PassLater) {
        let (open, opened) = watch::channel(false);
        let (keep, kept) = watch::channel(Vec::new());
        (Hold { receipt, due, open, kept }, PassLater { open: opened, kept: keep })
    }

    /// The proof that it held what it was armed for.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Waits until it has kept as many requests as it was armed for, their bodies
    /// read; returns their [`seq`](super::Record::seq).
    ///
    /// # Errors
    /// [`WaitTimeout`] when they do not come.
    pub async fn arrived(&self) -> Result<Vec<u64>, WaitTimeout> {
        let condition = format!("arrival in \"{}\"", self.receipt.name());
        let all = |kept: &Vec<u64>| kept.len() >= self.due as usize;
        wait::until(&condition, &mut self.kept.clone(), all).await
    }

    /// Lets go all that it keeps; what takes its turn later passes at once.
    pub fn release(&self) {
        self.open.send_replace(true);
    }
}

impl PassLater {
    /// Waits in the hold until it is released.
    pub(super) async fn pass(mut self, seq: u64) {
        self.kept.send_modify(|kept| kept.push(seq));
        if self.open.wait_for(|open| *open).await.is_err() {
            pending().await
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn hold(n: u32) -> (Hold, PassLater) {
        Hold::new(Receipt::new(format!("hold history x{n}"), n), n)
    }

    #[tokio::test]
    async fn a_hold_has_arrived_when_all_that_it_was_armed_for_is_kept() {
        let (hold, gate) = hold(2);
        let mut first = Box::pin(gate.clone().pass(7));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(hold.arrived().now_or_never().is_none());
        let mut second = Box::pin(gate.pass(9));
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!(hold.arrived().await.unwrap(), [7, 9]);
        hold.release();
        first.await;
        second.await;
    }

    #[tokio::test]
    async fn what_takes_its_turn_after_the_release_passes() {
        let (hold, gate) = hold(1);
        hold.release();
        gate.pass(1).await;
        assert_eq!(hold.arrived().await.unwrap(), [1]);
    }

    #[tokio::test]
    async fn a_hold_that_is_dropped_without_a_release_holds_on() {
        let (hold, gate) = hold(1);
        drop(hold);
        assert!(gate.pass(1).now_or_never().is_none());
    }
}
