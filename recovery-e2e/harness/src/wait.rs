//! Waiting for something to happen: an edge with a name and a deadline.

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use tokio::sync::watch;

/// How long an edge may take before the wait is given up.
///
/// Generous on purpose: machines are shared, and a healthy run never comes near it. No verdict
/// depends on it being reached.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// An edge that did not come.
#[derive(Debug, thiserror::Error)]
#[error("{edge} did not happen within {} s; seen instead: {saw}", deadline.as_secs())]
pub struct WaitTimeout {
    /// What was waited for.
    pub edge: String,
    /// How long the wait was.
    pub deadline: Duration,
    /// The last that was seen in its place.
    pub saw: String,
}

/// Waits until `future` ends, at most [`DEADLINE`].
///
/// # Errors
/// [`WaitTimeout`] when the deadline passes first; `saw` is asked then for what stands instead.
pub async fn within<T>(
    edge: &str,
    future: impl Future<Output = T>,
    saw: impl FnOnce() -> String,
) -> Result<T, WaitTimeout> {
    tokio::time::timeout(DEADLINE, future).await.map_err(|_| WaitTimeout {
        edge: edge.to_owned(),
        deadline: DEADLINE,
        saw: saw(),
    })
}

/// Waits until the watched value satisfies `holds`, and returns that value.
///
/// # Errors
/// [`WaitTimeout`] with the last value seen, when the deadline passes or nobody can change the
/// value any more.
pub async fn until<T: Clone + Debug>(
    edge: &str,
    watched: &mut watch::Receiver<T>,
    holds: impl FnMut(&T) -> bool,
) -> Result<T, WaitTimeout> {
    let missed = |saw: String| WaitTimeout { edge: edge.to_owned(), deadline: DEADLINE, saw };
    let last = watched.clone();
    match tokio::time::timeout(DEADLINE, watched.wait_for(holds)).await {
        Ok(Ok(value)) => Ok(value.clone()),
        Ok(Err(_)) => Err(missed(format!("{:?}, and nothing left to change it", *last.borrow()))),
        Err(_) => Err(missed(format!("{:?}", *last.borrow()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_edge_that_already_happened_is_seen_at_once() {
        let (_keep, mut seen) = watch::channel(3);
        assert_eq!(until("three", &mut seen, |n| *n == 3).await.unwrap(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_missed_edge_tells_its_name_and_what_was_seen_instead() {
        let (_keep, mut seen) = watch::channel(2);
        let missed = until("the third rewind", &mut seen, |n| *n == 3).await.unwrap_err();
        assert_eq!(
            missed.to_string(),
            "the third rewind did not happen within 30 s; seen instead: 2"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_value_that_nobody_can_change_any_more_is_a_missed_edge_at_once() {
        let (change, mut seen) = watch::channel(2);
        drop(change);
        let missed = until("three", &mut seen, |n| *n == 3).await.unwrap_err();
        assert!(missed.saw.contains("nothing left"), "{missed}");
    }
}
