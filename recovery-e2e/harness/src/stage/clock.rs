//! How a page is set up, and the time that its timers keep.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::edge;
use crate::stage::browser::WINDOW;
use crate::stage::page::Page;
use crate::stage::{Stage, StageError};

const RANDOM: &str = include_str!("../../pages/page_random.js");
const COUNTS: &str = include_str!("../../pages/page_counts.js");
const TIME: &str = include_str!("../../pages/page_time.js");

/// The longest wait on wall time that the page is asked for at once, in milliseconds: no answer of
/// it may take as long as [`edge::DEADLINE`], and a window of the client may be longer than that.
const WALL_PIECE_MS: f64 = 5_000.0;

/// Whose time the page's timers keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// A clock of the harness, which scenarios freeze and advance.
    Page,
    /// The wall's: what a scenario advances, it waits for.
    Real,
}

impl Clock {
    /// What to tell a person of it.
    pub fn told(self) -> &'static str {
        match self {
            Clock::Page => "page time",
            Clock::Real => "wall time",
        }
    }

    /// The range of the retry that the node is to tell event sources, in milliseconds; none for
    /// the node's own. A browser's redial keeps wall time, which page time does not wait for.
    pub(super) fn retry_ms(self) -> Option<&'static str> {
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
    /// Whose time its timers keep.
    pub clock: Clock,
    /// Decides its `Math.random`.
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

    /// What runs in every document before anything of its own.
    pub(super) fn init_scripts(self) -> Vec<String> {
        let mut scripts = vec![format!("({RANDOM})({})", self.seed), format!("({COUNTS})()")];
        if self.clock == Clock::Page {
            scripts.push(format!("({TIME})()"));
        }
        scripts
    }
}

impl Page {
    /// Stops page time: from here on only [`Stage::advance`] moves it. Wall time goes on.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn freeze(&self) -> Result<(), StageError> {
        Ok(self.tell("a frozen clock", "window.__pageTime?.freeze()").await?)
    }

    /// Lets page time flow on from where it stands.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn flow(&self) -> Result<(), StageError> {
        Ok(self.tell("a flowing clock", "window.__pageTime?.flow()").await?)
    }
}

impl Stage {
    /// Lets `ms` of the page's time pass, and returns when all that this has caused is done.
    ///
    /// On page time, which must be frozen, timers fire in the order in which they fall due, each
    /// when everything before is done. On wall time it waits.
    ///
    /// # Errors
    /// When the page does not answer, or an answer to it does not come.
    pub async fn advance(&self, page: &Page, ms: f64) -> Result<(), StageError> {
        match self.settings.clock {
            Clock::Real => {
                let mut left = ms;
                while left > 0.0 {
                    let piece = left.min(WALL_PIECE_MS);
                    page.tell("a wait", &format!("__e2e.passWallTime({piece})")).await?;
                    left -= piece;
                }
            }
            Clock::Page => {
                let now: f64 = page.eval("page time", "__pageTime.now()").await?;
                let step = format!("__pageTime.step({})", now + ms);
                while page.eval::<bool>("a step of page time", &step).await? {
                    self.quiet(page).await?;
                }
            }
        }
        self.quiet(page).await
    }

    /// Waits until every request that the page has started is answered, and the answer read, or is
    /// held by the front, and one macrotask and one frame have passed in which it started no other.
    ///
    /// # Errors
    /// When the page does not answer, or an answer to it does not come.
    pub async fn quiet(&self, page: &Page) -> Result<(), StageError> {
        let mut counters = self.front.counters();
        loop {
            let started: u64 = page.eval("its requests", "__counts.started()").await?;
            self.fence(page).await?;
            let now = edge::until("the answers to the page's requests", &mut counters, |now| {
                now.moving() == 0
            });
            let waiting = now.await?.waiting();
            page.until("answers that are read", &format!("__counts.unread() <= {waiting}")).await?;
            page.tell("a frame", "__e2e.frame()").await?;
            let started_since: u64 = page.eval("its requests", "__counts.started()").await?;
            if started_since == started && counters.borrow().moving() == 0 {
                return Ok(());
            }
        }
    }

    /// Returns when everything that the page has asked for so far is counted at the front.
    ///
    /// # Errors
    /// When the page or the front does not see the fence through.
    pub async fn fence(&self, page: &Page) -> Result<(), StageError> {
        let id = page.next_fence().to_string();
        page.tell("a fence", &format!("__e2e.fence({id})")).await?;
        Ok(self.front.fence_arrived(&id).await?)
    }
}

#[cfg(test)]
mod client_sources;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repeat_has_the_next_seed_and_a_single_run_the_given_one() {
        let settings = PageSettings::new(Clock::Page, u32::MAX);
        let seeds = [None, Some(1), Some(2), Some(3)].map(|k| settings.of_repeat(k).seed);
        assert_eq!(seeds, [u32::MAX, u32::MAX, 0, 1]);
    }

    #[test]
    fn only_page_time_puts_the_timers_on_a_clock_of_the_harness() {
        let clocked = |clock| {
            PageSettings::new(clock, 7).init_scripts().concat().contains("window.__pageTime = ")
        };
        assert!(clocked(Clock::Page));
        assert!(!clocked(Clock::Real));
    }
}
