//! Letting page time pass, and waiting until the page is quiet.

use crate::browser::page::Page;
use crate::record::settings::Clock;
use crate::scenario::stage::{Stage, StageError};
use crate::wait;

/// The longest wait on wall time that the page is asked for at once, in milliseconds: no answer of
/// it may take as long as [`wait::DEADLINE`], and a window of the client may be longer than that.
const WALL_PIECE_MS: f64 = 5_000.0;

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
    /// held by the proxy, and one macrotask and one frame have passed in which it started no other.
    ///
    /// # Errors
    /// When the page does not answer, or an answer to it does not come.
    pub async fn quiet(&self, page: &Page) -> Result<(), StageError> {
        let mut counters = self.proxy.counters();
        loop {
            let started: u64 = page.eval("its requests", "__counts.started()").await?;
            self.fence(page).await?;
            let now = wait::until("the answers to the page's requests", &mut counters, |now| {
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

    /// Returns when everything that the page has asked for so far is counted at the proxy.
    ///
    /// # Errors
    /// When the page or the proxy does not see the fence through.
    pub async fn fence(&self, page: &Page) -> Result<(), StageError> {
        let id = page.next_fence().to_string();
        page.tell("a fence", &format!("__e2e.fence({id})")).await?;
        Ok(self.proxy.fence_arrived(&id).await?)
    }
}
