//! Batches the model's text before it becomes events, so that a token is not an event each.

use std::time::{Duration, Instant};

/// Text waits at most this long after the last flush (protocol, "Pane events").
pub const INTERVAL: Duration = Duration::from_millis(25);

/// This many characters are flushed at once (protocol, "Pane events").
pub const CHARS: usize = 4096;

/// The text of one answer or one call on its way to the lane. Pure: the caller passes the time.
#[derive(Debug, Default)]
pub struct Batch {
    pending: String,
    flushed: Option<Instant>,
}

impl Batch {
    /// Takes a fragment; returns what is due now. The first fragment is due at once.
    pub fn push(&mut self, fragment: &str, now: Instant) -> Option<String> {
        self.pending.push_str(fragment);
        let waited = self.flushed.is_none_or(|flushed| now >= flushed + INTERVAL);
        if waited || self.pending.chars().count() >= CHARS { self.flush(now) } else { None }
    }

    /// When the pending text is due, if there is any.
    pub fn due(&self) -> Option<Instant> {
        self.flushed.filter(|_| !self.pending.is_empty()).map(|flushed| flushed + INTERVAL)
    }

    /// Takes all that is pending.
    pub fn flush(&mut self, now: Instant) -> Option<String> {
        if self.pending.is_empty() {
            return None;
        }
        self.flushed = Some(now);
        Some(std::mem::take(&mut self.pending))
    }
}

/// Waits until a batch is due; for ever while it is empty.
pub async fn at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_fragment_is_flushed_at_once() {
        let mut batch = Batch::default();
        assert_eq!(batch.push("a", Instant::now()), Some("a".into()));
    }

    #[test]
    fn later_fragments_wait_for_the_interval_and_leave_together() {
        let start = Instant::now();
        let mut batch = Batch::default();
        batch.push("a", start);
        assert_eq!(batch.push("b", start), None);
        assert_eq!(batch.push("c", start + INTERVAL / 2), None);
        assert_eq!(batch.due(), Some(start + INTERVAL));
        assert_eq!(batch.push("d", start + INTERVAL), Some("bcd".into()));
        assert_eq!(batch.due(), None);
    }

    #[test]
    fn a_full_batch_does_not_wait() {
        let start = Instant::now();
        let mut batch = Batch::default();
        batch.push("a", start);
        let almost = "ä".repeat(CHARS - 1);
        assert_eq!(batch.push(&almost, start), None);
        assert_eq!(batch.push("b", start), Some(almost + "b"));
    }

    proptest! {
        #[test]
        fn no_text_is_lost_reordered_or_flushed_without_a_cause(
            fragments in prop::collection::vec(("\\PC{0,9}", 0..20u64), 0..40),
        ) {
            let mut now = Instant::now();
            let mut batch = Batch::default();
            let (mut out, mut last) = (String::new(), None);
            for (fragment, gap) in &fragments {
                now += Duration::from_millis(*gap);
                if let Some(text) = batch.push(fragment, now) {
                    let waited = last.is_none_or(|last| now >= last + INTERVAL);
                    prop_assert!(waited || text.chars().count() >= CHARS);
                    out.push_str(&text);
                    last = Some(now);
                }
            }
            out.extend(batch.flush(now));
            prop_assert_eq!(batch.due(), None);
            prop_assert_eq!(out, fragments.iter().map(|(f, _)| f.as_str()).collect::<String>());
        }
    }
}
