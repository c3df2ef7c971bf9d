//! Arguments of `repeat`, and the run that they describe.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, Parser};

use super::{BROWSER, Cli, Command, EXECUTION, OUTPUT, RunArgs, SELECTION, seconds};
use crate::report::{Conditions, SavedVerdict, VerdictFileError, read_verdict_file};
use crate::run::watching::Watching;

/// Arguments of `repeat`.
#[derive(Clone, Debug, Args)]
pub struct RepeatArgs {
    /// The folder of a verdict, such as target/e2e/scenarios/restart; `scenarios` and `controls` may be left out
    #[arg(value_name = "DIR/SCENARIO")]
    verdict: Utf8PathBuf,

    /// Run it N times; each repeat has the next seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = SELECTION)]
    repeat_each: u32,

    /// How a person watches.
    #[command(flatten)]
    watching: Watching,

    /// The timeout, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds, help_heading = EXECUTION)]
    timeout: Duration,

    /// The folder of the reports; replaces an earlier run in it
    #[arg(long, value_name = "DIR", default_value = "target/e2e-repeat", help_heading = OUTPUT)]
    out: Utf8PathBuf,

    /// Another browser [default: the verdict's]
    #[arg(long, value_name = "PATH", help_heading = BROWSER)]
    browser: Option<Utf8PathBuf>,

    /// The node under test [default: the recovery-node-control beside this program]
    #[arg(long, value_name = "PATH", env = "E2E_NODE", hide_env_values = true, help_heading = BROWSER)]
    node: Option<Utf8PathBuf>,
}

impl RepeatArgs {
    /// The run that repeats the verdict.
    ///
    /// # Errors
    /// When the verdict cannot be read.
    pub fn run(&self) -> Result<RunArgs, VerdictFileError> {
        let SavedVerdict { case, conditions } = read_verdict_file(&self.verdict)?;
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
    /// The arguments of an empty command line.
    fn default() -> Self {
        match Cli::parse_from(["recovery-e2e"]).command() {
            Command::Run(args) => args,
            _ => unreachable!("`run` is the default command"),
        }
    }
}
