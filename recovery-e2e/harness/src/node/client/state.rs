//! What a pane shows at one moment.

use std::fmt::{self, Display, Formatter};

use serde::Deserialize;

/// What a pane showed at one moment, in the terms that both kinds of pane share.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaneState {
    /// User rows that are painted.
    pub rows: u64,
    /// Whether it shows that there are no rows.
    pub empty: bool,
    /// Whether a turn runs, or a message was sent whose turn has not been seen.
    pub busy: bool,
    /// Whether its event source is open.
    pub open: bool,
    /// Whether it has no event source.
    pub offline: bool,
    /// Whether its rows are out of date, and are being fetched.
    pub catching_up: bool,
    /// Whether its rows are out of date, nothing is being fetched, and no turn runs.
    pub stale: bool,
    /// Whether it knows of nothing that it lacks.
    pub current: bool,
    /// Whether a failed refetch will be tried again.
    pub refetch_failed: bool,
    /// Events that are kept back until a refetch ends; none when there is no refetch.
    pub queued: Option<u64>,
    /// The id that its next connection resumes from.
    pub cursor: Option<String>,
}

impl Display for PaneState {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let PaneState { rows, queued, cursor, .. } = self;
        let flags = [
            (self.empty, "empty"),
            (self.busy, "busy"),
            (self.open, "connected"),
            (self.offline, "without a connection"),
            (self.catching_up, "catching up"),
            (self.stale, "stale"),
            (self.current, "current"),
            (self.refetch_failed, "retry to come"),
        ];
        write!(f, "{rows} rows")?;
        for (_, name) in flags.into_iter().filter(|(set, _)| *set) {
            write!(f, ", {name}")?;
        }
        if let Some(queued) = queued {
            write!(f, ", {queued} events kept back")?;
        }
        write!(f, ", cursor {}", cursor.as_deref().unwrap_or("none"))
    }
}
