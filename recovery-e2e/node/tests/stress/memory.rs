//! What a node holds does not grow with what it has published.

use crate::emitter::Emitter;
use crate::node::{Folder, Node};
use crate::peer::Peer;
use crate::scaled;

const CONTROL: &str = env!("CARGO_BIN_EXE_recovery-node-control");

/// With these, a full ring holds about two megabytes.
const RING: &str = "1000";
const OUTPUT: usize = 2_000;

/// Events until the ring is full and everything else has found its size.
const WARM_UP: usize = 3_000;

/// Events between one pane that comes and goes and the next.
const VISIT: usize = 200;

#[tokio::test]
async fn memory_is_bounded_however_many_events_went_out_and_panes_came_and_went() {
    let events = scaled(20_000, 1_000_000);
    let folder = Folder::new();
    let socket = folder.file("control");
    let args = ["--control-socket", socket.to_str().unwrap(), "--ring-events", RING];
    let node = Node::run(folder.command(CONTROL, &args)).await;
    let ws = node.create("busy").await;
    let mut emitter = Emitter::connect(&socket, &ws, &"x".repeat(OUTPUT)).await;

    publish(&node, &ws, &mut emitter, WARM_UP).await;
    let before = resident(&node);
    publish(&node, &ws, &mut emitter, events).await;
    let after = resident(&node);
    println!("{events} events: {before} KiB resident before, {after} KiB after");
    // All that was published meanwhile is many times what the node had before.
    assert!(after < before + before / 2, "{before} KiB became {after} KiB");
}

async fn publish(node: &Node, ws: &str, emitter: &mut Emitter, events: usize) {
    for _ in 0..events / VISIT {
        let mut visitor = Peer::pane(node, ws, b"", b"").await;
        visitor.until("replay_complete").await.unwrap();
        emitter.publish(VISIT).await;
        // It leaves with most of it unread.
        drop(visitor);
    }
}

/// KiB of memory that the node's process holds.
fn resident(node: &Node) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", node.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
