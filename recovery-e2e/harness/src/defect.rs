//! A defect that a person puts into the client, to see which scenario notices it.

use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use crate::front::{Edit, Patch};

/// What was given is no defect.
#[derive(Debug, thiserror::Error)]
pub enum DefectError {
    /// There is no such file.
    #[error("the defect {path} cannot be read: {source}; give the file that holds it")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It holds something else.
    #[error("{path} is no defect: {source}; give a JSON list of {{asset, find, replace}}")]
    Parse {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    asset: String,
    find: String,
    replace: String,
}

/// Reads a defect.
///
/// # Errors
/// [`DefectError`].
pub fn read(path: &Utf8Path) -> Result<Vec<Patch>, DefectError> {
    let text =
        fs::read(path).map_err(|source| DefectError::Read { path: path.to_owned(), source })?;
    let changes: Vec<Change> = serde_json::from_slice(&text)
        .map_err(|source| DefectError::Parse { path: path.to_owned(), source })?;
    let edit = |Change { asset, find, replace }| (asset, Edit { find, replace });
    Ok(Patch::group(changes.into_iter().map(edit)))
}
