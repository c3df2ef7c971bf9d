//! The children of one case: how all that they start is known as theirs, and where an unasked end
//! is reported.

use std::collections::HashSet;
use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};

use rustix::process::Pid;

use crate::os::deaths::Deaths;
use crate::os::procfs;

/// The variable by which a child and all that it starts are known.
const VARIABLE: &str = "RECOVERY_E2E_CHILD";

/// What the children of one case have in common. Clones share it.
#[derive(Clone, Debug)]
pub struct Children {
    /// A name that no other case has.
    nonce: String,
    /// The pipes that they print to, by inode.
    pipes: Arc<Mutex<HashSet<u64>>>,
    /// Notified when one of them ends by itself.
    pub deaths: Deaths,
}

/// What one child, and all that it starts, has in its environment.
#[derive(Clone, Debug)]
pub struct Mark(String);

impl Children {
    /// No children yet.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn new() -> io::Result<Children> {
        let nonce = format!("{:016x}", getrandom::u64().map_err(io::Error::other)?);
        Ok(Children { nonce, pipes: Arc::default(), deaths: Deaths::default() })
    }

    /// The same children, with no death reported yet.
    #[must_use]
    pub fn next_life(self) -> Children {
        Children { deaths: Deaths::default(), ..self }
    }

    /// A mark that no other child has.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn mark(&self) -> io::Result<Mark> {
        let child = getrandom::u32().map_err(io::Error::other)?;
        Ok(Mark(format!("{}-{child:08x}", self.nonce)))
    }

    /// From now on whoever holds this pipe is known as theirs.
    pub(crate) fn print_to(&self, pipe: &impl AsFd) {
        if let Ok(stat) = rustix::fs::fstat(pipe) {
            let mut pipes = self.pipes.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            pipes.insert(stat.st_ino);
        }
    }

    /// Whether a process is one of them, or was started by one: its environment says so, or it
    /// holds a pipe of theirs. One that has cleared the one and closed the other is not recognised.
    pub fn own(&self, pid: Pid) -> bool {
        let ours = format!("{VARIABLE}={}-", self.nonce);
        if procfs::environment(pid).iter().any(|variable| variable.starts_with(ours.as_bytes())) {
            return true;
        }
        let pipes = self.pipes.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let open = procfs::open_files(pid);
        open.iter().filter_map(|file| procfs::inode(file, "pipe")).any(|pipe| pipes.contains(&pipe))
    }
}

impl Mark {
    /// The variable that carries it, and its value there.
    pub(crate) fn variable(&self) -> (&'static str, &str) {
        (VARIABLE, &self.0)
    }

    /// Whether a process has it; one that has ended has none.
    pub(crate) fn is_on(&self, pid: Pid) -> bool {
        let whole = format!("{VARIABLE}={}", self.0);
        procfs::environment(pid).iter().any(|variable| variable == whole.as_bytes())
    }
}
