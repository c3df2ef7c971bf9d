//! The coordinator pane, as a scenario sees it: by what stands on the page, for its state is its own.

use std::fmt::{Display, Formatter, Result};

use serde::Deserialize;

use super::pane::{Mounted, Sight};
use super::told;

/// The coordinator pane.
pub type Coord = Mounted<Shown>;

/// What stood on the page of a coordinator at one moment.
#[derive(Debug, Deserialize)]
pub struct Shown {
    /// User rows that are painted.
    pub rows: u64,
    /// What the status bar says of the stream.
    pub stream: String,
    /// Whether the status bar is dimmed, for want of a connection.
    pub dim: bool,
    /// Whether a turn runs.
    pub busy: bool,
    /// Batches of calls that are shown as running.
    pub running: u64,
    /// The id that its newest stream has brought last or, before the first, was asked to go on from.
    pub cursor: Option<String>,
}

impl Display for Shown {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Shown { rows, stream, dim, busy, running, cursor } = self;
        write!(
            f,
            "rows {rows}, stream {stream}, dim {dim}, busy {busy}, running {running}, \
             cursor {}",
            told::or_none(cursor.as_ref())
        )
    }
}

impl Sight for Shown {
    const PAGE: &str = "/coord-recovery";
    const REFETCH_FAILED: &str = "s.stream === 'stale'";

    fn rows(&self) -> u64 {
        self.rows
    }

    fn is_offline(&self) -> bool {
        self.dim
    }

    fn is_catching_up(&self) -> bool {
        self.stream == "catching-up"
    }

    fn is_stale(&self) -> bool {
        self.stream == "stale" && !self.busy
    }

    fn is_current(&self) -> bool {
        self.stream == "live"
    }
}
