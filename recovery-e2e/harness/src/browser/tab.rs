//! A page together with the proxy behind which it is: what it has requested, and when it is quiet.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::browser::page::{Page, PageError};
use crate::proxy::Proxy;
use crate::record::settings::Clock;
use crate::wait::{self, DEADLINE, Ended, WaitTimeout};

/// The longest wait on wall time that the page is asked for at once, in milliseconds: no answer of
/// it may take as long as [`DEADLINE`], and a window of the client may be longer than that.
const WALL_PIECE_MS: f64 = 5_000.0;

/// A page with the page driver in it, and the proxy that sees its requests. Clones are the same.
#[derive(Clone)]
pub struct Tab {
    page: Page,
    proxy: Arc<Proxy>,
    clock: Clock,
}

impl Tab {
    /// The tab of `page`, all of whose requests pass `proxy`.
    pub fn new(page: Page, proxy: Arc<Proxy>, clock: Clock) -> Tab {
        Tab { page, proxy, clock }
    }

    /// The page.
    pub fn page(&self) -> &Page {
        &self.page
    }

    /// The proxy.
    pub fn proxy(&self) -> &Arc<Proxy> {
        &self.proxy
    }

    /// The value of a script, as [`Page::eval`].
    ///
    /// # Errors
    /// As there.
    pub async fn eval<T: DeserializeOwned>(
        &self,
        what: &str,
        script: &str,
    ) -> Result<T, PageError> {
        self.page.eval(what, script).await
    }

    /// Lets `ms` of the page's time pass, and returns when all that this has caused is done.
    ///
    /// On page time, which must be frozen, timers fire in the order in which they fall due, each
    /// when everything before is done. On wall time it waits.
    ///
    /// # Errors
    /// When the page does not answer, or does not become quiet: a claim on the client, for whose
    /// timers it is.
    pub async fn advance(&self, ms: f64) -> Result<(), PageError> {
        match self.clock {
            Clock::Real => {
                let mut left = ms;
                while left > 0.0 {
                    let piece = left.min(WALL_PIECE_MS);
                    self.page.run("a wait", &format!("__e2e.passWallTime({piece})")).await?;
                    left -= piece;
                }
            }
            Clock::Page => {
                let now: f64 = self.eval("page time", "__pageTime.now()").await?;
                let step = format!("__pageTime.step({})", now + ms);
                let steps = async {
                    while self.eval::<bool>("a step of page time", &step).await? {
                        self.quiet().await?;
                    }
                    Ok::<_, PageError>(())
                };
                bounded("the page's timers end within the window", "it goes on", steps).await?;
            }
        }
        self.quiet().await
    }

    /// Waits until every request that the page has started is answered, and the answer read, or is
    /// held by the proxy, and one macrotask and one frame have passed in which it started no other.
    ///
    /// # Errors
    /// When the page or an answer to it does not come; a claim on the client when it requests more
    /// and more.
    pub async fn quiet(&self) -> Result<(), PageError> {
        let mut counters = self.proxy.counters();
        let quiet = async {
            loop {
                let started: u64 = self.eval("its requests", "__counts.started()").await?;
                self.fence().await?;
                let now = wait::until("answers to the page's requests", &mut counters, |now| {
                    now.moving() == 0
                });
                let waiting = now.await?.waiting();
                while self.eval::<u64>("unread answers", "__counts.unread()").await? > waiting {
                    self.frame().await?;
                }
                self.frame().await?;
                let since: u64 = self.eval("its requests", "__counts.started()").await?;
                if since == started && counters.borrow().moving() == 0 {
                    return Ok(());
                }
            }
        };
        bounded("the page stops requesting", "it goes on", quiet).await
    }

    /// Returns when every request of the page so far is counted at the proxy.
    ///
    /// # Errors
    /// When the page or the proxy does not see the fence through.
    pub async fn fence(&self) -> Result<(), PageError> {
        let id = self.page.next_fence().to_string();
        self.page.run("a fence", &format!("__e2e.fence({id})")).await?;
        Ok(self.proxy.fence_arrived(&id).await?)
    }

    /// Returns when the page has begun a frame.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn frame(&self) -> Result<(), PageError> {
        self.page.run("a frame", "__e2e.frame()").await
    }

    /// Whether the page, as far as it knows, may still change by itself: a timer will fire, or a
    /// stream is connecting.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn is_pending(&self) -> Result<bool, PageError> {
        self.eval("what is pending", "__e2e.pending()").await
    }
}

/// Runs `work`, which takes as long as the client wants. Each need in it has [`DEADLINE`] and is
/// missed first; what then still goes on is the client's.
///
/// # Errors
/// Those of `work`; a claim when it goes on for twice as long, with what `saw` says.
pub async fn bounded<T, E: From<WaitTimeout>>(
    claim: &str,
    saw: &str,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let limit = 2 * DEADLINE;
    match tokio::time::timeout(limit, work).await {
        Ok(done) => done,
        Err(_) => Err(WaitTimeout {
            ended: Ended::Deadline(limit),
            ..WaitTimeout::need(claim, saw).into_claim()
        }
        .into()),
    }
}
