//! Single flight: who asks for the same at the same time shares one answer.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::Shared;
use tokio::sync::oneshot;

/// The answer of a flight that another leads; an error when it landed without one.
pub type Joined<V> = Shared<oneshot::Receiver<V>>;

/// The flights that are under way. Of those that have landed nothing is kept.
#[derive(Debug)]
pub struct Flights<K, V>(Arc<Mutex<HashMap<K, Joined<V>>>>);

/// What someone who asks has to do.
#[derive(Debug)]
pub enum Flight<K: Eq + Hash, V> {
    /// Find the answer, also for those who join meanwhile.
    Lead(Lead<K, V>),
    /// Wait for it.
    Join(Joined<V>),
}

/// The duty to find an answer. Dropped, it lands the flight without one.
#[derive(Debug)]
pub struct Lead<K: Eq + Hash, V> {
    flights: Flights<K, V>,
    key: K,
    answer: Option<oneshot::Sender<V>>,
}

impl<K, V> Flights<K, V> {
    /// No flight.
    pub fn new() -> Self {
        Self(Arc::default())
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Flights<K, V> {
    /// Joins the flight of this key, or starts it.
    pub fn board(&self, key: K) -> Flight<K, V> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flight) = open.get(&key) {
            return Flight::Join(flight.clone());
        }
        let (answer, joined) = oneshot::channel();
        open.insert(key.clone(), joined.shared());
        Flight::Lead(Lead { flights: Self(self.0.clone()), key, answer: Some(answer) })
    }
}

impl<K: Eq + Hash, V> Lead<K, V> {
    /// Gives the answer to all who joined.
    pub fn land(mut self, answer: V) {
        let joined = self.answer.take();
        // A request from here on must see the state from here on.
        drop(self);
        if let Some(joined) = joined {
            // All receivers may have been dropped.
            let _ = joined.send(answer);
        }
    }
}

impl<K: Eq + Hash, V> Drop for Lead<K, V> {
    fn drop(&mut self) {
        self.flights.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lead(flights: &Flights<u8, u8>, key: u8) -> Lead<u8, u8> {
        match flights.board(key) {
            Flight::Lead(lead) => lead,
            Flight::Join(_) => panic!("{key} is under way"),
        }
    }

    fn join(flights: &Flights<u8, u8>, key: u8) -> Joined<u8> {
        match flights.board(key) {
            Flight::Join(joined) => joined,
            Flight::Lead(_) => panic!("{key} is not under way"),
        }
    }

    #[tokio::test]
    async fn everyone_who_joins_gets_the_answer_of_their_own_key() {
        let flights = Flights::new();
        let (one, two) = (lead(&flights, 1), lead(&flights, 2));
        let joined = [join(&flights, 1), join(&flights, 2), join(&flights, 1)];
        two.land(20);
        one.land(10);
        for (joined, answer) in joined.into_iter().zip([10, 20, 10]) {
            assert_eq!(joined.await, Ok(answer));
        }
    }

    #[tokio::test]
    async fn an_answer_is_for_nobody_who_asks_later() {
        let flights = Flights::new();
        lead(&flights, 1).land(10);
        let second = lead(&flights, 1);
        let joined = join(&flights, 1);
        second.land(11);
        assert_eq!(joined.await, Ok(11));
        assert!(flights.0.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_flight_that_is_given_up_tells_those_who_joined() {
        let flights = Flights::new();
        let first = lead(&flights, 1);
        let joined = join(&flights, 1);
        drop(first);
        assert!(joined.await.is_err());
        assert!(flights.0.lock().unwrap().is_empty());
    }
}
