//! The kind of a workstream.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

/// The kind of a workstream, which decides the pane that shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A person talks to it.
    #[default]
    Interactive,
    /// It has others work for it.
    Coordinator,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Interactive => "interactive",
            Self::Coordinator => "coordinator",
        }
    }
}

impl ToSql for Kind {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.name().into())
    }
}

impl FromSql for Kind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "interactive" => Ok(Self::Interactive),
            "coordinator" => Ok(Self::Coordinator),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}
