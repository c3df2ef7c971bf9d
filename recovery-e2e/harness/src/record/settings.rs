//! The settings of a run and its pages.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The window of every page, in CSS pixels.
pub const WINDOW: (u32, u32) = (1280, 900);

/// What each case has to itself of the browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// A browser process and a fresh profile for each case
    #[default]
    Process,
    /// A fresh off-the-record context for each case, with its own cookies, storage, cache and connections; the cases of a worker share one browser process until one of them is bad
    Context,
}

impl Isolation {
    /// A description for a person.
    pub fn label(self) -> &'static str {
        match self {
            Isolation::Process => "a browser a case",
            Isolation::Context => "a browser a worker, a context a case",
        }
    }
}

/// The clock of the page's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Page time: a clock that scenarios freeze and advance
    Page,
    /// Wall time: where a scenario advances the clock, it waits; runs one case at a time, without controls
    Real,
}

impl Clock {
    /// A description for a person.
    pub fn label(self) -> &'static str {
        match self {
            Clock::Page => "page time",
            Clock::Real => "wall time",
        }
    }

    /// The range of the retry that the node sends to event sources, in milliseconds; none for
    /// the node's own. A browser's redial keeps wall time, which page time does not wait for.
    pub fn retry_ms(self) -> Option<&'static str> {
        match self {
            Clock::Page => Some("50..100"),
            Clock::Real => None,
        }
    }
}

/// What a page depends on besides its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageSettings {
    /// The window's width in CSS pixels.
    pub width: u32,
    /// The window's height in CSS pixels.
    pub height: u32,
    /// The clock of its timers.
    pub clock: Clock,
    /// The seed of its `Math.random`.
    pub seed: u32,
}

impl PageSettings {
    /// A page with this clock and this seed.
    pub fn new(clock: Clock, seed: u32) -> PageSettings {
        let (width, height) = WINDOW;
        PageSettings { width, height, clock, seed }
    }

    /// The settings of the `repeat`th repeat, counted from 1: its seed is as many further on.
    #[must_use]
    pub fn of_repeat(self, repeat: Option<u32>) -> PageSettings {
        let further = repeat.unwrap_or(1).saturating_sub(1);
        PageSettings { seed: self.seed.wrapping_add(further), ..self }
    }
}

/// Whether the browser keeps its processes in its own sandbox.
///
/// It guards this machine against a page. The pages here are the node's own, so a run without it
/// is no less of a proof; every report says which it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// It does.
    On,
    /// Chromium refuses to sandbox root's processes.
    OffForRoot,
    /// This machine lets this user make no user namespace, as Ubuntu 24.04 and many containers do.
    OffForMachine,
}

impl Sandbox {
    /// The best that this user can hope for.
    pub fn of_this_user() -> Sandbox {
        if rustix::process::geteuid().is_root() { Sandbox::OffForRoot } else { Sandbox::On }
    }

    /// A description for a person.
    pub fn label(self) -> &'static str {
        match self {
            Sandbox::On => "on",
            Sandbox::OffForRoot => "off, as root runs it",
            Sandbox::OffForMachine => "off, as this machine forbids user namespaces",
        }
    }
}

/// One edit of a served file that a person gave with `--defect`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefectEdit {
    /// The path of the served file.
    pub asset: String,
    /// The text to replace; it occurs exactly once in the file.
    pub find: String,
    /// Its replacement.
    pub replace: String,
}

/// A browser, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserInfo {
    /// Its program.
    pub path: String,
    /// Its name and version.
    pub version: String,
    /// Who provided it: `nix`, `PATH`, `apt`, or what named it.
    pub origin: String,
    /// Whether it sandboxes its processes.
    pub sandbox: Sandbox,
    /// Whether /dev/shm is too small for its tabs, which then share memory in temporary files.
    #[serde(default)]
    pub small_shm: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repeat_has_the_next_seed_and_a_single_run_the_given_one() {
        let settings = PageSettings::new(Clock::Page, u32::MAX);
        let seeds = [None, Some(1), Some(2), Some(3)].map(|k| settings.of_repeat(k).seed);
        assert_eq!(seeds, [u32::MAX, u32::MAX, 0, 1]);
    }
}
