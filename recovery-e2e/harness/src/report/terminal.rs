//! What a person sees while a run lasts and when it ends.
//!
//! Each function gives lines without the last line feed. Text from a case is cleaned: it
//! cannot move the cursor or pass for a line of ours.

use camino::{Utf8Path, Utf8PathBuf};

use super::headline::{self, seconds};
use super::summary::Summary;
use super::{HTML_FILE, JUNIT_FILE, MARKDOWN_FILE, SUMMARY_FILE, text};
use crate::record::build::short;
use crate::record::journal::{
    self, Case, CaseResult, CaseView, Part, RunFinished, RunStarted, Stop,
};
use crate::record::verdict::Outcome;

/// In front of what belongs to the line above.
const INDENT: &str = "      ";

const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";

/// The environment of the run.
pub fn head(RunStarted { run, cases }: &RunStarted) -> String {
    let browser = &run.browser;
    let part = match run.part {
        Part::Shard(shard) => format!(", shard {shard}/{}", run.plan.shards),
        Part::Merged(_) => String::new(),
    };
    format!(
        "browser {} from {} ({}), sandbox {}{}\nplan {}{part}\nbuild: {}\n{}, {}, {}, {}, seed {}",
        text::line(&browser.version),
        text::line(&browser.origin),
        text::line(&browser.path),
        browser.sandbox.label(),
        if browser.small_shm { ", /dev/shm too small to be used" } else { "" },
        short(&run.plan.hash),
        text::line(&run.build.to_string()),
        counted(cases.len(), "case"),
        counted(run.jobs as usize, "job"),
        run.isolation.label(),
        run.clock.label(),
        run.seed,
    )
}

/// How verdicts are laid out.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Where the run's artifacts are.
    pub out: Utf8PathBuf,
    /// Whether the outcome is coloured.
    pub colour: bool,
    /// How long the longest id of a case is.
    pub width: usize,
}

impl Layout {
    /// The end of a case.
    pub fn ended(&self, CaseView { case, result, .. }: &CaseView) -> String {
        let (tag, hue) = tag(result.outcome);
        self.verdict(tag, hue, case, result)
    }

    /// The end of an attempt after which there is another.
    pub fn retried(&self, case: &Case, result: &CaseResult) -> String {
        self.verdict("retry", YELLOW, case, result)
    }

    /// A verdict; when it is not good, why, and which folder contains more.
    fn verdict(&self, tag: &str, hue: &str, case: &Case, result: &CaseResult) -> String {
        let Self { out, colour, width } = self;
        let id = format!("{:<width$}", case.id);
        // Padded before it is painted: the codes have no width.
        let mut parts = vec![format!("{} {}", paint(&format!("{tag:<5}"), hue, *colour), id)];
        parts.extend(headline::stamp(case, result));
        parts.extend(headline::took(result));
        let mut lines = vec![parts.join("   ").trim_end().to_owned()];
        if let Some(reason) = &result.reason {
            let reason = text::block(reason);
            lines.extend(reason.lines().map(|line| format!("{INDENT}{}", text::no_command(line))));
        }
        if result.outcome.is_bad() && !result.artifacts.is_empty() {
            let dir = case.attempt_dir(result.attempt);
            lines.push(format!("{INDENT}look in {}", out.join(dir)));
        }
        lines.join("\n")
    }
}

fn tag(outcome: Outcome) -> (&'static str, &'static str) {
    match outcome {
        Outcome::Ready => ("ok", GREEN),
        Outcome::Flaky => ("FLAKY", YELLOW),
        Outcome::Failed => ("FAIL", RED),
        Outcome::Inconclusive => ("INCONCLUSIVE", RED),
        Outcome::Error => ("ERROR", RED),
        Outcome::Interrupted => ("INTERRUPTED", RED),
        Outcome::Skipped => ("skip", YELLOW),
    }
}

/// How the run ended. The last line says how many passed and how many did not, and nothing else.
pub fn end(summary: &Summary, out: &Utf8Path) -> String {
    let counts = &summary.counts;
    let took = match &summary.finished {
        Some(RunFinished { seconds: took, stopped, .. }) => match stopped {
            None => format!("took {}", seconds(*took)),
            Some(Stop::Signal) => format!("was interrupted after {}", seconds(*took)),
            Some(Stop::FailFast(bad)) => format!("stopped at {bad} after {}", seconds(*took)),
        },
        None => "was cut off".to_owned(),
    };
    let mut lines = vec![format!(
        "the run {took}; {HTML_FILE}, {JUNIT_FILE}, {SUMMARY_FILE}, {MARKDOWN_FILE} and {} are in {out}",
        journal::FILE_NAME
    )];
    lines.extend(spread(summary));
    let of_run = summary.troubles().into_iter();
    lines
        .extend(of_run.map(|trouble| text::line(&format!("{}: {}", trouble.name, trouble.reason))));
    let mut totals = format!("{} passed, {} failed", counts.passed(), counts.not_passed());
    for (count, what) in [(counts.flaky, "flaky"), (counts.skipped, "skipped")] {
        if count > 0 {
            totals.push_str(&format!(", {count} {what}"));
        }
    }
    lines.push(totals);
    lines.join("\n")
}

/// What the shards were predicted to take, and what they took, of a whole run with timings.
fn spread(summary: &Summary) -> Option<String> {
    let of_run = summary.finished.as_ref().filter(|finished| finished.stopped.is_none());
    of_run?;
    let predicted: Option<Vec<f64>> =
        summary.shards.iter().map(|times| times.predicted_seconds).collect();
    let realised = summary.shards.iter().map(|times| times.realised_seconds).collect();
    Some(format!("cases together: predicted {}, took {}", range(predicted?)?, range(realised)?))
}

/// `1.2 s`, or `1.2 s to 3.4 s` where there are several.
fn range(all: Vec<f64>) -> Option<String> {
    let least = all.iter().copied().min_by(f64::total_cmp)?;
    let most = all.iter().copied().max_by(f64::total_cmp)?;
    Some(match all.len() {
        1 => seconds(most),
        shards => format!("{} to {} on {shards} shards", seconds(least), seconds(most)),
    })
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn paint(text: &str, hue: &str, colour: bool) -> String {
    if colour { format!("\u{1b}[{hue}m{text}\u{1b}[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests;
