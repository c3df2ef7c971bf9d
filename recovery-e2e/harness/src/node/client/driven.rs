//! A page of the client under test, and the waits for what the client has to do in it.

use std::fmt::Display;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::condition::{Condition, Quantity};
use super::timing::Timing;
use crate::browser::page::PageError;
use crate::browser::tab::Tab;
use crate::node::control_socket::{ControlError, ControlSocket};
use crate::node::error::AppError;
use crate::proxy::{Class, Counters, Record};
use crate::wait::{self, DEADLINE, Ended, WaitTimeout};

/// How long a claim is left alone before it is asked whether anything can still bring it. A healthy
/// one is met sooner, and costs no further look; no verdict depends on it.
const LOOK_AFTER: Duration = Duration::from_millis(500);

/// How many looks in a row, a frame and a fence apart, must find nothing that is pending: what the
/// node has sent is on its way for less.
const LOOKS: u32 = 3;

/// A page of the client, with the node's control socket beside it. Clones are the same page.
#[derive(Clone)]
pub struct Driven {
    tab: Tab,
    control: ControlSocket,
}

/// How a wait inside the page ended.
#[derive(Deserialize)]
struct Waited {
    held: bool,
    #[serde(default)]
    result: Value,
    saw: String,
}

impl Driven {
    /// The page in `tab`, whose node is at the other end of `control`.
    pub fn new(tab: Tab, control: ControlSocket) -> Driven {
        Driven { tab, control }
    }

    /// The page and its proxy.
    pub fn tab(&self) -> &Tab {
        &self.tab
    }

    /// The node's control socket.
    pub fn control(&self) -> &ControlSocket {
        &self.control
    }

    /// Waits for what the client has to bring.
    ///
    /// # Errors
    /// A claim that is not met: at the deadline, or as soon as nothing can bring it any more.
    pub async fn claim(&self, condition: Condition<'_>) -> Result<(), AppError> {
        let script = format!("__e2e.until({}, {})", json!(condition), patience_ms());
        self.claim_in_page(&condition.to_string(), &script).await.map(drop)
    }

    /// The same, and does something in the page in the very task in which the condition holds:
    /// `script` gets the condition and the patience as its first two arguments.
    pub(super) async fn claim_then<T: DeserializeOwned>(
        &self,
        condition: Condition<'_>,
        method: &str,
        argument: &Value,
    ) -> Result<T, AppError> {
        let script = format!("__e2e.{method}({}, {}, {argument})", json!(condition), patience_ms());
        let result = self.claim_in_page(&condition.to_string(), &script).await?;
        serde_json::from_value(result.clone()).map_err(|_| {
            PageError::Answer { what: condition.to_string(), answer: result.to_string() }.into()
        })
    }

    async fn claim_in_page(&self, condition: &str, script: &str) -> Result<Value, AppError> {
        let waited = async {
            let waited: Waited = self.tab.eval(condition, script).await?;
            if waited.held {
                return Ok(waited.result);
            }
            Err(AppError::from(WaitTimeout::need(condition, waited.saw).into_claim()))
        };
        self.claim_that(condition, waited).await
    }

    /// Waits for `brought`, which the client has to bring, wherever it shows.
    ///
    /// # Errors
    /// A claim that is not met, also where `brought` says that it is a need.
    pub async fn claim_that<T, E: Into<AppError>>(
        &self,
        condition: &str,
        brought: impl Future<Output = Result<T, E>>,
    ) -> Result<T, AppError> {
        tokio::pin!(brought);
        if let Ok(ended) = tokio::time::timeout(LOOK_AFTER, &mut brought).await {
            return ended.map_err(|error| error.into().into_claim());
        }
        let unanswered = self.moving();
        tokio::select! {
            biased;
            ended = &mut brought => ended.map_err(|error| {
                let error = error.into();
                // A request that is unanswered all the time is the node's to answer.
                let still = self.moving().into_iter().any(|seq| unanswered.contains(&seq));
                if still { error.into_need() } else { error.into_claim() }
            }),
            saw = self.until_nothing_pends() => Err(WaitTimeout {
                ended: Ended::NothingPending,
                ..WaitTimeout::need(condition, saw?).into_claim()
            }.into()),
        }
    }

    /// The requests of the page that are under way, by number.
    fn moving(&self) -> Vec<u64> {
        let records = self.tab.proxy().records().into_iter();
        records.filter(Record::moving).map(|record| record.seq).collect()
    }

