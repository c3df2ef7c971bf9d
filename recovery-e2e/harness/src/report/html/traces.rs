//! What the file of events of each attempt says of its requests and counters.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};

use super::link;
use crate::files;
use crate::record::class::Class;
use crate::record::counters::{Change, Counters, Counts};
use crate::record::event::{Event, Header, Line, VERSION};
use crate::record::request::Record;
use crate::record::requests::Requests;
use crate::report::Summary;

/// The file of the events of all requests.
pub const REQUESTS_FILE: &str = "requests.jsonl";

/// The most that is read of one file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The most requests of an attempt that are shown one by one.
const MAX_REQUESTS: usize = 150;

/// The most events of an attempt that are shown with the counters they changed.
const MAX_CHANGES: usize = 500;

/// The most phases of an attempt.
const MAX_PHASES: usize = 50;

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
pub enum NoTrace {
    /// There is no such file.
    #[error("it is not there")]
    Missing,
    /// The journal names a folder that the report does not look into.
    #[error("its folder is outside of the report's")]
    Outside,
    /// A folder, a link or a device is in its place.
    #[error("it is not a regular file")]
    NotAFile,
    /// Another version of the harness wrote it.
    #[error("it does not begin as version {VERSION} of this file does")]
    OtherVersion,
    /// The system refused.
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
    /// Enough has been read for a page.
    #[error("it was not read, as the size of this page is limited")]
    NoRoom,
}

/// The traces of all attempts, by their folders in the summary.
#[derive(Default)]
pub struct Traces(HashMap<Utf8PathBuf, Result<Trace, NoTrace>>);

/// The requests and the counters of an attempt.
#[derive(Debug, Default)]
pub struct Trace {
    /// The requests that are shown one by one, in the order of arrival.
    pub shown: Vec<Record>,
    /// How many there are beyond those, as the size of the page is limited.
    pub left_out: usize,
    /// How many files and pages were served without anything to show of them.
    pub plain: usize,
    /// The counters after the last event.
    pub counters: Counters,
    /// The largest value that counters which go down again had.
    pub peaks: BTreeMap<Class, Peak>,
    /// The events that changed counters, in their order.
    pub changes: Vec<Changed>,
    /// How many such events there are beyond those.
    pub changes_left_out: usize,
    /// When each phase had its first event.
    pub phases: Vec<(String, f64)>,
    /// When the last event was.
    pub end_ms: f64,
    /// What of the file could not be read.
    pub gap: Gap,
}

/// The largest values of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// Of [`Counts::in_flight`].
    pub in_flight: u64,
    /// Of [`Counts::held`].
    pub held: u64,
}

/// An event that changed counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// When.
    pub t_ms: f64,
    /// In which phase of the scenario.
    pub phase: String,
    /// The number of the request that caused it.
    pub request: u64,
    /// What happened to the request.
    pub what: String,
    /// The counters that changed, and their new values.
    pub counters: Vec<Change>,
}

/// What of a file could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Whether the file goes on behind what was read.
    pub is_cut: bool,
    /// How many lines this version cannot read.
    pub unreadable: usize,
}

impl Traces {
    /// Reads the files of the attempts of `summary` in `out`, which is shown as `place`, until
    /// `room` bytes have been read; `order` are the indices of the cases, the most important first.
    pub fn read(
        out: &Utf8Path,
        place: &Utf8Path,
        summary: &Summary,
        order: &[usize],
        mut room: u64,
    ) -> Self {
        let mut traces = Self::default();
        for seen in order.iter().filter_map(|index| summary.cases.get(*index)) {
            for end in [&seen.result].into_iter().chain(&seen.earlier) {
                let dir = seen.case.attempt_dir(end.attempt);
                let file = link::below(place, &dir).map(|dir| out.join(dir));
                let trace = match file {
                    // What cannot be examined fails again when it is read.
                    Some(dir) if files::lies_below(out, &dir).unwrap_or(true) => {
                        Trace::read(&dir.join(REQUESTS_FILE), &mut room)
                    }
                    _ => Err(NoTrace::Outside),
                };
                traces.0.insert(dir, trace);
            }
        }
        traces
    }

    /// The trace of the attempt whose folder in the summary is `dir`.
    pub fn of(&self, dir: &Utf8Path) -> Option<&Result<Trace, NoTrace>> {
        self.0.get(dir)
    }
}

