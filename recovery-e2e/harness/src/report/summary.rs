//! `summary.json`: the whole journal as one document.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use crate::record::journal::{CaseView, JournalView, RunFinished, RunInfo};
use crate::record::verdict::Outcome;

/// The version of the summary's format.
pub const SUMMARY_VERSION: u32 = 1;

/// A run and all its cases. Paths are relative to the root of the repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SUMMARY_VERSION`].
    pub v: u32,
    /// The run.
    pub run: RunInfo,
    /// How it ended; `None` when it was cut off.
    pub finished: Option<RunFinished>,
    /// The number of cases with each outcome.
    pub counts: Counts,
    /// What each shard was predicted to take, and what it took.
    pub shards: Vec<ShardTimes>,
    /// Every planned case, in the order of the plan.
    pub cases: Vec<CaseView>,
}

/// A shard's cases and the sum of their times, as the plan has them and as they were.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardTimes {
    /// Which one, counted from 1.
    pub shard: u32,
    /// How many cases it has.
    pub cases: usize,
    /// What the plan predicted, in seconds, if there were timings.
    pub predicted_seconds: Option<f64>,
    /// What the cases that ended took, in seconds.
    pub realised_seconds: f64,
}

impl ShardTimes {
    fn of(cases: &[CaseView]) -> Vec<Self> {
        let mut shards: BTreeMap<u32, Self> = BTreeMap::new();
        for CaseView { case, result, .. } in cases {
            let times = shards.entry(case.shard).or_insert(Self {
                shard: case.shard,
                cases: 0,
                predicted_seconds: Some(0.0),
                realised_seconds: 0.0,
            });
            times.cases += 1;
            let sum = |sum, seconds| to_millis(sum + seconds);
            times.predicted_seconds =
                times.predicted_seconds.zip(case.predicted_seconds).map(|(a, b)| sum(a, b));
            times.realised_seconds = sum(times.realised_seconds, result.seconds);
        }
        shards.into_values().collect()
    }
}

/// Sums of durations are no more precise.
fn to_millis(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// The number of cases with each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each counts the outcome of its name")]
pub struct Counts {
    pub ready: usize,
    pub flaky: usize,
    pub failed: usize,
    pub inconclusive: usize,
    pub error: usize,
    pub interrupted: usize,
    pub skipped: usize,
}

impl Counts {
    fn of(cases: &[CaseView]) -> Self {
        let mut counts = Self::default();
        for case in cases {
            *match case.result.outcome {
                Outcome::Ready => &mut counts.ready,
                Outcome::Flaky => &mut counts.flaky,
                Outcome::Failed => &mut counts.failed,
                Outcome::Inconclusive => &mut counts.inconclusive,
                Outcome::Error => &mut counts.error,
                Outcome::Interrupted => &mut counts.interrupted,
                Outcome::Skipped => &mut counts.skipped,
            } += 1;
        }
        counts
    }

    /// How many cases passed, at whatever attempt.
    pub fn passed(&self) -> usize {
        self.ready + self.flaky
    }

    /// How many cases neither passed nor were skipped.
    pub fn not_passed(&self) -> usize {
        self.failed + self.inconclusive + self.error + self.interrupted
    }
}

impl Summary {
    /// The summary of the run in `view`, whose output folder is at `place`.
    pub(super) fn new(view: JournalView, place: &Utf8Path) -> Self {
        let JournalView { run, mut cases, finished } = view;
        for CaseView { case, result, earlier } in &mut cases {
            case.dir = place.join(&case.dir);
            for artifact in earlier.iter_mut().chain([result]).flat_map(|end| &mut end.artifacts) {
                *artifact = case.dir.join(&artifact);
            }
        }
        let (counts, shards) = (Counts::of(&cases), ShardTimes::of(&cases));
        Self { v: SUMMARY_VERSION, run, finished, counts, shards, cases }
    }
}

/// The exit code of a run: 0 when nothing is wrong with it and all its cases are ok.
pub fn exit_code(summary: &Summary) -> u8 {
    let good = summary.troubles().is_empty() && summary.counts.not_passed() == 0;
    u8::from(!good)
}
