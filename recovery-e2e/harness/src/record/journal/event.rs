//! The events of a journal.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::record::build::BuildInfo;
use crate::record::ledger::Ledger;
use crate::record::settings::BrowserInfo;
use crate::record::settings::Clock;
use crate::record::settings::Isolation;
use crate::record::stamp::Stamp;
use crate::record::verdict::{Evidence, Outcome, ReceiptReport};

/// The version of the journal's format: what [`RunInfo::v`] says, and the only one that is read.
pub const VERSION: u32 = 2;

/// The most shards that a plan may have: no CI starts more machines for one job.
pub const MAX_SHARDS: u32 = 1000;

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The first event, and no other.
    RunStarted(RunStarted),
    /// A case is under way.
    Started(Started),
    /// A case has ended.
    Finished(CaseResult),
    /// The last event of a run that ended by itself.
    RunFinished(RunFinished),
}

/// A run begins.
///
/// All cases are in this one event: wherever the journal is cut after it, each is accounted for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// The run.
    #[serde(flatten)]
    pub run: RunInfo,
    /// Its cases, in the order in which they are started.
    pub cases: Vec<Case>,
}

/// A run, and its environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// [`VERSION`].
    pub v: u32,
    /// Names this run among others.
    pub run_id: String,
    /// When the run began.
    #[serde(with = "time::serde::rfc3339")]
    pub started_at: OffsetDateTime,
    /// The harness that ran.
    pub harness_version: String,
    /// The sources that it was built from.
    pub build: BuildInfo,
    /// The browser that ran.
    pub browser: BrowserInfo,
    /// The node's command.
    pub node: String,
    /// The arguments that the harness was given.
    pub args: Vec<String>,
    /// The clock of the page's timers.
    pub clock: Clock,
    /// What each case had to itself of the browser.
    #[serde(default)]
    pub isolation: Isolation,
    /// The seed of the random choices; each further repeat of a case has the next one.
    pub seed: u32,
    /// How many cases may run at a time.
    pub jobs: u32,
    /// The plan that it follows.
    pub plan: PlanInfo,
    /// Its part of that plan.
    pub part: Part,
    /// Whether a flaky case fails it.
    pub fail_on_flaky: bool,
}

/// A plan: the same on every machine that runs a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanInfo {
    /// SHA-256 over all that the plan is made of, in hexadecimal digits.
    pub hash: String,
    /// How many shards it has.
    pub shards: u32,
    /// How many cases all its shards have together.
    pub cases: usize,
}

/// A run's part of its plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// One shard, counted from 1.
    Shard(u32),
    /// What other runs did, each of them a shard, joined afterwards.
    Merged(Vec<ShardRun>),
}

/// A run that was merged with others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardRun {
    /// The run.
    pub run: RunInfo,
    /// How it ended; `None` when it was cut off.
    pub finished: Option<RunFinished>,
}

/// One planned case: a scenario, or a scenario with a named defect put in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Unique in the run: `rewind-window`, `rewind-window#3` for a repeat,
    /// `rewind-window/gate-is-busy-alone` for a control.
    pub id: String,
    /// The scenario.
    pub scenario: String,
    /// The scenario's family.
    pub family: String,
    /// The defect put in, when this is a negative control.
    pub control: Option<String>,
    /// The stamp that the control must bring.
    pub predicted: Option<String>,
    /// Which repeat this is, counted from 1, when the scenario is repeated.
    pub repeat: Option<u32>,
    /// The shard of the plan that runs it, counted from 1.
    pub shard: u32,
    /// How long it will take by the timings, in seconds, if there are any.
    pub predicted_seconds: Option<f64>,
    /// The folder of the case's artifacts, relative to the out folder.
    pub dir: Utf8PathBuf,
}

impl Case {
    /// The folder of an attempt's artifacts: [`Case::dir`] itself for the first, below it for others.
    pub fn attempt_dir(&self, attempt: u32) -> Utf8PathBuf {
        if attempt == 1 { self.dir.clone() } else { self.dir.join(format!("attempt-{attempt}")) }
    }

    /// What all repeats of it have in common: `rewind-window`, or `rewind-window/gate-is-busy-alone`.
    pub fn name(&self) -> String {
        match &self.control {
            None => self.scenario.clone(),
            Some(control) => format!("{}/{control}", self.scenario),
        }
    }
}

/// A case is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// [`Case::id`].
    pub case: String,
    /// Which attempt this is, counted from 1.
    pub attempt: u32,
    /// The worker slot that it runs in.
    pub worker: u32,
    /// Seconds since the run began.
    pub t_s: f64,
}

/// How an attempt at a case ended, and everything that says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// [`Case::id`].
    pub case: String,
    /// Which attempt this is, counted from 1.
    pub attempt: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// Its stamp; see [`crate::record::verdict::Verdict::stamp`].
    pub stamp: Option<Stamp>,
    /// Why it ended so, where the stamp alone does not say.
    pub reason: Option<String>,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// What it spent its time on, in order.
    pub phases: Vec<Phase>,
    /// The observations that the verdict rests on.
    pub evidence: Vec<Evidence>,
    /// What became of the faults that it armed.
    pub receipts: Vec<ReceiptReport>,
    /// The files that it left, relative to [`Case::dir`].
    pub artifacts: Vec<Utf8PathBuf>,
    /// What its processes held, and what of that was left, if it had a stage.
    #[serde(default)]
    pub ledger: Option<Ledger>,
}

/// A part of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// The run ended by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFinished {
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Why it stopped before all cases were done, if it did.
    pub stopped: Option<Stop>,
    /// What was left behind that belongs to no single case, a sentence each.
    #[serde(default)]
    pub leaks: Vec<String>,
}

/// Why a run stopped before all its cases were done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// A signal.
    Signal,
    /// The case of this id was bad, and `--fail-fast` was given.
    FailFast(String),
}
