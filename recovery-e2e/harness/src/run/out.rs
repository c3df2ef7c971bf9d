//! The folder that a run writes to.

use std::fs::{self, Metadata};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::os::claim::{self, Claim, Refusal};
use crate::record::journal;

/// Why a folder is not written to.
#[derive(Debug, thiserror::Error)]
pub enum OutError {
    /// It is not a folder.
    #[error(
        "{out} is not a folder; give --out a folder that is absent, empty, or of an earlier run"
    )]
    NotAFolder {
        /// The path that was given.
        out: Utf8PathBuf,
    },
    /// It is a link, whose target is not emptied.
    #[error("{out} is a symbolic link; give --out its target")]
    Link {
        /// The path that was given.
        out: Utf8PathBuf,
    },
    /// It contains files that no run has written.
    #[error(
        "{out} is not empty and contains no journal of an earlier run; empty it, or give --out another folder"
    )]
    Foreign {
        /// The path that was given.
        out: Utf8PathBuf,
    },
    /// Another run writes to it.
    #[error(
        "{out} is in use by another run{}; wait for its end, or give --out another folder",
        .by.map(|pid| format!(", process {pid}")).unwrap_or_default()
    )]
    InUse {
        /// The path that was given.
        out: Utf8PathBuf,
        /// The process that writes to it, where that is known.
        by: Option<u32>,
    },
    /// The system refused.
    #[error("cannot prepare {path} for the run: {source}; give --out a folder that can be written")]
    Io {
        /// What could not be read, made or removed.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Makes `out` an empty folder, if it is absent, empty already, or left by an earlier run, and
/// keeps other runs from it for as long as the answer is kept.
///
/// # Errors
/// [`OutError`], with nothing removed, for everything else. Nothing outside of `out` is removed in
/// any case: links are removed, not followed.
pub fn prepare(out: &Utf8Path) -> Result<Claim, OutError> {
    // Without a slash at its end, behind which a link would be taken for what it leads to.
    let folder: Utf8PathBuf = out.components().collect();
    let out = || out.to_owned();
    match at(&folder)? {
        None => fs::create_dir_all(&folder).map_err(failed(&folder))?,
        Some(found) if found.is_symlink() => return Err(OutError::Link { out: out() }),
        Some(found) if !found.is_dir() => return Err(OutError::NotAFolder { out: out() }),
        Some(_) => {}
    }
    let claim = claim::claim(&folder).map_err(|refusal| match refusal {
        Refusal::Taken(by) => OutError::InUse { out: out(), by },
        Refusal::Io(source) => failed(&folder)(source),
    })?;
    empty(&folder, out)?;
    Ok(claim)
}

fn empty(folder: &Utf8Path, out: impl Fn() -> Utf8PathBuf) -> Result<(), OutError> {
    let entries = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(failed(folder));
    let entries: Vec<_> = entries?;
    if entries.is_empty() {
        return Ok(());
    }
    let journal = folder.join(journal::FILE_NAME);
    let is_file = at(&journal)?.is_some_and(|found| found.is_file());
    if !is_file || !journal::is_journal(&journal).map_err(failed(&journal))? {
        return Err(OutError::Foreign { out: out() });
    }
    for entry in entries.iter().filter(|entry| entry.as_path() != journal.as_std_path()) {
        let is_dir = fs::symlink_metadata(entry).map(|found| found.is_dir());
        is_dir
            .and_then(
                |is_dir| if is_dir { fs::remove_dir_all(entry) } else { fs::remove_file(entry) },
            )
            .map_err(failed(folder))?;
    }
    // The journal is removed last: with it, a half-empty folder is still known as a run's.
    fs::remove_file(&journal).map_err(failed(&journal))
}

/// The metadata of `path` itself; `None` when it does not exist.
fn at(path: &Utf8Path) -> Result<Option<Metadata>, OutError> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path)(error)),
    }
}

