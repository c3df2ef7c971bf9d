//! The command line.

pub mod repeat;
pub mod serve;

use std::collections::BTreeSet;
use std::env;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Parser, Subcommand};

use crate::os::machine;
use crate::record::journal;
use crate::record::settings::Clock;
use crate::record::settings::Isolation;
use crate::run::defect::Change;
use crate::run::list;
use crate::run::plan::order::Order;
use crate::run::plan::show::Format;
use crate::run::plan::timings::{Missing, Timings};
use crate::run::plan::{self, MAX_SHARDS, Plan, Selection, Shard, ShardArg};
use crate::run::watching::Watching;
use repeat::RepeatArgs;
use serve::ServeArgs;

/// Proves in a real Chromium that a streaming web application recovers.
#[derive(Debug, Parser)]
#[command(name = "recovery-e2e", version, args_conflicts_with_subcommands = true)]
#[command(after_help = "Exit: 0 all as it should be; 1 a scenario failed, was inconclusive, \
    errored or was interrupted; 2 bad arguments or a broken environment.")]
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
    /// Run scenarios, or their negative controls (this is the default)
    Run(RunArgs),
    /// List the scenarios, what each proves and rests on, and their controls
    List(ListArgs),
    /// Show which shard runs what, and how long each will take
    Plan(PlanArgs),
    /// Make the reports of a run again, from its journal
    Report {
        /// The out folder of the run
        dir: Utf8PathBuf,
    },
    /// Come to one verdict again, with the same scenario or control, browser, clock, seed and defect
    Repeat(RepeatArgs),
    /// Set a stage for a person: prints where it is and how to log in, until Ctrl-C
    Serve(ServeArgs),
    /// Join the shards that ran on several machines, and report them as one run
    Merge(MergeArgs),
}

/// What `list` takes.
#[derive(Clone, Debug, Args)]
pub struct ListArgs {
    /// Whom it is for: a person, a program, or the README
    #[arg(long, value_enum, default_value_t = list::Format::Text)]
    pub format: list::Format,

    /// How long each takes [default: ci/timings.json of this repository, if it is there]
    #[arg(long, value_name = "FILE")]
    timings: Option<Utf8PathBuf>,
}

/// What `merge` takes.
#[derive(Clone, Debug, Args)]
pub struct MergeArgs {
    /// The out folder of each shard
    #[arg(required = true, value_name = "DIR")]
    pub dirs: Vec<Utf8PathBuf>,

    /// The folder of the whole; one that holds an earlier run is replaced
    #[arg(long, value_name = "DIR")]
    pub out: Utf8PathBuf,

    /// Report what is there also when shards are missing; the exit code is 1 all the same
    #[arg(long)]
    pub partial: bool,
}

/// What a plan is made of.
#[derive(Clone, Debug, Args)]
pub struct SelectionArgs {
    /// A scenario's name, a glob, `both` (storm and restart) or `all`; may be repeated. Without it all are meant
    #[arg(short, long = "scenario", value_name = "NAME")]
    scenario: Vec<String>,

    /// The negative controls of these scenarios in their place
    #[arg(long)]
    controls: bool,

    /// Cases that break on purpose, in place of the catalogue: a test of the runner
    #[arg(long, hide = true)]
    torture: bool,

    /// Each one so many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat_each: u32,

    /// Just the scenario or control of this name
    #[arg(skip)]
    only: Option<String>,

    /// How long each takes [default: ci/timings.json of this repository, if it is there]
    #[arg(long, value_name = "FILE")]
    pub timings: Option<Utf8PathBuf>,
}

