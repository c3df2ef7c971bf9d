//! Many panes that leave and return while rows come and go and the node is restarted under them.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use reqwest::StatusCode;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::chance::{Chance, seed};
use crate::model::Model;
use crate::node::{Folder, Node, client};
use crate::pane::Pane;
use crate::subscriber::{Stage, Subscriber, Tally, rows};
use crate::{scaled, within};

/// So small that a pane which stays away for long is truncated.
const LIMITS: [&str; 4] = ["--ring-events", "60", "--listener-events", "100"];

/// Rows that a history may grow to before the driver rewinds for sure.
const TURNS_MAX: usize = 30;

/// How the node is brought down.
#[derive(Clone, Copy, Debug)]
enum Fall {
    Stop,
    Kill,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panes_that_leave_and_return_end_with_the_truth_and_met_no_gap_and_no_repeat() {
    turmoil(scaled(30, 200), scaled(600, 20_000), &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panes_of_a_node_that_is_restarted_end_with_the_truth() {
    turmoil(scaled(30, 200), scaled(300, 20_000), &[Fall::Stop]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panes_of_a_node_that_is_killed_five_times_end_with_the_truth() {
    turmoil(scaled(30, 200), scaled(500, 20_000), &[Fall::Kill; 5]).await;
}

async fn turmoil(subscribers: usize, events: usize, falls: &[Fall]) {
    let began = Instant::now();
    let mut driver = Driver::start().await;
    let tally = Arc::new(Tally::default());
    let mut panes = JoinSet::new();
    for n in 0..subscribers {
        let chance = Chance::seeded(seed() + n as u64);
        let stage = driver.stage.subscribe();
        let subscriber = Subscriber::new(client(), stage, tally.clone(), chance);
        panes.spawn(subscriber.follow("re: the end"));
    }
    let mut falls = falls.iter().enumerate().map(|(n, fall)| {
        // Spread over the run, none at its edges.
        (events * (n + 1) / (falls.len() + 1), *fall)
    });
    let mut next = falls.next();
    while driver.events < events {
        match next {
            Some((at, fall)) if driver.events >= at => {
                driver = driver.fall(fall).await;
                next = falls.next();
            }
            _ => driver.turn().await,
        }
    }
    assert!(next.is_none(), "the run ended before its last fall");
    driver.finish().await;

    let truth = rows(&driver.node.history(&driver.ws).await);
    while let Some(shown) = within("a pane seeing the end", panes.join_next()).await {
        assert_eq!(shown.unwrap(), truth);
    }
    assert_eq!((tally.gaps.load(Relaxed), tally.repeats.load(Relaxed)), (0, 0), "seed {}", seed());
    assert!(tally.replays.load(Relaxed) > 0, "no redial was answered with a replay");
    println!(
        "{subscribers} panes, {} events, {} turns, {} rewinds in {:.1} s: {tally:?}",
        driver.events,
        driver.stage.borrow().turn,
        driver.rewinds,
        began.elapsed().as_secs_f64(),
    );
}

/// What moves the node: turns, rewinds and falls.
struct Driver {
    folder: Folder,
    model: Model,
    node: Node,
    ws: String,
    /// Watches the ends of turns.
    pane: Pane,
    stage: watch::Sender<Stage>,
    chance: Chance,
    events: usize,
    rewinds: usize,
    /// User rows in the history.
    turns: usize,
}

impl Driver {
    async fn start() -> Self {
        let (node, model, folder) = Node::with_model(&LIMITS).await;
        let ws = node.create("turmoil").await;
        let stage = watch::Sender::default();
        let pane = node.pane(&ws, "").await;
        let chance = Chance::seeded(seed());
        let mut driver =
            Self { folder, model, node, ws, pane, stage, chance, events: 0, rewinds: 0, turns: 0 };
        driver.announce();
        driver.pane.past().await;
        driver
    }

    fn announce(&mut self) {
        self.stage.send_modify(|stage| {
            self.node.base.clone_into(&mut stage.base);
            self.node.token().clone_into(&mut stage.token);
            self.ws.clone_into(&mut stage.ws);
        });
    }

    /// Maybe a rewind, then a turn and its end.
    async fn turn(&mut self) {
        if self.chance.once_in(4) || self.turns > TURNS_MAX {
            self.rewind().await;
        }
        let message = format!("turn {}", self.stage.borrow().turn);
        self.answered(&message).await;
        self.stage.send_modify(|stage| stage.turn += 1);
    }

    async fn answered(&mut self, message: &str) {
        self.node.send(&self.ws, message).await;
        self.turns += 1;
        let mut call = self.model.call().await;
        call.say(&format!("re: {message}"));
        for n in 0..self.chance.below(4) {
            // Long enough to be an event of its own, or so short that it waits for the next.
            let length = if self.chance.once_in(4) { 4_100 } else { 9 };
            call.say(&format!(" {n:0>length$}"));
        }
        call.done();
        self.events += self.pane.until_idle().await.len();
    }

    async fn rewind(&mut self) {
        let turns = 1 + self.chance.below(if self.turns > TURNS_MAX { TURNS_MAX } else { 4 });
        let request = json!({ "turns": turns, "request_id": format!("r-{}", self.rewinds) });
        let removed = json!({ "status": "ok", "removed": turns.min(self.turns) });
        // Asked twice: one rewind.
        for _ in 0..2 {
            let answer = self.node.post(&format!("{}/rewind", self.ws), request.clone()).await;
            assert_eq!(answer, (StatusCode::OK, removed.clone()));
        }
        self.turns -= turns.min(self.turns);
        self.rewinds += 1;
    }

    /// Brings the node down in the middle of a turn, and up again.
    async fn fall(mut self, fall: Fall) -> Self {
        self.node.send(&self.ws, "a turn that falls").await;
        self.turns += 1;
        let mut call = self.model.call().await;
        if self.chance.once_in(2) {
            call.say("half an answer");
            self.events += self.pane.until(|frame| frame.kind() == "content").await.len();
        }
        match fall {
            Fall::Stop => assert!(self.node.stop().await.success()),
            Fall::Kill => self.node.kill().await,
        }
        let args = [&["--model-url", &self.model.url], &LIMITS[..]].concat();
        self.node = self.folder.start(&args).await;
        self.pane = self.node.pane(&self.ws, "").await;
        self.pane.past().await;
        self.announce();
        self
    }

    /// The last turn, which every pane waits for.
    async fn finish(&mut self) {
        self.node.send(&self.ws, "the end").await;
        self.model.answer("re: the end").await;
        self.events += self.pane.until_idle().await.len();
        self.stage.send_modify(|stage| stage.over = true);
    }
}
