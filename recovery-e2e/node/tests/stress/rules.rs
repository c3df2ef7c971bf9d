//! The rules by which a pane keeps its rows true, in a few lines: those of `core.js`, `history.js`
//! and `truncation.js` in `web/static/recovery`, and of `web/static/pane/render.js`, for rows of text. What waits
//! for a timer there waits for [`Pane::due`] here. The real ones are proven in a browser; these
//! meet more interleavings, and more of them at once, than a browser can be made to.

use std::collections::HashSet;

use serde_json::Value;

/// A row on display, or of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub row_id: String,
    pub text: String,
}

/// What a history request answered.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub rows: Vec<Row>,
    pub token: String,
}

/// A history request. Its answer counts only while no newer one was made.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    n: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Load,
    Refetch { generation: u64, earns_retry: bool },
}

/// What the pane requests from its caller.
#[derive(Debug)]
pub enum Want {
    /// Read the history; the stream goes on meanwhile.
    Refetch(Read),
    /// Close the stream, and read the history.
    Load(Read),
    /// Open a new stream with [`Pane::present`].
    Open,
}

#[derive(Debug, Default)]
struct Queue {
    frames: Vec<Value>,
    /// How many of them came before the newest cut.
    cut: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum Truncated {
    /// The reload waits for the end of the turn.
    UntilIdle,
    /// The reload is due at any moment.
    Due,
}

#[derive(Debug, Default)]
pub struct Pane {
    rows: Vec<Row>,
    live: Option<String>,
    complete: HashSet<String>,
    queue: Option<Queue>,
    latch: bool,
    reads: u64,
    retry: bool,
    repairs: bool,
    truncated: Option<Truncated>,
    truncated_from: Option<String>,
    cursor: Option<String>,
    token: Option<String>,
    generation: u64,
    open: bool,
    caught_up: bool,
    running: bool,
}

impl Pane {
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Whether nothing is known to be missing, or to be shown in vain.
    pub fn is_true(&self) -> bool {
        self.open
            && self.caught_up
            && !self.latch
            && self.queue.is_none()
            && self.truncated.is_none()
            && self.truncated_from.is_none()
    }

    /// The first read of a new pane, or of one that a person reloads.
    pub fn load(&mut self) -> Want {
        self.closed();
        self.cursor = None;
        self.token = None;
        let n = self.dispatch();
        self.release(0);
        Want::Load(Read { n, kind: Kind::Load })
    }

    /// Cursor and token of the query of a new connection.
    pub fn present(&mut self) -> (Option<String>, Option<String>) {
        (self.truncated_from.clone().or(self.cursor.clone()), self.token.take())
    }

    /// A connection is open, new or redialled.
    pub fn opened(&mut self) {
        self.generation += 1;
        self.open = true;
        self.caught_up = false;
    }

    /// The connection broke; the browser will redial it.
    pub fn broke(&mut self) {
        self.open = false;
    }

    /// The connection is given up.
    pub fn closed(&mut self) {
        self.open = false;
        self.truncated = None;
    }

    /// A frame of the stream has come.
    pub fn frame(&mut self, id: Option<&str>, frame: &Value) -> Option<Want> {
        if let Some(id) = id {
            self.cursor = Some(id.to_owned());
        }
        match frame["type"].as_str() {
            Some("clear_ui") => {
                self.latch = true;
                Some(self.refetch(true))
            }
            Some("history_resync") => {
                self.latch = true;
                self.repairs = true;
                Some(self.load())
            }
            Some("replay_truncated") => {
                self.truncated_from = self.truncated_from.take().or(self.cursor.clone());
                let waits = if self.running { Truncated::UntilIdle } else { Truncated::Due };
                self.truncated = Some(waits);
                None
            }
            Some("replay_complete") => {
                self.caught_up = true;
                self.rest()
            }
            Some("state_change") => {
                self.running = frame["state"] != "idle";
                self.rest()
            }
            Some("connected" | "status" | "stream_overflow") => None,
            _ => {
                self.accept(frame.clone());
                None
            }
        }
    }

