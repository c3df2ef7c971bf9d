//! How a page is set up, and the time that its timers keep.

use crate::browser::page::{Page, PageError};
use crate::record::settings::{Clock, PageSettings};

const RANDOM: &str = include_str!("../../pages/page_random.js");
const COUNTS: &str = include_str!("../../pages/page_counts.js");
const TIME: &str = include_str!("../../pages/page_time.js");

/// What runs in every document before anything of its own.
pub fn init_scripts(settings: PageSettings) -> Vec<String> {
    let mut scripts = vec![format!("({RANDOM})({})", settings.seed), format!("({COUNTS})()")];
    if settings.clock == Clock::Page {
        scripts.push(format!("({TIME})()"));
    }
    scripts
}

impl Page {
    /// Stops page time: from here on only the harness moves it. Wall time goes on.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn freeze(&self) -> Result<(), PageError> {
        self.run("a frozen clock", "window.__pageTime?.freeze()").await
    }

    /// Lets page time flow on from where it is.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn flow(&self) -> Result<(), PageError> {
        self.run("a flowing clock", "window.__pageTime?.flow()").await
    }
}

#[cfg(test)]
mod client_sources;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_page_time_puts_the_timers_on_a_clock_of_the_harness() {
        let clocked = |clock| {
            init_scripts(PageSettings::new(clock, 7)).concat().contains("window.__pageTime = ")
        };
        assert!(clocked(Clock::Page));
        assert!(!clocked(Clock::Real));
    }
}
