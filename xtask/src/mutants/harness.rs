//! Runs the harness on one mutant.

use std::fs;
use std::process::Output;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use xshell::{Shell, cmd};

use super::mutant::Mutant;
use super::record::{Bad, Build, Record, Verdict};
use super::suite::{Scenario, Suite};
use super::verdicts::{self, Verdicts};

/// Decides the page's random choices: a mutant gets the same result in every run.
const SEED: &str = "1";

/// The harness with what it needs.
pub struct Harness<'a> {
    /// With the browser and the node in its environment.
    pub sh: &'a Shell,
    pub program: Utf8PathBuf,
    pub suite: Suite,
    pub jobs: Option<u32>,
    /// `target/mutants`.
    pub folder: Utf8PathBuf,
}

impl Harness<'_> {
    /// Runs scenarios without any mutant; each one that is not ready is listed.
    pub fn baseline(&self, scenarios: &[&Scenario]) -> anyhow::Result<Vec<Bad>> {
        let names: Vec<String> = scenarios.iter().map(|scenario| scenario.name.clone()).collect();
        let Verdicts { ran, bad } = self.run(&names, &[])?;
        ensure!(ran.len() == names.len(), "the harness gave {} verdicts for {names:?}", ran.len());
        Ok(bad.into_iter().map(|(bad, _)| bad).collect())
    }

    /// Runs scenarios under a mutant until one has failed or all have a verdict. The harness stops
    /// at the first bad one; while that one has not failed, it runs again with those that are left.
    pub fn judge(
        &self,
        mutant: &Mutant,
        scenarios: &[&Scenario],
        build: &Build,
    ) -> anyhow::Result<Record> {
        let start = Instant::now();
        let kept = self.folder.join("kept").join(&mutant.id);
        if kept.exists() {
            fs::remove_dir_all(&kept).with_context(|| format!("cannot remove {kept}"))?;
        }
        let defect = self.folder.join("defect.json");
        fs::write(&defect, mutant.edits.to_string())
            .with_context(|| format!("cannot write {defect}"))?;
        let mut left: Vec<String> = scenarios.iter().map(|it| it.name.clone()).collect();
        let (mut ran, mut bad) = (Vec::new(), Vec::new());
        while !left.is_empty() {
            let verdicts = self.run(&left, &["--fail-fast", "--defect", defect.as_str()])?;
            ensure!(!verdicts.ran.is_empty(), "the harness gave no verdict on any of {left:?}");
            let has_failed = verdicts.has_failed();
            left.retain(|name| !verdicts.ran.contains(name));
            ran.extend(verdicts.ran);
            for (it, folder) in verdicts.bad {
                if !matches!(it.verdict, Verdict::Failed { .. }) {
                    keep(Utf8Path::new(&folder), &kept, &it.scenario)?;
                    fs::copy(&defect, kept.join("defect.json"))?;
                }
                bad.push(it);
            }
            if has_failed {
                break;
            }
        }
        let Mutant { id, file, what, text, .. } = mutant.clone();
        let seconds = start.elapsed().as_secs_f64();
        Ok(Record { id, file, what, text, build: build.clone(), ran, bad, seconds })
    }

    /// One process of the harness. What it prints goes to `run.log`.
    fn run(&self, scenarios: &[String], more: &[&str]) -> anyhow::Result<Verdicts> {
        let Harness { sh, program, suite, jobs, folder } = self;
        let out = folder.join("run");
        let names = scenarios.iter().flat_map(|name| ["-s", name.as_str()]);
        let jobs = jobs.iter().flat_map(|jobs| ["--jobs".to_owned(), jobs.to_string()]);
        let output = cmd!(sh, "{program} run --isolation context --seed {SEED} --out {out}")
            .args(names)
            .args(jobs)
            .args(more)
            .quiet()
            .ignore_status()
            .output()?;
        let Output { status, stdout, stderr } = output;
        let log = folder.join("run.log");
        fs::write(&log, [stdout, stderr.clone()].concat())
            .with_context(|| format!("cannot write {log}"))?;
        // 0 all are ready, 1 some are not.
        if !matches!(status.code(), Some(0 | 1)) {
            bail!("the harness ended with {status}:\n{}", String::from_utf8_lossy(&stderr).trim());
        }
        let summary = out.join("summary.json");
        let text = fs::read_to_string(&summary)
            .with_context(|| format!("the harness left no {summary}; see {log}"))?;
        verdicts::parse(&text, suite)
    }
}

/// Moves the artifacts of a scenario to where the next run leaves them alone.
fn keep(from: &Utf8Path, kept: &Utf8Path, scenario: &str) -> anyhow::Result<()> {
    fs::create_dir_all(kept).with_context(|| format!("cannot create {kept}"))?;
    // A scenario that never began has no folder.
    if from.is_dir() {
        fs::rename(from, kept.join(scenario))
            .with_context(|| format!("cannot move {from} to {kept}"))?;
    }
    Ok(())
}
