//! The resources of a case while its stage runs, and what is left of them afterwards.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::Pid;

use crate::files;
use crate::os::children::Children;
use crate::os::descendants;
use crate::os::procfs::{self, Stat};
use crate::record::ledger::{Holding, Ledger, SHM};

/// How long what is left may take to end by itself: some processes watch others, and end after
/// them. A real leak costs its case this time.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a case holds, in the terms in which it can be found again.
#[derive(Debug, Default)]
pub struct Inventory {
    /// By id and start, which no two processes share.
    processes: BTreeMap<(i32, u64), String>,
    ports: BTreeSet<u16>,
    shm: BTreeSet<String>,
    temp_bytes: u64,
}

impl Inventory {
    /// What `children`, with all that they have started, and the folder `temp` hold now.
    pub fn take(children: &Children, temp: &Utf8Path) -> Inventory {
        Inventory::of(temp, |pid, _| children.own(pid))
    }

    /// What of this, or of the same children and folder, is still there. What is on its way out is
    /// waited for.
    fn left(&self, children: &Children, temp: &Utf8Path) -> Inventory {
        let known = |pid: Pid, stat: &Stat| {
            self.processes.contains_key(&(pid.as_raw_pid(), stat.start)) || children.own(pid)
        };
        let deadline = Instant::now() + PATIENCE;
        let mut left = Inventory::of(temp, known);
        for pid in left.pids() {
            descendants::wait_for(pid, deadline.saturating_duration_since(Instant::now()));
        }
        if !left.processes.is_empty() {
            left = Inventory::of(temp, known);
        }
        let remains = |name: &&String| Utf8PathBuf::from(format!("{SHM}{name}")).exists();
        left.shm.extend(self.shm.iter().filter(remains).cloned());
        left
    }

    /// Clears what is left of it, and returns both.
    pub fn close(&self, children: &Children, temp: &Utf8Path) -> Ledger {
        let left = self.left(children, temp);
        left.clear();
        Ledger { held: self.holding(), left: left.holding() }
    }

    /// Ends its processes and removes its shared memory.
    fn clear(&self) {
        for pid in self.pids() {
            descendants::kill(pid);
        }
        for name in &self.shm {
            // Whoever made it may have removed it in the end.
            let _ = fs::remove_file(format!("{SHM}{name}"));
        }
    }

    /// As it is written down.
    fn holding(&self) -> Holding {
        Holding {
            processes: self
                .processes
                .iter()
                .map(|((pid, _), name)| format!("{pid} {name}"))
                .collect(),
            ports: self.ports.iter().copied().collect(),
            temp_bytes: self.temp_bytes,
            shm: self.shm.iter().cloned().collect(),
        }
    }

    fn of(temp: &Utf8Path, is_own: impl Fn(Pid, &Stat) -> bool) -> Inventory {
        // One that still runs this program is about to run another, and whose it will be does not
        // show yet.
        let own_program = procfs::program(rustix::process::getpid());
        let runs = |pid: Pid, stat: &Stat| !stat.has_ended && procfs::program(pid) != own_program;
        let below: HashMap<_, _> =
            descendants::all().into_iter().filter(|(pid, stat)| runs(*pid, stat)).collect();
        let roots = below.iter().filter(|(pid, stat)| is_own(**pid, stat)).map(|(pid, _)| *pid);
        // A process that cleared its environment is known as long as its parent lives.
        let own = descendants::with_descendants(roots.collect(), &below);
        let listening = procfs::listening();
        let mut inventory = Inventory { temp_bytes: files::bytes_below(temp), ..Self::default() };
        for (pid, stat) in below.into_iter().filter(|(pid, _)| own.contains(pid)) {
            inventory.processes.insert((pid.as_raw_pid(), stat.start), stat.name);
            for file in procfs::open_files(pid) {
                let port = procfs::inode(&file, "socket").and_then(|inode| listening.get(&inode));
                inventory.ports.extend(port);
                let name = file.strip_prefix(SHM).filter(|name| !name.ends_with(" (deleted)"));
                inventory.shm.extend(name.map(str::to_owned));
            }
        }
        inventory
    }

    fn pids(&self) -> Vec<Pid> {
        self.processes.keys().filter_map(|(pid, _)| Pid::from_raw(*pid)).collect()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt, BufReader};
    use tokio::process::Command;

    use super::*;
    use crate::os::process::Process;
    use crate::test_dir::test_dir;

    /// A shell that runs `script`, of which something has printed a line.
    async fn shell(children: &Children, script: &str) -> Process {
        descendants::adopt_orphans().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut process = Process::start("shell", command, children).unwrap();
        let mut lines = BufReader::new(process.take_stdout().unwrap()).lines();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("said"));
        process
    }

    #[tokio::test]
    async fn a_case_that_ends_with_its_stage_leaves_nothing_and_another_one_is_not_seen() {
        let (_dir, temp) = test_dir();
        let (own, other) = (Children::new().unwrap(), Children::new().unwrap());
        let mut of_other = shell(&other, "echo said; exec sleep 1000").await;
        let mut process = shell(&own, "sleep 1000 & echo said; wait").await;
        fs::write(temp.join("profile"), [0; 5000]).unwrap();
        let held = Inventory::take(&own, &temp);
        assert_eq!(held.processes.len(), 2, "{held:?}");
        assert_eq!(held.temp_bytes, 5000);
        process.kill().await;
        fs::remove_file(temp.join("profile")).unwrap();
        assert_eq!(held.left(&own, &temp).holding(), Holding::default());
        assert_eq!(Holding::default().describe(), None);
        of_other.kill().await;
    }

    #[tokio::test]
    async fn what_outlives_the_stage_is_named_and_cleared() {
        let (_dir, temp) = test_dir();
        let own = Children::new().unwrap();
        // Without a mark and out of the group: known as a child of the shell, or by its pipe.
        for script in [
            "env -i setsid sh -c 'echo said; exec sleep 1000 >&- 2>&-' & wait",
            "(env -i setsid sh -c 'echo said; exec sleep 1000' &); exec sleep 1000",
        ] {
            let mut process = shell(&own, script).await;
            let held = Inventory::take(&own, &temp);
            process.kill().await;
            let left = held.left(&own, &temp);
            let named = left.holding().describe();
            assert!(named.is_some_and(|named| named.contains("still runs")), "{script}: {held:?}");
            left.clear();
            assert_eq!(held.left(&own, &temp).holding(), Holding::default(), "{script}");
        }
    }
}
