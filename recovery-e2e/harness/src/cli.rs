//! The command line.

pub mod repeat;
pub mod serve;

use std::collections::BTreeSet;
use std::env;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Parser, Subcommand};

use crate::os::machine;
use crate::record::journal::{self, MAX_SHARDS};
use crate::record::settings::Clock;
use crate::record::settings::DefectEdit;
use crate::record::settings::Isolation;
use crate::run::list;
use crate::run::plan::order::Order;
use crate::run::plan::show::Format;
use crate::run::plan::timings::{Missing, Timings};
use crate::run::plan::{self, Plan, Selection, Shard, ShardArg};
use crate::run::settings::RunSettings;
use crate::run::watching::Watching;
use repeat::RepeatArgs;
use serve::ServeArgs;

/// The headings under which `--help` groups the flags.
const SELECTION: &str = "Selection";
const SHARDING: &str = "Sharding";
const EXECUTION: &str = "Execution";
const BROWSER: &str = "Browser and node";
const OUTPUT: &str = "Output";

/// What the exit code of a run means.
const EXIT_CODES: &str = "\
Exit codes:
  0  ok
  1  a case failed, was inconclusive, errored or was interrupted
  2  bad arguments or a broken environment";

/// The common tasks, for `--help` and `run --help`.
const EXAMPLES: &str = "\
Examples:
  recovery-e2e                                     Run all scenarios
  recovery-e2e -s restart -s 'coord-*'             Run some scenarios
  recovery-e2e -s restart --controls               Run the negative controls of a scenario
  recovery-e2e --last-failed                       Re-run what did not pass in the last run
  recovery-e2e -s storm --repeat-each 20           Look for a flaky scenario
  recovery-e2e -s storm --headed --slow-mo 300     Watch a scenario in the browser's window
  recovery-e2e -s storm --pause-on-failure         Inspect the page when it fails
  recovery-e2e repeat target/e2e/storm             Re-run one verdict
  recovery-e2e plan --shards 4                     Show what each of four shards runs
  recovery-e2e --shard 2/4 --out shard-2           Run the second of four shards
  recovery-e2e merge shard-* --out target/e2e      Merge the shards into one report";

/// Proves in a real Chromium that a streaming web application recovers.
#[derive(Debug, Parser)]
#[command(name = "recovery-e2e", version, args_conflicts_with_subcommands = true)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Cli {
    /// What to do; `run` when left out.
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run scenarios, or their negative controls; the default command
    #[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
    Run(RunArgs),
    /// List the scenarios, what each proves, and their negative controls
    #[command(after_help = "\
Examples:
  recovery-e2e list                     A list to read
  recovery-e2e list --format json       The same for a program")]
    List(ListArgs),
    /// Show which cases each shard runs, and how long they will take
    #[command(after_help = "\
Examples:
  recovery-e2e plan --shards 4                      What each of four shards runs
  recovery-e2e plan --shards 4 --controls           The same for the negative controls
  recovery-e2e plan --shards 4 --format github      The matrix of a GitHub job")]
    Plan(PlanArgs),
    /// Write the reports of a run again, from its journal
    #[command(after_help = format!("\
Examples:
  recovery-e2e report target/e2e        Write junit.xml, report.html and the others again

{EXIT_CODES}"))]
    Report {
        /// The output folder of the run
        dir: Utf8PathBuf,
    },
    /// Re-run one verdict, with the same browser, isolation, clock, seed and defect
    #[command(after_help = format!("\
Examples:
  recovery-e2e repeat target/e2e/restart                          Re-run a scenario
  recovery-e2e repeat target/e2e/rewind-window/gate-is-busy-alone   Re-run a negative control
  recovery-e2e repeat target/e2e/restart --headed --slow-mo 300   Watch it in the browser's window

{EXIT_CODES}"))]
    Repeat(RepeatArgs),
    /// Start the node behind the proxy, print its address and login link, and serve until Ctrl-C
    #[command(after_help = "\
Examples:
  recovery-e2e serve                       Serve at a free port
  recovery-e2e serve --keep-open 8080      Serve at http://127.0.0.1:8080")]
    Serve(ServeArgs),
    /// Merge the shards that ran on several machines into one run and one report
    #[command(after_help = "\
Examples:
  recovery-e2e merge shard-* --out target/e2e               Merge all shards
  recovery-e2e merge shard-* --out target/e2e --partial     Report the shards that exist

Exit codes:
  0  ok
  1  a case did not pass, or a shard is missing, is there twice or is of another run
  2  bad arguments, or the output folder cannot be written")]
    Merge(MergeArgs),
}

