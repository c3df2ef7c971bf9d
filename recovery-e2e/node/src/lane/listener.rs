//! The queue between a lane and one connection.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use tokio::sync::Notify;

use super::ring::Bounds;

/// What a connection takes from its queue.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// The next event.
    Frame(Bytes),
    /// The connection fell behind: its queue is dropped, and nothing follows.
    Overflow,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    ready: Notify,
    bounds: Bounds,
}

#[derive(Debug, Default)]
struct Queue {
    frames: VecDeque<Bytes>,
    bytes: usize,
    poisoned: bool,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lane's end. It does not keep the connection alive.
#[derive(Debug)]
pub struct Sender(Weak<Shared>);

/// The connection's end; dropping it is how a connection leaves.
#[derive(Debug)]
pub struct Listener(Arc<Shared>);

/// A queue that holds at most `bounds`.
pub fn channel(bounds: Bounds) -> (Sender, Listener) {
    let shared = Arc::new(Shared { queue: Mutex::default(), ready: Notify::new(), bounds });
    (Sender(Arc::downgrade(&shared)), Listener(shared))
}

impl Sender {
    /// Whether the connection still listens.
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// Queues a frame, never waiting. The first frame that does not fit poisons the queue: a
    /// connection gets a gapless stream or learns that it has none.
    pub fn push(&self, frame: &Bytes) {
        let Some(shared) = self.0.upgrade() else { return };
        let mut queue = shared.queue();
        if queue.poisoned {
            return;
        }
        let bytes = queue.bytes + frame.len();
        if queue.frames.len() == shared.bounds.events || bytes > shared.bounds.bytes {
            *queue = Queue { poisoned: true, ..Queue::default() };
        } else {
            queue.frames.push_back(frame.clone());
            queue.bytes = bytes;
        }
        drop(queue);
        shared.ready.notify_one();
    }
}

impl Listener {
    /// Waits for the next frame.
    pub async fn next(&self) -> Next {
        loop {
            {
                let mut queue = self.0.queue();
                if queue.poisoned {
                    return Next::Overflow;
                }
                if let Some(frame) = queue.frames.pop_front() {
                    queue.bytes -= frame.len();
                    return Next::Frame(frame);
                }
            }
            // A notification that came in between is stored, so none is missed.
            self.0.ready.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOMY: Bounds = Bounds { events: 100, bytes: 100 };

    #[tokio::test]
    async fn frames_come_out_in_the_order_they_went_in() {
        let (sender, listener) = channel(ROOMY);
        sender.push(&Bytes::from("a"));
        sender.push(&Bytes::from("b"));
        assert_eq!(listener.next().await, Next::Frame("a".into()));
        assert_eq!(listener.next().await, Next::Frame("b".into()));
    }

    #[tokio::test]
    async fn a_frame_too_many_discards_the_backlog_and_everything_later() {
        for bounds in [Bounds { events: 2, ..ROOMY }, Bounds { bytes: 2, ..ROOMY }] {
            let (sender, listener) = channel(bounds);
            for frame in ["a", "b", "c"] {
                sender.push(&Bytes::from(frame));
            }
            assert_eq!(listener.next().await, Next::Overflow);
            sender.push(&Bytes::from("d"));
            assert_eq!(listener.next().await, Next::Overflow);
        }
    }

    #[tokio::test]
    async fn a_taken_frame_makes_room() {
        let (sender, listener) = channel(Bounds { events: 1, bytes: 1 });
        for frame in ["a", "b", "c"] {
            sender.push(&Bytes::from(frame));
            assert_eq!(listener.next().await, Next::Frame(frame.into()));
        }
    }

    #[tokio::test]
    async fn a_waiting_connection_is_woken_by_a_frame() {
        let (sender, listener) = channel(ROOMY);
        let waiting = tokio::spawn(async move { listener.next().await });
        tokio::task::yield_now().await;
        sender.push(&Bytes::from("a"));
        assert_eq!(waiting.await.unwrap(), Next::Frame("a".into()));
    }

    #[test]
    fn a_dropped_listener_is_known_to_be_gone() {
        let (sender, listener) = channel(ROOMY);
        assert!(sender.is_alive());
        drop(listener);
        assert!(!sender.is_alive());
    }
}
