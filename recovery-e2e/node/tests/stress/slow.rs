//! A pane that reads nothing harms itself alone.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::mpsc;

use crate::model::{Call, Model};
use crate::node::Node;
use crate::pane::Pane;
use crate::peer::Peer;
use crate::{scaled, within};

/// Events that may wait for one connection: two batches, so that no healthy pane falls behind.
const QUEUE: &str = "16";
const QUEUE_BYTES: &str = "4194304";

/// More than any kernel takes for a connection whose peer does not read: what is published beyond
/// it waits in the node.
const FLOOD: usize = 12;
const FLOOD_TEXT: usize = 1 << 20;

/// An event of so much text is published at once.
const TEXT: usize = 4_100;

/// Events of each lane until everyone has read everything.
const BATCH: usize = 8;

/// A workstream in the middle of a turn, and the panes that watch it.
struct Lane {
    ws: String,
    call: Call,
    panes: usize,
    delays: mpsc::UnboundedReceiver<Duration>,
    seen: Vec<Duration>,
}

impl Lane {
    async fn open(node: &Node, model: &mut Model, panes: usize, began: Instant) -> Self {
        let ws = node.create("watched").await;
        flood(node, model, &ws).await;
        let (sender, delays) = mpsc::unbounded_channel();
        for _ in 0..panes {
            let mut pane = node.pane(&ws, "").await;
            pane.past().await;
            tokio::spawn(follow(pane, began, sender.clone()));
        }
        node.send(&ws, "go").await;
        let call = model.call().await;
        Self { ws, call, panes, delays, seen: Vec::new() }
    }

    /// Publishes one event that says when.
    fn publish(&mut self, began: Instant) {
        let now = began.elapsed().as_micros();
        self.call.say(&format!("{now} {:x<TEXT$}", ""));
    }

    /// Until every pane has read the events of a batch.
    async fn caught_up(&mut self) {
        for _ in 0..BATCH * self.panes {
            let delay = within("a healthy pane's event", self.delays.recv()).await;
            self.seen.push(delay.expect("a healthy pane lost its stream"));
        }
    }

    /// The delay that so many percent of the events did not exceed.
    fn percentile(&mut self, percent: usize) -> Duration {
        self.seen.sort_unstable();
        self.seen[(self.seen.len() - 1) * percent / 100]
    }
}

/// Fills the ring with what a pane that starts at its beginning can take only by reading.
async fn flood(node: &Node, model: &mut Model, ws: &str) {
    let mut pane = node.pane(ws, "").await;
    pane.past().await;
    node.send(ws, "flood").await;
    let mut call = model.call().await;
    for _ in 0..FLOOD {
        call.say(&"x".repeat(FLOOD_TEXT));
        pane.until(|frame| frame.kind() == "content").await;
    }
    call.done();
    pane.until_idle().await;
    // The ring keeps it, and no later turn sends it to the model again.
    node.post(&format!("{ws}/rewind"), json!({ "turns": 1 })).await;
}

/// The id of the first event of a workstream.
async fn first_id(node: &Node, ws: &str) -> String {
    let history = node.history(ws).await;
    let (epoch, _) = history["handoff_token"].as_str().unwrap().split_once('.').unwrap();
    format!("{epoch}-1")
}

/// Reports how late each text event is.
async fn follow(mut pane: Pane, began: Instant, delays: mpsc::UnboundedSender<Duration>) {
    while let Some(frame) = pane.next().await {
        let text = frame.data["text"].as_str().unwrap_or_default();
        if let Some((published, _)) = text.split_once(' ') {
            let published = Duration::from_micros(published.parse().unwrap());
            // The test may have ended.
            let _ = delays.send(began.elapsed() - published);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pane_that_never_reads_is_poisoned_alone_and_delays_nobody() {
    let (panes, batches) = (scaled(30, 199), scaled(10, 100));
    let (node, mut model, _folder) =
        Node::with_model(&["--listener-events", QUEUE, "--listener-bytes", QUEUE_BYTES]).await;
    let began = Instant::now();
    let mut beside = Lane::open(&node, &mut model, panes.div_ceil(2), began).await;
    let mut apart = Lane::open(&node, &mut model, panes / 2, began).await;
    let all = format!("last_event_id={}", first_id(&node, &beside.ws).await);
    let mut stuck = Peer::pane(&node, &beside.ws, all.as_bytes(), b"").await;
    // The answer has begun, so it is registered.
    stuck.until("200 OK").await.unwrap();

    for batch in 0..batches {
        for n in 0..BATCH {
            // Neither lane is always the first.
            if (batch + n) % 2 == 0 {
                beside.publish(began);
                apart.publish(began);
            } else {
                apart.publish(began);
                beside.publish(began);
            }
        }
        beside.caught_up().await;
        apart.caught_up().await;
    }

    let [p50, p99] =
        [50, 99].map(|percent| (beside.percentile(percent), apart.percentile(percent)));
    println!(
        "{panes} panes, {} events each: delay beside the one that never reads {:?} median, {:?} \
         p99; on another lane {:?} median, {:?} p99",
        batches * BATCH,
        p50.0,
        p99.0,
        p50.1,
        p99.1,
    );
    // A lane that waits for its slowest pane is late by whole turns of the others.
    assert!(p50.0 < p50.1 * 3 && p99.0 < p99.1 * 5, "{p50:?} {p99:?}");

    // What it now reads ends early and says so; the ring makes up for the rest.
    stuck.until("\"type\":\"stream_overflow\"").await.expect("it was never poisoned");
    let text = stuck.until("\r\n0\r\n\r\n").await.unwrap();
    let id = text.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
    let mut back = node.redial(&beside.ws, "", id).await;
    let past = back.past().await;
    let replayed = past.iter().filter(|frame| frame.kind() == "content").count();
    let received = text.matches("\"type\":\"content\"").count();
    assert_eq!(received + replayed, FLOOD + batches * BATCH);
    assert!(replayed > 0, "it had read everything");
}
