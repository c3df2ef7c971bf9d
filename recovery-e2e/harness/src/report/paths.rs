//! Where the out folder lies in the repository: consumers of a report resolve its paths from there.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::files;

/// The path of `out` from the root of the repository that it lies in; outside of any, from the
/// current folder; outside of that too, the absolute path.
pub fn place(out: &Utf8Path) -> io::Result<Utf8PathBuf> {
    let out = camino::absolute_utf8(out)?;
    let here = camino::absolute_utf8(".")?;
    Ok(from_root(&out, &here, files::repository_root(&out)))
}

/// Both paths are absolute. Links in `out` are not resolved: a `target` that leads to another disk
/// is still what the repository knows as `target`.
fn from_root(out: &Utf8Path, here: &Utf8Path, root: Option<&Utf8Path>) -> Utf8PathBuf {
    out.strip_prefix(root.unwrap_or(here)).unwrap_or(out).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_out_folder_is_told_from_the_root_then_from_here_then_in_full() {
        for (out, here, root, expected) in [
            ("/repo/target/e2e", "/repo/xtask", Some("/repo"), "target/e2e"),
            ("/repo/sub/../target/e2e", "/repo/sub", Some("/repo/sub/.."), "target/e2e"),
            ("/outer/repo/out", "/", Some("/outer/repo"), "out"),
            ("/repo", "/repo", Some("/repo"), ""),
            ("/here/out", "/here", None, "out"),
            ("/elsewhere/out", "/here", None, "/elsewhere/out"),
        ] {
            let found = from_root(out.into(), here.into(), root.map(Utf8Path::new));
            assert_eq!(found, expected, "{out} seen from {here}");
        }
    }

    #[test]
    fn a_repository_is_known_by_its_git_entry_also_in_a_worktree() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        std::fs::write(root.join(".git"), b"gitdir: elsewhere").unwrap();
        assert_eq!(place(&root.join("target/e2e")).unwrap(), "target/e2e");
    }
}
