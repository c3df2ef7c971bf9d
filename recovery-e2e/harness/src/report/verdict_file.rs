//! `verdict.json`: the verdict of a case, beside its screenshots and its trace.

use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::{ReportError, write};
use crate::files;
use crate::record::journal::{Case, CaseResult};
use crate::record::settings::BrowserInfo;
use crate::record::settings::DefectEdit;
use crate::record::settings::Isolation;
use crate::record::settings::PageSettings;
use crate::redact::Redactor;

/// The file's name in the folder of the case.
pub const VERDICT_FILE: &str = "verdict.json";

/// The version of the file's format.
pub const VERDICT_VERSION: u32 = 1;

/// What a verdict depends on besides its case and the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// The browser.
    pub browser: BrowserInfo,
    /// What the case had to itself of the browser.
    #[serde(default)]
    pub isolation: Isolation,
    /// How its page was set up.
    pub page: PageSettings,
    /// The defect that a user had put into the client.
    #[serde(default)]
    pub defect: Vec<DefectEdit>,
}

#[derive(Serialize)]
struct VerdictFile<'a> {
    v: u32,
    case: &'a Case,
    result: &'a CaseResult,
    #[serde(flatten)]
    conditions: &'a Conditions,
}

/// Writes [`VERDICT_FILE`] into the folder of the case's artifacts, whole and without secrets.
///
/// A case that broke before it left anything has no folder yet, so it is made.
///
/// # Errors
/// [`ReportError::Encode`] or [`ReportError::Write`].
pub fn write_verdict_file(
    dir: &Utf8Path,
    (case, result): (&Case, &CaseResult),
    conditions: &Conditions,
    redactor: &Redactor,
) -> Result<(), ReportError> {
    let file = VerdictFile { v: VERDICT_VERSION, case, result, conditions };
    let content = serde_json::to_vec_pretty(&files::redacted(&file, redactor)?)?;
    let path = dir.join(VERDICT_FILE);
    fs::create_dir_all(dir).map_err(|source| ReportError::Write { path: path.clone(), source })?;
    write(&path, &content)
}

/// What a verdict file contains that is needed to repeat the verdict.
#[derive(Debug, Deserialize)]
pub struct SavedVerdict {
    /// The case.
    pub case: Case,
    /// What it depends on.
    #[serde(flatten)]
    pub conditions: Conditions,
}

/// A verdict that cannot be repeated.
#[derive(Debug, thiserror::Error)]
pub enum VerdictFileError {
    /// No such file.
    #[error(
        "cannot read a verdict in {dir}: {source}; give the folder of a case, such as \
         target/e2e/scenarios/restart"
    )]
    Read {
        /// The folder.
        dir: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not a verdict of this version.
    #[error(
        "{path} is not a verdict that this version can read: {source}; run the scenario itself"
    )]
    Parse {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// Reads the verdict in `dir`, the folder of a case, or what is left of its path without the
/// folder `scenarios` or `controls`.
///
/// # Errors
/// [`VerdictFileError`].
pub fn read_verdict_file(dir: &Utf8Path) -> Result<SavedVerdict, VerdictFileError> {
    let path = places(dir).into_iter().find(|path| path.exists()).unwrap_or(dir.join(VERDICT_FILE));
    let text =
        fs::read(&path).map_err(|source| VerdictFileError::Read { dir: dir.to_owned(), source })?;
    serde_json::from_slice(&text).map_err(|source| VerdictFileError::Parse { path, source })
}

/// Where the verdict may be, the nearest first.
fn places(dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let below = dir.ancestors().skip(1).take(2).flat_map(|out| {
        let name = dir.strip_prefix(out).unwrap_or(dir);
        ["scenarios", "controls"].map(|top| out.join(top).join(name).join(VERDICT_FILE))
    });
    [dir.join(VERDICT_FILE)].into_iter().chain(below).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_found_with_and_without_the_folder_that_all_cases_of_its_kind_stand_in() {
        let found = |dir: &str, file: &str| {
            assert!(places(dir.into()).iter().any(|path| path == file), "{dir}");
        };
        found("out/scenarios/restart", "out/scenarios/restart/verdict.json");
        found("out/restart", "out/scenarios/restart/verdict.json");
        found("out/storm/steps", "out/controls/storm/steps/verdict.json");
        found("restart", "scenarios/restart/verdict.json");
    }
}
