//! What every lane consists of: numbered events, those that are kept, and who listens.
//!
//! It has no lock of its own: a lane keeps it beside the state that its events report, under
//! one lock for both.

use bytes::Bytes;
use serde::Serialize;

use super::event::{Event, connection_frame, ring_frame};
use super::listener::{self, Listener, Sender};
use super::replay::Span;
use super::ring::{Bounds, Ring};
use crate::metrics::Load;
use crate::record::{Epoch, EventId};

/// How much a lane and each of its connections may hold.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of the lane's ring.
    pub ring: Bounds,
    /// Of each connection's queue.
    pub listener: Bounds,
}

/// What a connection is sent: first these frames, then what comes through the listener.
#[derive(Debug)]
pub struct Connection {
    /// Everything up to the present.
    pub past: Vec<Bytes>,
    /// The future; none when the connection was refused.
    pub live: Option<Listener>,
}

/// The events of one lane.
#[derive(Debug)]
pub struct Feed {
    epoch: Epoch,
    ring: Ring,
    listeners: Vec<Sender>,
    listener: Bounds,
}

impl Feed {
    /// A feed with an epoch of its own.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn new(limits: Limits) -> Result<Self, getrandom::Error> {
        Ok(Self {
            epoch: Epoch::fresh()?,
            ring: Ring::new(limits.ring),
            listeners: Vec::new(),
            listener: limits.listener,
        })
    }

    /// The epoch of its ids.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// What the ring holds.
    pub fn span(&self) -> Span {
        Span { epoch: self.epoch, first: self.ring.first(), head: self.ring.head() }
    }

    /// What it holds.
    pub fn load(&self) -> Load {
        let listeners = self.listeners.iter().filter(|sender| sender.is_alive()).count();
        Load { listeners, events: self.ring.len(), bytes: self.ring.bytes() }
    }

    /// Gives an event its id, hands it to all who listen, and keeps it.
    pub fn publish(&mut self, event: &impl Serialize) -> EventId {
        let id = EventId { epoch: self.epoch, seq: self.ring.next_seq() };
        let frame = ring_frame(id, event);
        for listener in &self.listeners {
            listener.push(&frame);
        }
        self.ring.push(frame);
        id
    }

    /// Opens a connection: `past`, then the kept events after `replay_from` if that is given,
    /// then all that is published from now on.
    pub fn connect(&mut self, mut past: Vec<Bytes>, replay_from: Option<u64>) -> Connection {
        let before = past.len();
        if let Some(after) = replay_from {
            past.extend(self.ring.after(after).cloned());
        }
        let count = past.len() - before;
        past.push(connection_frame(&Event::ReplayComplete { count }));
        // Those that left are forgotten here, where their number could grow.
        self.listeners.retain(Sender::is_alive);
        let (sender, listener) = listener::channel(self.listener);
        self.listeners.push(sender);
        Connection { past, live: Some(listener) }
    }
}
