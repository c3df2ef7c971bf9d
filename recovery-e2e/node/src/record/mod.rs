//! What every other room speaks of: rows, and the ids of rows and events. Nothing here does I/O.

mod cursor;
mod kind;
mod row;

pub use cursor::{Cursor, Epoch, EventId, HandoffToken, RowId};
pub use kind::Kind;
pub use row::{Call, Part, Row, Step, unanswered};

/// Helpers for the tests of other rooms.
#[cfg(test)]
pub mod tests {
    pub use super::cursor::tests::epoch;
    pub use super::row::tests::{calls, result};
}
