//! How a turn is asked to end, and how long its tools may take over it.

use std::future::pending;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Why a turn is to end. The text is shown to the model and to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// A person has cancelled it.
    #[error("cancelled by the user")]
    Cancelled,
    /// The node is to stop.
    #[error("ended because the node stopped")]
    Stopping,
}

#[derive(Clone, Copy, Debug)]
struct Halt {
    why: Why,
    /// Tools are killed at this time.
    kill_at: Instant,
}

/// Asks.
#[derive(Clone, Debug)]
pub struct Halter(watch::Sender<Option<Halt>>);

/// Is asked. Clones are asked together.
#[derive(Clone, Debug)]
pub struct Halted(watch::Receiver<Option<Halt>>);

/// Both ends, for one turn.
pub fn halt() -> (Halter, Halted) {
    let (sender, receiver) = watch::channel(None);
    (Halter(sender), Halted(receiver))
}

impl Halter {
    /// Asks the turn to end within `grace`. Asked again, the first reason and the least grace hold.
    pub fn ask(&self, why: Why, grace: Duration) {
        let kill_at = Instant::now() + grace;
        self.0.send_modify(|halt| {
            let first = halt.unwrap_or(Halt { why, kill_at });
            *halt = Some(Halt { kill_at: first.kill_at.min(kill_at), ..first });
        });
    }
}

impl Halted {
    /// Why the turn is to end, if it is.
    pub fn why(&self) -> Option<Why> {
        self.0.borrow().map(|halt| halt.why)
    }

    /// Waits until the turn is asked to end.
    pub async fn asked(&mut self) -> Why {
        self.halt().await.why
    }

    /// Waits until the turn was asked to end and its grace is over.
    pub async fn grace_over(&mut self) -> Why {
        loop {
            let Halt { why, kill_at } = self.halt().await;
            tokio::select! {
                () = sleep_until(kill_at) => return why,
                // Asked again, perhaps with less grace.
                Ok(()) = self.0.changed() => {}
            }
        }
    }

    async fn halt(&mut self) -> Halt {
        let halt = self.0.wait_for(Option::is_some).await.map(|halt| *halt);
        match halt {
            Ok(Some(halt)) => halt,
            // No halter is left that could ask.
            Ok(None) | Err(_) => pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[tokio::test(start_paused = true)]
    async fn the_first_reason_and_the_least_grace_hold() {
        let (halter, mut halted) = halt();
        assert_eq!(halted.why(), None);
        halter.ask(Why::Cancelled, LONG);
        halter.ask(Why::Stopping, LONG / 2);
        halter.ask(Why::Stopping, LONG);
        assert_eq!(halted.asked().await, Why::Cancelled);
        let asked = Instant::now();
        halted.grace_over().await;
        assert_eq!(asked.elapsed().as_secs(), LONG.as_secs() / 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_grace_that_is_cut_short_ends_at_once() {
        let (halter, halted) = halt();
        halter.ask(Why::Cancelled, LONG);
        let mut waiting = halted.clone();
        let waiting = tokio::spawn(async move { waiting.grace_over().await });
        tokio::task::yield_now().await;
        let asked = Instant::now();
        halter.ask(Why::Cancelled, Duration::ZERO);
        waiting.await.unwrap();
        assert!(asked.elapsed() < LONG);
    }
}
