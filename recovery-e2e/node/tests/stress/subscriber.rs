//! One pane on the wire: it leaves and returns by chance, keeps the client's rules, and counts what
//! no connection may bring.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;
use tokio::sync::watch;

use crate::chance::Chance;
use crate::rules::{Pane, Read, Row, Snapshot, Want};

/// Where the node is at present, and how far the run has come.
#[derive(Clone, Default)]
pub struct Stage {
    pub base: String,
    pub token: String,
    pub ws: String,
    pub turn: usize,
    pub over: bool,
}

/// What all subscribers met together.
#[derive(Debug, Default)]
pub struct Tally {
    pub frames: AtomicU64,
    pub connections: AtomicU64,
    pub replays: AtomicU64,
    pub truncated: AtomicU64,
    pub refused: AtomicU64,
    pub overflows: AtomicU64,
    pub histories: AtomicU64,
    /// Ids that did not follow the one before.
    pub gaps: AtomicU64,
    /// Ids that were not above the one before.
    pub repeats: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// What an `EventSource` keeps over its redials.
#[derive(Default)]
struct Source {
    cursor: Option<String>,
    token: Option<String>,
    last_id: Option<String>,
}

struct Connection {
    response: Response,
    buffer: Vec<u8>,
    /// The id before the next one, where the connection began with a cursor.
    before: Option<String>,
}

pub struct Subscriber {
    client: Client,
    stage: watch::Receiver<Stage>,
    tally: Arc<Tally>,
    chance: Chance,
    pane: Pane,
    source: Option<Source>,
    connection: Option<Connection>,
    reads: FuturesUnordered<BoxFuture<'static, (Read, Option<Snapshot>)>>,
    /// No event will come any more that would wake it: its timers are all that is left.
    over: bool,
}

impl Subscriber {
    pub fn new(
        client: Client,
        stage: watch::Receiver<Stage>,
        tally: Arc<Tally>,
        chance: Chance,
    ) -> Self {
        Self {
            client,
            stage,
            tally,
            chance,
            pane: Pane::default(),
            source: None,
            connection: None,
            reads: FuturesUnordered::new(),
            over: false,
        }
    }

    /// Follows until the run is over and the pane shows `last`; then returns what it shows.
    pub async fn follow(mut self, last: &str) -> Vec<Row> {
        let want = self.pane.load();
        self.carry_out(Some(want));
        loop {
            let ended = self.pane.rows().last().is_some_and(|row| row.text == last);
            if ended && self.pane.is_true() {
                return self.pane.rows().to_vec();
            }
            self.advance().await;
            if self.over || self.chance.once_in(3) {
                let want = self.pane.due();
                self.carry_out(want);
            }
            if self.chance.once_in(200) {
                self.leave().await;
            }
        }
    }

    /// Until the next thing happens.
    async fn advance(&mut self) {
        if self.source.is_some() && self.connection.is_none() {
            return self.redial().await;
        }
        tokio::select! {
            frame = next(&mut self.connection) => match frame {
                Some((id, frame)) => self.frame(id, &frame),
                None => self.broke(),
            },
            Some((read, snapshot)) = self.reads.next() => {
                let want = self.pane.answered(read, snapshot);
                self.carry_out(want);
            }
            () = end(&mut self.stage), if !self.over => self.over = true,
        }
    }

    /// Leaves, stays away for some turns, and comes back in one of a page's ways.
    async fn leave(&mut self) {
        self.broke();
        let until = self.stage.borrow().turn + self.chance.below(12);
        let back = self.stage.wait_for(|stage| stage.over || stage.turn >= until);
        drop(back.await.unwrap());
        match self.chance.below(4) {
            0 if self.source.is_some() => {
                self.pane.closed();
                self.open();
            }
            1 => {
                let want = self.pane.load();
                self.carry_out(Some(want));
            }
            _ => {}
        }
    }

    fn broke(&mut self) {
        self.connection = None;
        self.pane.broke();
    }

    fn open(&mut self) {
        let (cursor, token) = self.pane.present();
        self.connection = None;
        self.source = Some(Source { cursor, token, last_id: None });
    }

    fn request(&self, route: &str) -> RequestBuilder {
        let stage = self.stage.borrow();
        let url = format!("{}{}/{route}", stage.base, stage.ws);
        self.client.get(url).bearer_auth(&stage.token)
    }

