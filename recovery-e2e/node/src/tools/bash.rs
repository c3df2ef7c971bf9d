//! One command of the shell: a real process, in a process group of its own.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep_until};

use super::output::Output;
use crate::halt::{Halted, Why};
use crate::lane::at;

/// Bytes read at once; also the most that Linux lets an ordinary pipe hold.
const READ: usize = 64 << 10;

/// Bytes read after the end of a command: what a pipe of the largest size (pipe(7),
/// `pipe-max-size`) can still hold. Who writes more has left the group and is not waited for.
const REST: usize = 1 << 20;

/// How a command ended.
#[derive(Debug)]
pub enum Ended {
    /// By itself, or by a signal that the node did not send.
    Exit(ExitStatus),
    /// It was killed because its time was over.
    TimedOut(Duration),
    /// It was ended with its turn.
    Halted(Why),
    /// The operating system could not run it to its end.
    NotRun(io::Error),
}

impl Ended {
    /// A note for the output, unless the command succeeded.
    pub fn note(&self) -> Option<String> {
        match self {
            Self::Exit(status) if status.success() => None,
            Self::Exit(status) => Some(match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit status {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => "ended in an unknown way".to_owned(),
            }),
            Self::TimedOut(limit) => Some(format!("killed after {} s", limit.as_secs_f64())),
            Self::Halted(why) => Some(why.to_string()),
            Self::NotRun(error) => Some(format!(
                "cannot run bash: {error}; check that bash is installed where the node runs, and \
                 that the node can write to its data folder"
            )),
        }
    }
}

/// A running command. Dropped, its group is killed.
pub struct Bash {
    child: Child,
    /// The group, until it was killed.
    group: Option<Pid>,
    pipe: Receiver,
}

impl Bash {
    /// Starts a command in a folder, which is made if it is missing.
    ///
    /// # Errors
    /// When the folder cannot be made or the shell cannot be started.
    pub fn start(command: &str, folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        // One pipe for both, so that what is written in turn is read in turn.
        let (reader, writer) = io::pipe()?;
        let child = Command::new("bash")
            .args(["-c", command])
            .current_dir(folder)
            // The command comes from the model, which must not read the key.
            .env_remove(crate::model::KEY_VARIABLE)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0)
            .spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(Self { child, group, pipe: Receiver::from_owned_fd(OwnedFd::from(reader))? })
    }

    /// The id of its process and of its group.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits until the command has ended, and takes what it writes. Nothing of its group is left
    /// then.
    ///
    /// # Errors
    /// When the operating system loses track of it.
    pub async fn finish(
        mut self,
        limit: Duration,
        halted: &Halted,
        output: &mut Output<'_>,
    ) -> io::Result<Ended> {
        let mut buffer = vec![0; READ];
        let ended = self.watch(limit, halted, output, &mut buffer).await?;
        // At once: its id may be given to another group from now on, after a whole round of ids.
        self.kill();
        drain(&self.pipe, &mut buffer, |part| output.push(part));
        Ok(ended)
    }

    async fn watch(
        &mut self,
        limit: Duration,
        halted: &Halted,
        output: &mut Output<'_>,
        buffer: &mut [u8],
    ) -> io::Result<Ended> {
        let deadline = Instant::now() + limit;
        let (mut asked, mut grace) = (halted.clone(), halted.clone());
        let mut by_node = None;
        let mut open = true;
        loop {
            tokio::select! {
                status = self.child.wait() => {
                    return Ok(by_node.unwrap_or(Ended::Exit(status?)));
                }
                readable = self.pipe.readable(), if open => {
                    readable?;
                    match self.pipe.try_read(buffer) {
                        Ok(0) => open = false,
                        Ok(read) => output.push(&buffer[..read]),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        Err(error) => return Err(error),
                    }
                }
                () = at(output.due()) => output.flush(),
                () = sleep_until(deadline), if by_node.is_none() => {
                    by_node = Some(Ended::TimedOut(limit));
                    self.kill();
                }
                why = asked.asked(), if by_node.is_none() => {
                    by_node = Some(Ended::Halted(why));
                    self.signal(Signal::TERM);
                }
                why = grace.grace_over(), if self.group.is_some() => {
                    by_node = Some(Ended::Halted(why));
                    self.kill();
                }
            }
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // That it has ended already is what was wanted.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Once: the id of a group that has ended may be reused.
    fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.group = None;
    }
}

/// Reads the rest of the pipe of a command that has ended.
///
/// The kernel is asked: the runtime may have heard of the end before it hears of the output, and
/// until then its own reads find nothing.
fn drain(pipe: &Receiver, buffer: &mut [u8], mut take: impl FnMut(&[u8])) {
    let mut rest = REST;
    while rest > 0 {
        match rustix::io::read(pipe, &mut *buffer) {
            Ok(read @ 1..) => {
                take(&buffer[..read]);
                rest = rest.saturating_sub(read);
            }
            Err(rustix::io::Errno::INTR) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

impl Drop for Bash {
    fn drop(&mut self) {
        // When the wait for it is given up.
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// All that a pipe gives after `written`, without a turn of the runtime in between.
    fn drained(written: &[u8]) -> Vec<u8> {
        let (reader, mut writer) = io::pipe().unwrap();
        let pipe = Receiver::from_owned_fd(OwnedFd::from(reader)).unwrap();
        writer.write_all(written).unwrap();
        let mut all = Vec::new();
        drain(&pipe, &mut [0; 16], |part| all.extend_from_slice(part));
        all
    }

    #[tokio::test]
    async fn what_a_command_wrote_is_there_at_its_end_also_if_the_runtime_has_not_heard_of_it() {
        assert_eq!(drained(b"port light out\nstarboard light out\n").len(), 35);
        assert!(drained(b"").is_empty());
    }
}
