//! The node under strain: many panes, long histories of trouble, and peers without manners.
//!
//! `cargo test` runs a small version of each, in seconds; `STRESS=full` in the environment asks
//! for the full figures (see "Stress tests" in docs/node.md).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

#[path = "../wire/model.rs"]
#[allow(dead_code, reason = "shared with the wire tests, which use all of it")]
mod model;
#[path = "../wire/node.rs"]
#[allow(dead_code, reason = "shared with the wire tests, which use all of it")]
mod node;
#[path = "../wire/pane.rs"]
#[allow(dead_code, reason = "shared with the wire tests, which use all of it")]
mod pane;

mod chance;
#[cfg(feature = "control")]
mod emitter;
#[cfg(feature = "control")]
mod memory;
mod peer;
mod rude;
mod rules;
mod slow;
mod subscriber;
mod turmoil;

use std::future::Future;
use std::time::Duration;

/// A healthy run never comes near it; no verdict depends on it.
const DEADLINE: Duration = Duration::from_secs(30);

/// Waits for a condition; a timeout panics with its name.
async fn within<T>(condition: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future)
        .await
        .unwrap_or_else(|_| panic!("{condition} did not happen within {DEADLINE:?}"))
}

/// A figure of the default run, or of the full one.
fn scaled(default: usize, full: usize) -> usize {
    if std::env::var("STRESS").is_ok_and(|scale| scale == "full") { full } else { default }
}
