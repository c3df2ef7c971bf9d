//! The roster: what is loaded, and the global lane that publishes its changes.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::event::{Activity, Event, connection_frame};
use super::feed::{Connection, Feed, Limits};
use super::replay::{Ask, Proof, Shape, decide};
use crate::metrics::Load;
use crate::record::{Cursor, Kind};

/// A workstream as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its id.
    pub ws_id: String,
    /// Its name.
    pub name: String,
    /// What it does.
    pub state: Activity,
    /// What it is for.
    pub kind: Kind,
    /// The workstream that it works for.
    pub parent_ws_id: Option<String>,
}

/// Why a workstream leaves the roster. A node that stops gives no reason, because its successor
/// may load what it unloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Leave {
    /// A person has closed it; it can be opened again.
    Closed,
    /// It is deleted.
    Deleted,
}

/// One event of the global lane.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Change<'a> {
    /// All there is; what is not in it is no more.
    NodeSnapshot { node_id: &'a str, workstreams: Vec<&'a Entry> },
    /// A workstream does something else.
    WsState { ws_id: &'a str, state: Activity },
    /// A workstream was loaded, new or not.
    WsCreated(&'a Entry),
    /// A workstream is loaded no more.
    WsClosed { ws_id: &'a str, name: &'a str, reason: Leave },
    /// Numbers of all that is loaded.
    Aggregate { total_count: usize, active_count: usize },
}

/// What is loaded. Its lock is taken under that of a lane, never the other way round.
#[derive(Debug)]
pub struct Roster {
    node_id: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    feed: Feed,
    entries: BTreeMap<String, Entry>,
}

impl Roster {
    /// A roster of nothing.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn new(node_id: String, limits: Limits) -> Result<Self, getrandom::Error> {
        let state = State { feed: Feed::new(limits)?, entries: BTreeMap::new() };
        Ok(Self { node_id, state: Mutex::new(state) })
    }

    /// Adds a workstream that was loaded.
    pub fn admit(&self, entry: Entry) {
        let State { feed, entries } = &mut *self.locked();
        feed.publish(&Change::WsCreated(&entry));
        entries.insert(entry.ws_id.clone(), entry);
    }

    /// Removes a workstream that is unloaded.
    pub fn dismiss(&self, ws_id: &str, reason: Leave) {
        let State { feed, entries } = &mut *self.locked();
        if let Some(Entry { name, .. }) = entries.remove(ws_id) {
            feed.publish(&Change::WsClosed { ws_id, name: &name, reason });
        }
    }

    /// Takes note of what a workstream does from now on. One that is not loaded does nothing.
    pub fn enter(&self, ws_id: &str, activity: Activity) {
        let State { feed, entries } = &mut *self.locked();
        if let Some(entry) = entries.get_mut(ws_id) {
            entry.state = activity;
            feed.publish(&Change::WsState { ws_id, state: activity });
        }
    }

    /// Publishes the numbers of all that is loaded.
    pub fn aggregate(&self) {
        let State { feed, entries } = &mut *self.locked();
        let active_count = entries.values().filter(|ws| ws.state != Activity::Idle).count();
        feed.publish(&Change::Aggregate { total_count: entries.len(), active_count });
    }

    /// What is loaded, by name.
    pub fn list(&self) -> Vec<Entry> {
        let mut entries: Vec<_> = self.locked().entries.values().cloned().collect();
        entries.sort_by(|a, b| (&a.name, &a.ws_id).cmp(&(&b.name, &b.ws_id)));
        entries
    }

    /// What the global lane holds.
    pub fn load(&self) -> Load {
        self.locked().feed.load()
    }

    /// Decides what a connection gets, and registers it.
    pub fn connect(&self, header: Cursor, query: Cursor) -> Connection {
        let State { feed, entries } = &mut *self.locked();
        let span = feed.span();
        let mut past = Vec::new();
        let replay_from = match decide(&Ask { header, query, token: Proof::Absent }, &span) {
            Shape::Replay { after } => Some(after),
            Shape::Truncated { reason, lost } => {
                past.push(connection_frame(&Event::truncated(reason, lost, &span)));
                None
            }
            Shape::Fresh { .. } | Shape::Refused => None,
        };
        if replay_from.is_none() {
            let workstreams = entries.values().collect();
            past.push(connection_frame(&Change::NodeSnapshot {
                node_id: &self.node_id,
                workstreams,
            }));
        }
        feed.connect(past, replay_from)
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave a half-made step: every step only assigns.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
