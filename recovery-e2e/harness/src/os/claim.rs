//! A folder that one run alone writes to.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;

use camino::Utf8Path;
use rustix::fs::{major, minor};

/// A claimed folder: no other process can claim it for as long as this is kept. The kernel lets go of
/// it however the process ends, and nothing is written into the folder for it.
#[derive(Debug)]
pub struct Claim {
    _folder: File,
}

/// A folder that is not claimed.
#[derive(Debug)]
pub enum Refusal {
    /// Another process has claimed it: its id, where the kernel reports it.
    Taken(Option<u32>),
    /// The system refused.
    Io(io::Error),
}

/// Claims a folder that is there.
///
/// # Errors
/// [`Refusal`].
pub fn claim(path: &Utf8Path) -> Result<Claim, Refusal> {
    let folder = File::open(path).map_err(Refusal::Io)?;
    match folder.try_lock() {
        Ok(()) => Ok(Claim { _folder: folder }),
        Err(fs::TryLockError::WouldBlock) => Err(Refusal::Taken(holder(&folder))),
        Err(fs::TryLockError::Error(error)) => Err(Refusal::Io(error)),
    }
}

fn holder(folder: &File) -> Option<u32> {
    let meta = folder.metadata().ok()?;
    let file = format!("{:02x}:{:02x}:{}", major(meta.dev()), minor(meta.dev()), meta.ino());
    holder_in(&fs::read_to_string("/proc/locks").ok()?, &file)
}

/// Who holds the lock of `file`, its device and inode as the lines of `/proc/locks` give them. One
/// who waits for it has an arrow in front, and one in another container has no id.
fn holder_in(locks: &str, file: &str) -> Option<u32> {
    locks.lines().find_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        match fields[..] {
            [_, "FLOCK", _, "WRITE", pid, locked, ..] if locked == file => pid.parse().ok(),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::test_dir;

    #[test]
    fn a_claimed_folder_is_refused_with_its_holder_until_the_claim_is_dropped() {
        let (_dir, dir) = test_dir();
        let held = claim(&dir).unwrap();
        let refused = claim(&dir).unwrap_err();
        assert!(matches!(refused, Refusal::Taken(Some(pid)) if pid == std::process::id()));
        drop(held);
        claim(&dir).unwrap();
    }

    #[test]
    fn the_holder_is_the_one_with_a_lock_on_this_very_file() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 fe:00:7 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 12 fe:01:7 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 13 fe:00:77 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 14 fe:00:7 0 EOF\n\
                     4: -> FLOCK  ADVISORY  WRITE 15 fe:00:7 0 EOF\n";
        assert_eq!(holder_in(locks, "fe:00:7"), Some(14));
        assert_eq!(holder_in(locks, "fe:00:8"), None);
        assert_eq!(holder_in("", "fe:00:7"), None);
    }
}
