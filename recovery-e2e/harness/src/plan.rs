//! Which cases a run has: a pure function of the registry and the arguments.

use camino::Utf8PathBuf;
use globset::{Glob, GlobSetBuilder};

use crate::journal::Case;
use crate::scenario::{Control, REGISTRY, Scenario};

/// A selection that cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A pattern that no scenario's name matches.
    #[error("no scenario is named {pattern}; there are: {}", names().join(", "))]
    NoSuchScenario {
        /// What was asked for.
        pattern: String,
    },
    /// A pattern that is none.
    #[error("{pattern} is no pattern: {source}")]
    BadPattern {
        /// What was asked for.
        pattern: String,
        /// What is wrong with it.
        source: globset::Error,
    },
}

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
    /// How often to run each; at least once.
    pub repeat_each: u32,
}

/// The scenarios that `patterns` select, in the order of the registry.
///
/// # Errors
/// When a pattern is none, or matches no scenario.
pub fn select(patterns: &[String]) -> Result<Vec<&'static Scenario>, PlanError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = Glob::new(pattern)
            .map_err(|source| PlanError::BadPattern { pattern: pattern.clone(), source })?;
        let matcher = glob.compile_matcher();
        if !REGISTRY.iter().any(|scenario| matcher.is_match(scenario.name)) {
            return Err(PlanError::NoSuchScenario { pattern: pattern.clone() });
        }
        set.add(glob);
    }
    let set = set
        .build()
        .map_err(|source| PlanError::BadPattern { pattern: patterns.join(" "), source })?;
    let wanted = |name| patterns.is_empty() || set.is_match(name);
    Ok(REGISTRY.into_iter().filter(|scenario| wanted(scenario.name)).collect())
}

/// The cases of a run, in the order in which they are started.
///
/// # Errors
/// As [`select`].
pub fn plan(selection: &Selection) -> Result<Vec<Job>, PlanError> {
    let scenarios = select(&selection.patterns)?;
    let rounds = 1..=selection.repeat_each.max(1);
    let repeats: Vec<Option<u32>> =
        if rounds.end() == &1 { vec![None] } else { rounds.map(Some).collect() };
    let mut jobs = Vec::new();
    for repeat in repeats {
        for scenario in &scenarios {
            if selection.controls {
                let controls = scenario.controls.iter();
                jobs.extend(controls.map(|control| job(scenario, Some(control), repeat)));
            } else {
                jobs.push(job(scenario, None, repeat));
            }
        }
    }
    Ok(jobs)
}

fn job(scenario: &'static Scenario, control: Option<&'static Control>, repeat: Option<u32>) -> Job {
    let name = match control {
        None => scenario.name.to_owned(),
        Some(control) => format!("{}/{}", scenario.name, control.name),
    };
    let top = if control.is_some() { "controls" } else { "scenarios" };
    let (id_suffix, dir_suffix) = match repeat {
        None => (String::new(), String::new()),
        Some(k) => (format!("#{k}"), format!("-{k}")),
    };
    let case = Case {
        id: format!("{name}{id_suffix}"),
        scenario: scenario.name.to_owned(),
        family: scenario.family.to_owned(),
        control: control.map(|control| control.name.to_owned()),
        predicted: control.map(|control| control.predicted.to_owned()),
        repeat,
        dir: Utf8PathBuf::from(format!("{top}/{name}{dir_suffix}")),
    };
    Job { case, scenario, control }
}

fn names() -> Vec<&'static str> {
    REGISTRY.iter().map(|scenario| scenario.name).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn ids(patterns: &[&str], controls: bool, repeat_each: u32) -> Vec<String> {
        let patterns = patterns.iter().map(ToString::to_string).collect();
        let jobs = plan(&Selection { patterns, controls, repeat_each }).unwrap();
        let folders: HashSet<_> = jobs.iter().map(|job| job.case.dir.clone()).collect();
        assert_eq!(folders.len(), jobs.len(), "each case has a folder of its own");
        jobs.into_iter().map(|job| job.case.id).collect()
    }

    #[test]
    fn no_pattern_selects_every_scenario_once() {
        assert_eq!(ids(&[], false, 1), names());
    }

    #[test]
    fn a_name_or_a_glob_selects_and_two_that_overlap_select_once() {
        assert_eq!(ids(&["rewind-window"], false, 1), ["rewind-window"]);
        assert_eq!(
            ids(&["rewind-*", "rewind-window"], false, 1),
            ["rewind-window", "rewind-failed-window"]
        );
    }

    #[test]
    fn a_repeated_scenario_is_numbered_from_one() {
        assert_eq!(ids(&["rewind-window"], false, 2), ["rewind-window#1", "rewind-window#2"]);
    }

    #[test]
    fn controls_stand_in_the_place_of_their_scenarios() {
        assert_eq!(ids(&["rewind-window"], true, 1), ["rewind-window/gate-is-busy-alone"]);
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_that_there_are() {
        let selection = Selection { patterns: vec!["rewind".to_owned()], ..Selection::default() };
        let refusal = plan(&selection).err().unwrap().to_string();
        assert!(refusal.starts_with("no scenario is named rewind; there are: "), "{refusal}");
        assert!(refusal.contains(" rewind-window, "), "{refusal}");
    }
}
