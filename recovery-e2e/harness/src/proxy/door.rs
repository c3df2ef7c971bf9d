//! The door: whether a connection is served, waits, or is turned away.

use std::future::pending;

use tokio::sync::watch;

use super::receipt::Receipt;
use super::socket::Socket;
use crate::wait::{self, WaitTimeout};

/// Where every new connection has to pass.
#[derive(Debug)]
pub(super) struct Door(watch::Sender<State>);

#[derive(Clone, Debug)]
enum State {
    Open,
    /// Connections wait, with the requests that they have sent.
    Parked {
        receipt: Receipt,
        standing: watch::Sender<u32>,
    },
    /// Connections are reset before a byte.
    Refused(Receipt),
}

/// A scenario's end of a parked door.
///
/// Dropped without [`Proxy::accept`](super::Proxy::accept) it stays: a forgotten one must show as
/// a condition that is never met.
#[derive(Debug)]
pub struct Parked {
    receipt: Receipt,
    standing: watch::Receiver<u32>,
}

impl Parked {
    /// The proof that a request was parked.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Waits until `n` requests are parked. None of them is counted or recorded yet.
    ///
    /// # Errors
    /// [`WaitTimeout`] when they do not come.
    pub async fn arrived(&self, n: u32) -> Result<(), WaitTimeout> {
        let condition = format!("{n} parked connections with a request");
        wait::until(&condition, &mut self.standing.clone(), |standing| *standing >= n)
            .await
            .map(drop)
    }
}

impl Door {
    pub(super) fn open() -> Door {
        Door(watch::channel(State::Open).0)
    }

    pub(super) fn park(&self, receipt: Receipt) -> Parked {
        let (standing, seen) = watch::channel(0);
        self.0.send_replace(State::Parked { receipt: receipt.clone(), standing });
        Parked { receipt, standing: seen }
    }

    pub(super) fn refuse(&self, receipt: Receipt) {
        self.0.send_replace(State::Refused(receipt));
    }

    pub(super) fn accept(&self) {
        self.0.send_replace(State::Open);
    }

    /// Waits as long as the door is parked, and returns whether the connection may be served.
    pub(super) async fn admits(&self, socket: &Socket) -> bool {
        let mut state = self.0.subscribe();
        loop {
            let now = state.borrow_and_update().clone();
            match now {
                State::Open => return true,
                State::Refused(receipt) => {
                    socket.reset_on_close();
                    receipt.fire();
                    return false;
                }
                State::Parked { receipt, standing } => {
                    let parks = async {
                        socket.sent_something().await;
                        receipt.fire();
                        standing.send_modify(|standing| *standing += 1);
                        pending().await
                    };
                    tokio::select! {
                        () = parks => {}
                        // The door is there as long as the proxy is.
                        _ = state.changed() => {}
                    }
                }
            }
        }
    }
}
