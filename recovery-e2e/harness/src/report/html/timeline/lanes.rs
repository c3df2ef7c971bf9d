//! The layout of a timeline.
//!
//! Across, all is in percent of the whole time, so that the drawing fits any width; down, it is in
//! pixels.

use std::collections::BTreeSet;

use crate::record::class::Class;
use crate::record::event::FaultKind;
use crate::record::journal::Phase;
use crate::record::request::Record;

use super::super::traces::Trace;

/// The most rows of a lane; when none is free, a bar shares the last.
const MAX_ROWS: usize = 8;

/// How wide a character of a label is taken to be, in percent: on a narrow drawing.
const CHARACTER: f64 = 0.95;

/// The most faults on one request that are named.
const MAX_FAULTS: usize = 3;

/// The most ticks of the axis.
const MAX_TICKS: f64 = 8.0;

/// A timeline, laid out.
pub struct Lanes {
    /// One for each class that has a request to draw.
    pub lanes: Vec<Lane>,
    /// The phases of the scenario.
    pub phases: Vec<Span>,
    /// The ticks of the axis: the position of each, and its milliseconds.
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
    /// The text beside it, and where.
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

/// Where the label of a bar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Behind its end.
    Behind,
    /// Before its begin.
    Before,
    /// On it, from its begin.
    Upon,
}

/// Lays out the requests of an attempt whose verdict has these phases.
pub fn lay_out(trace: &Trace, phases: &[Phase]) -> Lanes {
    let ends = trace.shown.iter().filter_map(end_of).chain([trace.end_ms]);
    let last = ends.fold(0.0, f64::max);
    let phases = match phases {
        // A case that broke has none in its verdict, but its trace does.
        [] => trace.phases.clone(),
        phases => begins(phases),
    };
    let last_phase = phases.last().map_or(0.0, |(_, begin)| *begin);
    let scale = Scale { whole: last.max(last_phase).max(1.0) * 1.01 };
    let classes: BTreeSet<&Class> = trace.shown.iter().map(|record| &record.class).collect();
    let lanes = classes.into_iter().map(|class| {
        let of_class = trace.shown.iter().filter(|record| record.class == *class);
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

fn lane<'a>(class: Class, records: impl Iterator<Item = &'a Record>, scale: &Scale) -> Lane {
    // Where each row is free again.
    let mut rows: Vec<f64> = Vec::new();
    let mut bars: Vec<Bar> = Vec::new();
    for record in records {
        let mut bar = bar(record, scale);
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

fn bar(record: &Record, scale: &Scale) -> Bar {
    let from = scale.at(record.arrived_ms);
    let to = end_of(record).map_or(100.0, |ms| scale.at(ms));
    let held = record.held_ms.map(|begin| (begin, released(record)));
    let label = label(record);
    Bar {
        at: Span { from, to: to.max(from), title: title(record) },
        row: 0,
        end: how_it_ended(record),
        held: held.map(|(begin, end)| (scale.at(begin), end.map_or(to, |end| scale.at(end)))),
        fault: fault_at(record).map(|ms| scale.at(ms)),
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
fn end_of(record: &Record) -> Option<f64> {
    [record.ended_ms, record.aborted_ms].into_iter().flatten().reduce(f64::max)
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

fn how_it_ended(record: &Record) -> End {
    if record.failed() {
        End::Failed
    } else if record.aborted_ms.is_some() {
        End::Aborted
    } else if record.ended_ms.is_none() {
        End::Open
    } else {
        End::Answered
    }
}

/// What is written beside its bar. A fence is a mark in time: nothing, when it was answered.
fn label(record: &Record) -> Option<String> {
    if record.class == Class::FENCE && how_it_ended(record) == End::Answered {
        return None;
    }
    Some(fate(record))
}

/// What was done to it, how it ended and its status, in a few words.
pub fn fate(record: &Record) -> String {
    let acted = record.faults.iter().take(MAX_FAULTS).map(|fault| acted(fault.kind));
    let mut words: Vec<String> = acted.map(str::to_owned).collect();
    words.dedup();
    if record.broken.is_some() && record.faults.is_empty() {
        words.push("broken".to_owned());
    }
    if record.aborted_ms.is_some() {
        words.push("left by the browser".to_owned());
    }
    if record.in_flight() {
        words.push("still open".to_owned());
    }
    words.extend(record.status.map(|status| status.to_string()));
    if words.is_empty() {
        words.push("no answer".to_owned());
    }
    words.join(", ")
}

fn acted(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Hold => "held",
        FaultKind::Fail => "failed",
        FaultKind::Sever => "severed",
        FaultKind::Patch => "patched",
        FaultKind::Tokenless => "token taken out",
    }
}

/// A summary of it in one sentence.
fn title(record: &Record) -> String {
    let Record { seq, class, arrived_ms, .. } = record;
    let mut text = format!("{class} #{seq}, arrived at {arrived_ms:.0} ms");
    if let Some(held) = record.held_ms {
        let until = released(record).map(|end| format!(" to {end:.0}"));
        text.push_str(&format!(", held from {held:.0}{} ms", until.unwrap_or_default()));
    }
    if let Some(start) = record.upstream {
        text.push_str(&format!(", forwarded to start {start} of the node"));
    }
    if let Some(end) = end_of(record) {
        text.push_str(&format!(", took {:.1} ms", end - arrived_ms));
    }
    format!("{text}: {}", fate(record))
}
