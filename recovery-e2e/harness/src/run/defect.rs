//! A defect that a user puts into the client, to see which scenario notices it.

use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};

use crate::proxy::{Edit, Patch};
use crate::record::settings::DefectEdit;

/// A file of `--defect` that is not valid.
#[derive(Debug, thiserror::Error)]
pub enum DefectError {
    /// The file cannot be read.
    #[error("cannot read the defect {path}: {source}; give --defect a file that exists")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file contains something else.
    #[error(
        "{path} is not a defect: {source}; give --defect a JSON list of {{asset, find, replace}}"
    )]
    Parse {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// The defect as the proxy applies it: one patch for each served file.
pub fn patches(defect: &[DefectEdit]) -> Vec<Patch> {
    Patch::group(
        defect
            .iter()
            .cloned()
            .map(|DefectEdit { asset, find, replace }| (asset, Edit { find, replace })),
    )
}

/// Reads a defect.
///
/// # Errors
/// [`DefectError`].
pub fn read(path: &Utf8Path) -> Result<Vec<DefectEdit>, DefectError> {
    let text =
        fs::read(path).map_err(|source| DefectError::Read { path: path.to_owned(), source })?;
    serde_json::from_slice(&text)
        .map_err(|source| DefectError::Parse { path: path.to_owned(), source })
}
