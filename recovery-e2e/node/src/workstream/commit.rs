//! What a turn commits: each row is stored first and then published, under the journal.

use super::{Begun, Workstream};
use crate::lane::{Ending, Item};
use crate::record::{Call, Part, Row};
use crate::store::StoreError;

/// The result of a call that a crash of the node interrupted, as the model reads it.
const INTERRUPTED: &str =
    "interrupted: the node ended while this call ran; its effects are unknown";

impl Workstream {
    /// Stores the row of an answer that makes calls, so that they may run.
    ///
    /// # Errors
    /// When the store fails; the answer is then not complete, and nothing may run.
    pub async fn begin_calls(
        &self,
        tool_calls: Vec<Call>,
        items: &[Item<'_>],
    ) -> Result<(), StoreError> {
        let _journal = self.journal.lock().await;
        let live = self.lane.live();
        let (row_id, content) = match live {
            Some(live) => (live.row_id, live.text),
            None => (self.lane.name_row(), String::new()),
        };
        let row = Row { content, row_id: row_id.clone(), part: Part::Assistant { tool_calls } };
        self.shared.store.append(&self.ws_id, row).await?;
        self.lane.begin_calls(&row_id, items);
        Ok(())
    }

    /// Stores the row of a call that has ended.
    ///
    /// # Errors
    /// When the store fails; the call is then unanswered.
    pub async fn finish_call(&self, row: Row) -> Result<(), StoreError> {
        let _journal = self.journal.lock().await;
        self.shared.store.append(&self.ws_id, row.clone()).await?;
        self.lane.admit_result(&row);
        Ok(())
    }

    /// Answers the calls that a crash has left unanswered. The caller holds the journal, and is
    /// about to begin a turn: until then panes show them unanswered.
    pub(super) async fn settle(&self) -> Result<(), StoreError> {
        let store = &self.shared.store;
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
    pub async fn end_turn(&self, mut ending: Ending<'_>) -> Option<Begun> {
        let mut journal = self.journal.lock().await;
        if let Some(live) = self.lane.live() {
            let part = Part::Assistant { tool_calls: Vec::new() };
            let row = Row { content: live.text, row_id: live.row_id, part };
            if let Err(error) = self.shared.store.append(&self.ws_id, row).await {
                tracing::error!(ws_id = self.ws_id, %error, "the answer could not be stored");
                ending = Ending::Lost;
            }
        }
        self.lane.end_turn(&ending);
        if let Some(turn) = journal.turn.take() {
            turn.ended.cancel();
        }
        self.next_turn(&mut journal).await
    }
}
