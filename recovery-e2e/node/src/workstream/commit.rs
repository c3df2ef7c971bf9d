//! What a turn commits: each row is stored first and then published, under the journal.

use std::sync::Arc;

use super::Workstream;
use crate::event::Item;
use crate::lane::Ending;
use crate::node::Node;
use crate::row::{Part, Row};
use crate::store::{Store, StoreError};
use crate::tool::Planned;
use crate::turn::TurnError;

/// What the model is told of a call that the node's death has cut short.
const INTERRUPTED: &str = "interrupted: the node ended while this ran; what it did is not known";

impl Workstream {
    /// Stores the row of an answer that makes calls, so that they may run.
    ///
    /// # Errors
    /// When the store fails; the answer is then not complete, and nothing may run.
    pub async fn begin_calls(&self, store: &Store, planned: &[Planned]) -> Result<(), StoreError> {
        let _journal = self.journal.lock().await;
        let live = self.lane.live();
        let (row_id, content) = match live {
            Some(live) => (live.row_id, live.text),
            None => (self.lane.name_row(), String::new()),
        };
        let tool_calls = planned.iter().map(|planned| planned.call.clone()).collect();
        let row = Row { content, row_id: row_id.clone(), part: Part::Assistant { tool_calls } };
        store.append(&self.ws_id, row).await?;
        let items: Vec<Item<'_>> = planned.iter().map(Planned::item).collect();
        self.lane.begin_calls(&row_id, &items);
        Ok(())
    }

    /// Stores the row of a call that has ended.
    ///
    /// # Errors
    /// When the store fails; the call is then unanswered.
    pub async fn finish_call(&self, store: &Store, row: Row) -> Result<(), StoreError> {
        let _journal = self.journal.lock().await;
        store.append(&self.ws_id, row.clone()).await?;
        self.lane.admit_result(&row);
        Ok(())
    }

    /// Answers the calls that a crash has left unanswered. The caller holds the journal, and is
    /// about to begin a turn: until then a person sees them as they were left.
    pub(super) async fn settle(&self, store: &Store) -> Result<(), StoreError> {
        for call in store.unanswered(&self.ws_id).await? {
            let part = Part::Tool {
                tool_call_id: call.id,
                name: call.name,
                is_error: true,
                agent_steps: Vec::new(),
            };
            let row = Row { content: INTERRUPTED.to_owned(), row_id: self.lane.name_row(), part };
            store.append(&self.ws_id, row.clone()).await?;
            self.lane.admit_result(&row);
        }
        Ok(())
    }

    /// Stores what streamed, ends the turn, and begins the next one if a message waits.
    pub async fn end_turn(self: &Arc<Self>, node: &Arc<Node>, ended: Result<(), TurnError>) {
        let mut journal = self.journal.lock().await;
        let message = ended.as_ref().err().map(ToString::to_string);
        let mut ending = match &ended {
            Err(TurnError::Cancelled) => Ending::Cancelled,
            Err(TurnError::ResultLost(_)) => Ending::Lost,
            _ => message.as_deref().map_or(Ending::Stored, Ending::Failed),
        };
        if let Some(live) = self.lane.live() {
            let part = Part::Assistant { tool_calls: Vec::new() };
            let row = Row { content: live.text, row_id: live.row_id, part };
            if let Err(error) = node.store.append(&self.ws_id, row).await {
                tracing::error!(ws_id = self.ws_id, %error, "the answer is lost");
                ending = Ending::Lost;
            }
        }
        self.lane.end_turn(&ending);
        if let Some(turn) = journal.turn.take() {
            turn.ended.cancel();
        }
        self.next_turn(node, &mut journal).await;
    }
}
