//! What survives: workstreams, rows, and the answers that a repeated request gets again.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use serde::Serialize;

use crate::cursor::RowId;

/// The version of [`SCHEMA`], in SQLite's `user_version`.
const VERSION: i64 = 1;

/// How long a commit waits for another process that holds the database, such as a backup.
const BUSY: Duration = Duration::from_secs(1);

/// `sends` and `rewinds` outlive the rows they made: a repeated request is the same request even
/// after its rows were cut.
const SCHEMA: &str = "
    CREATE TABLE workstreams (ws_id TEXT PRIMARY KEY, name TEXT NOT NULL, model_url TEXT) STRICT;
    CREATE TABLE rows (
        ws_id TEXT NOT NULL REFERENCES workstreams, place INTEGER NOT NULL, row_id TEXT NOT NULL,
        role TEXT NOT NULL, content TEXT NOT NULL, client_send_id TEXT,
        PRIMARY KEY (ws_id, place), UNIQUE (ws_id, row_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE sends (
        ws_id TEXT NOT NULL REFERENCES workstreams, client_send_id TEXT NOT NULL,
        PRIMARY KEY (ws_id, client_send_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE rewinds (
        ws_id TEXT NOT NULL REFERENCES workstreams, request_id TEXT NOT NULL,
        removed INTEGER NOT NULL,
        PRIMARY KEY (ws_id, request_id)
    ) STRICT, WITHOUT ROWID;
";

/// The store could not do what it was asked; nothing of it was done.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite refused.
    #[error("the database refused: {0}; free disk space, end other programs that hold it, retry")]
    Sqlite(#[from] rusqlite::Error),
    /// The database is of another version of this program.
    #[error(
        "the database has schema version {0}, this node writes {VERSION}; use a node of its version"
    )]
    Version(i64),
    /// The node is stopping.
    #[error("the store is closed because the node is stopping; retry when it is up again")]
    Closed,
}

/// Who wrote a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person.
    User,
    /// The model.
    Assistant,
}

/// One row of a conversation; also a message of a history on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Who wrote it.
    pub role: Role,
    /// Its text.
    pub content: String,
    /// Its name.
    pub row_id: RowId,
    /// The sends that it answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub client_send_ids: Vec<String>,
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
    /// How many user rows it has.
    pub turns: u32,
}

