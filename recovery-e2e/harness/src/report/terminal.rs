//! What a person sees while a run lasts and when it ends.
//!
//! Each function gives lines without the last line feed. What a case tells of itself is cleaned: it
//! cannot move the cursor or pass for a line of ours.

use camino::Utf8Path;

use super::summary::Summary;
use super::{JUNIT_FILE, SUMMARY_FILE, text};
use crate::journal::{self, Case, CaseResult, Part, RunStarted};
use crate::plan::show;
use crate::stage::clock::Clock;
use crate::verdict::Outcome;

/// In front of what belongs to the line above.
const INDENT: &str = "      ";

const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";

/// What the run stands on.
pub fn head(RunStarted { run, cases }: &RunStarted) -> String {
    let browser = &run.browser;
    let Part::Shard(shard) = run.part;
    format!(
        "browser {} from {} ({})\nplan {}, shard {shard}/{}\n{}, {}, {} time, seed {}",
        text::line(&browser.version),
        text::line(&browser.origin),
        text::line(&browser.path),
        show::short(&run.plan.hash),
        run.plan.shards,
        counted(cases.len(), "case"),
        counted(run.jobs as usize, "job"),
        match run.clock {
            Clock::Page => "page",
            Clock::Real => "wall",
        },
        run.seed,
    )
}

/// A case's verdict; when it is not ready, why, and which folder under `out` tells more.
pub fn verdict(case: &Case, result: &CaseResult, out: &Utf8Path, colour: bool) -> String {
    let (tag, hue) = match result.outcome {
        Outcome::Ready => ("ok", GREEN),
        Outcome::Failed => ("FAIL", RED),
        Outcome::Inconclusive => ("INCONCLUSIVE", RED),
        Outcome::Error => ("ERROR", RED),
        Outcome::Interrupted => ("INTERRUPTED", RED),
        Outcome::Skipped => ("skip", YELLOW),
    };
    // Padded before it is painted: the codes have no width.
    let mut parts = vec![format!("{} {}", paint(&format!("{tag:<5}"), hue, colour), case.id)];
    match (&result.stamp, result.outcome) {
        // A stamp that does not count is not shown: it would read like one that does.
        (None, _) | (_, Outcome::Inconclusive) => {}
        (Some(stamp), _) if case.control.is_some() => {
            parts.push(format!("seen {stamp}"));
        }
        (Some(stamp), _) => parts.push(stamp.to_string()),
    }
    // How long a case that came to no end took is not known.
    if !matches!(result.outcome, Outcome::Skipped | Outcome::Interrupted) {
        parts.push(seconds(result.seconds));
    }
    let mut lines = vec![parts.join("   ")];
    if let Some(reason) = &result.reason {
        let reason = text::block(reason);
        lines.extend(reason.lines().map(|line| format!("{INDENT}{line}")));
    }
    let is_good = matches!(result.outcome, Outcome::Ready | Outcome::Skipped);
    if !is_good && !result.artifacts.is_empty() {
        lines.push(format!("{INDENT}look in {}", out.join(&case.dir)));
    }
    lines.join("\n")
}

/// How the run ended. The last line says how many passed and how many did not, and nothing else.
pub fn end(summary: &Summary, out: &Utf8Path) -> String {
    let counts = &summary.counts;
    let took = match summary.finished {
        Some(finished) if finished.interrupted => {
            format!("was interrupted after {}", seconds(finished.seconds))
        }
        Some(finished) => format!("took {}", seconds(finished.seconds)),
        None => "was cut off".to_owned(),
    };
    let skipped = match counts.skipped {
        0 => String::new(),
        skipped => format!(", {skipped} skipped"),
    };
    let times = summary.shards.iter().filter_map(|times| {
        let predicted = seconds(times.predicted_seconds?);
        let took = seconds(times.realised_seconds);
        let Part::Shard(_) = summary.run.part;
        Some(format!("\nits cases took {took} together, predicted were {predicted}"))
    });
    format!(
        "the run {took}; {JUNIT_FILE}, {SUMMARY_FILE} and {} are in {out}{}\n{} passed, {} failed{skipped}",
        journal::FILE_NAME,
        times.collect::<String>(),
        counts.ready,
        counts.not_passed(),
    )
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.1} s")
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
