//! A child process that leads a group of its own, and ends together with it.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use crate::os::children::{Children, Mark};
use crate::os::deaths::Watch;
use crate::os::descendants;

/// A child and its process group. Dropping it kills the group.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// By which all that it starts is known as its own.
    mark: Mark,
    /// The group's id, until the group is empty: the kernel may then give it to others.
    group: Option<Pid>,
    /// Gone once its end is asked for.
    watch: Option<Watch>,
}

impl Process {
    /// Starts `command` at the head of its own group, with nothing to read and its output piped.
    ///
    /// That it ends before [`Process::stop`] or [`Process::kill`] is reported to the deaths of
    /// `children`, where it is known as `name`.
    ///
    /// # Errors
    /// What the kernel says when it cannot be started.
    pub fn start(name: &str, mut command: Command, children: &Children) -> io::Result<Process> {
        let mark = children.mark()?;
        let (variable, value) = mark.variable();
        command
            .env(variable, value)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let child = descendants::spawn(&mut command)?;
        child.stdout.iter().for_each(|pipe| children.print_to(pipe));
        child.stderr.iter().for_each(|pipe| children.print_to(pipe));
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let mut process = Process { child, mark, group, watch: None };
        process.watch = group.map(|pid| children.deaths.watch(name, pid)).transpose()?;
        Ok(process)
    }

    /// Its id; none after its end.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Its standard output, to be taken once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Its standard error, to be taken once.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Asks it to end by SIGTERM, and returns its status, or none when it has not ended after
    /// `patience`. What is left of the group is killed either way.
    pub async fn stop(&mut self, patience: Duration) -> Option<ExitStatus> {
        self.watch = None;
        if let Some(group) = self.group {
            let _ = rustix::process::kill_process(group, Signal::TERM);
        }
        let status = tokio::time::timeout(patience, self.child.wait()).await;
        self.kill().await;
        status.ok().and_then(Result::ok)
    }

    /// Kills it, waits for its death, and only then kills what it left, in its group or out of it;
    /// returns when nothing of it runs any more.
    pub async fn kill(&mut self) {
        let Some(group) = self.group else { return };
        self.watch = None;
        // An error here means that it has ended already, and the wait reports that too.
        let _ = self.child.start_kill();
        let _ = self.child.wait().await;
        // A wait for the kernel, on a thread where it blocks no task.
        let mark = self.mark.clone();
        let _ = tokio::task::spawn_blocking(move || {
            descendants::kill_group(group);
            descendants::kill_marked(&mark);
        })
        .await;
        self.group = None;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::io::{AsyncBufReadExt, BufReader};

    use super::*;
    use crate::wait;

    /// A shell that starts a child in its group, prints the child's pid, and waits for ever.
    fn parent_and_child(trap: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{trap} sleep 1000 & echo $!; wait; wait; wait")]);
        Process::start("shell", command, &Children::new().unwrap()).unwrap()
    }

    async fn child_of(process: &mut Process) -> String {
        let stdout = process.take_stdout().unwrap();
        BufReader::new(stdout).lines().next_line().await.unwrap().unwrap()
    }

    fn is_alive(pid: &str) -> bool {
        std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[tokio::test]
    async fn a_process_that_ends_unasked_is_reported_with_how_it_ended() {
        for (script, end) in [("exit 3", "exit code 3"), ("kill -9 $$", "signal 9")] {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            let children = Children::new().unwrap();
            let _process = Process::start("node", command, &children).unwrap();
            let first = children.deaths.first();
            let first = wait::within("the report", first, || "none".to_owned()).await;
            assert_eq!(first.unwrap(), format!("the node ended without being asked to: {end}"));
        }
    }

    #[tokio::test]
    async fn a_process_whose_end_is_asked_for_is_not_reported() {
        descendants::adopt_orphans().unwrap();
        let children = Children::new().unwrap();
        for _ in 0..20 {
            let mut command = Command::new("sleep");
            command.arg("1000");
            let mut process = Process::start("node", command, &children).unwrap();
            process.kill().await;
        }
        // A report would be there: the kills above have been waited for.
        assert!(children.deaths.first().now_or_never().is_none());
    }

    #[tokio::test]
    async fn killing_a_process_kills_what_it_started() {
        descendants::adopt_orphans().unwrap();
        let mut process = parent_and_child("");
        let child = child_of(&mut process).await;
        assert!(is_alive(&child));
        process.kill().await;
        assert!(!is_alive(&child));
    }

    #[tokio::test]
    async fn killing_a_process_kills_what_it_started_in_another_session_too() {
        descendants::adopt_orphans().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "setsid sh -c 'echo $$; sleep 1000; :' & wait"]);
        let mut process = Process::start("shell", command, &Children::new().unwrap()).unwrap();
        let escaped = child_of(&mut process).await;
        assert!(is_alive(&escaped));
        process.kill().await;
        assert!(!is_alive(&escaped));
    }

    #[tokio::test]
    async fn a_process_that_ignores_sigterm_is_killed_after_the_patience_with_all_it_started() {
        descendants::adopt_orphans().unwrap();
        let mut process = parent_and_child("trap '' TERM;");
        let child = child_of(&mut process).await;
        assert_eq!(process.stop(Duration::from_millis(50)).await, None);
        assert!(!is_alive(&child));
    }

    #[tokio::test]
    async fn a_process_that_obeys_sigterm_tells_its_status() {
        let mut command = Command::new("sh");
        command.args(["-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 1000 & wait; done"]);
        let mut process = Process::start("shell", command, &Children::new().unwrap()).unwrap();
        assert_eq!(child_of(&mut process).await, "ready");
        let status = process.stop(wait::DEADLINE).await.unwrap();
        assert_eq!(status.code(), Some(7));
    }
}
