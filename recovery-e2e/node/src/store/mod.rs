//! The durable state in SQLite: workstreams, rows, queued messages, and the requests that must
//! not be done twice.

mod queue;
mod rows;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use crate::record::Kind;
pub use queue::Arrival;
#[cfg(test)]
pub use rows::Cut;

/// The version of [`SCHEMA`], in SQLite's `user_version`.
const VERSION: i64 = 3;

/// How long a commit waits for another process that holds the database, such as a backup.
const BUSY: Duration = Duration::from_secs(1);

/// `sends` and `rewinds` outlive the rows they made: a repeated request is the same request even
/// after its rows were cut. `part` is the JSON of a row's [`Part`](crate::record::Part).
const SCHEMA: &str = "
    CREATE TABLE workstreams (
        ws_id TEXT PRIMARY KEY, name TEXT NOT NULL, model_url TEXT, kind TEXT NOT NULL,
        parent_ws_id TEXT
    ) STRICT;
    CREATE INDEX children ON workstreams (parent_ws_id);
    CREATE TABLE rows (
        ws_id TEXT NOT NULL REFERENCES workstreams ON DELETE CASCADE, place INTEGER NOT NULL,
        row_id TEXT NOT NULL, content TEXT NOT NULL, part TEXT NOT NULL,
        role TEXT NOT NULL AS (part ->> '$.role') STORED,
        PRIMARY KEY (ws_id, place), UNIQUE (ws_id, row_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE queue (
        ws_id TEXT NOT NULL REFERENCES workstreams ON DELETE CASCADE, place INTEGER NOT NULL,
        message TEXT NOT NULL, client_send_id TEXT,
        PRIMARY KEY (ws_id, place)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE sends (
        ws_id TEXT NOT NULL REFERENCES workstreams ON DELETE CASCADE, client_send_id TEXT NOT NULL,
        PRIMARY KEY (ws_id, client_send_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE rewinds (
        ws_id TEXT NOT NULL REFERENCES workstreams ON DELETE CASCADE, request_id TEXT NOT NULL,
        removed INTEGER NOT NULL,
        PRIMARY KEY (ws_id, request_id)
    ) STRICT, WITHOUT ROWID;
";

/// An operation of the store failed; nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite failed.
    #[error("the database failed: {0}; free disk space, close other programs that use it, retry")]
    Sqlite(#[from] rusqlite::Error),
    /// The database is of another version of this program.
    #[error(
        "the database has schema version {0}, this node needs {VERSION}; use the node that wrote it, \
         or another data folder"
    )]
    Version(i64),
    /// The workstream was deleted.
    #[error("the workstream is deleted, so nothing can be stored in it; create another")]
    Gone,
    /// Another row has the id.
    #[error("another row with this id is stored already; this is a bug in the node, report it")]
    RowTaken,
    /// A stored row cannot be read.
    #[error("a stored row cannot be parsed: {0}; restore the database from a backup")]
    Unreadable(#[from] serde_json::Error),
    /// The node is stopping.
    #[error("the store is closed because the node is stopping; retry when the node runs again")]
    Closed,
}

/// A workstream as it is stored.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its id.
    pub ws_id: String,
    /// Its name.
    pub name: String,
    /// The base URL of its model, if it has one of its own.
    pub model_url: Option<String>,
    /// Its kind.
    pub kind: Kind,
    /// The workstream that it works for, also after that was deleted.
    pub parent_ws_id: Option<String>,
    /// How many user rows it has.
    pub turns: u32,
}

/// The database. Every call runs on a blocking thread, and is durable when it returns.
#[derive(Clone, Debug)]
pub struct Store(Arc<Mutex<Option<Connection>>>);

impl Store {
    /// Opens the database, or makes one.
    ///
    /// # Errors
    /// When SQLite refuses, or the database is of another version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut conn = Connection::open(path)?;
        conn.busy_timeout(BUSY)?;
        conn.pragma_update(None, "journal_mode", "WAL")?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.pragma_update(None, "foreign_keys", "ON")?;
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        match tx.query_row("PRAGMA user_version", [], |row| row.get(0))? {
            VERSION => {}
            0 => {
                tx.execute_batch(SCHEMA)?;
                tx.pragma_update(None, "user_version", VERSION)?;
            }
            other => return Err(StoreError::Version(other)),
        }
        tx.commit()?;
        Ok(Self(Arc::new(Mutex::new(Some(conn)))))
    }

    /// Closes the database; every later call answers [`StoreError::Closed`].
    pub fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Stores a new workstream.
    pub async fn create(&self, ws: Stored) -> Result<(), StoreError> {
        self.write(move |tx| {
            tx.execute(
                "INSERT INTO workstreams (ws_id, name, model_url, kind, parent_ws_id)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![ws.ws_id, ws.name, ws.model_url, ws.kind, ws.parent_ws_id],
            )?;
            Ok(())
        })
        .await
    }

    /// Every workstream, by name.
    pub async fn all(&self) -> Result<Vec<Stored>, StoreError> {
        self.read(|tx| {
            let mut query = tx.prepare(&format!("{WORKSTREAM} ORDER BY name, ws_id"))?;
            Ok(query.query_map([], read_workstream)?.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// The workstreams that work for this one, by name.
    pub async fn children(&self, ws_id: &str) -> Result<Vec<Stored>, StoreError> {
        let ws_id = ws_id.to_owned();
        self.read(move |tx| {
            let query = format!("{WORKSTREAM} WHERE parent_ws_id = ?1 ORDER BY name, ws_id");
            Ok(tx
                .prepare(&query)?
                .query_map([ws_id], read_workstream)?
                .collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read(|tx| Ok(tx.prepare("SELECT 1 FROM workstreams")?.exists([]).map(drop)?)).await
    }

    /// The workstream of this id.
    pub async fn find(&self, ws_id: &str) -> Result<Option<Stored>, StoreError> {
        let ws_id = ws_id.to_owned();
        self.read(move |tx| {
            let query = format!("{WORKSTREAM} WHERE ws_id = ?1");
            Ok(tx.query_row(&query, [ws_id], read_workstream).optional()?)
        })
        .await
    }

    /// Deletes a workstream and all that is stored of it; answers whether there was one.
    pub async fn delete(&self, ws_id: &str) -> Result<bool, StoreError> {
        let ws_id = ws_id.to_owned();
        self.write(move |tx| {
            Ok(tx.execute("DELETE FROM workstreams WHERE ws_id = ?1", [ws_id])? > 0)
        })
        .await
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(TransactionBehavior::Deferred, work).await
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(TransactionBehavior::Immediate, work).await
    }

    /// Runs `work` in one transaction. It is committed also when the caller goes away meanwhile.
    async fn run<T: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.0.clone();
        let run = move || {
            let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
            let conn = store.as_mut().ok_or(StoreError::Closed)?;
            let tx = conn.transaction_with_behavior(behavior)?;
            let answer = work(&tx)?;
            tx.commit()?;
            Ok(answer)
        };
        // The runtime refuses blocking work only while it shuts down.
        tokio::task::spawn_blocking(run).await.unwrap_or(Err(StoreError::Closed))
    }
}

const WORKSTREAM: &str = "SELECT ws_id, name, model_url, kind, parent_ws_id,
    (SELECT count(*) FROM rows WHERE rows.ws_id = workstreams.ws_id AND role = 'user')
    FROM workstreams";

fn read_workstream(row: &rusqlite::Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        ws_id: row.get(0)?,
        name: row.get(1)?,
        model_url: row.get(2)?,
        kind: row.get(3)?,
        parent_ws_id: row.get(4)?,
        turns: row.get(5)?,
    })
}

/// A commit against a deleted workstream is refused, also where it would store nothing new.
fn must_exist(tx: &Transaction<'_>, ws_id: &str) -> Result<(), StoreError> {
    let found = tx.prepare("SELECT 1 FROM workstreams WHERE ws_id = ?1")?.exists([ws_id])?;
    if found { Ok(()) } else { Err(StoreError::Gone) }
}

#[cfg(test)]
mod tests;
