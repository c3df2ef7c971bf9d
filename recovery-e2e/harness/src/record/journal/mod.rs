//! The journal of a run: `journal.jsonl`, one event a line, on disk as soon as it happened.
//!
//! It survives whatever ends the run; every report is rendered from it.

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
        "cannot create the journal {path}: {source}; give --out a folder that can be written and contains no journal"
    )]
    Create {
        /// The journal's path.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The event could not be written.
    #[error(
        "cannot write the journal {path}: {source}; free disk space or give --out another folder, and run again"
    )]
    Write {
        /// The journal's path.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An earlier event could not be written.
    #[error("the journal {path} was closed after an earlier write error; run again")]
    Ended {
        /// The journal's path.
        path: Utf8PathBuf,
    },
    /// The event cannot be written as JSON.
    #[error("cannot write an event as JSON: {0}; this is a bug of recovery-e2e, please report it")]
    Encode(#[from] serde_json::Error),
}

/// The journal of a run, as it is written. All workers share it.
#[derive(Debug)]
pub struct Journal {
    path: Utf8PathBuf,
    redactor: Redactor,
    /// `None` after a failed write: its line may be incomplete, and only a last line may be.
    file: Mutex<Option<File>>,
}

impl Journal {
    /// Creates the journal at `path`, which must not exist yet; `redactor` cleans its texts.
    ///
    /// It appears with its first event in it, so every journal contains its planned cases.
    ///
    /// # Errors
    /// [`AppendError`]; then `path` does not exist.
    pub fn create(
        path: &Utf8Path,
        redactor: Redactor,
        begin: RunStarted,
    ) -> Result<Self, AppendError> {
        let line = line_of(&Event::RunStarted(begin), &redactor)?;
        let refused = |source| AppendError::Create { path: path.to_owned(), source };
        // Appending, so that a file that was truncated meanwhile gets no hole.
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
