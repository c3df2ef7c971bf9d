//! Where everything in a timeline stands.
//!
//! Across, all is in percent of the whole time, so that the drawing fits any width; down, it is in
//! pixels.

use std::collections::BTreeSet;

use crate::proxy::{Class, Record};
use crate::record::journal::Phase;

use super::super::traces::{Request, Requests, Trace};

/// The most rows of a lane; what finds none free shares the last.
const MAX_ROWS: usize = 8;

/// How wide a character of a label is taken to be, in percent: on a narrow drawing.
const CHARACTER: f64 = 0.95;

/// The most faults on one request that are named.
const MAX_FAULTS: usize = 3;

/// The most characters of the name of a fault.
const MAX_WORD: usize = 24;

/// The most ticks of the axis.
const MAX_TICKS: f64 = 8.0;

/// A timeline, laid out.
pub struct Lanes {
    /// One for each class that has a request to tell.
    pub lanes: Vec<Lane>,
    /// What the time was spent on.
    pub phases: Vec<Span>,
    /// The axis: where a tick stands, and its milliseconds.
    pub ticks: Vec<(f64, f64)>,
}

/// The requests of a class.
pub struct Lane {
    /// The class.
    pub class: Class,
    /// How many rows its bars take.
    pub rows: usize,
    /// Its bars.
    pub bars: Vec<Bar>,
}

/// A request.
pub struct Bar {
    /// From its arrival to its end.
    pub at: Span,
    /// The row of its lane.
    pub row: usize,
    /// How it ended.
    pub end: End,
    /// The time for which it was held.
    pub held: Option<(f64, f64)>,
    /// Where a fault acted on it.
    pub fault: Option<f64>,
    /// What stands beside it, and where.
    pub label: Option<(String, Beside)>,
}

/// A stretch of time, in percent, and what it is.
pub struct Span {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// What it is, in full.
    pub title: String,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was answered.
    Answered,
    /// It was refused, or its connection was broken.
    Failed,
    /// The browser left it.
    Aborted,
    /// It did not end within the trace.
    Open,
}

/// Where the label of a bar stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Behind its end.
    Behind,
    /// In proxy of its begin.
    Before,
    /// Upon it, from its begin.
    Upon,
}

/// Lays out the requests of an attempt whose verdict tells these phases.
pub fn lay_out(trace: &Trace, requests: &Requests, phases: &[Phase]) -> Lanes {
    let seen = trace.counters.as_ref().ok();
    let ends = requests.told.iter().filter_map(end_of).chain(seen.map(|seen| seen.end_ms));
    let last = ends.fold(0.0, f64::max);
    let phases = match phases {
        // A case that broke tells none, but its trace does.
        [] => seen.map(|seen| seen.phases.clone()).unwrap_or_default(),
        phases => begins(phases),
    };
    let told = phases.last().map_or(0.0, |(_, begin)| *begin);
    let scale = Scale { whole: last.max(told).max(1.0) * 1.01 };
    let classes: BTreeSet<&Class> = requests.told.iter().map(|request| &request.class).collect();
    let lanes = classes.into_iter().map(|class| {
        let of_class = requests.told.iter().filter(|request| request.class == *class);
        lane(*class, of_class, &scale)
    });
    Lanes { lanes: lanes.collect(), phases: spans(&phases, &scale), ticks: ticks(&scale) }
}

struct Scale {
    whole: f64,
}

impl Scale {
    fn at(&self, ms: f64) -> f64 {
        (ms / self.whole * 100.0).clamp(0.0, 100.0)
    }
}

/// When each phase began, in milliseconds: the trace begins with the first.
fn begins(phases: &[Phase]) -> Vec<(String, f64)> {
    let begin = |sum: &mut f64, phase: &Phase| {
        let begin = *sum;
        *sum += phase.seconds * 1000.0;
        Some((phase.name.clone(), begin))
    };
    phases.iter().scan(0.0, begin).collect()
}

fn spans(phases: &[(String, f64)], scale: &Scale) -> Vec<Span> {
    let ends = phases.iter().skip(1).map(|(_, begin)| *begin).chain([scale.whole]);
    let span = |((name, begin), end): (&(String, f64), f64)| Span {
        from: scale.at(*begin),
        to: scale.at(end),
        title: name.clone(),
    };
    phases.iter().zip(ends).map(span).collect()
}

fn ticks(scale: &Scale) -> Vec<(f64, f64)> {
    let least = scale.whole / MAX_TICKS;
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| *step >= least).unwrap_or(scale.whole);
    let ticks = (0..=MAX_TICKS as u32).map(|n| f64::from(n) * step);
    ticks.take_while(|ms| *ms <= scale.whole).map(|ms| (scale.at(ms), ms)).collect()
}

