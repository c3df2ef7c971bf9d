//! For a person who watches a run: a window, a slower pace, and a pause after a bad case.

use std::env;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The heading of these flags in `--help`.
const HEADING: &str = "Watching";

/// How a person watches a run.
#[derive(Clone, Debug, Default, Args)]
pub struct Watching {
    /// Show the browser's window; needs a display, and a browser with windows
    #[arg(long, help_heading = HEADING)]
    pub headed: bool,

    /// Keep the page, proxy and node of a bad case running until Enter is pressed, and print their addresses; runs one case at a time
    #[arg(long, help_heading = HEADING)]
    pub pause_on_failure: bool,

    /// Wait before each action on the page, in milliseconds
    #[arg(long, value_name = "MS", default_value = "0", value_parser = milliseconds, help_heading = HEADING)]
    pub slow_mo: Duration,
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .map(Duration::from_millis)
        .map_err(|_| "expected a whole number of milliseconds".to_owned())
}

/// What Chromium's headless shell calls itself; the full browser is `Chrome`, also without a window.
const HEADLESS_SHELL: &str = "HeadlessChrome/";

/// Flags for watching that cannot work here.
#[derive(Debug, thiserror::Error)]
pub enum WatchingError {
    /// There is no display.
    #[error(
        "--headed needs a display, and neither DISPLAY nor WAYLAND_DISPLAY names one; \
         run it in a desktop session, or under xvfb-run"
    )]
    Display,
    /// The browser has no windows.
    #[error("--headed needs a browser with windows, and {0} has none; name another with --browser")]
    Windows(String),
    /// Standard input is not a terminal.
    #[error(
        "--pause-on-failure waits for Enter, and standard input is not a terminal; run in a terminal, or remove the flag"
    )]
    Terminal,
}

impl Watching {
    /// Refuses what cannot be watched here.
    ///
    /// # Errors
    /// [`WatchingError`].
    pub fn check(&self) -> Result<(), WatchingError> {
        let display = ["DISPLAY", "WAYLAND_DISPLAY"].map(env::var_os);
        if self.headed && display.iter().flatten().all(|name| name.is_empty()) {
            return Err(WatchingError::Display);
        }
        if self.pause_on_failure && !std::io::stdin().is_terminal() {
            return Err(WatchingError::Terminal);
        }
        Ok(())
    }

    /// Refuses a browser, by what it says it is, that cannot be watched.
    ///
    /// # Errors
    /// [`WatchingError`].
    pub fn check_browser(&self, version: &str) -> Result<(), WatchingError> {
        if self.headed && version.starts_with(HEADLESS_SHELL) {
            return Err(WatchingError::Windows(version.to_owned()));
        }
        Ok(())
    }
}

/// A pause of the run until the person presses Enter. Clones share it.
#[derive(Clone, Debug)]
pub struct Pause {
    go_on: Arc<Notify>,
    held: Arc<AtomicBool>,
    interrupt: CancellationToken,
}

impl Pause {
    /// A pause that also ends when the run is interrupted.
    pub fn new(interrupt: CancellationToken) -> Pause {
        Pause { go_on: Arc::default(), held: Arc::default(), interrupt }
    }

    /// Cancelled when the run is to end early.
    pub fn interrupt(&self) -> &CancellationToken {
        &self.interrupt
    }

    /// Waits until the person presses Enter, or interrupts the run.
    pub async fn hold(&self) {
        let go_on = self.go_on.notified();
        self.held.store(true, Ordering::SeqCst);
        tokio::select! {
            () = go_on => self.held.store(false, Ordering::SeqCst),
            // It stays held: the verdict is known, and the run waits until it is written.
            () = self.interrupt.cancelled() => {}
        }
    }

    /// Ends the pause, if there is one. An Enter before a pause has no effect.
    pub fn go_on(&self) {
        self.go_on.notify_waiters();
    }

    /// Whether the run was interrupted during a pause.
    pub fn is_held(&self) -> bool {
        self.held.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_hold_ends_with_what_is_pressed_during_it_only() {
        let pause = Pause::new(CancellationToken::new());
        pause.go_on();
        let mut hold = Box::pin(pause.hold());
        assert_eq!((&mut hold).now_or_never(), None);
        assert!(pause.is_held());
        pause.go_on();
        assert_eq!(hold.now_or_never(), Some(()));
        assert!(!pause.is_held());
    }

    #[test]
    fn an_interrupt_ends_a_hold_whose_verdict_is_still_to_be_written() {
        let interrupt = CancellationToken::new();
        let pause = Pause::new(interrupt.clone());
        let mut hold = Box::pin(pause.hold());
        assert_eq!((&mut hold).now_or_never(), None);
        interrupt.cancel();
        assert_eq!(hold.now_or_never(), Some(()));
        assert!(pause.is_held());
    }
}
