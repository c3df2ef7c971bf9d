//! The processes below this one: found, killed and reaped, until none remains.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Mutex;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal};

use crate::os::children::Mark;
use crate::os::procfs::{self, Stat};

/// Makes this process the one that inherits its descendants' orphans, so that none of them can
/// leave the tree by losing its parent.
///
/// # Errors
/// What the kernel answers; Linux older than 3.4 has no such thing.
pub fn adopt_orphans() -> rustix::io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
}

/// Held while a child is started, and for ever after [`start_no_more`].
static STARTING: Mutex<()> = Mutex::new(());

/// For the end of this process: from now on [`spawn`] starts nothing, and whoever calls it or this
/// waits until the process has ended.
pub fn start_no_more() {
    std::mem::forget(STARTING.lock());
}

/// Starts a child.
///
/// # Errors
/// As [`tokio::process::Command::spawn`].
pub fn spawn(command: &mut tokio::process::Command) -> io::Result<tokio::process::Child> {
    let _starting = STARTING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    command.spawn()
}

/// Kills everything below this process and reaps it; returns when nothing is left.
///
/// Complete only after [`adopt_orphans`] and [`start_no_more`]. A process that a dying one has just
/// forked is found in the next round: a round ends when a child has died, and the last one when
/// there is no child.
pub fn kill_all() {
    loop {
        for pid in all().into_keys() {
            // It may have ended since the look.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Kills a process group and reaps what of it has become a child of this process; returns when
/// the group is empty.
///
/// The group's leader must have been waited for already. A dying member's children are handed to
/// this process before its death can be seen, so "no child in the group" means "the group is empty".
pub fn kill_group(leader: Pid) {
    loop {
        let _ = rustix::process::kill_process_group(leader, Signal::KILL);
        match rustix::process::waitpgid(leader, WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Kills every process below this one that carries `mark`, and returns when none runs any more.
///
/// It finds what has left its process group. A process that has cleared its environment as well is
/// found by [`kill_all`] only.
pub fn kill_marked(mark: &Mark) {
    loop {
        let marked: Vec<_> = all().into_keys().filter(|pid| mark.is_on(*pid)).collect();
        if marked.is_empty() {
            return;
        }
        marked.into_iter().for_each(kill);
    }
}

/// Kills a process below this one, and returns when it has ended.
pub fn kill(pid: Pid) {
    // Not by waiting for it alone: it may be the child of another one.
    let Ok(end) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    let _ = pidfd_send_signal(&end, Signal::KILL);
    let _ = poll(&mut [PollFd::new(&end, PollFlags::IN)], None);
    let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
}

/// Waits for the end of a process below this one, but no longer than `patience`.
pub fn wait_for(pid: Pid, patience: Duration) {
    let Ok(end) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    let patience = Timespec::try_from(patience).unwrap_or_default();
    let _ = poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&patience));
}

/// Every process below this one, as /proc has it now.
pub fn all() -> HashMap<Pid, Stat> {
    let own = rustix::process::getpid();
    let mut processes = procfs::processes();
    let mut below = with_descendants(HashSet::from([own]), &processes);
    below.remove(&own);
    processes.retain(|pid, _| below.contains(pid));
    processes
}

/// `roots`, and all whose chain of parents leads to one of them.
pub fn with_descendants(roots: HashSet<Pid>, processes: &HashMap<Pid, Stat>) -> HashSet<Pid> {
    let mut found = roots;
    loop {
        let before = found.len();
        let is_next = |stat: &Stat| stat.parent.is_some_and(|parent| found.contains(&parent));
        let next: Vec<_> =
            processes.iter().filter(|(_, stat)| is_next(stat)).map(|(pid, _)| *pid).collect();
        found.extend(next);
        if found.len() == before {
            return found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pid(raw: i32) -> Pid {
        Pid::from_raw(raw).unwrap()
    }

    #[test]
    fn everything_below_is_found_however_deep_and_nothing_else() {
        let process = |parent| Stat {
            name: "sh".to_owned(),
            parent: Some(pid(parent)),
            start: 0,
            has_ended: false,
        };
        let processes = [(10, 1), (11, 10), (12, 11), (13, 12), (20, 1)];
        let processes = processes.map(|(own, parent)| (pid(own), process(parent)));
        assert_eq!(
            with_descendants(HashSet::from([pid(10)]), &HashMap::from(processes)),
            HashSet::from([pid(10), pid(11), pid(12), pid(13)])
        );
    }
}
