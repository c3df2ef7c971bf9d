//! `cargo xtask mutants`: which mutants of the client does the suite detect?

mod accepted;
mod digest;
mod families;
mod harness;
mod markdown;
mod mutant;
mod options;
mod record;
mod report;
mod stamp;
mod suite;
mod verdicts;

use std::fs;

use anyhow::{Context, bail, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use pico_args::Arguments;
use xshell::{Shell, cmd};

use crate::browser::Request;
use crate::install::Installer;
use crate::{CheckFailed, build, client};
use accepted::Accepted;
use harness::Harness;
use markdown::Detail;
use mutant::Mutant;
use options::{HELP, Options};
use record::{Build, Outcome, Record, Results, Verdict};
use report::Report;
use suite::{Scenario, Suite};

/// The report that is kept in the repository.
const KEPT: &str = "docs/mutants.md";

pub fn run(mut args: Arguments) -> anyhow::Result<()> {
    if args.contains(["-h", "--help"]) {
        print!("{HELP}");
        return Ok(());
    }
    let browser = Request::take(&mut args)?;
    let installer = Installer::take(&mut args);
    let options = Options::take(args)?;
    let sh = build::workspace_shell()?;
    client::prepare(&sh, installer)?;
    let mutants = mutants(&sh)?;
    let chosen = choose(&mutants, &options)?;
    if options.list {
        for mutant in &chosen {
            println!("{:24} {}", mutant.id, mutant.title());
        }
        println!("{} mutants", chosen.len());
        return Ok(());
    }
    let accepted = accepted::parse(
        &sh.read_file(accepted::PATH).with_context(|| format!("cannot read {}", accepted::PATH))?,
    )?;
    let built = build::node_and_harness(&sh)?;
    let program = built.harness;
    let suite: Suite =
        serde_json::from_str(&cmd!(sh, "{program} list --format json").quiet().read()?)
            .context("`recovery-e2e list --format json` is not as this xtask knows it")?;
    families::check(&suite)?;
    let now = digest::build(&sh, &program)?;
    let folder = build::target_folder()?.join("mutants");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {folder}"))?;
    if let Some(files) = &options.report {
        let records = reported(files, &folder, &mutants, &now)?;
        return finish(&chosen, &records, &accepted, &suite, &folder, &options);
    }

    let browser = browser.resolve(&sh, installer)?;
    let _node = sh.push_env("E2E_NODE", &built.node);
    let _browser = sh.push_env("E2E_BROWSER", &browser.path);
    let _origin = sh.push_env("E2E_BROWSER_ORIGIN", browser.origin);
    let harness = Harness { sh: &sh, program, suite, jobs: options.jobs, folder };
    let records = judge_all(&harness, &mutants, &chosen, &now, options.fresh)?;
    let Harness { suite, folder, .. } = &harness;
    finish(&chosen, &records, &accepted, suite, folder, &options)
}

/// All mutants of the client.
fn mutants(sh: &Shell) -> anyhow::Result<Vec<Mutant>> {
    let _web = sh.push_dir("recovery-e2e/web");
    client::fetch(sh, "TypeScript")?;
    let lines = cmd!(sh, "node tools/mutants.js --list").quiet().read();
    mutant::parse(&lines.context("tools/mutants.js cannot list the mutants")?)
}

/// Those that `--only` and `--shard` name.
fn choose<'a>(mutants: &'a [Mutant], options: &Options) -> anyhow::Result<Vec<&'a Mutant>> {
    let Options { only, shard, .. } = options;
    for glob in only {
        ensure!(
            mutants.iter().any(|mutant| mutant.matches(glob)),
            "--only {glob}: no mutant has this id or module; `cargo xtask mutants --list` has all"
        );
    }
    let named = mutants
        .iter()
        .filter(|mutant| only.is_empty() || only.iter().any(|glob| mutant.matches(glob)));
    let part = named.enumerate().filter(|(index, _)| shard.is_none_or(|shard| shard.has(*index)));
    Ok(part.map(|(_, mutant)| mutant).collect())
}

/// Runs the scenarios on each mutant that has no result yet.
fn judge_all(
    harness: &Harness,
    mutants: &[Mutant],
    chosen: &[&Mutant],
    now: &Build,
    fresh: bool,
) -> anyhow::Result<Vec<Record>> {
    let path = harness.folder.join("results.jsonl");
    if fresh {
        for path in [&path, &harness.folder.join("kept")] {
            remove(path)?;
        }
    }
    let mut records = reuse(record::read(&path)?, mutants, |build| build == now);
    let is_judged = |mutant: &Mutant| records.iter().any(|record| record.id == mutant.id);
    let left: Vec<&Mutant> = chosen.iter().copied().filter(|mutant| !is_judged(mutant)).collect();
    eprintln!(
        "xtask: {} mutants; skipped {}: they have a result for this client and this harness",
        chosen.len(),
        chosen.len() - left.len()
    );
    if !left.is_empty() {
        check_baseline(harness, &left)?;
    }
    for (index, mutant) in left.iter().enumerate() {
        let scenarios = families::scenarios(&harness.suite, &mutant.file);
        let record = harness
            .judge(mutant, &scenarios, now)
            .with_context(|| format!("{} ({})", mutant.id, mutant.title()))?;
        record::append(&path, &record)?;
        let place = format!("[{}/{}]", index + 1, left.len());
        eprintln!("{place} {} {}\n    {}", mutant.id, mutant.title(), ending(&record));
        records.push(record);
    }
    Ok(records)
}

