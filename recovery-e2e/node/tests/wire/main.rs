//! The node as its clients meet it: the real binary over real HTTP and SSE, on loopback.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

mod agents;
mod config;
mod control;
mod endings;
mod family;
mod history;
mod limits;
mod login;
mod model;
mod node;
mod pane;
mod patience;
mod queue;
mod replay;
mod rewind;
mod roster;
mod stop;
mod tools;
mod turns;

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