    /// Whether the node will publish nothing by itself: no turn runs in it, or it is stopped.
    async fn node_is_idle(&self) -> Result<bool, AppError> {
        match self.control.counters().await {
            Ok(counters) => Ok(counters.busy == 0),
            Err(ControlError::Transport(_)) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until neither page nor node will change anything by itself, and returns what the page
    /// shows then. What a hold keeps does not count: only the scenario can release it.
    async fn until_nothing_pends(&self) -> Result<String, AppError> {
        let mut at_rest = 0;
        while at_rest < LOOKS {
            let rests = self.tab.proxy().counters().borrow().moving() == 0
                && !self.tab.is_pending().await?
                && self.node_is_idle().await?;
            if rests {
                self.tab.quiet().await?;
                at_rest += 1;
            } else {
                self.tab.frame().await?;
                at_rest = 0;
            }
        }
        let state: Value = self.tab.eval("the page's state", "__e2e.look()").await?;
        Ok(state.to_string())
    }

    /// Checks a condition now.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn holds(&self, condition: Condition<'_>) -> Result<bool, AppError> {
        let script = format!("__e2e.holds({})", json!(condition));
        Ok(self.tab.eval(&condition.to_string(), &script).await?)
    }

    /// Reads a number now.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn measure(&self, quantity: Quantity<'_>) -> Result<u64, AppError> {
        let script = format!("__e2e.measure({})", json!(quantity));
        Ok(self.tab.eval(&quantity.to_string(), &script).await?)
    }

    /// Does something in the page, as a person would, and returns what `script` does.
    pub(super) async fn act<T: DeserializeOwned>(
        &self,
        what: &str,
        script: &str,
    ) -> Result<T, AppError> {
        Ok(self.tab.page().act_for(what, script).await?)
    }

    /// The same, without a result.
    pub(super) async fn act_only(&self, what: &str, script: &str) -> Result<(), AppError> {
        Ok(self.tab.page().act(what, script).await?)
    }

    /// Writes a message and sends it, as a person would, and waits until the node has taken it.
    ///
    /// # Errors
    /// A claim when the message does not leave the page.
    pub async fn send(&self, message: &str) -> Result<(), AppError> {
        let taken = |now: &Counters| now.of(Class::SEND).ok;
        let before = taken(&self.tab.proxy().counters().borrow());
        self.write(message).await?;
        let what = "the message reaches the node and is taken";
        self.claim_counters(what, |now| taken(now) > before).await
    }

    /// Writes a message and sends it, and does not wait for anything.
    ///
    /// # Errors
    /// When the page does not answer; a claim when it has no composer.
    pub async fn write(&self, message: &str) -> Result<(), AppError> {
        self.act_only("a message", &format!("__e2e.write({})", json!(message))).await
    }

    /// Waits until more than `before` requests of `class` have reached the proxy.
    ///
    /// # Errors
    /// A claim when the client does not send one.
    pub async fn claim_request(&self, class: Class, before: u64) -> Result<(), AppError> {
        let what = format!("the client sends a request of the class {class}");
        self.claim_counters(&what, |now| now.of(class).arrived > before).await
    }

    async fn claim_counters(
        &self,
        what: &str,
        holds: impl Fn(&Counters) -> bool,
    ) -> Result<(), AppError> {
        let mut counters = self.tab.proxy().counters();
        self.claim_that(what, wait::until(what, &mut counters, |now| holds(now))).await.map(drop)
    }

    /// Hides the page or shows it, as a change of tabs would.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn set_hidden(&self, hidden: bool) -> Result<(), AppError> {
        self.act_only("a change of tabs", &format!("__e2e.setHidden({hidden})")).await
    }

    /// Stops the page's time: no timer fires before [`Driven::outlast`].
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn freeze(&self) -> Result<(), AppError> {
        Ok(self.tab.page().freeze().await?)
    }

    /// Lets a window of the client's time pass: whatever was due in it has happened then, as far as
    /// no hold is in the way.
    ///
    /// # Errors
    /// As [`Tab::advance`].
    pub async fn outlast(&self, window: fn(&Timing) -> f64) -> Result<(), AppError> {
        let timing: Timing = self.tab.eval("the client's timing", "__e2e.timing").await?;
        Ok(self.tab.advance(window(&timing)).await?)
    }

    /// Returns when every request of the page so far is counted at the proxy.
    ///
    /// # Errors
    /// As [`Tab::fence`].
    pub async fn fence(&self) -> Result<(), AppError> {
        Ok(self.tab.fence().await?)
    }

    /// Returns when no request of the page is under way, but what a hold keeps.
    ///
    /// # Errors
    /// As [`Tab::quiet`].
    pub async fn quiet(&self) -> Result<(), AppError> {
        Ok(self.tab.quiet().await?)
    }
}

/// A claim that does not hold now, if `held` says so.
///
/// # Errors
/// That claim.
pub fn unmet(what: &str, held: bool, saw: impl Display) -> Result<(), AppError> {
    if held {
        return Ok(());
    }
    let ended = Ended::Unmet;
    Err(WaitTimeout { ended, ..WaitTimeout::need(what, saw.to_string()).into_claim() }.into())
}

/// The patience of a wait in the page, in milliseconds: it gives up first, and so can say what it
/// saw.
fn patience_ms() -> u128 {
    DEADLINE.as_millis() * 9 / 10
}
