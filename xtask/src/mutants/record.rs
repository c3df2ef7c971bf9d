//! What is known of each mutant: `target/mutants/results.jsonl`, one line a mutant.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};

use anyhow::Context;
use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::mutant::Mutant;
use super::stamp::Change;

/// What a result depends on besides the mutant: with another client or harness it is stale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// A digest of `recovery-e2e/web/static`.
    pub client: String,
    /// A digest of the harness's binary.
    pub harness: String,
}

/// What the scenarios reported under one mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub id: String,
    pub file: String,
    pub what: String,
    pub text: String,
    #[serde(flatten)]
    pub build: Build,
    /// The scenarios that have a verdict; the first failed one stops the others.
    pub ran: Vec<String>,
    /// Those of them that are not ready.
    pub bad: Vec<Bad>,
    pub seconds: f64,
}

/// A scenario that is not ready under a mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bad {
    pub scenario: String,
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// The verdict of such a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    Failed { stamp: String, changed: Vec<Change> },
    Inconclusive { stamp: Option<String>, reason: String },
    Error { reason: String },
}

/// The outcome of a mutant. The order is the order of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Failed,
    Error,
    Inconclusive,
    Survived,
}

impl Outcome {
    pub const ALL: [Outcome; 4] =
        [Outcome::Failed, Outcome::Error, Outcome::Inconclusive, Outcome::Survived];
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Outcome::Failed => "failed",
            Outcome::Error => "error",
            Outcome::Inconclusive => "inconclusive",
            Outcome::Survived => "survived",
        })
    }
}

impl Record {
    /// A single failed scenario makes the mutant failed; an error counts before an inconclusive.
    pub fn outcome(&self) -> Outcome {
        let outcomes = self.bad.iter().map(|bad| match bad.verdict {
            Verdict::Failed { .. } => Outcome::Failed,
            Verdict::Error { .. } => Outcome::Error,
            Verdict::Inconclusive { .. } => Outcome::Inconclusive,
        });
        outcomes.min().unwrap_or(Outcome::Survived)
    }
}

/// The results of a file, and how many of its lines are none: a process that is killed may leave
/// half a line.
#[derive(Debug, Default)]
pub struct Results {
    pub records: Vec<Record>,
    pub unreadable: usize,
}

/// Reads results; no file is no result.
pub fn read(path: &Utf8Path) -> anyhow::Result<Results> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(parse(&text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Results::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {path}")),
    }
}

fn parse(text: &str) -> Results {
    let mut results = Results::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(record) => results.records.push(record),
            Err(_) => results.unreadable += 1,
        }
    }
    results
}

/// Appends one result in a single write. It begins a new line even after half a line.
pub fn append(path: &Utf8Path, record: &Record) -> anyhow::Result<()> {
    let is_cut = fs::read(path).is_ok_and(|bytes| bytes.last().is_some_and(|last| *last != b'\n'));
    let line = serde_json::to_string(record)?;
    let line = if is_cut { format!("\n{line}\n") } else { format!("{line}\n") };
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(line.as_bytes()).with_context(|| format!("cannot write {path}"))
}

/// Earlier results against the mutants of now.
#[derive(Debug, Default)]
pub struct Reuse {
    /// Results of a mutant of now, with the same build; the newest of each.
    pub records: Vec<Record>,
    /// How many results are of another client or harness.
    pub stale: usize,
    /// How many results are of a mutant that is not among those of now.
    pub other: usize,
}

/// Sorts results out; `is_current` decides whether a build may be reused.
pub fn reuse(
    records: Vec<Record>,
    mutants: &[Mutant],
    is_current: impl Fn(&Build) -> bool,
) -> Reuse {
    let mut reuse = Reuse::default();
    for record in records {
        if !is_current(&record.build) {
            reuse.stale += 1;
        } else if !mutants.iter().any(|mutant| mutant.id == record.id) {
            reuse.other += 1;
        } else {
            reuse.records.retain(|earlier| earlier.id != record.id);
            reuse.records.push(record);
        }
    }
    reuse
}

/// A result for tests.
#[cfg(test)]
pub fn sample(mutant: &Mutant, bad: &[(&str, Verdict)]) -> Record {
    let bad = bad.iter().map(|(scenario, verdict)| Bad {
        scenario: (*scenario).to_owned(),
        verdict: verdict.clone(),
    });
    Record {
        id: mutant.id.clone(),
        file: mutant.file.clone(),
        what: mutant.what.clone(),
        text: mutant.text.clone(),
        build: Build { client: "c".to_owned(), harness: "h".to_owned() },
        ran: vec!["restart".to_owned(), "storm".to_owned()],
        bad: bad.collect(),
        seconds: 1.5,
    }
}

#[cfg(test)]
mod tests {
    use super::super::mutant;
    use super::*;

    fn failed() -> Verdict {
        Verdict::Failed { stamp: "RECOVERY-FAILED-X-posts2".to_owned(), changed: Vec::new() }
    }

    fn inconclusive() -> Verdict {
        Verdict::Inconclusive { stamp: None, reason: "a wait timed out".to_owned() }
    }

    fn error() -> Verdict {
        Verdict::Error { reason: "the browser died".to_owned() }
    }

    #[test]
    fn one_failed_scenario_decides_then_an_error_then_an_inconclusive_one() {
        let mutant = mutant::sample("gate.js", 9, "a || b");
        for (bad, outcome) in [
            (vec![], Outcome::Survived),
            (vec![inconclusive()], Outcome::Inconclusive),
            (vec![inconclusive(), error()], Outcome::Error),
            (vec![inconclusive(), error(), failed()], Outcome::Failed),
        ] {
            let bad: Vec<_> = bad.into_iter().map(|verdict| ("restart", verdict)).collect();
            assert_eq!(sample(&mutant, &bad).outcome(), outcome, "{bad:?}");
        }
    }

    #[test]
    fn a_record_survives_the_file_and_half_a_line_costs_only_itself() {
        let folder = tempfile();
        let path = folder.join("results.jsonl");
        let one = sample(&mutant::sample("gate.js", 9, "a"), &[("restart", failed())]);
        let two = sample(&mutant::sample("gate.js", 10, "b"), &[("storm", inconclusive())]);
        append(&path, &one).unwrap();
        let cut = fs::read_to_string(&path).unwrap() + "{\"id\":\"gate-";
        fs::write(&path, cut).unwrap();
        append(&path, &two).unwrap();
        let results = read(&path).unwrap();
        assert_eq!(results.records, [one, two]);
        assert_eq!(results.unreadable, 1);
        assert_eq!(read(&folder.join("none.jsonl")).unwrap().records, []);
        fs::remove_dir_all(&folder).unwrap();
    }

    fn tempfile() -> camino::Utf8PathBuf {
        let folder = camino::Utf8PathBuf::try_from(std::env::temp_dir()).unwrap();
        let folder = folder.join(format!("xtask-mutants-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn only_the_newest_result_of_the_same_build_and_of_a_known_mutant_is_reused() {
        let known = mutant::sample("gate.js", 9, "a");
        let old = sample(&known, &[]);
        let new = sample(&known, &[("restart", failed())]);
        let stale = Record {
            build: Build { client: "other".to_owned(), harness: "h".to_owned() },
            ..old.clone()
        };
        let other = sample(&mutant::sample("core.js", 1, "b"), &[]);
        let build = old.build.clone();
        let reuse = reuse(vec![old, new.clone(), stale, other], &[known], |it| *it == build);
        assert_eq!(reuse.records, [new]);
        assert_eq!((reuse.stale, reuse.other), (1, 1));
    }
}