impl Trace {
    fn read(file: &Utf8Path, room: &mut u64) -> Result<Self, NoTrace> {
        let Bytes { read, is_cut } = bytes_of(file, room)?;
        let mut lines = read.split_inclusive(|byte| *byte == b'\n');
        let header = lines.next().map(serde_json::from_slice::<Header>);
        if !matches!(header, Some(Ok(Header { v: VERSION }))) {
            return Err(NoTrace::OtherVersion);
        }
        let mut trace = Self { gap: Gap { is_cut, unreadable: 0 }, ..Self::default() };
        let mut requests = Requests::default();
        for line in lines {
            match serde_json::from_slice::<Line>(line) {
                Ok(line) => trace.add(&mut requests, &line),
                // A line without its end is the last: the writer or the reader stopped there.
                Err(_) if !line.ends_with(b"\n") => trace.gap.is_cut = true,
                Err(_) => trace.gap.unreadable += 1,
            }
        }
        let mut shown: Vec<Record> = requests.records().cloned().collect();
        shown.retain(is_shown);
        trace.plain = requests.records().len() - shown.len();
        trace.left_out = shown.len().saturating_sub(MAX_REQUESTS);
        shown.truncate(MAX_REQUESTS);
        Ok(Self { shown, counters: requests.counters().clone(), ..trace })
    }

    fn add(&mut self, requests: &mut Requests, line: &Line) {
        let before = requests.counters().clone();
        if !requests.apply(line) {
            return;
        }
        let Line { t_ms, phase, request, event } = line;
        self.end_ms = self.end_ms.max(*t_ms);
        let is_new = self.phases.last().is_none_or(|(last, _)| last != phase);
        if is_new && self.phases.len() < MAX_PHASES {
            self.phases.push((phase.clone(), *t_ms));
        }
        for (class, Counts { in_flight, held, .. }) in requests.counters().classes() {
            let peak = self.peaks.entry(*class).or_default();
            peak.in_flight = peak.in_flight.max(*in_flight);
            peak.held = peak.held.max(*held);
        }
        let counters = requests.counters().changes_since(&before);
        if counters.is_empty() {
            return;
        }
        if self.changes.len() == MAX_CHANGES {
            self.changes_left_out += 1;
            return;
        }
        let (phase, what) = (phase.clone(), what_happened(event));
        self.changes.push(Changed { t_ms: *t_ms, phase, request: *request, what, counters });
    }
}

/// An event in a few words.
fn what_happened(event: &Event) -> String {
    match event {
        Event::Arrived(_) => "arrived".to_owned(),
        Event::Fault(fault) => format!("fault: {}", fault.name),
        Event::Held => "held".to_owned(),
        Event::Forwarded { upstream } => format!("forwarded to start {upstream} of the node"),
        Event::Headed { status, .. } => format!("answered {status}"),
        Event::Passed { bytes, .. } => format!("{bytes} bytes passed"),
        Event::Ended => "ended".to_owned(),
        Event::Broken { reason } => format!("broken: {reason}"),
        Event::Aborted => "left by the browser".to_owned(),
    }
}

/// Whether there is anything to show of it: files and pages are served by the dozen.
fn is_shown(record: &Record) -> bool {
    let is_served = [Class::ASSET, Class::PAGE, Class::OTHER].contains(&record.class);
    let is_plain = record.answered() && record.faults.is_empty() && !record.failed();
    !(is_served && is_plain)
}

/// The bytes of a file as far as they are wanted, and whether it goes on behind them.
struct Bytes {
    read: Vec<u8>,
    is_cut: bool,
}

fn bytes_of(path: &Utf8Path, room: &mut u64) -> Result<Bytes, NoTrace> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(NoTrace::Missing),
        Err(error) => return Err(error.into()),
    };
    if !found.is_file() {
        return Err(NoTrace::NotAFile);
    }
    if *room == 0 {
        return Err(NoTrace::NoRoom);
    }
    let mut read = Vec::new();
    File::open(path)?.take(MAX_FILE).read_to_end(&mut read)?;
    let len = read.len() as u64;
    *room = room.saturating_sub(len);
    Ok(Bytes { read, is_cut: len < found.len() })
}
