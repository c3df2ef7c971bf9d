//! Children that end without having been asked to.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use tokio::sync::watch;

/// Where the unasked end of a child is reported. Clones report to the same place.
#[derive(Clone, Debug, Default)]
pub struct Deaths {
    first: watch::Sender<Option<String>>,
}

/// The watch over one child. Dropped, it reports nothing any more: its end is asked for.
#[derive(Debug)]
pub struct Watch {
    _called_off: PipeWriter,
}

impl Deaths {
    /// Reports the end of the child `pid`, known to people as `name`, unless the watch is dropped
    /// before.
    ///
    /// # Errors
    /// What the kernel says when it cannot be watched.
    pub fn watch(&self, name: &str, pid: Pid) -> io::Result<Watch> {
        let child = pidfd_open(pid, PidfdFlags::empty())?;
        let (called_off, watch) = io::pipe()?;
        let (name, first) = (name.to_owned(), self.first.clone());
        // A thread, since the runtime waits for descriptors of its own kinds only.
        thread::Builder::new().name(format!("watch {name}")).spawn(move || {
            if let Some(end) = unasked_end(&child, &called_off) {
                let death = format!("the {name} ended without being asked to: {end}");
                first.send_if_modified(|first| {
                    let unheard = first.is_none();
                    first.get_or_insert(death);
                    unheard
                });
            }
        })?;
        Ok(Watch { _called_off: watch })
    }

    /// The first death that was reported, if there was one.
    pub fn heard(&self) -> Option<String> {
        self.first.borrow().clone()
    }

    /// Waits for the first death, for ever if there is none.
    pub async fn first(&self) -> String {
        let mut first = self.first.subscribe();
        match first.wait_for(Option::is_some).await.ok().and_then(|death| death.clone()) {
            Some(death) => death,
            None => std::future::pending().await,
        }
    }
}

/// Waits for the end of a child and describes it, unless the watch is called off before.
fn unasked_end(child: &OwnedFd, called_off: &PipeReader) -> Option<String> {
    loop {
        let mut both = [child.as_fd(), called_off.as_fd()]
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        match poll(&mut both, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return None,
        }
        // Looked at first: a child that was asked to end may have done so by now.
        if !both[1].revents().is_empty() {
            return None;
        }
        return Some(end_of(child));
    }
}

/// How a child that has ended did; it stays to be reaped by whoever owns it.
fn end_of(child: &OwnedFd) -> String {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    match waitid(WaitId::PidFd(child.as_fd()), options) {
        Ok(Some(status)) => match (status.terminating_signal(), status.exit_status()) {
            (Some(signal), _) => format!("signal {signal}"),
            (None, Some(code)) => format!("exit code {code}"),
            (None, None) => "in an unknown way".to_owned(),
        },
        _ => "in an unknown way".to_owned(),
    }
}
