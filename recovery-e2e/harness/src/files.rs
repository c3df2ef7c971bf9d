//! What reaches the disk: whole or not at all, and without a secret.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;
use serde::Serialize;
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::redact::Redactor;

/// Writes `path` in one piece: whoever opens it finds the old content or the new, never a part.
///
/// # Errors
/// When its folder cannot be written; then `path` is what it was.
pub fn write_whole(path: &Utf8Path, content: &[u8]) -> io::Result<()> {
    let mut file = temporary_beside(path)?;
    file.write_all(content)?;
    file.persist(path)?;
    Ok(())
}

/// An empty file in the folder of `path`, open for appending, to be renamed to `path` when it is
/// whole.
///
/// # Errors
/// When the folder cannot be written.
pub fn temporary_beside(path: &Utf8Path) -> io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_str().is_empty() => folder,
        _ => Utf8Path::new("."),
    };
    // A temporary file is its owner's alone by default, but a report is for everyone that the
    // umask allows.
    let all = Permissions::from_mode(0o666);
    tempfile::Builder::new().permissions(all).append(true).tempfile_in(folder)
}

/// The bytes in all files below a folder; none where it is not there. Links are not followed.
pub fn bytes_below(folder: &Utf8Path) -> u64 {
    let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.path().symlink_metadata() {
        Ok(found) if found.is_dir() => bytes_below(entry.path()),
        Ok(found) if found.is_file() => found.len(),
        // Removed since the look, or no file.
        _ => 0,
    });
    bytes.sum()
}

/// The root of the repository that `folder` lies in, if it lies in one. Links are not resolved.
pub fn repository_root(folder: &Utf8Path) -> Option<&Utf8Path> {
    // In a worktree `.git` is a file.
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

/// `value` as JSON in which no text holds a secret.
///
/// The texts are cleaned before they are escaped: a secret with a quote in it is found too.
///
/// # Errors
/// When `value` cannot be written as JSON.
pub fn redacted(value: &impl Serialize, redactor: &Redactor) -> serde_json::Result<Value> {
    serde_json::to_value(value).map(|value| clean(value, redactor))
}

fn clean(value: Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => Value::String(redactor.clean(&text)),
        Value::Array(values) => values.into_iter().map(|value| clean(value, redactor)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (redactor.clean(&name), clean(value, redactor)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Whether what lies at `path` lies below `root`, links followed.
///
/// # Errors
/// When one of them is not there or cannot be seen.
pub fn lies_below(root: &Utf8Path, path: &Utf8Path) -> io::Result<bool> {
    Ok(path.canonicalize_utf8()?.starts_with(root.canonicalize_utf8()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left_in_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let path = dir.join("junit.xml");
        write_whole(&path, b"old").unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(dir.read_dir().unwrap().count(), 1);
    }

    #[test]
    fn a_file_may_be_read_by_everyone_who_may_read_an_ordinary_one() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        write_whole(&dir.join("report"), b"").unwrap();
        std::fs::write(dir.join("ordinary"), b"").unwrap();
        let mode = |name| dir.join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode("report"), mode("ordinary"));
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let taken = dir.join("taken");
        std::fs::create_dir(&taken).unwrap();
        std::fs::write(taken.join("x"), b"").unwrap();
        write_whole(&taken, b"new").unwrap_err();
        write_whole(&dir.join("absent/junit.xml"), b"new").unwrap_err();
        assert_eq!(dir.read_dir().unwrap().count(), 1);
    }

    #[test]
    fn all_files_below_a_folder_are_counted_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        std::fs::create_dir_all(dir.join("a/b")).unwrap();
        std::fs::write(dir.join("a/b/c"), "123").unwrap();
        std::fs::write(dir.join("d"), "4567").unwrap();
        std::os::unix::fs::symlink(dir, dir.join("a/up")).unwrap();
        assert_eq!(bytes_below(dir), 7);
        assert_eq!(bytes_below(&dir.join("absent")), 0);
    }

    #[test]
    fn a_secret_is_removed_from_every_depth_also_where_json_would_escape_it() {
        let redactor = Redactor::default();
        redactor.learn("pass\"word\n1");
        let secret = json!({"a": ["x pass\"word\n1"], "b": {"pass\"word\n1": 1}, "c": 2});
        assert_eq!(
            redacted(&secret, &redactor).unwrap(),
            json!({"a": ["x [redacted]"], "b": {"[redacted]": 1}, "c": 2})
        );
    }
}
