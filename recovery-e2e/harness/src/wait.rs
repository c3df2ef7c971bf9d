//! Waiting for a condition that has a name and a deadline.

use std::fmt::{self, Debug, Display, Formatter};
use std::future::Future;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// How long a condition may take before the wait is given up.
///
/// Generous on purpose: machines are shared, and a healthy run never comes near it.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Who has to bring what is waited for; it decides what a missed condition means for the verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The harness, the node, the model or the machine. Missed, nothing is proven: inconclusive.
    #[default]
    Need,
    /// The client under test. Missed, it did not recover: failed.
    Claim,
}

/// A condition that was not met.
#[derive(Debug, thiserror::Error)]
#[error("{kind}: {condition}: {ended}; last seen: {saw}")]
pub struct WaitTimeout {
    /// Who had to bring it.
    pub kind: Kind,
    /// What was waited for.
    pub condition: String,
    /// Why the wait ended.
    pub ended: Ended,
    /// What was seen instead.
    pub saw: String,
}

/// Why a wait ended without its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The deadline passed.
    Deadline(Duration),
    /// Nothing was left that could still bring it.
    NothingPending,
    /// It did not hold when it was checked.
    Unmet,
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Need => "need not met",
            Kind::Claim => "claim not met",
        })
    }
}

impl Display for Ended {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Deadline(deadline) => write!(f, "not within {} s", deadline.as_secs_f64()),
            Ended::NothingPending => f.write_str(
                "it cannot happen any more: no timer of the page is running, no request is under \
                 way, no stream is connecting, and the node is idle",
            ),
            Ended::Unmet => f.write_str("it did not hold"),
        }
    }
}

impl WaitTimeout {
    /// A need that was not met within [`DEADLINE`].
    pub fn need(condition: impl Into<String>, saw: impl Into<String>) -> WaitTimeout {
        let (condition, saw) = (condition.into(), saw.into());
        WaitTimeout { kind: Kind::Need, condition, ended: Ended::Deadline(DEADLINE), saw }
    }

    /// The same condition, as one that the client has to bring.
    #[must_use]
    pub fn into_claim(self) -> WaitTimeout {
        WaitTimeout { kind: Kind::Claim, ..self }
    }
}

/// Waits until `future` ends, at most [`DEADLINE`].
///
/// # Errors
/// [`WaitTimeout`], a need, when the deadline passes first; `saw` then says what is there instead.
pub async fn within<T>(
    condition: &str,
    future: impl Future<Output = T>,
    saw: impl FnOnce() -> String,
) -> Result<T, WaitTimeout> {
    let ended = tokio::time::timeout(DEADLINE, future).await;
    ended.map_err(|_| WaitTimeout::need(condition, saw()))
}

/// Waits until the watched value satisfies `holds`, and returns that value.
///
/// # Errors
/// [`WaitTimeout`], a need, with the last value seen, when the deadline passes or the value can no
/// longer change.
pub async fn until<T: Clone + Debug>(
    condition: &str,
    watched: &mut watch::Receiver<T>,
    holds: impl FnMut(&T) -> bool,
) -> Result<T, WaitTimeout> {
    let last = watched.clone();
    match tokio::time::timeout(DEADLINE, watched.wait_for(holds)).await {
        Ok(Ok(value)) => Ok(value.clone()),
        Ok(Err(_)) => Err(WaitTimeout {
            ended: Ended::NothingPending,
            ..WaitTimeout::need(condition, format!("{:?}", *last.borrow()))
        }),
        Err(_) => Err(WaitTimeout::need(condition, format!("{:?}", *last.borrow()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_condition_that_already_holds_is_met_at_once() {
        let (_keep, mut seen) = watch::channel(3);
        assert_eq!(until("three", &mut seen, |n| *n == 3).await.unwrap(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_missed_condition_names_itself_and_what_was_seen_instead() {
        let (_keep, mut seen) = watch::channel(2);
        let missed = until("the third rewind", &mut seen, |n| *n == 3).await.unwrap_err();
        assert_eq!(
            missed.to_string(),
            "need not met: the third rewind: not within 30 s; last seen: 2"
        );
        let missed = missed.into_claim();
        assert_eq!(
            missed.to_string(),
            "claim not met: the third rewind: not within 30 s; last seen: 2"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_value_that_can_no_longer_change_is_missed_at_once() {
        let (change, mut seen) = watch::channel(2);
        drop(change);
        let missed = until("three", &mut seen, |n| *n == 3).await.unwrap_err();
        assert_eq!(missed.ended, Ended::NothingPending);
    }
}
