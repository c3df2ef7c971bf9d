//! What `repeat` takes, and the run that this means.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, Parser};

use super::{Cli, Command, RunArgs, seconds};
use crate::report::{Conditions, ToldVerdict, VerdictFileError, read_verdict_file};
use crate::run::watching::Watching;

/// One verdict again: the same scenario or control, browser, isolation, clock, seed and defect.
#[derive(Clone, Debug, Args)]
pub struct RepeatArgs {
    /// The folder of a verdict, with or without `scenarios` or `controls`: target/e2e/restart
    #[arg(value_name = "DIR/SCENARIO")]
    verdict: Utf8PathBuf,

    /// So many times; each further one has the next seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat_each: u32,

    /// How a person watches
    #[command(flatten)]
    watching: Watching,

    /// How long it may take on its stage, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    timeout: Duration,

    /// The folder of the reports; one that holds an earlier run is replaced
    #[arg(long, value_name = "DIR", default_value = "target/e2e-repeat")]
    out: Utf8PathBuf,

    /// Another browser than the verdict's
    #[arg(long, value_name = "PATH")]
    browser: Option<Utf8PathBuf>,

    /// The node under test [default: the recovery-node-control beside this program]
    #[arg(long, value_name = "PATH", env = "E2E_NODE")]
    node: Option<Utf8PathBuf>,
}

impl RepeatArgs {
    /// The run that comes to the same verdict.
    ///
    /// # Errors
    /// When there is no verdict.
    pub fn run(&self) -> Result<RunArgs, VerdictFileError> {
        let ToldVerdict { case, conditions } = read_verdict_file(&self.verdict)?;
        let Conditions { browser, isolation, page, defect } = conditions;
        let mut run = RunArgs::default();
        run.selection.repeat_each = self.repeat_each;
        run.selection.only = Some(case.name());
        run.clock = page.clock;
        run.isolation = isolation;
        run.earlier_defect = defect;
        run.seed = Some(page.seed);
        run.timeout = self.timeout;
        run.watching = self.watching.clone();
        run.out.clone_from(&self.out);
        run.browser = Some(self.browser.clone().unwrap_or_else(|| browser.path.into()));
        run.node.clone_from(&self.node);
        Ok(run)
    }
}

impl Default for RunArgs {
    /// What a command line without arguments means.
    fn default() -> Self {
        match Cli::parse_from(["recovery-e2e"]).command() {
            Command::Run(args) => args,
            _ => unreachable!("`run` is what is meant without a subcommand"),
        }
    }
}
