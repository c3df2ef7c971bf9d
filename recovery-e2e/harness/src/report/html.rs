//! `report.html`: a run as one page for a person, which needs no network and no server.
//!
//! Reading is apart from rendering: [`Traces`] are all that the page takes from files, and they are
//! read in the order in which the page has the cases, the bad ones first, as far as there is room.

mod case;
mod command;
mod link;
mod markup;
mod overview;
mod shell;
mod timeline;
mod traces;

use camino::Utf8Path;

use super::summary::Summary;
use crate::record::verdict::Outcome;
use markup::Markup;
use traces::Traces;

/// How much a page may take.
#[derive(Clone, Copy)]
struct Bounds {
    /// What is read for it, in bytes.
    read: u64,
    /// What all cases take beyond their headlines, in bytes.
    details: usize,
}

/// Room for some hundred cases with their timelines.
const BOUNDS: Bounds = Bounds { read: 32 << 20, details: 4 << 20 };

/// The most cases that are open from the start.
const MAX_OPEN: usize = 50;

/// Reads the traces of the run in `out`, which lies at `place`, and renders its page.
pub fn page(out: &Utf8Path, place: &Utf8Path, summary: &Summary) -> String {
    bounded(out, place, summary, BOUNDS)
}

fn bounded(out: &Utf8Path, place: &Utf8Path, summary: &Summary, bounds: Bounds) -> String {
    let traces = Traces::read(out, place, summary, &order(summary), bounds.read);
    render(summary, place, &traces, bounds.details)
}

/// The page of a run, whose cases take up to `room` bytes beyond their headlines.
fn render(summary: &Summary, place: &Utf8Path, traces: &Traces, mut room: usize) -> String {
    shell::page(&overview::title(summary), |body| {
        timeline::add_patterns(body);
        overview::add(body, summary);
        body.element("main", &[], |main| {
            overview::add_filter(main, summary);
            for (n, index) in order(summary).into_iter().enumerate() {
                let seen = &summary.cases[index];
                let mut details = Markup::default();
                case::add_details(&mut details, summary, seen, (place, traces));
                let fits = room.checked_sub(details.len());
                room = fits.unwrap_or(room);
                let is_open = seen.result.outcome != Outcome::Ready && n < MAX_OPEN;
                case::add(main, seen, is_open, place, fits.map(|_| &details));
            }
        });
    })
}

/// The indices of the cases, the worst first, otherwise as they were planned.
fn order(summary: &Summary) -> Vec<usize> {
    let mut order: Vec<_> = (0..summary.cases.len()).collect();
    order.sort_by_key(|index| rank(summary.cases[*index].result.outcome));
    order
}

/// All outcomes, the worst first.
const OUTCOMES: [Outcome; 7] = [
    Outcome::Failed,
    Outcome::Error,
    Outcome::Inconclusive,
    Outcome::Interrupted,
    Outcome::Flaky,
    Outcome::Skipped,
    Outcome::Ready,
];

fn rank(outcome: Outcome) -> Option<usize> {
    OUTCOMES.into_iter().position(|other| other == outcome)
}

/// The sign that goes with an outcome: its colour alone is not for everyone.
fn sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ready => "\u{2713}",
        Outcome::Flaky => "\u{21bb}",
        Outcome::Failed => "\u{2717}",
        Outcome::Inconclusive => "?",
        Outcome::Error => "!",
        Outcome::Interrupted => "\u{25a0}",
        Outcome::Skipped => "\u{2013}",
    }
}

/// Adds the sign and the name of an outcome.
fn add_badge(markup: &mut Markup, outcome: Outcome) {
    markup.element("span", &[("class", &format!("badge {}", outcome.name()))], |badge| {
        badge.leaf("span", &[("class", "sign"), ("aria-hidden", "true")], sign(outcome));
        badge.text(outcome.name());
    });
}

/// Adds a name and its value.
fn add_fact(list: &mut Markup, name: &str, value: impl FnOnce(&mut Markup)) {
    list.element("div", &[], |fact| {
        fact.leaf("dt", &[], name);
        fact.element("dd", &[], value);
    });
}

#[cfg(test)]
mod tests;