/// Arguments of `list`.
#[derive(Clone, Debug, Args)]
pub struct ListArgs {
    /// Output format: for a person, a program, or docs/scenarios.md
    #[arg(long, value_enum, default_value_t = list::Format::Text, help_heading = OUTPUT)]
    pub format: list::Format,

    /// Measured durations [default: ci/timings.json of this repository, if it exists]
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    timings: Option<Utf8PathBuf>,
}

/// Arguments of `merge`.
#[derive(Clone, Debug, Args)]
pub struct MergeArgs {
    /// The output folder of each shard
    #[arg(required = true, value_name = "DIR")]
    pub dirs: Vec<Utf8PathBuf>,

    /// The folder of the merged run; replaces an earlier run in it
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub out: Utf8PathBuf,

    /// Report what exists when shards are missing; the exit code is still 1
    #[arg(long, help_heading = OUTPUT)]
    pub partial: bool,
}

/// Which cases a plan has.
#[derive(Clone, Debug, Args)]
pub struct SelectionArgs {
    /// A scenario's name, a glob, `both` (storm and restart) or `all`; may be repeated [default: all]
    #[arg(short, long = "scenario", value_name = "NAME", help_heading = SELECTION)]
    scenario: Vec<String>,

    /// Select the negative controls of these scenarios instead
    #[arg(long, help_heading = SELECTION)]
    controls: bool,

    /// Cases that break on purpose, in place of the catalogue: a test of the runner
    #[arg(long, hide = true)]
    torture: bool,

    /// Run each case N times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = SELECTION)]
    repeat_each: u32,

    /// Only the scenario or control of this name.
    #[arg(skip)]
    only: Option<String>,

    /// Measured durations, by which shards are balanced [default: ci/timings.json of this repository, if it exists]
    #[arg(long, value_name = "FILE", help_heading = SHARDING)]
    pub timings: Option<Utf8PathBuf>,
}

/// Arguments of `plan`.
#[derive(Clone, Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    selection: SelectionArgs,

    /// The number of shards
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SHARDS)), help_heading = SHARDING)]
    shards: u32,

    /// Output format: for a person, a program, or the matrix of a GitHub job
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = OUTPUT)]
    pub format: Format,
}

/// Arguments of `run`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Which cases the plan has.
    #[command(flatten)]
    pub selection: SelectionArgs,

    /// Select only what did not pass in the run in --out, scenarios and controls
    #[arg(long, conflicts_with_all = ["controls", "shard"], help_heading = SELECTION)]
    last_failed: bool,

    /// Edit the served client in each case: a file with a JSON list of {asset, find, replace}, in which each text to find occurs once [default: none]
    #[arg(long, value_name = "FILE", conflicts_with = "controls", help_heading = SELECTION)]
    pub defect: Option<Utf8PathBuf>,

    /// The defect of a verdict to repeat.
    #[arg(skip)]
    pub earlier_defect: Vec<DefectEdit>,

    /// Run one shard of the plan, such as 2/4; `auto` reads it from the variables of the CI [default: 1/1]
    #[arg(long, value_name = "I/N", help_heading = SHARDING)]
    shard: Option<ShardArg>,

    /// If all cases are ready, write their durations to the file of --timings
    #[arg(long, conflicts_with_all = ["scenario", "shard", "last_failed"], help_heading = SHARDING)]
    pub update_timings: bool,

    /// How many cases run at a time, where the machine has room for them [default: 1.5 times the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = EXECUTION)]
    jobs: Option<u32>,

    /// In which order the cases start
    #[arg(long, value_enum, default_value_t = Order::Longest, help_heading = EXECUTION)]
    pub order: Order,

    /// The timeout of a scenario, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds, help_heading = EXECUTION)]
    pub timeout: Duration,

    /// Retry a bad case up to N times; one that is ready then is flaky
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = EXECUTION)]
    pub retries: u32,

    /// Exit with 1 when a case was flaky
    #[arg(long, help_heading = EXECUTION)]
    pub fail_on_flaky: bool,

    /// Start no case after the first bad one
    #[arg(long, help_heading = EXECUTION)]
    pub fail_fast: bool,

    /// The seed of all random choices, of the order and of the page; repeat K of a case has the seed N + K - 1 [default: random, printed]
    #[arg(long, value_name = "N", help_heading = EXECUTION)]
    pub seed: Option<u32>,

    /// The browser: the path of a Chromium [default: none; `cargo xtask e2e` finds one]
    #[arg(long, value_name = "PATH", env = "E2E_BROWSER", hide_env_values = true, help_heading = BROWSER)]
    pub browser: Option<Utf8PathBuf>,

    /// What a case shares of the browser with other cases
    #[arg(long, value_enum, default_value_t, help_heading = BROWSER)]
    pub isolation: Isolation,

    /// The clock of the page's timers
    #[arg(long, value_enum, default_value_t = Clock::Page, help_heading = BROWSER)]
    pub clock: Clock,

    /// The node under test [default: the recovery-node-control beside this program]
    #[arg(long, value_name = "PATH", env = "E2E_NODE", hide_env_values = true, help_heading = BROWSER)]
    node: Option<Utf8PathBuf>,

    /// How a person watches.
    #[command(flatten)]
    pub watching: Watching,

    /// The folder of the reports; replaces an earlier run in it
    #[arg(long, value_name = "DIR", default_value = "target/e2e", help_heading = OUTPUT)]
    pub out: Utf8PathBuf,
}

