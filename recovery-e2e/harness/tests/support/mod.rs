//! Running the built command in a folder of the test's own.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod test_page;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

/// How long a condition may take; generous, as machines are shared.
const DEADLINE: Duration = Duration::from_secs(60);

/// A folder for temporary files and one for results, removed at the end of the test.
pub struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    pub fn new() -> Scratch {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("temp")).unwrap();
        Scratch { folder }
    }

    pub fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).unwrap()
    }

    pub fn out(&self) -> Utf8PathBuf {
        self.path().join("out")
    }

    /// An executable shell script.
    pub fn program(&self, name: &str, script: &str) -> Utf8PathBuf {
        let path = self.path().join(name);
        fs::write(&path, format!("#!/usr/bin/env bash\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn assert_no_temp_is_left(&self) {
        let left: Vec<_> = fs::read_dir(self.path().join("temp")).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// A run of the command, under way.
pub struct Harness {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Harness {
    /// The command, with the scratch folder's `temp` for temporary files.
    pub fn command(scratch: &Scratch) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_recovery-e2e"));
        command
            .current_dir(scratch.path())
            .env("TMPDIR", scratch.path().join("temp"))
            .env_remove("E2E_BROWSER")
            .stdin(Stdio::null());
        command
    }

    /// The command, with the browser and the node that `cargo xtask test` has found and built.
    pub fn in_browser(scratch: &Scratch) -> Command {
        let browser = std::env::var("E2E_BROWSER")
            .expect("E2E_BROWSER names a browser; `cargo xtask test` sets it");
        let mut command = Harness::command(scratch);
        command.env("E2E_BROWSER", browser);
        command
    }

    /// A run.
    pub fn run(scratch: &Scratch, args: &[&str]) -> Command {
        let mut run = Harness::in_browser(scratch);
        run.args(["run", "--out", scratch.out().as_str()]).args(args);
        run
    }

    /// Starts a run.
    pub fn start(scratch: &Scratch, args: &[&str]) -> Harness {
        Harness::spawn(&mut Harness::run(scratch, args))
    }

    /// Starts the command.
    pub fn begin(scratch: &Scratch, args: &[&str]) -> Harness {
        Harness::spawn(Harness::in_browser(scratch).args(args))
    }

    fn spawn(command: &mut Command) -> Harness {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Harness { child, output }
    }

    /// Reads its output up to the first line that holds `text`, which it returns.
    pub fn wait_for_line(&mut self, text: &str) -> String {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it ended without {text:?}");
        }
        line
    }

    /// Waits for its end, and returns its exit code.
    pub fn code(mut self) -> Option<i32> {
        // What it says would else fill the pipe.
        std::io::copy(&mut self.output, &mut std::io::sink()).unwrap();
        self.child.wait().unwrap().code()
    }

    pub fn outer(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The inner process: the outer one's only child.
    pub fn inner(&self) -> Pid {
        children(self.outer())[0]
    }

    /// Kills a child of the inner process by a part of its command line.
    pub fn kill_child(&self, named: &str) {
        let is_named = |pid: &Pid| {
            fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|it| it.contains(named))
        };
        let pid = children(self.inner()).into_iter().find(is_named).unwrap();
        rustix::process::kill_process(pid, Signal::KILL).unwrap();
    }

    /// Sends a signal to one process, waits until it and everything below the outer process has
    /// ended, and returns how the outer one did.
    pub fn end_by(mut self, signal: Signal, to: Pid) -> ExitStatus {
        let everything: Vec<_> =
            below(self.outer()).into_iter().map(|pid| (pid, watch(pid))).collect();
        assert!(everything.len() > 1, "its inner process and a node run: {everything:?}");
        rustix::process::kill_process(to, signal).unwrap();
        let status = self.child.wait().unwrap();
        for (pid, ended) in everything {
            if let Some(ended) = ended {
                wait_until_readable(&ended, || format!("{pid} still runs"));
            }
        }
        status
    }
}

/// A descriptor that is readable when the process has ended; none when it has ended already.
fn watch(pid: Pid) -> Option<OwnedFd> {
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

fn below(pid: Pid) -> Vec<Pid> {
    children(pid).into_iter().flat_map(|child| [vec![child], below(child)].concat()).collect()
}

fn children(pid: Pid) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|pid| pid.parse().ok().and_then(Pid::from_raw))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Waits until `path` exists.
pub fn wait_for_file(path: &Utf8Path) {
    let waits = inotify::init(inotify::CreateFlags::CLOEXEC).unwrap();
    let events = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
    while !path.exists() {
        // The nearest folder above it that exists reports the next one.
        let folder = path.ancestors().find(|folder| folder.is_dir()).unwrap();
        inotify::add_watch(&waits, folder.as_std_path(), events).unwrap();
        if path.ancestors().find(|folder| folder.is_dir()) == Some(folder) && !path.exists() {
            wait_until_readable(&waits, || format!("{path} is not there"));
            let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
            inotify::Reader::new(&waits, &mut buffer).next().unwrap();
        }
    }
}

fn wait_until_readable(descriptor: &impl AsFd, otherwise: impl FnOnce() -> String) {
    let deadline = Timespec::try_from(DEADLINE).unwrap();
    let ready = poll(&mut [PollFd::new(descriptor, PollFlags::IN)], Some(&deadline));
    assert_eq!(ready, Ok(1), "{}", otherwise());
}

/// Every file below a folder with its content.
pub fn files_below(folder: &Utf8Path) -> Vec<(Utf8PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in folder.read_dir_utf8().unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            files.extend(files_below(entry.path()));
        } else {
            files.push((entry.path().to_owned(), fs::read(entry.path()).unwrap()));
        }
    }
    files
}

/// Whether `content` contains `needle`.
pub fn holds(content: &[u8], needle: &[u8]) -> bool {
    content.windows(needle.len()).any(|window| window == needle)
}
