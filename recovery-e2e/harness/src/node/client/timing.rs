//! The client's own timing constants, and the windows that scenarios let pass.

use serde::Deserialize;

/// What the client exports in `/static/recovery/timing.js`; milliseconds, but for the count.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub struct Timing {
    stale_retry_ms: f64,
    stale_retry_jitter_ms: f64,
    truncated_jitter_ms: f64,
    repair_attempts: i32,
    repair_backoff_ms: f64,
    repair_jitter_ms: f64,
}

impl Timing {
    /// The longest wait before a failed refetch is tried again.
    pub fn stale_retry(&self) -> f64 {
        self.stale_retry_ms + self.stale_retry_jitter_ms
    }

    /// The longest wait before the reload after a truncated replay.
    pub fn truncated_reload(&self) -> f64 {
        self.truncated_jitter_ms
    }

    /// All waits between the automatic attempts of a repair, at their longest.
    pub fn repair_budget(&self) -> f64 {
        (1..self.repair_attempts).map(|failures| self.after_repair(failures)).sum()
    }

    /// The longest wait after the last automatic attempt of a repair, were there one more.
    pub fn after_repair_budget(&self) -> f64 {
        self.after_repair(self.repair_attempts)
    }

    /// The longest wait after the attempt that a person asked for, were there one more.
    pub fn after_manual_repair(&self) -> f64 {
        self.after_repair(self.repair_attempts + 1)
    }

    /// The longest wait after a first attempt that failed.
    pub fn after_first_repair(&self) -> f64 {
        self.after_repair(1)
    }

    /// The longest wait after so many failed attempts.
    fn after_repair(&self, failures: i32) -> f64 {
        self.repair_backoff_ms * 2_f64.powi(failures - 1) + self.repair_jitter_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_waits_twice_as_long_after_each_failure() {
        let timing = Timing {
            stale_retry_ms: 0.0,
            stale_retry_jitter_ms: 0.0,
            truncated_jitter_ms: 0.0,
            repair_attempts: 4,
            repair_backoff_ms: 100.0,
            repair_jitter_ms: 1.0,
        };
        assert_eq!(timing.after_first_repair(), 101.0);
        assert_eq!(timing.repair_budget(), 703.0);
        assert_eq!(timing.after_repair_budget(), 801.0);
        assert_eq!(timing.after_manual_repair(), 1601.0);
    }
}
