//! The processes below this one: found, killed and reaped, until none remains.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::{fs, io};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal};

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
        for pid in below(rustix::process::getpid(), &parents()) {
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
/// this process before its death can be seen, so "no child in the group" means "nobody in it".
pub fn kill_group(leader: Pid) {
    loop {
        let _ = rustix::process::kill_process_group(leader, Signal::KILL);
        match rustix::process::waitpgid(leader, WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Kills every process below this one whose environment holds `mark`, and returns when none runs
/// any more.
///
/// It finds what has left its process group. A process that has cleared its environment as well is
/// found by [`kill_all`] only.
pub fn kill_marked(mark: &str) {
    loop {
        let marked: Vec<_> = below(rustix::process::getpid(), &parents())
            .into_iter()
            .filter(|pid| is_marked(*pid, mark))
            .collect();
        if marked.is_empty() {
            return;
        }
        for pid in marked {
            // Not by waiting for it alone: it may be the child of another one.
            let Ok(end) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            let _ = pidfd_send_signal(&end, Signal::KILL);
            let _ = poll(&mut [PollFd::new(&end, PollFlags::IN)], None);
            let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// Whether the process runs with `mark` in its environment; one that has ended has none.
fn is_marked(pid: Pid, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
}

/// Every process with its parent, as /proc has it now.
fn parents() -> HashMap<Pid, Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            Some((pid, parent_in(&stat)?))
        })
        .collect()
}

/// The parent in a line of `/proc/<pid>/stat`. The second field is the program's name in
/// parentheses, which may itself hold spaces and parentheses.
fn parent_in(stat: &str) -> Option<Pid> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok().and_then(Pid::from_raw)
}

/// All pids whose chain of parents leads to `root`, without `root`.
fn below(root: Pid, parents: &HashMap<Pid, Pid>) -> HashSet<Pid> {
    let mut found = HashSet::from([root]);
    loop {
        let before = found.len();
        found.extend(
            parents
                .iter()
                .filter(|(_, parent)| found.contains(*parent))
                .map(|(pid, _)| *pid)
                .collect::<Vec<_>>(),
        );
        if found.len() == before {
            found.remove(&root);
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
    fn a_parent_is_read_past_a_name_with_spaces_and_parentheses() {
        assert_eq!(parent_in("42 (a) b (c) S 7 42 42 0 -1"), Some(pid(7)));
        assert_eq!(parent_in("42 (sh) S 0 42 42 0 -1"), None, "the first process has no parent");
        assert_eq!(parent_in("cut of"), None);
    }

    #[test]
    fn everything_below_is_found_however_deep_and_nothing_else() {
        let parents = HashMap::from([
            (pid(10), pid(1)),
            (pid(11), pid(10)),
            (pid(12), pid(11)),
            (pid(13), pid(12)),
            (pid(20), pid(1)),
        ]);
        assert_eq!(below(pid(10), &parents), HashSet::from([pid(11), pid(12), pid(13)]));
    }
}
