//! A journal as it is read: every planned case, and how it ended.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::event::{Case, CaseResult, Event, RunFinished, RunInfo, RunStarted, Started, VERSION};
use crate::verdict::Outcome;

/// The longest first line that is looked at to tell a journal of ours from another file, in bytes:
/// room for a hundred thousand cases.
const MAX_FIRST_LINE: u64 = 64 << 20;

/// A run as its journal tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalView {
    /// The run.
    pub run: RunInfo,
    /// The planned cases in the order of the plan, each with its end.
    pub cases: Vec<CaseView>,
    /// How the run ended; `None` when it was cut off.
    pub finished: Option<RunFinished>,
}

/// A planned case and how it ended.
///
/// The end of a case that the journal does not tell is [`Outcome::Interrupted`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseView {
    /// The case.
    pub case: Case,
    /// Its end.
    pub result: CaseResult,
}

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read.
    #[error("the journal {path} cannot be read: {source}; give the out folder of a run")]
    Read {
        /// The journal's path.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error(
        "{path} is not a journal of recovery-e2e: its first line is no run_started event; give the out folder of a run"
    )]
    NotOurs {
        /// The file's path.
        path: Utf8PathBuf,
    },
    /// The journal is of another version of the format.
    #[error(
        "the journal {path} has version {found}, and this harness reads version {VERSION}; use the harness that wrote it, or run again"
    )]
    Version {
        /// The journal's path.
        path: Utf8PathBuf,
        /// The version that it has.
        found: u32,
    },
    /// A line before the last is damaged, or tells what cannot be.
    #[error("the journal {path} is damaged at line {line}: {what}; run again")]
    Damaged {
        /// The journal's path.
        path: Utf8PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
}

/// What the first line of every version of the journal has.
#[derive(Deserialize)]
struct FirstLine {
    event: String,
    v: u32,
    #[serde(rename = "run_id")]
    _run_id: String,
    #[serde(rename = "harness_version")]
    _harness_version: String,
}

impl FirstLine {
    fn parse(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok().filter(|first: &Self| first.event == "run_started")
    }
}

/// Whether the file at `path` begins as a journal of ours does, of whatever version.
///
/// # Errors
/// When it cannot be read.
pub fn is_journal(path: &Utf8Path) -> io::Result<bool> {
    let mut line = Vec::new();
    BufReader::new(File::open(path)?.take(MAX_FIRST_LINE)).read_until(b'\n', &mut line)?;
    Ok(FirstLine::parse(&line).is_some())
}

/// Reads the journal at `path`, finished or cut off anywhere.
///
/// # Errors
/// [`JournalError`]. A last line that the end of the run has torn is none: it did not happen.
pub fn read(path: &Utf8Path) -> Result<JournalView, JournalError> {
    let text =
        fs::read(path).map_err(|source| JournalError::Read { path: path.to_owned(), source })?;
    parse(&text).map_err(|refusal| {
        let path = path.to_owned();
        match refusal {
            Refusal::NotOurs => JournalError::NotOurs { path },
            Refusal::Version(found) => JournalError::Version { path, found },
            Refusal::Line(line, what) => JournalError::Damaged { path, line, what },
        }
    })
}

#[derive(Debug)]
pub(super) enum Refusal {
    NotOurs,
    Version(u32),
    Line(usize, String),
}

pub(super) fn parse(text: &[u8]) -> Result<JournalView, Refusal> {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    match FirstLine::parse(first) {
        Some(FirstLine { v: VERSION, .. }) => {}
        Some(FirstLine { v, .. }) => return Err(Refusal::Version(v)),
        None => return Err(Refusal::NotOurs),
    }
    let (run, cases) = match serde_json::from_slice(first) {
        Ok(Event::RunStarted(RunStarted { run, cases })) => (run, cases),
        Ok(_) => return Err(Refusal::NotOurs),
        Err(error) => return Err(Refusal::Line(1, error.to_string())),
    };
    let mut reading = Reading::of(cases).map_err(|what| Refusal::Line(1, what))?;
    for (line, number) in lines.zip(2..) {
        match serde_json::from_slice(line) {
            Ok(event) => reading.take(event).map_err(|what| Refusal::Line(number, what))?,
            // A line without its end is the last one: the run was cut off while it wrote it.
            Err(_) if !line.ends_with(b"\n") => {}
            Err(error) => return Err(Refusal::Line(number, error.to_string())),
        }
    }
    Ok(reading.end(run))
}

/// The events of a journal as far as they have been read.
struct Reading {
    cases: Vec<Told>,
    by_id: HashMap<String, usize>,
    finished: Option<RunFinished>,
}

/// What the journal tells of one case.
struct Told {
    case: Case,
    started: Option<Started>,
    result: Option<CaseResult>,
}

impl Reading {
    fn of(cases: Vec<Case>) -> Result<Self, String> {
        let mut by_id = HashMap::new();
        for (index, case) in cases.iter().enumerate() {
            if by_id.insert(case.id.clone(), index).is_some() {
                return Err(format!("{} is planned twice", case.id));
            }
        }
        let told = |case| Told { case, started: None, result: None };
        Ok(Self { cases: cases.into_iter().map(told).collect(), by_id, finished: None })
    }

    fn take(&mut self, event: Event) -> Result<(), String> {
        if self.finished.is_some() {
            return Err("something happens after the run has finished".to_owned());
        }
        match event {
            Event::RunStarted(_) => return Err("the run starts a second time".to_owned()),
            Event::RunFinished(finished) => self.finished = Some(finished),
            Event::Started(started) => {
                let told = self.told(&started.case)?;
                if told.started.is_some() || told.result.is_some() {
                    return Err(format!("{} starts a second time", started.case));
                }
                told.started = Some(started);
            }
            Event::Finished(result) => {
                let told = self.told(&result.case)?;
                if told.result.is_some() {
                    return Err(format!("{} finishes a second time", result.case));
                }
                told.result = Some(result);
            }
        }
        Ok(())
    }

    fn told(&mut self, id: &str) -> Result<&mut Told, String> {
        match self.by_id.get(id).and_then(|index| self.cases.get_mut(*index)) {
            Some(told) => Ok(told),
            None => Err(format!("{id} was never planned")),
        }
    }

    fn end(self, run: RunInfo) -> JournalView {
        let cases = self.cases.into_iter().map(Told::end).collect();
        JournalView { run, cases, finished: self.finished }
    }
}

impl Told {
    fn end(self) -> CaseView {
        let Self { case, started, result } = self;
        let result = result.unwrap_or_else(|| interrupted(&case.id, started.as_ref()));
        CaseView { case, result }
    }
}

fn interrupted(id: &str, started: Option<&Started>) -> CaseResult {
    let reason = match started {
        Some(Started { worker, t_s, .. }) => format!(
            "the run ended while this case was under way, since {t_s:.1} s on worker {worker}"
        ),
        None => "the run ended before this case started".to_owned(),
    };
    CaseResult {
        case: id.to_owned(),
        outcome: Outcome::Interrupted,
        stamp: None,
        reason: Some(reason),
        seconds: 0.0,
        phases: Vec::new(),
        evidence: Vec::new(),
        receipts: Vec::new(),
        artifacts: Vec::new(),
    }
}
