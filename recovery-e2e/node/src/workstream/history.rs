//! A history: a snapshot of the rows, with the token that proves it.
//!
//! Panes that refetch all at once are answered by one read. Rows that a rewind cut must never
//! reach a pane that asks after the cut, so a read is shared only within one generation.

use std::sync::Arc;

use super::Workstream;
use super::flight::{Flight, Flights};
use crate::record::{HandoffToken, Row};
use crate::store::StoreError;

/// Rows, and the token that is true while they are all there are.
#[derive(Debug)]
pub struct History {
    /// The newest rows, in order.
    pub rows: Vec<Row>,
    /// Minted with the read.
    pub token: HandoffToken,
}

/// What the histories have in common that share a read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    limit: u32,
    generation: u64,
}

/// The reads of one workstream that are under way.
pub type Reads = Flights<Key, Arc<History>>;

impl Workstream {
    /// The newest `limit` rows: by a read of its own, or by one of this generation that is under
    /// way.
    ///
    /// # Errors
    /// When the store fails; nothing is answered that is not proven.
    pub async fn history(self: Arc<Self>, limit: u32) -> Result<Arc<History>, StoreError> {
        let generation = self.lane.generation();
        #[cfg(feature = "control")]
        let generation = self.shared.faults.flight_generation(generation);
        match self.reads.board(Key { limit, generation }) {
            Flight::Lead(lead) => {
                let history = self.read(limit).await?;
                lead.land(history.clone());
                Ok(history)
            }
            Flight::Join(joined) => {
                self.shared.metrics.history_joins.count();
                match joined.await {
                    Ok(history) => Ok(history),
                    // The failure may have been the other's alone; but one retry each is all.
                    Err(_) => self.read(limit).await,
                }
            }
        }
    }

    async fn read(&self, limit: u32) -> Result<Arc<History>, StoreError> {
        let journal = self.journal.lock().await;
        self.shared.metrics.history_loads.count();
        let rows = self.rows(limit).await?;
        let token = self.lane.token();
        drop(journal);
        #[cfg(feature = "control")]
        self.shared.faults.park(&self.shared.stop).await;
        Ok(Arc::new(History { rows, token }))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use proptest::prelude::*;
    use tokio_util::sync::CancellationToken;

    use super::super::Shared;
    use super::super::flight::{Joined, Lead};
    use super::*;
    #[cfg(feature = "control")]
    use crate::faults::Faults;
    use crate::lane::{Bounds, Limits, Roster};
    use crate::record::Kind;
    use crate::store::{Store, Stored};

    /// What may happen to the reads of a workstream.
    #[derive(Clone, Debug)]
    enum Step {
        Ask(u32),
        /// A rewind: a request after it must not get what was read before.
        Cut,
        /// The store answers the read that is this far from the oldest.
        Read(usize),
        /// The read reaches who waits for it; read or not, in the second case it fails.
        Land(usize),
        Fail(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (1..4_u32).prop_map(Step::Ask),
            2 => Just(Step::Cut),
            3 => any::<usize>().prop_map(Step::Read),
            2 => any::<usize>().prop_map(Step::Land),
            1 => any::<usize>().prop_map(Step::Fail),
        ]
    }

    /// How many cuts a snapshot has seen, and how many rows it was asked for.
    type Snapshot = (u64, u32);

    struct Reading {
        limit: u32,
        snapshot: Option<Snapshot>,
        lead: Lead<Key, Snapshot>,
    }

    /// Someone who joined, after so many cuts.
    struct Waiting {
        cuts: u64,
        limit: u32,
        joined: Joined<Snapshot>,
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn no_request_gets_rows_that_were_cut_before_it_or_another_number_of_them(
            steps in prop::collection::vec(step(), 1..60),
        ) {
            let reads: Flights<Key, Snapshot> = Flights::new();
            let mut cuts = 0;
            let mut under_way: Vec<Reading> = Vec::new();
            let mut waiting: Vec<Waiting> = Vec::new();
            for step in steps {
                let len = under_way.len();
                match step {
                    Step::Cut => cuts += 1,
                    Step::Ask(limit) => match reads.board(Key { limit, generation: cuts }) {
                        Flight::Lead(lead) => {
                            under_way.push(Reading { limit, snapshot: None, lead });
                        }
                        Flight::Join(joined) => waiting.push(Waiting { cuts, limit, joined }),
                    },
                    Step::Read(nth) if len > 0 => {
                        let read = &mut under_way[nth % len];
                        read.snapshot.get_or_insert((cuts, read.limit));
                    }
                    Step::Land(nth) if len > 0 => {
                        let Reading { limit, snapshot, lead } = under_way.remove(nth % len);
                        lead.land(snapshot.unwrap_or((cuts, limit)));
                    }
                    Step::Fail(nth) if len > 0 => drop(under_way.remove(nth % len)),
                    Step::Read(_) | Step::Land(_) | Step::Fail(_) => {}
                }
                waiting.retain(|waiting| waiting.joined.peek().is_none());
                for Waiting { cuts, limit, joined } in &waiting {
                    if let Some(Ok((seen, rows))) = joined.clone().now_or_never() {
                        prop_assert!(seen >= *cuts, "asked after {cuts} cuts, answered with {seen}");
                        prop_assert_eq!(rows, *limit);
                    }
                }
            }
            under_way.clear();
            for Waiting { joined, .. } in waiting {
                prop_assert!(joined.now_or_never().is_some(), "someone waits for ever");
            }
        }
    }

    #[tokio::test]
    async fn a_joiner_of_a_failed_read_retries_once_alone() {
        let bounds = Bounds { events: 10, bytes: 1000 };
        let limits = Limits { ring: bounds, listener: bounds };
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("db")).unwrap();
        let stored = Stored {
            ws_id: "w".into(),
            name: "a".into(),
            model_url: None,
            kind: Kind::default(),
            parent_ws_id: None,
            turns: 0,
        };
        store.create(stored.clone()).await.unwrap();
        let shared = Arc::new(Shared {
            store,
            roster: Arc::new(Roster::new("node".into(), limits).unwrap()),
            limits,
            metrics: Arc::default(),
            stop: CancellationToken::new(),
            #[cfg(feature = "control")]
            faults: Faults::default(),
        });
        let ws = Arc::new(Workstream::load(stored, shared.clone()).unwrap());
        let key = Key { limit: 5, generation: 0 };
        for retry_fails in [false, true] {
            let Flight::Lead(lead) = ws.reads.board(key.clone()) else { panic!("none is open") };
            let joiner = tokio::spawn(ws.clone().history(5));
            let joins = if retry_fails { 2 } else { 1 };
            while shared.metrics.history_joins.get() < joins {
                tokio::task::yield_now().await;
            }
            if retry_fails {
                shared.store.close();
            }
            drop(lead);
            assert_eq!(joiner.await.unwrap().is_err(), retry_fails);
            assert_eq!(shared.metrics.history_loads.get(), joins);
        }
    }
}