/// The database. Every call runs on a blocking thread and is durable when it answers.
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
                "INSERT INTO workstreams (ws_id, name, model_url) VALUES (?1, ?2, ?3)",
                params![ws.ws_id, ws.name, ws.model_url],
            )
            .map(drop)
        })
        .await
    }

    /// Every workstream, by name.
    pub async fn all(&self) -> Result<Vec<Stored>, StoreError> {
        self.read(|tx| {
            let mut query = tx.prepare(&format!("{WORKSTREAM} ORDER BY name, ws_id"))?;
            query.query_map([], read_workstream)?.collect()
        })
        .await
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read(|tx| tx.prepare("SELECT 1 FROM workstreams")?.exists([]).map(drop)).await
    }

    /// The workstream of this id.
    pub async fn find(&self, ws_id: &str) -> Result<Option<Stored>, StoreError> {
        let ws_id = ws_id.to_owned();
        self.read(move |tx| {
            tx.query_row(&format!("{WORKSTREAM} WHERE ws_id = ?1"), [ws_id], read_workstream)
                .optional()
        })
        .await
    }

    /// The newest rows, at most `limit`, the oldest of them first.
    pub async fn rows(&self, ws_id: &str, limit: u32) -> Result<Vec<Row>, StoreError> {
        let ws_id = ws_id.to_owned();
        self.read(move |tx| {
            let mut query = tx.prepare(
                "SELECT role, content, row_id, client_send_id FROM rows
                 WHERE ws_id = ?1 ORDER BY place DESC LIMIT ?2",
            )?;
            let mut rows: Vec<Row> =
                query.query_map(params![ws_id, limit], read_row)?.collect::<Result<_, _>>()?;
            rows.reverse();
            Ok(rows)
        })
        .await
    }

    /// Whether this send was accepted before.
    pub async fn knows_send(&self, ws_id: &str, send: &str) -> Result<bool, StoreError> {
        let (ws_id, send) = (ws_id.to_owned(), send.to_owned());
        self.read(move |tx| {
            tx.prepare("SELECT 1 FROM sends WHERE ws_id = ?1 AND client_send_id = ?2")?
                .exists([ws_id, send])
        })
        .await
    }

    /// Appends a row and records the sends that it answers; a send recorded before is refused.
    pub async fn append(&self, ws_id: &str, row: Row) -> Result<(), StoreError> {
        let ws_id = ws_id.to_owned();
        self.write(move |tx| {
            let send = row.client_send_ids.first();
            if let Some(send) = send {
                tx.execute("INSERT INTO sends VALUES (?1, ?2)", params![ws_id, send])?;
            }
            tx.execute(
                "INSERT INTO rows (ws_id, place, row_id, role, content, client_send_id)
                 SELECT ?1, coalesce(max(place), 0) + 1, ?2, ?3, ?4, ?5 FROM rows WHERE ws_id = ?1",
                params![ws_id, row.row_id.as_str(), row.role.stored(), row.content, send],
            )
            .map(drop)
        })
        .await
    }

    /// What an earlier rewind of this request removed.
    pub async fn rewound(&self, ws_id: &str, request: &str) -> Result<Option<u32>, StoreError> {
        let (ws_id, request) = (ws_id.to_owned(), request.to_owned());
        self.read(move |tx| {
            let query = "SELECT removed FROM rewinds WHERE ws_id = ?1 AND request_id = ?2";
            tx.query_row(query, [ws_id, request], |row| row.get(0)).optional()
        })
        .await
    }

    /// Cuts the last `turns` user turns, or all there are, and records the request; answers how
    /// many user turns that were.
    pub async fn rewind(
        &self,
        ws_id: &str,
        turns: u64,
        request: Option<String>,
    ) -> Result<u32, StoreError> {
        let ws_id = ws_id.to_owned();
        // More than SQLite can count is more than there are.
        let turns = i64::try_from(turns).unwrap_or(i64::MAX);
        self.write(move |tx| {
            let (removed, from): (u32, Option<i64>) = tx.query_row(
                "SELECT count(*), min(place) FROM (SELECT place FROM rows
                 WHERE ws_id = ?1 AND role = 'user' ORDER BY place DESC LIMIT ?2)",
                params![ws_id, turns],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            tx.execute("DELETE FROM rows WHERE ws_id = ?1 AND place >= ?2", params![ws_id, from])?;
            if let Some(request) = request {
                tx.execute(
                    "INSERT INTO rewinds VALUES (?1, ?2, ?3)",
                    params![ws_id, request, removed],
                )?;
            }
            Ok(removed)
        })
        .await
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(TransactionBehavior::Deferred, work).await
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(TransactionBehavior::Immediate, work).await
    }

    /// Runs `work` in one transaction. It is committed also when the caller goes away meanwhile.
    async fn run<T: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
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

const WORKSTREAM: &str = "SELECT ws_id, name, model_url,
    (SELECT count(*) FROM rows WHERE rows.ws_id = workstreams.ws_id AND role = 'user')
    FROM workstreams";

fn read_workstream(row: &rusqlite::Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored { ws_id: row.get(0)?, name: row.get(1)?, model_url: row.get(2)?, turns: row.get(3)? })
}

fn read_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let role: String = row.get(0)?;
    Ok(Row {
        role: if role == Role::User.stored() { Role::User } else { Role::Assistant },
        content: row.get(1)?,
        row_id: RowId::stored(row.get(2)?),
        client_send_ids: row.get::<_, Option<String>>(3)?.into_iter().collect(),
    })
}

impl Role {
    fn stored(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

#[cfg(test)]
mod tests;
