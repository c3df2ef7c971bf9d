//! What the files of each attempt tell of its requests and counters.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::link;
use crate::files;
use crate::proxy::{Class, Record};
use crate::report::Summary;

/// The file with a line for every request.
pub const REQUESTS_FILE: &str = "requests.jsonl";

/// The file with a line for every change of a counter.
pub const COUNTERS_FILE: &str = "counters.jsonl";

/// The most that is read of one file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The most requests of an attempt that are told one by one.
const MAX_REQUESTS: usize = 150;

/// The most phases of an attempt.
const MAX_PHASES: usize = 50;

/// Why a file tells nothing.
#[derive(Debug, thiserror::Error)]
pub enum Untold {
    /// There is no such file.
    #[error("it is not there")]
    Missing,
    /// The journal names a folder that the report does not look into.
    #[error("its folder lies outside of the report's")]
    Outside,
    /// A folder, a link or a device stands in its place.
    #[error("it is no ordinary file")]
    NotAFile,
    /// The system refused.
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
    /// Enough has been read for a page.
    #[error("it was not read, as this page is bounded")]
    NoRoom,
}

/// The traces of all attempts, by their folders as the summary tells them.
#[derive(Default)]
pub struct Traces(HashMap<Utf8PathBuf, Trace>);

/// What the files of one attempt tell.
pub struct Trace {
    /// Its requests, if their file could be read.
    pub requests: Result<Requests, Untold>,
    /// Its counters, if their file could be read.
    pub counters: Result<Counters, Untold>,
}

/// The requests of an attempt.
#[derive(Debug, Default)]
pub struct Requests {
    /// Those that are told one by one, in the order of arrival.
    pub told: Vec<Request>,
    /// How many there are beyond those, as the page is bounded.
    pub left_out: usize,
    /// How many files and pages were served with nothing to tell of them.
    pub plain: usize,
    /// What of the file could not be read.
    pub gap: Gap,
}

/// One request.
#[derive(Debug)]
pub struct Request {
    /// Its number in the order of arrival.
    pub seq: u64,
    /// What kind of request it is.
    pub class: Class,
    /// When it arrived, on the clock of the trace.
    pub arrived_ms: f64,
    /// What became of it; none of one that was still open when the trace broke off.
    pub record: Option<Record>,
}

/// The counters of an attempt.
#[derive(Debug, Default)]
pub struct Counters {
    /// The last and the largest value of each counter of each class.
    pub values: BTreeMap<(Class, String), Value>,
    /// When each phase was first seen.
    pub phases: Vec<(String, f64)>,
    /// When the last change was.
    pub end_ms: f64,
    /// What of the file could not be read.
    pub gap: Gap,
    arrivals: Vec<(u64, Class, f64)>,
}

/// A counter over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// What it came to.
    pub last: u64,
    /// What it was at most.
    pub most: u64,
}

/// What of a file could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Whether the file goes on behind what was read.
    pub is_cut: bool,
    /// How many lines are none that this version can read.
    pub unreadable: usize,
}

/// A line of the file of counters.
#[derive(Deserialize)]
struct Change {
    t_ms: f64,
    phase: String,
    cause: String,
    counter: String,
    value: u64,
}

impl Traces {
    /// Reads what the attempts of `summary` left in `out`, which lies at `place`, until `room`
    /// bytes have been read; `order` are the indices of the cases, the most important first.
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
                let trace =
                    Trace::read(out, link::below(place, &dir).map(|dir| out.join(dir)), &mut room);
                traces.0.insert(dir, trace);
            }
        }
        traces
    }

    /// The trace of the attempt whose folder the summary calls `dir`.
    pub fn of(&self, dir: &Utf8Path) -> Option<&Trace> {
        self.0.get(dir)
    }
}

impl Trace {
    fn read(out: &Utf8Path, dir: Option<Utf8PathBuf>, room: &mut u64) -> Self {
        let mut lines_of = |name: &str| match &dir {
            // What cannot be seen is told by the reading.
            Some(dir) if files::lies_below(out, dir).unwrap_or(true) => {
                bytes_of(&dir.join(name), room)
            }
            _ => Err(Untold::Outside),
        };
        let requests = lines_of(REQUESTS_FILE).map(|read| lines::<Record>(&read));
        let counters = lines_of(COUNTERS_FILE).map(|read| lines::<Change>(&read));
        let counters = counters.map(|(changes, gap)| Counters::of(changes, gap));
        let arrivals = counters.as_ref().map_or(&[][..], |counters| &counters.arrivals);
        let requests = requests.map(|(records, gap)| Requests::of(records, arrivals, gap));
        Self { requests, counters }
    }
}

