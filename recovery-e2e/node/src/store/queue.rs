//! Sends: deduplicated by their id, and queued until their turn.

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::{Store, StoreError, rows};
use crate::record::{Row, RowId};

/// The state of a send when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It was never seen.
    New {
        /// Earlier sends still wait.
        behind_others: bool,
    },
    /// It came before and waits for its turn.
    Waiting,
    /// It came before and had its turn.
    Taken,
}

impl Store {
    /// The state of a send; one without an id is always new.
    pub async fn arrival(&self, ws_id: &str, send: Option<&str>) -> Result<Arrival, StoreError> {
        let (ws_id, send) = (ws_id.to_owned(), send.map(str::to_owned));
        self.read(move |tx| {
            let known = tx
                .prepare("SELECT 1 FROM sends WHERE ws_id = ?1 AND client_send_id = ?2")?
                .exists(params![ws_id, send])?;
            if !known {
                return Ok(Arrival::New { behind_others: any_waits(tx, &ws_id)? });
            }
            let waits = tx
                .prepare("SELECT 1 FROM queue WHERE ws_id = ?1 AND client_send_id = ?2")?
                .exists(params![ws_id, send])?;
            Ok(if waits { Arrival::Waiting } else { Arrival::Taken })
        })
        .await
    }

    /// Whether a message waits for its turn.
    pub async fn waits(&self, ws_id: &str) -> Result<bool, StoreError> {
        let ws_id = ws_id.to_owned();
        self.read(move |tx| any_waits(tx, &ws_id)).await
    }

    /// Keeps a message until its turn; a send recorded before is refused.
    pub async fn enqueue(
        &self,
        ws_id: &str,
        message: String,
        send: Option<String>,
    ) -> Result<(), StoreError> {
        let ws_id = ws_id.to_owned();
        self.write(move |tx| {
            super::must_exist(tx, &ws_id)?;
            if let Some(send) = &send {
                record_send(tx, &ws_id, send)?;
            }
            tx.execute(
                "INSERT INTO queue SELECT ?1, coalesce(max(place), 0) + 1, ?2, ?3
                 FROM queue WHERE ws_id = ?1",
                params![ws_id, message, send],
            )?;
            Ok(())
        })
        .await
    }

    /// Makes the message that waits longest a row of this name, in one step; none if none waits.
    pub async fn take_up(&self, ws_id: &str, row_id: RowId) -> Result<Option<Row>, StoreError> {
        let ws_id = ws_id.to_owned();
        self.write(move |tx| {
            let next = tx
                .query_row(
                    "DELETE FROM queue WHERE ws_id = ?1
                     AND place = (SELECT min(place) FROM queue WHERE ws_id = ?1)
                     RETURNING message, client_send_id",
                    [&ws_id],
                    |next| Ok(Row::user(next.get(0)?, row_id, next.get(1)?)),
                )
                .optional()?;
            if let Some(row) = &next {
                rows::insert(tx, &ws_id, row)?;
            }
            Ok(next)
        })
        .await
    }
}

fn any_waits(tx: &Transaction<'_>, ws_id: &str) -> Result<bool, StoreError> {
    Ok(tx.prepare("SELECT 1 FROM queue WHERE ws_id = ?1")?.exists([ws_id])?)
}

/// Records a send; one that was recorded before is refused.
pub(super) fn record_send(tx: &Transaction<'_>, ws_id: &str, send: &str) -> Result<(), StoreError> {
    tx.execute("INSERT INTO sends VALUES (?1, ?2)", [ws_id, send])?;
    Ok(())
}
