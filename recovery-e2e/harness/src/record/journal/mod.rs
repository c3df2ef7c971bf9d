//! The journal of a run: `journal.jsonl`, one event a line, on disk as soon as it happened.
//!
//! It is the only thing that a run writes about itself while it lasts, so it survives whatever
//! ends the run; every report is rendered from it.

mod event;
mod view;

use std::fs::File;
use std::io::{self, Write};
use std::sync::Mutex;

use camino::{Utf8Path, Utf8PathBuf};

pub use event::{
    Case, CaseResult, Event, MAX_SHARDS, Part, Phase, PlanInfo, RunFinished, RunInfo, RunStarted,
    ShardRun, Started, Stop, VERSION,
};
pub use view::{CaseView, JournalError, JournalView, is_journal, read};

use crate::files;
use crate::redact::Redactor;

/// The journal's name in the out folder.
pub const FILE_NAME: &str = "journal.jsonl";

/// Why an event is not in the journal.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The file could not be made.
    #[error(
        "the journal {path} cannot be created: {source}; give an out folder that can be written and holds no journal"
    )]
    Create {
        /// The journal's path.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The event could not be written.
    #[error(
        "the journal {path} cannot be written: {source}; make room or give another out folder, and run again"
    )]
    Write {
        /// The journal's path.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An earlier event could not be written.
    #[error("the journal {path} ended at an earlier failure to write it; run again")]
    Ended {
        /// The journal's path.
        path: Utf8PathBuf,
    },
    /// The event cannot be told in JSON.
    #[error("an event cannot be told in JSON: {0}")]
    Encode(#[from] serde_json::Error),
}

/// The journal of a run, as it is written. Shared by everything that has something to tell.
#[derive(Debug)]
pub struct Journal {
    path: Utf8PathBuf,
    redactor: Redactor,
    /// `None` once a write failed: that line may be torn, and only a last line may be.
    file: Mutex<Option<File>>,
}

impl Journal {
    /// Starts the journal at `path`, where nothing may stand yet; `redactor` cleans its texts.
    ///
    /// It appears with its first event in it: there is no journal that does not tell its cases.
    ///
    /// # Errors
    /// [`AppendError`]; then nothing stands at `path`.
    pub fn create(
        path: &Utf8Path,
        redactor: Redactor,
        begin: RunStarted,
    ) -> Result<Self, AppendError> {
        let line = line_of(&Event::RunStarted(begin), &redactor)?;
        let refused = |source| AppendError::Create { path: path.to_owned(), source };
        // Appending, so that a file that another hand has cut is not continued behind a hole.
        let mut file = files::temporary_beside(path).map_err(refused)?;
        file.write_all(&line).map_err(refused)?;
        let file = file.persist_noclobber(path).map_err(|error| refused(error.error))?;
        Ok(Self { path: path.to_owned(), redactor, file: Mutex::new(Some(file)) })
    }

    /// From now on every event is refused.
    pub fn close(&self) {
        *self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = None;
    }

    /// Writes one event; when this returns, the event outlives the process.
    ///
    /// # Errors
    /// [`AppendError`]; after a failed write every later event is refused.
    pub fn append(&self, event: &Event) -> Result<(), AppendError> {
        let line = line_of(event, &self.redactor)?;
        let mut file = self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some(open) = file.as_mut() else {
            return Err(AppendError::Ended { path: self.path.clone() });
        };
        open.write_all(&line).map_err(|source| {
            *file = None;
            AppendError::Write { path: self.path.clone(), source }
        })
    }
}

fn line_of(event: &Event, redactor: &Redactor) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&files::redacted(event, redactor)?)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
pub(crate) mod tests;
