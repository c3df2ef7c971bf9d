//! A history: a snapshot of the rows, with the token that proves it.
//!
//! Panes that refetch all at once are answered by one read. Rows that a rewind cut must never
//! reach a pane that asks after the cut, so a read is shared only within one generation.

use std::sync::Arc;

use crate::cursor::HandoffToken;
use crate::flight::{Flight, Flights};
use crate::node::Node;
use crate::row::Row;
use crate::store::StoreError;
use crate::workstream::Workstream;

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
    pub async fn history(
        self: Arc<Self>,
        node: Arc<Node>,
        limit: u32,
    ) -> Result<Arc<History>, StoreError> {
        let generation = self.lane.generation();
        #[cfg(feature = "control")]
        let generation = node.faults.flight_generation(generation);
        match self.reads.board(Key { limit, generation }) {
            Flight::Lead(lead) => {
                let history = self.read(&node, limit).await?;
                lead.land(history.clone());
                Ok(history)
            }
            Flight::Join(joined) => {
                node.metrics.history_joins.count();
                match joined.await {
                    Ok(history) => Ok(history),
                    // The failure may have been the other's alone; but one retry each is all.
                    Err(_) => self.read(&node, limit).await,
                }
            }
        }
    }

    async fn read(&self, node: &Node, limit: u32) -> Result<Arc<History>, StoreError> {
        let journal = self.journal.lock().await;
        node.metrics.history_loads.count();
        let rows = node.store.rows(&self.ws_id, limit).await?;
        let token = self.lane.token();
        drop(journal);
        #[cfg(feature = "control")]
        node.faults.park(&node.stop).await;
        Ok(Arc::new(History { rows, token }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::tests::{TestNode, node, plan};

    #[tokio::test]
    async fn a_joiner_of_a_failed_read_retries_once_alone() {
        let TestNode { node, _folder } = node();
        let ws = node.create(plan("a")).await.unwrap();
        let key = Key { limit: 5, generation: 0 };
        for retry_fails in [false, true] {
            let Flight::Lead(lead) = ws.reads.board(key.clone()) else { panic!("none is open") };
            let joiner = tokio::spawn(ws.clone().history(node.clone(), 5));
            let joins = if retry_fails { 2 } else { 1 };
            while node.metrics.history_joins.get() < joins {
                tokio::task::yield_now().await;
            }
            if retry_fails {
                node.store.close();
            }
            drop(lead);
            assert_eq!(joiner.await.unwrap().is_err(), retry_fails);
            assert_eq!(node.metrics.history_loads.get(), joins);
        }
    }
}
