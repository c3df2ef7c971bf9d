//! The digest of the sources that a build is made of.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{fs, io};

use sha2::{Digest, Sha256};

/// The sources of node, client and harness, relative to the root of the workspace.
pub const INPUTS: [&str; 7] = [
    "Cargo.lock",
    "recovery-e2e/harness/Cargo.toml",
    "recovery-e2e/harness/pages",
    "recovery-e2e/harness/src",
    "recovery-e2e/node/Cargo.toml",
    "recovery-e2e/node/src",
    "recovery-e2e/web/static",
];

/// SHA-256 over the path and the content of every input file, in hexadecimal digits.
///
/// It depends on nothing else: not on where the workspace is, on times, or on `.git`. Hidden files
/// and folders of test snapshots are left out: no program contains them.
///
/// # Errors
/// When an input is missing or cannot be read; the error names it.
pub fn of_sources(root: &Path) -> io::Result<String> {
    let mut files = BTreeMap::new();
    for input in INPUTS {
        collect(&root.join(input), input.as_bytes().to_vec(), &mut files)?;
    }
    let mut digest = Sha256::new();
    for (path, content) in files {
        // With their lengths, so that no two sets of files give the same bytes.
        for part in [path, content] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    Ok(digest.finalize().iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

/// Adds the files at or below `path` to `files`, by their `name` relative to the root.
fn collect(path: &Path, name: Vec<u8>, files: &mut BTreeMap<Vec<u8>, Vec<u8>>) -> io::Result<()> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    if !path.metadata().map_err(named)?.is_dir() {
        files.insert(name, fs::read(path).map_err(named)?);
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(named)? {
        let entry = entry.map_err(named)?;
        let file_name = entry.file_name();
        if file_name.as_bytes().starts_with(b".") || file_name == OsStr::new("snapshots") {
            continue;
        }
        collect(&entry.path(), [&name, file_name.as_bytes()].join(&b'/'), files)?;
    }
    Ok(())
}
