//! How fast the node is: events to many panes, memory of each, history, and start.
//!
//! `cargo bench --package recovery-node --features control --bench speed` prints it. With
//! `SPEED_PEER` naming a Python that has `peer/requirements.txt`, a plain Starlette application
//! does the same fan-out in the same run; figures of one machine mean little, their ratio more.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

mod contestant;
mod crowd;
#[path = "../../tests/stress/emitter.rs"]
mod emitter;
mod history;
#[path = "../../tests/wire/model.rs"]
#[allow(dead_code, reason = "shared with the wire tests, which use all of it")]
mod model;
#[path = "../../tests/wire/node.rs"]
#[allow(dead_code, reason = "shared with the wire tests, which use all of it")]
mod node;
#[path = "../../tests/wire/pane.rs"]
#[allow(dead_code, reason = "shared with the wire tests, which use all of it")]
mod pane;

use std::future::Future;
use std::time::{Duration, Instant};

use self::contestant::Contestant;
use self::crowd::Crowd;

/// Only a server that hangs comes near it.
const DEADLINE: Duration = Duration::from_secs(120);

/// Subscribers of each fan-out.
const SIZES: [usize; 3] = [100, 1_000, 5_000];

/// Frames that a fan-out delivers in all, to the node's panes and to the peer's.
const DELIVERIES: usize = 500_000;
const PEER_DELIVERIES: usize = 100_000;

/// Number of runs, of which the best is reported: disturbances only make a run slower.
const RUNS: usize = 3;

/// What the node is meant to reach.
const TARGET_RATIO: f64 = 10.0;
const TARGET_KIB: f64 = 8.0;
const TARGET_START: Duration = Duration::from_millis(100);

async fn within<T>(condition: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future)
        .await
        .unwrap_or_else(|_| panic!("{condition} did not happen within {DEADLINE:?}"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let peer = std::env::var("SPEED_PEER").ok();
    for size in SIZES {
        let node = fan_out(Contestant::node().await, size, DELIVERIES).await;
        println!("fan-out to {size}: node {node}");
        if let Some(python) = &peer {
            let peer = fan_out(Contestant::peer(python).await, size, PEER_DELIVERIES).await;
            let ratio = node.per_second / peer.per_second;
            println!("fan-out to {size}: peer {peer}");
            println!(
                "fan-out to {size}: {ratio:.1} times the peer's events a second ({}), {:.2} of \
                 its memory",
                verdict(ratio >= TARGET_RATIO),
                node.kib / peer.kib,
            );
        }
        println!("memory of a subscriber among {size}: {}", verdict(node.kib < TARGET_KIB));
    }
    history::measure().await;
    let start = history::start().await;
    println!("start to first answer: {start:.1?} ({})", verdict(start < TARGET_START));
}

fn verdict(reached: bool) -> &'static str {
    if reached { "target reached" } else { "target missed" }
}

struct FanOut {
    per_second: f64,
    size: usize,
    kib: f64,
}

impl std::fmt::Display for FanOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let deliveries = self.per_second * self.size as f64;
        let Self { per_second, kib, .. } = self;
        write!(
            f,
            "{per_second:.0} events a second, {deliveries:.0} deliveries a second, {kib:.1} KiB a \
             subscriber"
        )
    }
}

async fn fan_out(mut contestant: Contestant, size: usize, deliveries: usize) -> FanOut {
    let before = contestant.resident();
    let mut crowd = Crowd::connect(contestant.address(), &contestant.request(), size).await;
    let kib = (contestant.resident() - before) as f64 / size as f64;
    let events = deliveries / size;
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let began = Instant::now();
        tokio::join!(contestant.publish(events), crowd.receive(events));
        best = best.min(began.elapsed());
    }
    FanOut { per_second: events as f64 / best.as_secs_f64(), size, kib }
}

/// KiB of memory that a process holds.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