/// What `plan` takes.
#[derive(Clone, Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    selection: SelectionArgs,

    /// How many shards
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SHARDS)))]
    shards: u32,

    /// Whom it is for: a person, a program, or the matrix of a GitHub job
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// What `run` takes.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// What is to be run
    #[command(flatten)]
    pub selection: SelectionArgs,

    /// Run this part of the plan, such as 2/4; `auto`: as the variables of the CI say
    #[arg(long, value_name = "I/N")]
    shard: Option<ShardArg>,

    /// Put a defect of your own into the client: a file with a JSON list of {asset, find, replace}, each text found once
    #[arg(long, value_name = "FILE", conflicts_with = "controls")]
    pub defect: Option<Utf8PathBuf>,

    /// The defect of a verdict that is to be repeated
    #[arg(skip)]
    pub earlier_defect: Vec<Change>,

    /// When all are ready, keep how long each took for the plans to come
    #[arg(long, conflicts_with_all = ["scenario", "shard", "last_failed"])]
    pub update_timings: bool,

    /// Only what was not good in the run that the out folder holds, scenarios and controls
    #[arg(long, conflicts_with_all = ["controls", "shard"])]
    last_failed: bool,

    /// Begin no case any more after a bad one
    #[arg(long)]
    pub fail_fast: bool,

    /// Try a bad case so many times again; one that is good then is flaky
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub retries: u32,

    /// Exit with 1 when a case was flaky
    #[arg(long)]
    pub fail_on_flaky: bool,

    /// Which case starts first: the longest, or one that the seed decides
    #[arg(long, value_enum, default_value_t = Order::Longest)]
    pub order: Order,

    /// How long a scenario may take on its stage, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    pub timeout: Duration,

    /// Whose time the page's timers keep: one of the harness, or the wall's, one case at a time
    #[arg(long, value_enum, default_value_t = Clock::Page)]
    pub clock: Clock,

    /// What of the browser a case has to itself: all of it, or a context in one that its worker's cases share
    #[arg(long, value_enum, default_value_t)]
    pub isolation: Isolation,

    /// What decides all random choices: the order, and those of the page; repeat K takes N + K - 1 [default: random, told]
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,

    /// How a person watches
    #[command(flatten)]
    pub watching: Watching,

    /// How many run at a time, where the machine has room for them [default: half as many again as
    /// there are cores that this process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,

    /// The folder of the reports; one that holds an earlier run is replaced
    #[arg(long, value_name = "DIR", default_value = "target/e2e")]
    pub out: Utf8PathBuf,

    /// The browser to drive
    #[arg(long, value_name = "PATH", env = "E2E_BROWSER")]
    pub browser: Option<Utf8PathBuf>,

    /// The node under test [default: the recovery-node-control beside this program]
    #[arg(long, value_name = "PATH", env = "E2E_NODE")]
    node: Option<Utf8PathBuf>,
}

impl Cli {
    /// The subcommand that was given or is meant.
    pub fn command(self) -> Command {
        self.command.unwrap_or(Command::Run(self.run))
    }
}

/// A time that has not passed before it began.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "give a number of seconds".to_owned())?;
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    if time.is_zero() { Err("give more than no time".to_owned()) } else { Ok(time) }
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
    /// What each scenario took when it was measured.
    ///
    /// # Errors
    /// When the file that was named is none.
    pub fn timings(&self) -> anyhow::Result<Timings> {
        Ok(Timings::load(self.timings.as_deref(), Missing::IsAnError)?)
    }
}

impl PlanArgs {
    /// The plan that is to be shown.
    ///
    /// # Errors
    /// When there is no such plan.
    pub fn plan(&self) -> anyhow::Result<Plan> {
        let timings = Timings::load(self.selection.timings.as_deref(), Missing::IsAnError)?;
        Ok(plan::plan(&self.selection.selection(), &timings, self.shards)?)
    }
}

impl RunArgs {
    /// The plan that is to be followed, and which part of it.
    ///
    /// # Errors
    /// When there is no such plan, or no such part.
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

    /// How many cases run at a time. On wall time it is one: others would make it late. It is one
    /// too where the run waits for a person.
    pub fn jobs(&self) -> u32 {
        if self.clock == Clock::Real || self.watching.pause_on_failure {
            return 1;
        }
        self.jobs.unwrap_or_else(machine::workers)
    }

    /// Refuses what cannot go together.
    ///
    /// # Errors
    /// When controls are asked for on wall time, where a defect may show as a mere delay.
    pub fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            !(self.selection.controls && self.clock == Clock::Real),
            "the negative controls run on page time only; leave --clock real out"
        );
        Ok(())
    }

    /// The node's program.
    pub fn node(&self) -> Utf8PathBuf {
        program_of_node(self.node.as_deref())
    }
}

/// The node that was named, or the one beside this program.
fn program_of_node(named: Option<&Utf8Path>) -> Utf8PathBuf {
    let beside = || {
        let own = Utf8PathBuf::try_from(env::current_exe().ok()?).ok()?;
        Some(own.with_file_name("recovery-node-control"))
    };
    let named = named.map(Utf8Path::to_owned);
    named.or_else(beside).unwrap_or_else(|| "recovery-node-control".into())
}
