//! Worker slots: each runs one case after the other until none is left.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Instant;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::browser::session::SharedBrowser;
use crate::record::journal::{
    AppendError, Case, CaseResult, CaseView, Event, Journal, Started, Stop,
};
use crate::run::admission::Admission;
use crate::run::case::{self, Common};
use crate::run::plan::Job;

/// What the workers share.
pub struct Pool {
    /// What all cases have in common.
    pub common: Common,
    /// Where each case's start and end are written.
    pub journal: Arc<Journal>,
    /// What lets each case begin.
    pub admission: Admission,
    /// The cases that no worker has taken yet.
    pub waiting: Mutex<VecDeque<Job>>,
    /// When the run began.
    pub begin: Instant,
    /// How often a case that was bad is tried again.
    pub retries: u32,
    /// Whether no case is begun any more after a bad one.
    pub fail_fast: bool,
    /// The first bad case.
    pub first_bad: OnceLock<String>,
    /// Cancelled when the run is to end early.
    pub interrupt: CancellationToken,
    /// Called with the progress of each worker.
    pub watch: Box<dyn Fn(u32, Progress<'_>) + Send + Sync>,
}

/// What a worker did.
pub enum Progress<'a> {
    /// It has begun an attempt at a case.
    Began(&'a Case),
    /// An attempt was bad, and another one follows.
    Retried(&'a Case, &'a CaseResult),
    /// The case has ended.
    Ended(&'a CaseView),
}

/// Runs all waiting cases, `slots` at a time, and says why it left some out, if it did, and what
/// was left behind that is no single case's.
///
/// After an interrupt no case is begun, and those under way are dropped: the journal has no end of
/// them, and that is what makes them interrupted in every report.
///
/// # Errors
/// When the journal cannot be written: what is not in it has not been proven.
pub async fn run(pool: Arc<Pool>, slots: u32) -> Result<(Option<Stop>, Vec<String>), AppendError> {
    let mut workers = JoinSet::new();
    for slot in 0..slots {
        workers.spawn(work(pool.clone(), slot));
    }
    while let Some(ended) = workers.join_next().await {
        match ended {
            Ok(result) => result?,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }
    Ok((pool.stopped(), pool.common.leaks.take()))
}

async fn work(pool: Arc<Pool>, slot: u32) -> Result<(), AppendError> {
    let mut worker = Worker { slot, browser: None };
    loop {
        let pass = tokio::select! {
            pass = pool.admission.enter() => pass,
            () = pool.interrupt.cancelled() => break,
        };
        let Some(job) = pool.next() else { break };
        let (earlier, last) = tokio::select! {
            ends = attempts(&pool, &mut worker, &job) => ends?,
            () = pool.interrupted() => return Ok(()),
        };
        drop(pass);
        let view = CaseView::new(job.case, earlier, last);
        if view.result.outcome.is_bad() {
            // Another one may have been the first.
            let _ = pool.first_bad.set(view.case.id.clone());
        }
        (pool.watch)(slot, Progress::Ended(&view));
    }
    retire(&mut worker).await;
    Ok(())
}

/// One of the slots.
struct Worker {
    slot: u32,
    /// The browser that its next case may have a context in.
    browser: Option<Box<SharedBrowser>>,
}

/// Ends a worker's browser: it has served its last case, or one that may have harmed it.
async fn retire(worker: &mut Worker) {
    if let Some(browser) = worker.browser.take() {
        browser.end().await;
    }
}

/// Runs a case until it is good or has been tried often enough: the attempts before the last, and
/// the last.
async fn attempts(
    pool: &Pool,
    worker: &mut Worker,
    job: &Job,
) -> Result<(Vec<CaseResult>, CaseResult), AppendError> {
    let mut earlier = Vec::new();
    let mut attempt = 0;
    loop {
        attempt += 1;
        let t_s = pool.begin.elapsed().as_secs_f64();
        let started = Started { case: job.case.id.clone(), attempt, worker: worker.slot, t_s };
        pool.journal.append(&Event::Started(started))?;
        (pool.watch)(worker.slot, Progress::Began(&job.case));
        let result = case::run(&pool.common, job, attempt, &mut worker.browser).await;
        pool.journal.append(&Event::Finished(result.clone()))?;
        if result.outcome.is_bad() {
            retire(worker).await;
        }
        let again = attempt <= pool.retries && !pool.interrupt.is_cancelled();
        if !again || !result.outcome.is_bad() {
            return Ok((earlier, result));
        }
        (pool.watch)(worker.slot, Progress::Retried(&job.case, &result));
        earlier.push(result);
    }
}

impl Pool {
    /// Waits for the interrupt that drops what is under way; one that ends a pause does not, since
    /// the verdict of that case is known.
    async fn interrupted(&self) {
        self.interrupt.cancelled().await;
        if self.common.pause.as_ref().is_some_and(|(pause, _)| pause.is_held()) {
            std::future::pending().await
        }
    }

    fn next(&self) -> Option<Job> {
        let stops = self.fail_fast && self.first_bad.get().is_some();
        if self.interrupt.is_cancelled() || stops {
            return None;
        }
        self.waiting().pop_front()
    }

    fn stopped(&self) -> Option<Stop> {
        if self.interrupt.is_cancelled() {
            return Some(Stop::Signal);
        }
        let bad = self.first_bad.get().filter(|_| self.fail_fast && !self.waiting().is_empty());
        bad.cloned().map(Stop::FailFast)
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