impl Requests {
    fn of(records: Vec<Record>, arrivals: &[(u64, Class, f64)], gap: Gap) -> Self {
        let mut all: Vec<_> = records.into_iter().map(Request::from).collect();
        // Where lines are missing, a request without one is not an open one.
        if gap == Gap::default() {
            let known: HashSet<_> = all.iter().map(|request| request.seq).collect();
            let open = arrivals.iter().filter(|(seq, ..)| !known.contains(seq));
            all.extend(open.map(|(seq, class, arrived_ms)| Request {
                seq: *seq,
                class: *class,
                arrived_ms: *arrived_ms,
                record: None,
            }));
        }
        all.sort_by_key(|request| request.seq);
        let count = all.len();
        all.retain(Request::is_told);
        let plain = count - all.len();
        let left_out = all.len().saturating_sub(MAX_REQUESTS);
        all.truncate(MAX_REQUESTS);
        Self { told: all, left_out, plain, gap }
    }
}

impl Request {
    /// Whether there is anything to tell of it: files and pages are served by the dozen.
    fn is_told(&self) -> bool {
        let is_served = [Class::ASSET, Class::PAGE, Class::OTHER].contains(&self.class);
        let is_plain = |record: &Record| record.faults.is_empty() && !record.failed();
        !(is_served && self.record.as_ref().is_some_and(is_plain))
    }
}

impl From<Record> for Request {
    fn from(record: Record) -> Self {
        let (seq, class, arrived_ms) = (record.seq, record.class, record.arrived_ms);
        Self { seq, class, arrived_ms, record: Some(record) }
    }
}

impl Counters {
    fn of(changes: Vec<Change>, gap: Gap) -> Self {
        let mut counters = Self { gap, ..Self::default() };
        for Change { t_ms, phase, cause, counter, value } in changes {
            counters.end_ms = counters.end_ms.max(t_ms);
            let is_new = counters.phases.last().is_none_or(|(last, _)| *last != phase);
            if is_new && counters.phases.len() < MAX_PHASES {
                counters.phases.push((phase, t_ms));
            }
            let Some((class, field)) = counter.split_once('.') else { continue };
            let class = Class::from(class.to_owned());
            let seq = cause.strip_prefix("request ").and_then(|rest| rest.strip_suffix(" arrived"));
            if let Some(Ok(seq)) = seq.map(str::parse)
                && field == "arrived"
            {
                counters.arrivals.push((seq, class, t_ms));
            }
            let kept = counters.values.entry((class, field.to_owned())).or_default();
            *kept = Value { last: value, most: kept.most.max(value) };
        }
        counters
    }
}

/// The bytes of a file as far as they are wanted, and whether it goes on behind them.
struct Bytes {
    read: Vec<u8>,
    is_cut: bool,
}

fn bytes_of(path: &Utf8Path, room: &mut u64) -> Result<Bytes, Untold> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Untold::Missing),
        Err(error) => return Err(error.into()),
    };
    if !found.is_file() {
        return Err(Untold::NotAFile);
    }
    if *room == 0 {
        return Err(Untold::NoRoom);
    }
    let mut read = Vec::new();
    File::open(path)?.take(MAX_FILE).read_to_end(&mut read)?;
    let len = read.len() as u64;
    *room = room.saturating_sub(len);
    Ok(Bytes { read, is_cut: len < found.len() })
}

/// The lines that are read, and what could not be.
fn lines<T: DeserializeOwned>(bytes: &Bytes) -> (Vec<T>, Gap) {
    let mut gap = Gap { is_cut: bytes.is_cut, unreadable: 0 };
    let mut values = Vec::new();
    for line in bytes.read.split_inclusive(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(value) => values.push(value),
            // A line without its end is the last one: what wrote it, or the reading, stopped there.
            Err(_) if !line.ends_with(b"\n") => gap.is_cut = true,
            Err(_) => gap.unreadable += 1,
        }
    }
    (values, gap)
}