fn lane<'a>(class: Class, requests: impl Iterator<Item = &'a Request>, scale: &Scale) -> Lane {
    // Where each row is free again.
    let mut rows: Vec<f64> = Vec::new();
    let mut bars: Vec<Bar> = Vec::new();
    for request in requests {
        let mut bar = bar(request, scale);
        let (from, to) = bar.taken();
        let free = rows.iter().position(|end| *end <= from);
        bar.row = free.unwrap_or_else(|| rows.len().min(MAX_ROWS - 1));
        match rows.get_mut(bar.row) {
            Some(end) => {
                if free.is_none() {
                    bar.label = None;
                }
                *end = end.max(to);
            }
            None => rows.push(to),
        }
        bars.push(bar);
    }
    Lane { class, rows: rows.len(), bars }
}

fn bar(request: &Request, scale: &Scale) -> Bar {
    let (from, to) =
        (scale.at(request.arrived_ms), end_of(request).map_or(100.0, |ms| scale.at(ms)));
    let record = request.record.as_ref();
    let held = record.and_then(|record| Some((record.held_ms?, released(record))));
    let label = label(request);
    Bar {
        at: Span { from, to: to.max(from), title: title(request) },
        row: 0,
        end: how_it_ended(request),
        held: held.map(|(begin, end)| (scale.at(begin), end.map_or(to, |end| scale.at(end)))),
        fault: record.and_then(|record| Some(scale.at(fault_at(record)?))),
        label: label.map(|label| {
            let beside = beside(from, to, width(&label));
            (label, beside)
        }),
    }
}

impl Bar {
    /// What it takes of its row, its label with it.
    fn taken(&self) -> (f64, f64) {
        let Span { from, to, .. } = self.at;
        match &self.label {
            Some((label, Beside::Behind)) => (from, to + width(label)),
            Some((label, Beside::Before)) => (from - width(label), to),
            Some((label, Beside::Upon)) => (from, to.max(from + width(label))),
            None => (from, to),
        }
    }
}

fn width(label: &str) -> f64 {
    (label.chars().count() as f64 + 2.0) * CHARACTER
}

fn beside(from: f64, to: f64, width: f64) -> Beside {
    if to + width <= 100.0 {
        Beside::Behind
    } else if from >= width {
        Beside::Before
    } else {
        Beside::Upon
    }
}

/// When it ended for the browser, if it did.
fn end_of(request: &Request) -> Option<f64> {
    let record = request.record.as_ref()?;
    let ends = [record.ended_ms, record.aborted_ms];
    ends.into_iter().flatten().reduce(f64::max)
}

/// When what held it let it go.
fn released(record: &Record) -> Option<f64> {
    record.forwarded_ms.or(record.first_byte_ms).or(record.ended_ms)
}

/// When a fault that fired on it showed: a hold at its begin, a broken stream at its end, all else
/// with the answer.
fn fault_at(record: &Record) -> Option<f64> {
    record.faults.first()?;
    let broke = record.broken.as_ref().and(record.ended_ms);
    record.held_ms.or(broke).or(record.first_byte_ms).or(Some(record.arrived_ms))
}

/// How it ended.
pub fn how_it_ended(request: &Request) -> End {
    match &request.record {
        None => End::Open,
        Some(record) if record.failed() => End::Failed,
        Some(record) if record.aborted_ms.is_some() => End::Aborted,
        Some(record) if record.ended_ms.is_none() => End::Open,
        Some(_) => End::Answered,
    }
}

/// What stands beside its bar. A fence is a mark in time, and says nothing when it is answered.
fn label(request: &Request) -> Option<String> {
    if request.class == Class::FENCE && how_it_ended(request) == End::Answered {
        return None;
    }
    Some(fate(request))
}

/// What was done to it, and its status, in few words.
pub fn fate(request: &Request) -> String {
    let Some(record) = &request.record else { return "still open".to_owned() };
    let acted = record.faults.iter().take(MAX_FAULTS).map(|fault| acted(fault));
    let mut words: Vec<String> = acted.collect();
    words.dedup();
    if record.broken.is_some() && record.faults.is_empty() {
        words.push("broken".to_owned());
    }
    if record.aborted_ms.is_some() {
        words.push("left by the browser".to_owned());
    }
    words.extend(record.status.map(|status| status.to_string()));
    if words.is_empty() {
        words.push("no answer".to_owned());
    }
    words.join(", ")
}

/// What a fault did, from its name: `hold history x1`.
fn acted(fault: &str) -> String {
    match fault.split(' ').next().unwrap_or_default() {
        "hold" => "held",
        "fail" => "failed",
        "sever" => "severed",
        "patch" => "patched",
        "tokenless" => "token taken out",
        other => return other.chars().take(MAX_WORD).collect(),
    }
    .to_owned()
}

/// All that is told of it, in a sentence.
fn title(request: &Request) -> String {
    let Request { seq, class, arrived_ms, record } = request;
    let mut told = format!("{} #{seq}, arrived at {arrived_ms:.0} ms", class.name());
    if let Some(record) = record {
        if let Some(held) = record.held_ms {
            let until = released(record).map(|end| format!(" to {end:.0}"));
            told.push_str(&format!(", held from {held:.0}{} ms", until.unwrap_or_default()));
        }
        if let Some(end) = end_of(request) {
            told.push_str(&format!(", took {:.1} ms", end - arrived_ms));
        }
    }
    format!("{told}: {}", fate(request))
}
