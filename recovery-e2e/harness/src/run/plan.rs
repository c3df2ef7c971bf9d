//! Which cases a run has, and on which machine each runs: a pure function of the registry, the
//! arguments and the timings.

mod deal;
mod fingerprint;
pub mod order;
mod select;
mod shard;
pub mod show;
pub mod timings;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use camino::Utf8PathBuf;

use crate::record::journal::{Case, PlanInfo};
use crate::scenario::torture::TORTURE;
use crate::scenario::{Control, REGISTRY, Scenario};
pub use select::{PlanError, select};
#[cfg(test)]
pub use shard::ShardError;
pub use shard::{Shard, ShardArg};
use timings::Timings;

/// One case, and what it takes to run it.
#[derive(Clone)]
pub struct Job {
    /// The case as the journal knows it.
    pub case: Case,
    /// The scenario.
    pub scenario: &'static Scenario,
    /// The defect to put in.
    pub control: Option<&'static Control>,
}

/// What is wanted of the registry.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Names or globs; none means all.
    pub patterns: Vec<String>,
    /// Whether to run the scenarios' controls in their place.
    pub controls: bool,
    /// Only these, by [`Case::name`], scenarios and controls alike.
    pub only: Option<BTreeSet<String>>,
    /// Whether the cases that torture the runner are meant in place of the catalogue.
    pub torture: bool,
    /// How often to run each; at least once.
    pub repeat_each: u32,
}

/// A plan: every selected case exactly once, each on one shard.
pub struct Plan {
    /// What all shards of it have in common.
    pub info: PlanInfo,
    /// In the order in which they are started: the longest first, by name where they are equal.
    jobs: Vec<Job>,
}

impl Plan {
    /// The cases of one shard, in the order in which they are started.
    pub fn of_shard(&self, shard: u32) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter(move |job| job.case.shard == shard)
    }
}

/// The plan of `selection` on `shards` shards.
///
/// # Errors
/// [`PlanError`].
pub fn plan(selection: &Selection, timings: &Timings, shards: u32) -> Result<Plan, PlanError> {
    let registry: &[_] = if selection.torture { &TORTURE } else { &REGISTRY };
    plan_of(registry, selection, timings, shards)
}

fn plan_of(
    registry: &[&'static Scenario],
    selection: &Selection,
    timings: &Timings,
    shards: u32,
) -> Result<Plan, PlanError> {
    let mut jobs = jobs(&select(registry, &selection.patterns)?, selection);
    if jobs.is_empty() {
        return Err(PlanError::NothingLeft);
    }
    let names: Vec<_> = jobs.iter().map(|job| job.case.name()).collect();
    for (job, seconds) in jobs.iter_mut().zip(timings.predict(&names)) {
        job.case.predicted_seconds = seconds;
    }
    let weighed: Vec<_> = jobs.iter().map(|job| (key(&job.case), weight(&job.case))).collect();
    let dealt = deal::deal(&weighed, shards);
    for (job, shard) in jobs.iter_mut().zip(dealt) {
        job.case.shard = shard + 1;
    }
    jobs.sort_by_cached_key(|Job { case, .. }| (Reverse(weight(case)), key(case)));
    let hash = fingerprint::fingerprint(registry, selection, &jobs, shards);
    Ok(Plan { info: PlanInfo { hash, shards, cases: jobs.len() }, jobs })
}

/// The cases of a selection, in no order that matters.
fn jobs(scenarios: &[&'static Scenario], selection: &Selection) -> Vec<Job> {
    let repeats: Vec<Option<u32>> = match selection.repeat_each {
        0 | 1 => vec![None],
        rounds => (1..=rounds).map(Some).collect(),
    };
    let defects = |scenario: &'static Scenario| {
        let controls = scenario.controls.iter().map(Some);
        let plain = [None].into_iter();
        match (&selection.only, selection.controls) {
            (Some(_), _) => plain.chain(controls).collect(),
            (None, true) => controls.collect(),
            (None, false) => plain.collect::<Vec<_>>(),
        }
    };
    let mut jobs = Vec::new();
    for scenario in scenarios {
        for control in defects(scenario) {
            jobs.extend(repeats.iter().map(|repeat| job(scenario, control, *repeat)));
        }
    }
    if let Some(only) = &selection.only {
        jobs.retain(|job| only.contains(&job.case.name()));
    }
    jobs
}

fn job(scenario: &'static Scenario, control: Option<&'static Control>, repeat: Option<u32>) -> Job {
    let mut case = Case {
        id: String::new(),
        scenario: scenario.name.to_owned(),
        family: scenario.family.to_owned(),
        control: control.map(|control| control.name.to_owned()),
        predicted: control.map(|control| scenario.predicted(control).to_string()),
        repeat,
        shard: 1,
        predicted_seconds: None,
        dir: Utf8PathBuf::new(),
    };
    let name = case.name();
    let top = if control.is_some() { "controls" } else { "scenarios" };
    let (id_suffix, dir_suffix) = match repeat {
        None => (String::new(), String::new()),
        Some(k) => (format!("#{k}"), format!("-{k}")),
    };
    case.id = format!("{name}{id_suffix}");
    case.dir = format!("{top}/{name}{dir_suffix}").into();
    Job { case, scenario, control }
}

/// What identifies a case, in the order of names: `a#2` before `a#10`.
fn key(case: &Case) -> (String, Option<u32>) {
    (case.name(), case.repeat)
}

/// How heavy a case is, in milliseconds; without any timing all are the same.
fn weight(case: &Case) -> u64 {
    case.predicted_seconds.map_or(1, |seconds| (seconds * 1000.0).round() as u64)
}

#[cfg(test)]
mod tests;
