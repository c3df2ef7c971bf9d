//! A journal as it is read: every planned case, and how it ended.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::event::{
    Case, CaseResult, Event, MAX_SHARDS, RunFinished, RunInfo, RunStarted, Started, Stop, VERSION,
};
use crate::record::verdict::Outcome;

/// The longest first line that is read to recognise a journal, in bytes: room for 100,000 cases.
const MAX_FIRST_LINE: u64 = 64 << 20;

/// A run, read from its journal.
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
/// A case without an end in the journal is [`Outcome::Interrupted`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseView {
    /// The case.
    pub case: Case,
    /// Its end: that of the last attempt.
    pub result: CaseResult,
    /// The ends of the attempts before, in order.
    pub earlier: Vec<CaseResult>,
}

impl CaseView {
    /// The case whose attempts ended so, `last` of all.
    pub fn new(case: Case, earlier: Vec<CaseResult>, last: CaseResult) -> Self {
        let mut result = last;
        if result.outcome == Outcome::Ready && !earlier.is_empty() {
            result.outcome = Outcome::Flaky;
        }
        Self { case, result, earlier }
    }
}

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read.
    #[error("cannot read the journal {path}: {source}; give the output folder of a run")]
    Read {
        /// The journal's path.
        path: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error(
        "{path} is not a journal of recovery-e2e: its first line is not a run_started event; give the output folder of a run"
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
    /// A line before the last is not valid, or contradicts an earlier one.
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

/// Whether the file at `path` begins as a journal of any version does.
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
/// [`JournalError`]; not for an incomplete last line, which is ignored.
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
    if !(1..=MAX_SHARDS).contains(&run.plan.shards) {
        let what = format!("a plan has 1 to {MAX_SHARDS} shards, and not {}", run.plan.shards);
        return Err(Refusal::Line(1, what));
    }
    let mut reading = Reading::of(cases).map_err(|what| Refusal::Line(1, what))?;
    for (line, number) in lines.zip(2..) {
        match serde_json::from_slice(line) {
            Ok(event) => reading.take(event).map_err(|what| Refusal::Line(number, what))?,
            // An incomplete line is the last one: the run was killed while it wrote it.
            Err(_) if !line.ends_with(b"\n") => {}
            Err(error) => return Err(Refusal::Line(number, error.to_string())),
        }
    }
    Ok(reading.end(run))
}

/// The events that have been read so far.
struct Reading {
    cases: Vec<Progress>,
    by_id: HashMap<String, usize>,
    finished: Option<RunFinished>,
}

/// The events of one case.
struct Progress {
    case: Case,
    /// The attempt that was begun last.
    started: Option<Started>,
    results: Vec<CaseResult>,
}

impl Reading {
    fn of(cases: Vec<Case>) -> Result<Self, String> {
        let mut by_id = HashMap::new();
        for (index, case) in cases.iter().enumerate() {
            if by_id.insert(case.id.clone(), index).is_some() {
                return Err(format!("{} is planned twice", case.id));
            }
        }
        let progress = |case| Progress { case, started: None, results: Vec::new() };
        Ok(Self { cases: cases.into_iter().map(progress).collect(), by_id, finished: None })
    }

    fn take(&mut self, event: Event) -> Result<(), String> {
        if self.finished.is_some() {
            return Err("an event comes after the run has finished".to_owned());
        }
        match event {
            Event::RunStarted(_) => return Err("the run starts a second time".to_owned()),
            Event::RunFinished(finished) => self.finished = Some(finished),
            Event::Started(started) => {
                let progress = self.of_case(&started.case)?;
                if started.attempt != progress.next_attempt() || progress.is_under_way() {
                    return Err(progress.not_next("starts", started.attempt));
                }
                progress.started = Some(started);
            }
            Event::Finished(result) => {
                let progress = self.of_case(&result.case)?;
                if result.attempt != progress.next_attempt() {
                    return Err(progress.not_next("finishes", result.attempt));
                }
                progress.results.push(result);
            }
        }
        Ok(())
    }

    fn of_case(&mut self, id: &str) -> Result<&mut Progress, String> {
        match self.by_id.get(id).and_then(|index| self.cases.get_mut(*index)) {
            Some(progress) => Ok(progress),
            None => Err(format!("{id} was never planned")),
        }
    }

    fn end(self, run: RunInfo) -> JournalView {
        let stopped = self.finished.as_ref().and_then(|finished| finished.stopped.as_ref());
        let cases = self.cases.into_iter().map(|progress| progress.end(stopped)).collect();
        JournalView { run, cases, finished: self.finished }
    }
}

impl Progress {
    fn next_attempt(&self) -> u32 {
        u32::try_from(self.results.len() + 1).unwrap_or(u32::MAX)
    }

    fn is_under_way(&self) -> bool {
        self.started.as_ref().is_some_and(|started| started.attempt == self.next_attempt())
    }

    fn not_next(&self, verb: &str, attempt: u32) -> String {
        let (case, next) = (&self.case.id, self.next_attempt());
        format!("attempt {attempt} of {case} {verb}, and the next one is attempt {next}")
    }

    fn end(mut self, stopped: Option<&Stop>) -> CaseView {
        // An attempt that is under way is the last one, whatever the earlier outcomes are.
        let last = if self.is_under_way() { None } else { self.results.pop() };
        let last = last.unwrap_or_else(|| self.interrupted(stopped));
        CaseView::new(self.case, self.results, last)
    }

    fn interrupted(&self, stopped: Option<&Stop>) -> CaseResult {
        let reason = match (&self.started, stopped) {
            (Some(Started { worker, t_s, .. }), _) => format!(
                "the run ended while this case was under way, since {t_s:.1} s on worker {worker}"
            ),
            (None, Some(Stop::FailFast(bad))) => {
                format!("{bad} was bad, and after that no case was started (--fail-fast)")
            }
            (None, _) => "the run ended before this case started".to_owned(),
        };
        CaseResult {
            case: self.case.id.clone(),
            attempt: self.next_attempt(),
            outcome: Outcome::Interrupted,
            stamp: None,
            reason: Some(reason),
            seconds: 0.0,
            phases: Vec::new(),
            evidence: Vec::new(),
            receipts: Vec::new(),
            artifacts: Vec::new(),
            ledger: None,
        }
    }
}
