//! What a run does, besides its plan.

use std::time::Duration;

use camino::Utf8PathBuf;

use super::plan::order::Order;
use super::watching::Watching;
use crate::record::settings::{Clock, DefectEdit, Isolation};

/// The settings of a run, as the command line or a saved verdict gives them.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// The folder of the reports.
    pub out: Utf8PathBuf,
    /// The browser's program, if one is named.
    pub browser: Option<Utf8PathBuf>,
    /// The node's program.
    pub node: Utf8PathBuf,
    /// The file of a defect, if one is given.
    pub defect_file: Option<Utf8PathBuf>,
    /// The defect where no file is given.
    pub defect: Vec<DefectEdit>,
    /// What each case has to itself of the browser.
    pub isolation: Isolation,
    /// The clock of the page's timers.
    pub clock: Clock,
    /// The seed of all random choices; random where none is given.
    pub seed: Option<u32>,
    /// How many cases run at a time.
    pub jobs: u32,
    /// The order in which cases start.
    pub order: Order,
    /// The timeout of a scenario.
    pub timeout: Duration,
    /// How often a bad case is retried.
    pub retries: u32,
    /// Whether no case starts after the first bad one.
    pub fail_fast: bool,
    /// Whether a flaky case fails the run.
    pub fail_on_flaky: bool,
    /// Whether the durations of a good run are written to the file of the timings.
    pub update_timings: bool,
    /// The file of the timings, if one is given.
    pub timings: Option<Utf8PathBuf>,
    /// How a person watches.
    pub watching: Watching,
}
