//! What a node counts of itself.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows, from 0 at the start of the process.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one.
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many there were.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one node.
#[derive(Debug, Default)]
pub struct Metrics {
    /// History reads of the store.
    pub history_loads: Counter,
    /// Histories that waited for the read of another.
    pub history_joins: Counter,
}
