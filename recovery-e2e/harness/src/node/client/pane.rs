//! A pane, as a scenario sees and moves it.

use serde_json::json;

use super::condition::{Condition, Flag, Quantity};
use super::driven::{Driven, unmet};
use super::state::PaneState;
use crate::browser::page::PageError;
use crate::browser::tab::bounded;
use crate::node::error::AppError;
use crate::node::wire::WsId;
use crate::proxy::{Hold, Record};

/// Which pane of the client a scenario drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaneKind {
    /// The interactive pane.
    Interactive,
    /// The coordinator's pane.
    Coordinator,
}

impl PaneKind {
    /// The page of the harness that mounts such a pane.
    pub fn page(self) -> &'static str {
        match self {
            PaneKind::Interactive => "/recovery",
            PaneKind::Coordinator => "/coord-recovery",
        }
    }
}

/// The pane of one workstream, mounted in a page of the harness. Clones are the same pane.
#[derive(Clone)]
pub struct Pane {
    driven: Driven,
    ws: WsId,
}

impl std::ops::Deref for Pane {
    type Target = Driven;

    fn deref(&self) -> &Driven {
        &self.driven
    }
}

impl Pane {
    /// The pane of `ws`, which the page shows.
    ///
    /// # Errors
    /// A claim: the client's modules run.
    pub async fn mounted(driven: Driven, ws: WsId) -> Result<Pane, AppError> {
        let runs = driven.tab().eval("the client's modules", "!!window.__e2e").await?;
        unmet("the client's modules load and mount a pane", runs, "an exception in console.log")?;
        Ok(Pane { driven, ws })
    }

    /// Its workstream.
    pub fn ws(&self) -> &WsId {
        &self.ws
    }

    /// What it shows now.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn look(&self) -> Result<PaneState, AppError> {
        Ok(self.tab().eval("the pane's state", "__e2e.look()").await?)
    }

    /// Calls a method of the pane, as the page around it would, and waits for what it promises.
    ///
    /// # Errors
    /// When the page does not answer; a claim when the method fails.
    pub async fn call(&self, method: &str) -> Result<(), AppError> {
        Ok(self.tab().page().run(method, &format!("__e2e.pane.{method}()")).await?)
    }

    /// Waits until the load that began with the page has ended, one way or the other.
    ///
    /// # Errors
    /// A claim when it does not end.
    pub async fn first_load_ended(&self) -> Result<(), AppError> {
        let ended = self.tab().page().run("the first load", "__e2e.connected");
        self.claim_that("the first load ends", ended).await
    }

    /// Loads the page anew, and waits until its stream has caught up.
    ///
    /// # Errors
    /// A claim when it does not.
    pub async fn reload(&self) -> Result<(), AppError> {
        self.tab().page().reload().await?;
        Pane::mounted(self.driven.clone(), self.ws.clone()).await?;
        self.claim(Condition::frames("replay_complete", 1)).await
    }

    /// Clicks the rewind button of a user row, and returns what the pane showed at that very moment.
    ///
    /// # Errors
    /// A claim: the row has such a button.
    pub async fn click_rewind(&self, row: usize) -> Result<PaneState, AppError> {
        self.act("a click on a rewind button", &format!("__e2e.clickRewind({row})")).await
    }

    /// The same, at the first moment at which the condition holds: for a state that passes by itself.
    ///
    /// # Errors
    /// A claim when it never holds, or the row has no such button.
    pub async fn click_rewind_when(
        &self,
        condition: Condition<'_>,
        row: usize,
    ) -> Result<PaneState, AppError> {
        self.claim_then(condition, "clickRewindWhen", &json!(row)).await
    }

    /// The texts of the assistant's bubbles, from the top.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn bubbles(&self) -> Result<Vec<String>, AppError> {
        Ok(self.tab().eval("the assistant's bubbles", "__e2e.bubbles()").await?)
    }

    /// Hides the page; returns what the pane showed right after.
    ///
    /// # Errors
    /// A claim: hidden, it drops its transport.
    pub async fn hide(&self) -> Result<PaneState, AppError> {
        let seen: PaneState = self.act("a hidden page", "__e2e.setHidden(true)").await?;
        unmet("hidden, the pane drops its transport", seen.offline, &seen)?;
        Ok(seen)
    }

    /// Shows the page again, and waits until the pane's stream is open and its replay has ended.
    ///
    /// # Errors
    /// A claim when it does not.
    pub async fn show(&self) -> Result<(), AppError> {
        let before = self.measure(Quantity::Frames("replay_complete")).await?;
        self.set_hidden(false).await?;
        self.claim(Condition::frames("replay_complete", before + 1)).await
    }

    /// Asks for the one attempt that a person may ask for, as their click would.
    ///
    /// # Errors
    /// A claim: a retry is offered.
    pub async fn click_retry(&self) -> Result<(), AppError> {
        self.act_only("a click on the retry button", "__e2e.clickRetry()").await
    }

    /// Waits until as many requests as `hold` was armed for are in it.
    ///
    /// # Errors
    /// A claim when the client does not send them.
    pub async fn arrival(&self, hold: Hold) -> Result<Held, AppError> {
        Held::arrived(&self.driven, hold).await
    }

    /// Waits until nothing moves any more: no request of the page is under way, the page has seen
    /// all that the node has published, no event is kept back, the pane shows that it is live and
    /// asks nothing, and a frame has passed.
    ///
    /// # Errors
    /// A claim when the pane does not.
    pub async fn settled(&self) -> Result<(), AppError> {
        let what = "the pane comes to rest, and with it the node";
        bounded(what, "the node publishes more and more", self.come_to_rest()).await
    }

    async fn come_to_rest(&self) -> Result<(), AppError> {
        loop {
            self.quiet().await?;
            let head = self.control().head(&self.ws).await?;
            let caught_up = caught_up(head.as_deref())?;
            self.claim(Condition::All(&[
                caught_up,
                Condition::Not(Flag::Queueing),
                Condition::Is(Flag::Current),
                Condition::Not(Flag::Asks),
            ]))
            .await?;
            self.quiet().await?;
            if self.control().head(&self.ws).await? == head {
                return Ok(());
            }
        }
    }
}