/// Without any mutant every scenario has to be ready; else a mutant's failure proves nothing.
fn check_baseline(harness: &Harness, mutants: &[&Mutant]) -> anyhow::Result<()> {
    let is_meant = |scenario: &&Scenario| {
        mutants.iter().any(|mutant| {
            families::scenarios(&harness.suite, &mutant.file)
                .iter()
                .any(|it| it.name == scenario.name)
        })
    };
    let scenarios: Vec<&Scenario> = harness.suite.scenarios.iter().filter(is_meant).collect();
    eprintln!("xtask: {} scenarios without any mutant", scenarios.len());
    let bad = harness.baseline(&scenarios)?;
    for bad in &bad {
        eprintln!("{}: {}", bad.scenario, verdict(&bad.verdict));
    }
    match bad.is_empty() {
        true => Ok(()),
        false => Err(CheckFailed { check: "the suite without any mutant" }.into()),
    }
}

/// Results of files, such as those of several shards. They must be of this client; the harness may
/// have been built elsewhere.
fn reported(
    files: &[Utf8PathBuf],
    folder: &Utf8Path,
    mutants: &[Mutant],
    now: &Build,
) -> anyhow::Result<Vec<Record>> {
    let own = [folder.join("results.jsonl")];
    let files = if files.is_empty() { &own } else { files };
    let mut results = Results::default();
    for file in files {
        ensure!(file.is_file(), "there are no results in {file}");
        let Results { records, unreadable } = record::read(file)?;
        results.records.extend(records);
        results.unreadable += unreadable;
    }
    let records = reuse(results, mutants, |build| build.client == now.client);
    let mut harnesses: Vec<&str> =
        records.iter().map(|record| record.build.harness.as_str()).collect();
    harnesses.sort_unstable();
    harnesses.dedup();
    if harnesses.len() > 1 {
        eprintln!("xtask: warning: the results are of {} builds of the harness", harnesses.len());
    }
    Ok(records)
}

/// The results that count, after a line on those that do not.
fn reuse(results: Results, mutants: &[Mutant], is_current: impl Fn(&Build) -> bool) -> Vec<Record> {
    let Results { records, unreadable } = results;
    let record::Reuse { records, stale, other } = record::reuse(records, mutants, is_current);
    for (count, why) in [
        (stale, "are of another client or harness"),
        (other, "are of mutants that no longer exist"),
        (unreadable, "cannot be read"),
    ] {
        if count > 0 {
            eprintln!("xtask: {count} results {why}; they are not used");
        }
    }
    records
}

/// Writes the reports, prints the totals, and decides the exit code.
fn finish(
    chosen: &[&Mutant],
    records: &[Record],
    accepted: &[Accepted],
    suite: &Suite,
    folder: &Utf8Path,
    options: &Options,
) -> anyhow::Result<()> {
    let report = Report::new(chosen, records, accepted, options.is_whole());
    let path = folder.join("report.md");
    write(&path, &markdown::page(&report, suite, Detail::Full))?;
    if options.keep {
        let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("no workspace")?;
        write(&root.join(KEPT), &markdown::page(&report, suite, Detail::Kept))?;
    }
    for outcome in Outcome::ALL {
        println!("{outcome:13} {:4}", report.count(outcome));
    }
    println!("{:13} {:4}", "no result", report.missing());
    println!("{:.1} % of {} mutants failed; {path}", report.percent_failed(), chosen.len());
    if report.unneeded() > 0 {
        eprintln!("xtask: {} mutants failed, so their reasons are not needed", report.unneeded());
    }
    let problems = report.problems();
    for problem in &problems {
        eprintln!("xtask: {problem}");
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(CheckFailed { check: "mutants" }.into()),
    }
}

/// The outcome of a mutant, what decided it, and how long it took.
fn ending(record: &Record) -> String {
    let bad = record.bad.iter().map(|bad| format!("{}: {}", bad.scenario, verdict(&bad.verdict)));
    let bad: Vec<String> = bad.collect();
    let (outcome, ran, seconds) = (record.outcome(), record.ran.len(), record.seconds);
    format!("{outcome}, {ran} scenarios, {seconds:.1} s\n    {}", bad.join("\n    "))
        .trim_end()
        .to_owned()
}

fn verdict(verdict: &Verdict) -> String {
    let first_line = |reason: &str| reason.lines().next().unwrap_or_default().to_owned();
    match verdict {
        Verdict::Failed { stamp, .. } => stamp.clone(),
        Verdict::Inconclusive { reason, .. } => format!("inconclusive: {}", first_line(reason)),
        Verdict::Error { reason } => format!("error: {}", first_line(reason)),
    }
}

fn write(path: &Utf8Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {folder}"))?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {path}"))
}

fn remove(path: &Utf8Path) -> anyhow::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            bail!("cannot remove {path}: {error}")
        }
        _ => Ok(()),
    }
}
