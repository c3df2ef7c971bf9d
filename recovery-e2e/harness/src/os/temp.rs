//! The temporary folder of a run, and those that dead runs have left.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};

/// How the names of all temporary folders of this program begin.
const PREFIX: &str = "recovery-e2e-";

/// How many random characters follow: enough that no two runs anywhere share a name.
const RANDOM: usize = 12;

/// A file in each folder that every process of its run holds a shared lock on, so that a folder
/// whose lock no process holds is of a dead run. The kernel lets go of it however a process ends.
const LOCK: &str = "lock";

/// The temporary folder of a living run; removed when dropped.
#[derive(Debug)]
pub struct RunTemp {
    folder: tempfile::TempDir,
    path: Utf8PathBuf,
    _lock: File,
}

impl RunTemp {
    /// A folder of this run's own in the folder for temporary files.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create() -> io::Result<RunTemp> {
        let folder = tempfile::Builder::new().prefix(PREFIX).rand_bytes(RANDOM).tempdir()?;
        let path = Utf8PathBuf::try_from(folder.path().to_owned())
            .map_err(|error| error.into_io_error())?;
        // Locked before it has its name: a folder with an unlocked lock may be swept at once.
        let unnamed = path.join("lock.new");
        let lock = File::create_new(&unnamed)?;
        lock.lock_shared()?;
        fs::rename(unnamed, path.join(LOCK))?;
        Ok(RunTemp { folder, path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Removes it, and reports if that fails.
    ///
    /// # Errors
    /// When something of it remains.
    pub fn close(self) -> io::Result<()> {
        match self.folder.close() {
            // Somebody else has removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            closed => closed,
        }
    }
}

/// A folder of its own in that of a run, and where it is. Its name is short, since a path to a Unix
/// socket has to fit into 108 bytes.
///
/// # Errors
/// When it cannot be made.
pub fn folder_in(run: &Utf8Path) -> io::Result<(tempfile::TempDir, Utf8PathBuf)> {
    let folder = tempfile::Builder::new().prefix("").rand_bytes(4).tempdir_in(run)?;
    let path = Utf8PathBuf::try_from(folder.path().to_owned())
        .map_err(camino::FromPathBufError::into_io_error)?;
    Ok((folder, path))
}

/// The name of a run among all others: that of its temporary folder.
pub fn run_id(temp: &Utf8Path) -> &str {
    temp.file_name().unwrap_or_default()
}

/// Marks the folder of a run as in use for as long as the answer is kept.
///
/// # Errors
/// When it is no folder of a run, or is being swept.
pub fn hold(temp: &Utf8Path) -> io::Result<File> {
    let lock = OpenOptions::new().read(true).open(temp.join(LOCK))?;
    lock.lock_shared()?;
    Ok(lock)
}

/// Removes this user's folders of dead runs, and returns those that are gone.
///
/// What cannot be removed now is left for another time: it is no fault of this run.
pub fn sweep() -> Vec<Utf8PathBuf> {
    sweep_in(&std::env::temp_dir())
}

fn sweep_in(folder: &std::path::Path) -> Vec<Utf8PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Utf8PathBuf::from_path_buf(entry.path()).ok())
        .filter(|path| is_dead(path) && fs::remove_dir_all(path).is_ok())
        .collect()
}

/// Whether the folder was made by a run of this user that has ended, all of its processes.
fn is_dead(path: &Utf8Path) -> bool {
    let named = path.file_name().is_some_and(|name| name.starts_with(PREFIX));
    // Not through a link: whoever made that may mean another folder.
    let own =
        |meta: fs::Metadata| meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw();
    if !named || !path.symlink_metadata().is_ok_and(own) {
        return false;
    }
    let lock = OpenOptions::new().read(true).open(path.join(LOCK));
    lock.is_ok_and(|lock| lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_of_a_run(root: &std::path::Path, name: &str) -> Utf8PathBuf {
        let path = Utf8PathBuf::from_path_buf(root.join(name)).unwrap();
        fs::create_dir_all(path.join("profile/Default")).unwrap();
        File::create_new(path.join(LOCK)).unwrap();
        path
    }

    #[test]
    fn folders_of_dead_runs_are_swept_and_those_of_living_ones_are_not() {
        let root = tempfile::tempdir().unwrap();
        let dead = folder_of_a_run(root.path(), "recovery-e2e-dead");
        let living = folder_of_a_run(root.path(), "recovery-e2e-living");
        let held = hold(&living).unwrap();
        assert_eq!(sweep_in(root.path()), std::slice::from_ref(&dead));
        assert!(!dead.exists());
        assert!(living.exists());
        drop(held);
        assert_eq!(sweep_in(root.path()), [living]);
    }

    #[test]
    fn a_folder_that_somebody_else_has_removed_is_as_good_as_removed() {
        let temp = RunTemp::create().unwrap();
        fs::remove_dir_all(temp.path()).unwrap();
        temp.close().unwrap();
    }

    #[test]
    fn what_is_not_the_folder_of_a_run_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let foreign = folder_of_a_run(root.path(), "somebody-else");
        let without_lock = root.path().join("recovery-e2e-without-lock");
        fs::create_dir(&without_lock).unwrap();
        std::os::unix::fs::symlink(&foreign, root.path().join("recovery-e2e-link")).unwrap();
        assert!(sweep_in(root.path()).is_empty());
        assert!(foreign.exists() && without_lock.exists());
    }
}