impl Cli {
    /// The subcommand that was given, or `run`.
    pub fn command(self) -> Command {
        self.command.unwrap_or(Command::Run(self.run))
    }
}

/// A timeout greater than zero.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    if time.is_zero() { Err("expected more than 0 seconds".to_owned()) } else { Ok(time) }
}

impl SelectionArgs {
    fn selection(&self) -> Selection {
        Selection {
            patterns: self.scenario.clone(),
            controls: self.controls,
            only: self.only.clone().map(|name| BTreeSet::from([name])),
            torture: self.torture,
            repeat_each: self.repeat_each,
        }
    }
}

impl ListArgs {
    /// The measured durations.
    ///
    /// # Errors
    /// When the given file is missing or is not a file of timings.
    pub fn timings(&self) -> anyhow::Result<Timings> {
        Ok(Timings::load(self.timings.as_deref(), Missing::IsAnError)?)
    }
}

impl PlanArgs {
    /// The plan to print.
    ///
    /// # Errors
    /// When the selection or the timings are not valid.
    pub fn plan(&self) -> anyhow::Result<Plan> {
        let timings = Timings::load(self.selection.timings.as_deref(), Missing::IsAnError)?;
        Ok(plan::plan(&self.selection.selection(), &timings, self.shards)?)
    }
}

impl RunArgs {
    /// The plan, and the shard of it to run.
    ///
    /// # Errors
    /// When the selection, the shard, the timings or the last run are not valid.
    pub fn plan(&self) -> anyhow::Result<(Plan, Shard)> {
        let env = |name: &str| env::var(name).ok();
        let shard = self.shard.map_or(Ok(Shard::WHOLE), |shard| shard.resolve(env))?;
        let missing = if self.update_timings { Missing::IsEmpty } else { Missing::IsAnError };
        let timings = Timings::load(self.selection.timings.as_deref(), missing)?;
        let mut selection = self.selection.selection();
        if self.last_failed {
            let last = journal::read(&self.out.join(journal::FILE_NAME))?;
            let bad = last.cases.iter().filter(|seen| seen.result.outcome.is_bad());
            selection.only = Some(bad.map(|seen| seen.case.name()).collect());
        }
        Ok((plan::plan(&selection, &timings, shard.total())?, shard))
    }

    /// How many cases run at a time. With wall time it is one, as others would delay it; also where
    /// the run pauses for a person.
    fn jobs(&self) -> u32 {
        if self.clock == Clock::Real || self.watching.pause_on_failure {
            return 1;
        }
        self.jobs.unwrap_or_else(machine::workers)
    }

    /// Refuses arguments that exclude each other.
    ///
    /// # Errors
    /// For controls with wall time, where a defect may show as a mere delay.
    pub fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            !(self.selection.controls && self.clock == Clock::Real),
            "negative controls run with page time only; remove --clock real"
        );
        Ok(())
    }

    /// The settings of the run.
    pub fn settings(&self) -> RunSettings {
        RunSettings {
            out: self.out.clone(),
            browser: self.browser.clone(),
            node: program_of_node(self.node.as_deref()),
            defect_file: self.defect.clone(),
            defect: self.earlier_defect.clone(),
            isolation: self.isolation,
            clock: self.clock,
            seed: self.seed,
            jobs: self.jobs(),
            order: self.order,
            timeout: self.timeout,
            retries: self.retries,
            fail_fast: self.fail_fast,
            fail_on_flaky: self.fail_on_flaky,
            update_timings: self.update_timings,
            timings: self.selection.timings.clone(),
            watching: self.watching.clone(),
        }
    }
}

/// The given node, or the one beside this program.
fn program_of_node(named: Option<&Utf8Path>) -> Utf8PathBuf {
    let beside = || {
        let own = Utf8PathBuf::try_from(env::current_exe().ok()?).ok()?;
        Some(own.with_file_name("recovery-node-control"))
    };
    let named = named.map(Utf8Path::to_owned);
    named.or_else(beside).unwrap_or_else(|| "recovery-node-control".into())
}

#[cfg(test)]
mod tests;