fn failed(path: &Utf8Path) -> impl FnOnce(io::Error) -> OutError {
    let path = path.to_owned();
    |source| OutError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::record::journal::tests::{journal_of, run_started};
    use crate::test_dir::test_dir;

    /// A folder as a run leaves it, with a link in it that leads out of it.
    fn used(out: &Utf8Path, elsewhere: &Utf8Path) {
        fs::create_dir_all(out.join("scenarios/rewind-window")).unwrap();
        fs::write(out.join("scenarios/rewind-window/end.png"), b"png").unwrap();
        fs::create_dir_all(elsewhere).unwrap();
        fs::write(elsewhere.join("keep"), b"mine").unwrap();
        symlink(elsewhere, out.join("link")).unwrap();
        journal_of(out, run_started(&[]), &[]);
    }

    fn is_empty(dir: &Utf8Path) -> bool {
        dir.read_dir().unwrap().next().is_none()
    }

    #[test]
    fn an_absent_folder_is_made_and_an_empty_one_is_used() {
        let (_dir, dir) = test_dir();
        let out = dir.join("target/e2e");
        prepare(&out).unwrap();
        prepare(&out).unwrap();
        assert!(is_empty(&out));
    }

    #[test]
    fn a_folder_that_a_run_writes_to_is_refused_untouched() {
        let (_dir, dir) = test_dir();
        let _held = prepare(&dir).unwrap();
        let journal = journal_of(&dir, run_started(&[]), &[]);
        let refused = prepare(&dir).unwrap_err().to_string();
        let holder = format!("in use by another run, process {}", std::process::id());
        assert!(refused.contains(&holder), "{refused}");
        assert!(journal.exists());
    }

    #[test]
    fn what_an_earlier_run_left_is_removed_and_nothing_outside_of_it() {
        let (_dir, dir) = test_dir();
        let (out, elsewhere) = (dir.join("out"), dir.join("elsewhere"));
        used(&out, &elsewhere);
        prepare(&out).unwrap();
        assert!(is_empty(&out));
        assert_eq!(fs::read(elsewhere.join("keep")).unwrap(), b"mine");
    }

    #[test]
    fn a_folder_without_a_journal_of_ours_is_refused_untouched() {
        let (_dir, dir) = test_dir();
        let real = dir.join("real");
        fs::create_dir(&real).unwrap();
        let real_journal = journal_of(&real, run_started(&[]), &[]);
        for (name, put) in [
            ("no-journal", &(|_: &Utf8Path| Ok(())) as &dyn Fn(&Utf8Path) -> io::Result<()>),
            ("empty-journal", &|path| fs::write(path, b"")),
            ("other-journal", &|path| fs::write(path, b"{\"event\":\"started\",\"v\":1}\n")),
            ("binary-journal", &|path| fs::write(path, b"\xff\x00")),
            ("folder-journal", &|path| fs::create_dir(path)),
            ("linked-journal", &|path| symlink(&real_journal, path)),
        ] {
            let out = dir.join(name);
            fs::create_dir(&out).unwrap();
            fs::write(out.join("thesis.txt"), b"mine").unwrap();
            put(&out.join(journal::FILE_NAME)).unwrap();
            assert!(matches!(prepare(&out), Err(OutError::Foreign { .. })), "{name}");
            assert_eq!(fs::read(out.join("thesis.txt")).unwrap(), b"mine", "{name}");
        }
    }

    #[test]
    fn a_link_is_refused_also_with_a_slash_behind_it() {
        let (_dir, dir) = test_dir();
        let out = dir.join("out");
        used(&out, &dir.join("elsewhere"));
        let link = dir.join("link");
        symlink(&out, &link).unwrap();
        for given in [link.clone(), format!("{link}/").into(), format!("{link}/.").into()] {
            assert!(matches!(prepare(&given), Err(OutError::Link { .. })), "{given}");
        }
        symlink(dir.join("absent"), dir.join("dangling")).unwrap();
        assert!(matches!(prepare(&dir.join("dangling")), Err(OutError::Link { .. })));
        assert!(out.join(journal::FILE_NAME).exists());
    }

    #[test]
    fn a_file_is_refused_with_what_to_do_next() {
        let (_dir, dir) = test_dir();
        let out = dir.join("out");
        fs::write(&out, b"mine").unwrap();
        let refused = prepare(&out).unwrap_err();
        assert!(matches!(refused, OutError::NotAFolder { .. }));
        assert!(refused.to_string().contains("give --out a folder"), "{refused}");
        assert!(matches!(prepare(&out.join("below")), Err(OutError::Io { .. })));
    }
}
