//! Worker slots: each runs one case after the other until none is left.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::case::{self, Common};
use crate::journal::{AppendError, CaseView, Event, Journal, Started};
use crate::plan::Job;

/// What the workers share.
pub struct Pool {
    /// What all cases have in common.
    pub common: Common,
    /// Where each case's start and end are written.
    pub journal: Arc<Journal>,
    /// The cases that no worker has taken yet.
    pub waiting: Mutex<VecDeque<Job>>,
    /// When the run began.
    pub begin: Instant,
    /// Cancelled when the run is to end early.
    pub interrupt: CancellationToken,
    /// Told of each case's end.
    pub on_verdict: Box<dyn Fn(CaseView) + Send + Sync>,
}

/// Runs all waiting cases, `slots` at a time.
///
/// After an interrupt no case is begun, and those under way are dropped: the journal has no end of
/// them, and that is what makes them interrupted in every report.
///
/// # Errors
/// When the journal cannot be written: what is not in it has not been proven.
pub async fn run(pool: Arc<Pool>, slots: u32) -> Result<(), AppendError> {
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
    Ok(())
}

async fn work(pool: Arc<Pool>, slot: u32) -> Result<(), AppendError> {
    while let Some(job) = pool.next() {
        let t_s = pool.begin.elapsed().as_secs_f64();
        let started = Started { case: job.case.id.clone(), worker: slot, t_s };
        pool.journal.append(&Event::Started(started))?;
        let result = tokio::select! {
            result = case::run(&pool.common, &job) => result,
            () = pool.interrupt.cancelled() => return Ok(()),
        };
        pool.journal.append(&Event::Finished(result.clone()))?;
        (pool.on_verdict)(CaseView { case: job.case, result });
    }
    Ok(())
}

impl Pool {
    fn next(&self) -> Option<Job> {
        if self.interrupt.is_cancelled() {
            return None;
        }
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop_front()
    }
}