    async fn redial(&mut self) {
        let Some(source) = &self.source else { return };
        let parameter = |name: &str, value: &Option<String>| {
            value.as_ref().map_or_else(String::new, |value| format!("&{name}={value}"))
        };
        let cursor = parameter("last_event_id", &source.cursor);
        let token = parameter("history_token", &source.token);
        self.stage.mark_unchanged();
        let mut request = self.request(&format!("events?{cursor}{token}"));
        if let Some(id) = &source.last_id {
            request = request.header("Last-Event-ID", id);
        }
        let before = source.last_id.clone().or(source.cursor.clone());
        match request.send().await {
            Ok(response) => {
                assert_eq!(response.status(), 200);
                count(&self.tally.connections);
                self.connection = Some(Connection { response, buffer: Vec::new(), before });
                self.pane.opened();
            }
            // It is down; there is another after it.
            Err(_) => self.stage.changed().await.unwrap(),
        }
    }

    fn frame(&mut self, id: Option<String>, frame: &Value) {
        let connection = self.connection.as_mut().unwrap();
        match (&id, frame["type"].as_str()) {
            (Some(id), _) => {
                count(&self.tally.frames);
                if let Some(before) = &connection.before {
                    match (split(before), split(id)) {
                        ((e, old), (f, new)) if e == f && new <= old => count(&self.tally.repeats),
                        ((e, old), (f, new)) if e == f && new == old + 1 => {}
                        _ => count(&self.tally.gaps),
                    }
                }
                connection.before = Some(id.clone());
                self.source.as_mut().unwrap().last_id = Some(id.clone());
            }
            (None, Some("replay_truncated")) => {
                count(&self.tally.truncated);
                connection.before = None;
            }
            (None, Some("replay_complete")) if frame["count"] != 0 => count(&self.tally.replays),
            (None, Some("history_resync")) => count(&self.tally.refused),
            (None, Some("stream_overflow")) => count(&self.tally.overflows),
            _ => {}
        }
        let want = self.pane.frame(id.as_deref(), frame);
        self.carry_out(want);
    }

    fn carry_out(&mut self, want: Option<Want>) {
        match want {
            None => {}
            Some(Want::Open) => self.open(),
            Some(Want::Refetch(read)) => self.read(read),
            Some(Want::Load(read)) => {
                self.source = None;
                self.connection = None;
                self.read(read);
            }
        }
    }

    fn read(&mut self, read: Read) {
        count(&self.tally.histories);
        let mut stage = self.stage.clone();
        stage.mark_unchanged();
        let request = self.request("history?limit=500");
        self.reads.push(Box::pin(async move {
            let snapshot = snapshot(request).await;
            if snapshot.is_none() {
                // It is down; a page would wait, too, before it asks again.
                stage.changed().await.unwrap();
            }
            (read, snapshot)
        }));
    }
}

async fn end(stage: &mut watch::Receiver<Stage>) {
    drop(stage.wait_for(|stage| stage.over).await.unwrap());
}

async fn snapshot(request: RequestBuilder) -> Option<Snapshot> {
    let history: Value = request.send().await.ok()?.error_for_status().ok()?.json().await.ok()?;
    Some(Snapshot { rows: rows(&history), token: history["handoff_token"].as_str()?.to_owned() })
}

/// The rows of a history.
pub fn rows(history: &Value) -> Vec<Row> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let row = |row: &Value| Row { row_id: text(&row["row_id"]), text: text(&row["content"]) };
    history["messages"].as_array().unwrap().iter().map(row).collect()
}

/// The next frame; none at the end of the connection, nothing ever without one.
async fn next(connection: &mut Option<Connection>) -> Option<(Option<String>, Value)> {
    let Some(connection) = connection else { return std::future::pending().await };
    loop {
        while let Some(end) = connection.buffer.windows(2).position(|pair| pair == b"\n\n") {
            let block: Vec<u8> = connection.buffer.drain(..end + 2).collect();
            let text = std::str::from_utf8(&block).unwrap();
            let line = |field| text.lines().find_map(|line| line.strip_prefix(field));
            if let Some(data) = line("data: ") {
                return Some((
                    line("id: ").map(str::to_owned),
                    serde_json::from_str(data).unwrap(),
                ));
            }
        }
        connection.buffer.extend(connection.response.chunk().await.ok().flatten()?);
    }
}

fn split(id: &str) -> (&str, u64) {
    let (epoch, seq) = id.split_once('-').unwrap();
    (epoch, seq.parse().unwrap())
}