/// The condition that the page has seen the event `head`.
pub(super) fn caught_up(head: Option<&str>) -> Result<Condition<'_>, AppError> {
    Condition::caught_up(head).ok_or_else(|| {
        let answer = format!("{head:?}");
        PageError::Answer { what: "the head of a lane".to_owned(), answer }.into()
    })
}

/// Requests that a hold keeps, or has kept.
pub struct Held {
    hold: Hold,
    seqs: Vec<u64>,
    driven: Driven,
}

impl Held {
    /// Waits until all that the hold was armed for are in it.
    ///
    /// # Errors
    /// A claim when the client does not send them.
    pub async fn arrived(driven: &Driven, hold: Hold) -> Result<Held, AppError> {
        let what = format!("a request arrives in \"{}\"", hold.receipt().name());
        let seqs = driven.claim_that(&what, hold.arrived()).await?;
        Ok(Held { hold, seqs, driven: driven.clone() })
    }

    /// Lets them go on.
    pub fn release(&self) {
        self.hold.release();
    }

    /// Waits until each is answered, also one that the browser no longer waits for.
    ///
    /// # Errors
    /// When the node does not answer.
    pub async fn answered(&self) -> Result<(), AppError> {
        let mut counters = self.driven.tab().proxy().counters();
        let all =
            async { while self.statuses().contains(&None) && counters.changed().await.is_ok() {} };
        let saw = || format!("{:?}", self.statuses());
        Ok(crate::wait::within("answers to what was held", all, saw).await?)
    }

    /// The status of each answer, none while there is no answer.
    pub fn statuses(&self) -> Vec<Option<u16>> {
        let records = self.driven.tab().proxy().records().into_iter();
        let held = records.filter(|record: &Record| self.seqs.contains(&record.seq));
        held.map(|record| record.status).collect()
    }

    /// Whether each was answered 200.
    pub fn is_ok(&self) -> bool {
        self.statuses().iter().all(|status| *status == Some(200))
    }

    /// The statuses, for a verdict.
    pub fn saw(&self) -> String {
        let statuses = self.statuses().into_iter();
        let statuses: Vec<_> = statuses
            .map(|status| status.map_or("no answer".to_owned(), |status| status.to_string()))
            .collect();
        statuses.join(", ")
    }
}
