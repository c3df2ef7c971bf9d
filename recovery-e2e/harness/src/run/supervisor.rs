//! The outer process: it starts the inner one, forwards signals to it, and when it has ended,
//! however it ended, leaves nothing of it behind.

use std::convert::Infallible;
use std::env;
use std::future::pending;
use std::process::{ExitStatus, Stdio};

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::{Pid, Signal};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::os::descendants;
use crate::os::temp::{self, RunTemp};
use crate::record::journal::{self, JournalView};
use crate::report::{self, exit_code};

/// Holds the run's temporary folder; only the inner process has this variable.
const INNER: &str = "RECOVERY_E2E_INNER";

/// The temporary folder of this run, when this is its inner process.
pub fn inner_temp() -> Option<Utf8PathBuf> {
    env::var(INNER).ok().map(Utf8PathBuf::from)
}

/// Runs this command again as the inner process, below this one, and returns its exit code.
///
/// If it `pauses` for a person, Enter is forwarded to it. When a signal kills the inner process, the
/// reports are written here, from its journal in `out`, if there is one.
///
/// # Errors
/// When the inner process cannot be started.
pub fn supervise(out: Option<&Utf8Path>, pauses: bool) -> anyhow::Result<u8> {
    descendants::adopt_orphans()
        .context("this kernel has no child subreaper (Linux 3.4 or later has)")?;
    for swept in temp::sweep() {
        eprintln!("recovery-e2e: removed {swept}, which a killed run had left");
    }
    let temp = RunTemp::create()
        .context("cannot create a temporary folder; set TMPDIR to a folder that can be written")?;
    let status = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?
        .block_on(run_inner(temp.path(), pauses));
    descendants::start_no_more();
    descendants::kill_all();
    let run_id = temp::run_id(temp.path()).to_owned();
    temp.close().context("cannot remove the temporary folder")?;
    Ok(match (status?.code(), out) {
        (Some(code), _) => u8::try_from(code).unwrap_or(1),
        (None, Some(out)) => report_killed_run(out, &run_id)?,
        (None, None) => 1,
    })
}

/// The inner process died of a signal: it may have come as far as a journal, or not.
fn report_killed_run(out: &Utf8Path, run_id: &str) -> anyhow::Result<u8> {
    let is_ours = |view: JournalView| view.run.run_id == run_id;
    if !journal::read(&out.join(journal::FILE_NAME)).is_ok_and(is_ours) {
        anyhow::bail!("the run was killed before it had started a case; run again");
    }
    let summary = report::write_all(out).context("cannot write the reports of the killed run")?;
    eprintln!(
        "recovery-e2e: the run was killed; {out} contains the reports of what it had finished"
    );
    Ok(exit_code(&summary))
}

async fn run_inner(temp: &Utf8Path, pauses: bool) -> anyhow::Result<ExitStatus> {
    let program = env::current_exe().context("cannot find the path of this program")?;
    let mut inner = Command::new(program)
        .args(env::args_os().skip(1))
        .env(INNER, temp)
        // The lifeline: only this process holds its other end, so it closes for the inner
        // process when this one is gone. A parent-death signal would follow a thread instead.
        .stdin(Stdio::piped())
        // A terminal's Ctrl-C reaches the inner process once: from here.
        .process_group(0)
        .spawn()
        .context("cannot start the inner process")?;
    let mut lifeline = inner.stdin.take();
    let enter = forward_enter(&mut lifeline, pauses);
    let status = tokio::select! {
        status = forward_signals(&mut inner) => status,
        never = enter => match never {},
    };
    drop(lifeline);
    status.context("cannot wait for the inner process")
}

/// Hands on each Enter, for ever: the lifeline stays whole also when there is nothing more to read.
async fn forward_enter(lifeline: &mut Option<ChildStdin>, pauses: bool) -> Infallible {
    if let (Some(lifeline), true) = (lifeline, pauses) {
        let (pressed, mut presses) = mpsc::unbounded_channel();
        // A thread of its own: the runtime would not end before a read that it has begun.
        std::thread::spawn(move || {
            let mut lines = std::io::stdin().lines();
            while lines.next().is_some_and(|line| line.is_ok() && pressed.send(()).is_ok()) {}
        });
        while presses.recv().await.is_some() {
            // It has no reader any more when the inner process is about to end.
            let _ = lifeline.write_all(b"\n").await;
        }
    }
    pending().await
}

async fn forward_signals(inner: &mut Child) -> std::io::Result<ExitStatus> {
    let pid = inner.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    loop {
        let forwarded = tokio::select! {
            status = inner.wait() => return status,
            _ = interrupt.recv() => Signal::INT,
            _ = terminate.recv() => Signal::TERM,
            _ = hangup.recv() => Signal::HUP,
        };
        if let Some(pid) = pid {
            // It may have ended at this very moment, which the next wait reports.
            let _ = rustix::process::kill_process(pid, forwarded);
        }
    }
}
