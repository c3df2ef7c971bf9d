//! The command line.

use std::env;
use std::thread;

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand};

use crate::plan::Selection;
use crate::stage::clock::Clock;

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
    /// List the scenarios, what each proves, and their controls
    List,
}

/// What `run` takes.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// A scenario's name, or a glob; may be repeated. Without it all are run
    #[arg(short, long = "scenario", value_name = "NAME")]
    scenario: Vec<String>,

    /// Run the negative controls of the selected scenarios in their place
    #[arg(long)]
    controls: bool,

    /// Run each one so many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat_each: u32,

    /// Whose time the page's timers keep: one of the harness, or the wall's, one case at a time
    #[arg(long, value_enum, default_value_t = Clock::Page)]
    pub clock: Clock,

    /// What decides the page's random choices; repeat K takes N + K - 1 [default: random, told]
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,

    /// How many run at a time [default: the cores of this machine]
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

impl RunArgs {
    /// What is to be run.
    pub fn selection(&self) -> Selection {
        Selection {
            patterns: self.scenario.clone(),
            controls: self.controls,
            repeat_each: self.repeat_each,
        }
    }

    /// How many cases run at a time. On wall time it is one: others would make it late.
    pub fn jobs(&self) -> u32 {
        if self.clock == Clock::Real {
            return 1;
        }
        let cores = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.jobs.unwrap_or_else(|| u32::try_from(cores()).unwrap_or(u32::MAX))
    }

    /// Refuses what cannot go together.
    ///
    /// # Errors
    /// When controls are asked for on wall time, where a defect may show as a mere delay.
    pub fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            !(self.controls && self.clock == Clock::Real),
            "the negative controls run on page time only; leave --clock real out"
        );
        Ok(())
    }

    /// The node's program.
    pub fn node(&self) -> Utf8PathBuf {
        let beside = || {
            let own = Utf8PathBuf::try_from(env::current_exe().ok()?).ok()?;
            Some(own.with_file_name("recovery-node-control"))
        };
        self.node.clone().or_else(beside).unwrap_or_else(|| "recovery-node-control".into())
    }
}
