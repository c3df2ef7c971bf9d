//! The reports of a run, all rendered from its journal alone.

mod github;
mod headline;
mod html;
mod junit;
pub mod live;
mod markdown;
mod paths;
mod summary;
pub mod terminal;
mod text;
mod trouble;
mod verdict_file;

use std::{env, io};

use camino::{Utf8Path, Utf8PathBuf};

pub use summary::{Counts, SUMMARY_VERSION, ShardTimes, Summary, exit_code};
pub use trouble::Trouble;
pub use verdict_file::{
    Conditions, SavedVerdict, VERDICT_FILE, VERDICT_VERSION, VerdictFileError, read_verdict_file,
    write_verdict_file,
};

use crate::files;
use crate::record::journal::{self, JournalError};

/// The JUnit report's name in the out folder.
pub const JUNIT_FILE: &str = "junit.xml";

/// The summary's name in the out folder.
pub const SUMMARY_FILE: &str = "summary.json";

/// The name in the out folder of the page for a CI's job summary.
pub const MARKDOWN_FILE: &str = "summary.md";

/// The name in the out folder of the page for a person.
pub const HTML_FILE: &str = "report.html";

/// Why a report is not there.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The path of the output folder cannot be resolved.
    #[error("cannot resolve the path of {out}: {source}; run in a folder that exists")]
    Place {
        /// The out folder.
        out: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The JUnit report cannot be rendered.
    #[error("cannot render the JUnit report: {0}; this is a bug of recovery-e2e, please report it")]
    Junit(#[from] junit_report::Error),
    /// A report cannot be written as JSON.
    #[error("cannot write a report as JSON: {0}; this is a bug of recovery-e2e, please report it")]
    Encode(#[from] serde_json::Error),
    /// A report cannot be written.
    #[error(
        "cannot write the report {path}: {source}; free disk space, or give --out another folder"
    )]
    Write {
        /// The report's path.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Reads the journal in `out` and writes [`JUNIT_FILE`], [`SUMMARY_FILE`], [`MARKDOWN_FILE`] and
/// [`HTML_FILE`] beside it, each whole or not at all.
///
/// # Errors
/// [`ReportError`]; a run whose reports are not there has failed.
pub fn write_all(out: &Utf8Path) -> Result<Summary, ReportError> {
    let view = journal::read(&out.join(journal::FILE_NAME))?;
    let place =
        paths::place(out).map_err(|source| ReportError::Place { out: out.to_owned(), source })?;
    let summary = Summary::new(view, &place);
    write(&out.join(JUNIT_FILE), &junit::render(&summary)?)?;
    write(&out.join(SUMMARY_FILE), &serde_json::to_vec_pretty(&summary)?)?;
    write(&out.join(MARKDOWN_FILE), markdown::render(&summary).as_bytes())?;
    write(&out.join(HTML_FILE), html::page(out, &place, &summary).as_bytes())?;
    Ok(summary)
}

/// Prints how the run ended, also for GitHub where it runs there, and returns the exit code.
///
/// # Errors
/// When the job summary that GitHub names cannot be written.
pub fn publish(summary: &Summary, out: &Utf8Path) -> Result<u8, ReportError> {
    if env::var("GITHUB_ACTIONS").is_ok_and(|set| set == "true") {
        for annotation in github::annotations(summary) {
            println!("{annotation}");
        }
    }
    if let Some(path) = env::var("GITHUB_STEP_SUMMARY").ok().filter(|path| !path.is_empty()) {
        let path = Utf8PathBuf::from(path);
        github::append_to_job_summary(&path, &markdown::render(summary))
            .map_err(|source| ReportError::Write { path, source })?;
    }
    println!("{}", terminal::end(summary, out));
    Ok(exit_code(summary))
}

fn write(path: &Utf8Path, content: &[u8]) -> Result<(), ReportError> {
    files::write_whole(path, content)
        .map_err(|source| ReportError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests;