    /// A history request was answered, or failed.
    pub fn answered(&mut self, read: Read, snapshot: Option<Snapshot>) -> Option<Want> {
        if read.n != self.reads {
            return None;
        }
        match (read.kind, snapshot) {
            (Kind::Load, Some(snapshot)) => {
                self.cursor = None;
                self.token = Some(snapshot.token);
                self.render(snapshot.rows);
                self.repairs = false;
                Some(Want::Open)
            }
            // A stream would be refused again; only a render ends that.
            (Kind::Load, None) if self.repairs => Some(self.load()),
            (Kind::Load, None) => Some(Want::Open),
            (Kind::Refetch { generation, .. }, Some(snapshot))
                if self.open && self.generation == generation =>
            {
                let cut = self.queue.as_ref().map_or(0, |queue| queue.cut);
                self.render(snapshot.rows);
                self.release(cut);
                None
            }
            (Kind::Refetch { earns_retry, .. }, _) => {
                self.release(0);
                self.retry = earns_retry;
                None
            }
        }
    }

    /// The timers have fired.
    pub fn due(&mut self) -> Option<Want> {
        if self.truncated == Some(Truncated::Due) {
            return Some(self.load());
        }
        let retry = std::mem::take(&mut self.retry);
        (retry && self.open && self.may_heal() && !self.running).then(|| self.refetch(false))
    }

    fn rest(&mut self) -> Option<Want> {
        if !self.caught_up || self.running {
            None
        } else if self.truncated == Some(Truncated::UntilIdle) {
            Some(self.load())
        } else {
            self.may_heal().then(|| self.refetch(true))
        }
    }

    fn may_heal(&self) -> bool {
        self.latch && self.queue.is_none() && self.live.is_none()
    }

    fn dispatch(&mut self) -> u64 {
        self.retry = false;
        self.reads += 1;
        self.reads
    }

    fn refetch(&mut self, earns_retry: bool) -> Want {
        let n = self.dispatch();
        let frames = self.queue.take().unwrap_or_default().frames;
        self.queue = Some(Queue { cut: frames.len(), frames });
        Want::Refetch(Read { n, kind: Kind::Refetch { generation: self.generation, earns_retry } })
    }

    fn render(&mut self, rows: Vec<Row>) {
        self.complete = rows.iter().map(|row| row.row_id.clone()).collect();
        self.rows = rows;
        self.live = None;
        self.latch = false;
        self.retry = false;
        self.truncated = None;
        self.truncated_from = None;
    }

    /// Ends the quiesce: the first `cut` frames are of rows that were cut.
    fn release(&mut self, cut: usize) {
        for frame in self.queue.take().unwrap_or_default().frames.into_iter().skip(cut) {
            self.accept(frame);
        }
    }

    fn accept(&mut self, frame: Value) {
        if let Some(queue) = &mut self.queue {
            queue.frames.push(frame);
        } else if !frame["row_id"].as_str().is_some_and(|row| self.complete.contains(row)) {
            self.paint(&frame);
        }
    }

    fn paint(&mut self, frame: &Value) {
        let text = |field: &str| frame[field].as_str().unwrap_or_default();
        let row_id = frame["row_id"].as_str();
        match (frame["type"].as_str(), row_id) {
            (Some("user_turn"), Some(row_id)) => self.append(row_id, text("content")),
            (Some("content"), Some(row_id)) => self.stream(row_id).push_str(text("text")),
            (Some("in_progress_snapshot"), Some(row_id)) => {
                if self.rows.iter().any(|row| row.row_id == row_id) {
                    self.live = Some(row_id.to_owned());
                }
                text("content").clone_into(self.stream(row_id));
            }
            (Some("stream_end"), row_id) if row_id.is_none() || self.live.as_deref() == row_id => {
                self.live = None;
            }
            _ => {}
        }
    }

    /// The text of the row that streams, begun if another streamed before.
    fn stream(&mut self, row_id: &str) -> &mut String {
        if self.live.as_deref() != Some(row_id) {
            self.append(row_id, "");
            self.live = Some(row_id.to_owned());
        }
        let at = self.rows.iter().rposition(|row| row.row_id == row_id);
        &mut self.rows[at.expect("a row that streams is on display")].text
    }

    fn append(&mut self, row_id: &str, text: &str) {
        self.rows.push(Row { row_id: row_id.to_owned(), text: text.to_owned() });
    }
}
