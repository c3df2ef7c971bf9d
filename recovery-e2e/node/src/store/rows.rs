//! Rows: appended, read and cut.

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::{Store, StoreError};
use crate::record::{Call, Part, Row, RowId, unanswered};

/// What a rewind has removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Turns, as a person counts them.
    pub turns: u32,
    /// User rows: one less where a turn that never ended was taken back to its user row.
    pub user_rows: u32,
}

impl Store {
    /// The newest rows, at most `limit`, the oldest of them first.
    pub async fn rows(&self, ws_id: &str, limit: u32) -> Result<Vec<Row>, StoreError> {
        let ws_id = ws_id.to_owned();
        self.read(move |tx| {
            let mut query = tx.prepare(
                "SELECT row_id, content, part FROM rows
                 WHERE ws_id = ?1 ORDER BY place DESC LIMIT ?2",
            )?;
            let mut found = query.query(params![ws_id, limit])?;
            let mut rows = Vec::new();
            while let Some(row) = found.next()? {
                rows.push(Row {
                    row_id: RowId::stored(row.get(0)?),
                    content: row.get(1)?,
                    part: serde_json::from_str(row.get_ref(2)?.as_str().map_err(from_sql)?)?,
                });
            }
            rows.reverse();
            Ok(rows)
        })
        .await
    }

    /// Appends a row and records the sends that it answers; a send recorded before is refused.
    /// To append the same row again changes nothing.
    pub async fn append(&self, ws_id: &str, row: Row) -> Result<(), StoreError> {
        let ws_id = ws_id.to_owned();
        self.write(move |tx| {
            if insert(tx, &ws_id, &row)? == Inserted::Now {
                for send in row.part.client_send_ids() {
                    super::queue::record_send(tx, &ws_id, send)?;
                }
            }
            Ok(())
        })
        .await
    }

    /// The calls that the last turn has left without an answer.
    pub async fn unanswered(&self, ws_id: &str) -> Result<Vec<Call>, StoreError> {
        let ws_id = ws_id.to_owned();
        self.read(move |tx| Ok(left_open(tx, &ws_id)?.1)).await
    }

    /// What an earlier rewind of this request removed.
    pub async fn rewound(&self, ws_id: &str, request: &str) -> Result<Option<u32>, StoreError> {
        let (ws_id, request) = (ws_id.to_owned(), request.to_owned());
        self.read(move |tx| {
            let query = "SELECT removed FROM rewinds WHERE ws_id = ?1 AND request_id = ?2";
            Ok(tx.query_row(query, [ws_id, request], |row| row.get(0)).optional()?)
        })
        .await
    }

    /// Cuts the last `turns` user turns, or all there are, and records the request. One turn that
    /// a crash has left with unanswered calls is cut back to its user row.
    pub async fn rewind(
        &self,
        ws_id: &str,
        turns: u64,
        request: Option<String>,
    ) -> Result<Cut, StoreError> {
        let ws_id = ws_id.to_owned();
        // More than SQLite can count is more than there are.
        let turns = i64::try_from(turns).unwrap_or(i64::MAX);
        self.write(move |tx| {
            let (last_user_row, open) = left_open(tx, &ws_id)?;
            let (cut, from) = if turns == 1 && !open.is_empty() {
                (Cut { turns: 1, user_rows: 0 }, Some(last_user_row + 1))
            } else {
                let (user_rows, from): (u32, Option<i64>) = tx.query_row(
                    "SELECT count(*), min(place) FROM (SELECT place FROM rows
                     WHERE ws_id = ?1 AND role = 'user' ORDER BY place DESC LIMIT ?2)",
                    params![ws_id, turns],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )?;
                (Cut { turns: user_rows, user_rows }, from)
            };
            tx.execute("DELETE FROM rows WHERE ws_id = ?1 AND place >= ?2", params![ws_id, from])?;
            if let Some(request) = request {
                let answer = params![ws_id, request, cut.turns];
                tx.execute("INSERT INTO rewinds VALUES (?1, ?2, ?3)", answer)?;
            }
            Ok(cut)
        })
        .await
    }
}

#[derive(PartialEq, Eq)]
pub(super) enum Inserted {
    Now,
    Before,
}

/// Inserts a row behind the others, unless it is stored already.
pub(super) fn insert(tx: &Transaction<'_>, ws_id: &str, row: &Row) -> Result<Inserted, StoreError> {
    let part = serde_json::to_string(&row.part)?;
    let stored = tx
        .query_row(
            "SELECT content, part FROM rows WHERE ws_id = ?1 AND row_id = ?2",
            [ws_id, row.row_id.as_str()],
            |stored| Ok((stored.get::<_, String>(0)?, stored.get::<_, String>(1)?)),
        )
        .optional()?;
    match stored {
        Some((content, stored)) if content == row.content && stored == part => {
            return Ok(Inserted::Before);
        }
        Some(_) => return Err(StoreError::RowTaken),
        None => {}
    }
    super::must_exist(tx, ws_id)?;
    tx.execute(
        "INSERT INTO rows (ws_id, place, row_id, content, part)
         SELECT ?1, coalesce(max(place), 0) + 1, ?2, ?3, ?4 FROM rows WHERE ws_id = ?1",
        params![ws_id, row.row_id.as_str(), row.content, part],
    )?;
    Ok(Inserted::Now)
}

/// The place of the last user row, and the calls after it that have no answer.
fn left_open(tx: &Transaction<'_>, ws_id: &str) -> Result<(i64, Vec<Call>), StoreError> {
    let last_user_row: i64 = tx.query_row(
        "SELECT coalesce(max(place), 0) FROM rows WHERE ws_id = ?1 AND role = 'user'",
        [ws_id],
        |row| row.get(0),
    )?;
    let mut query =
        tx.prepare("SELECT part FROM rows WHERE ws_id = ?1 AND place > ?2 ORDER BY place")?;
    let mut found = query.query(params![ws_id, last_user_row])?;
    let mut parts: Vec<Part> = Vec::new();
    while let Some(row) = found.next()? {
        parts.push(serde_json::from_str(row.get_ref(0)?.as_str().map_err(from_sql)?)?);
    }
    Ok((last_user_row, unanswered(&parts).into_iter().cloned().collect()))
}

fn from_sql(error: rusqlite::types::FromSqlError) -> rusqlite::Error {
    error.into()
}
