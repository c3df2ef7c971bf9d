//! A temporary folder for a unit test.

use camino::Utf8PathBuf;
use tempfile::TempDir;

/// The folder, which goes with the first, and its path.
pub fn test_dir() -> (TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
    (dir, path)
}
