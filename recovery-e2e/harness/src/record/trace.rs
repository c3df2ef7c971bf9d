//! The file of the request events of one case, as it is written: what happened, when, and in which
//! phase. Its format is in [`event`](super::event).

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::event::{Event, Header, Line, VERSION};
use crate::redact::Redactor;

/// A file of evidence that could not be written. A run without its evidence is a failed run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TraceError {
    /// The file could not be made.
    #[error("cannot create {path}: {source}; check that its folder exists and is writable")]
    Create {
        /// The file.
        path: Utf8PathBuf,
        /// What the system said.
        source: Arc<std::io::Error>,
    },
    /// A line could not be added.
    #[error("cannot write to {path}: {source}; evidence is missing, so make room and run again")]
    Write {
        /// The file.
        path: Utf8PathBuf,
        /// What the system said.
        source: Arc<std::io::Error>,
    },
}

/// A file of JSON lines, each written whole at once and without secrets.
///
/// Unbuffered, so that a killed run keeps every line. The first failure is remembered, and
/// nothing is written after it: a file with a hole in its middle would look complete.
#[derive(Debug)]
struct JsonLines {
    file: File,
    path: Utf8PathBuf,
    redactor: Redactor,
    failed: Option<TraceError>,
}

impl JsonLines {
    /// An empty file at `path`; an older one is replaced.
    fn create(path: &Utf8Path, redactor: Redactor) -> Result<JsonLines, TraceError> {
        let file = File::create(path).map_err(|source| TraceError::Create {
            path: path.to_owned(),
            source: Arc::new(source),
        })?;
        Ok(JsonLines { file, path: path.to_owned(), redactor, failed: None })
    }

    /// Adds `value` as one line; a failure shows in [`JsonLines::check`].
    fn write(&mut self, value: &impl Serialize) {
        if self.failed.is_none() {
            self.failed = self.try_write(value).err();
        }
    }

    /// The first failure so far.
    fn check(&self) -> Result<(), TraceError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn try_write(&mut self, value: &impl Serialize) -> Result<(), TraceError> {
        let path = || self.path.clone();
        let failed = |source| TraceError::Write { path: path(), source: Arc::new(source) };
        let line = serde_json::to_string(value).map_err(|error| failed(error.into()))?;
        let line = self.redactor.clean(&line) + "\n";
        self.file.write_all(line.as_bytes()).map_err(failed)
    }
}

/// The file of one case. Clones share it.
#[derive(Clone, Debug)]
pub struct Trace {
    started: Instant,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    phase: String,
    lines: JsonLines,
}

impl Trace {
    /// A file without events at `path`, in the phase `start`; its clock starts now.
    ///
    /// # Errors
    /// [`TraceError::Create`] when the file cannot be made.
    pub fn create(path: &Utf8Path, redactor: Redactor) -> Result<Trace, TraceError> {
        let mut lines = JsonLines::create(path, redactor)?;
        lines.write(&Header { v: VERSION });
        let shared = Shared { phase: "start".to_owned(), lines };
        Ok(Trace { started: Instant::now(), shared: Arc::new(Mutex::new(shared)) })
    }

    /// Names the phase of all that is written from now on.
    pub fn phase(&self, phase: &str) {
        self.lock().phase = phase.to_owned();
    }

    /// Writes that `event` happened to `request` now, at once, and returns the line. A failure
    /// shows in [`Trace::check`].
    pub fn write(&self, request: u64, event: Event) -> Line {
        let mut shared = self.lock();
        // Read under the lock: the order of the lines is the order of their times.
        let t_ms = self.started.elapsed().as_micros() as f64 / 1000.0;
        let line = Line { t_ms, phase: shared.phase.clone(), request, event };
        shared.lines.write(&line);
        line
    }

    /// Whether every line so far was written.
    ///
    /// # Errors
    /// The first failure.
    pub fn check(&self) -> Result<(), TraceError> {
        self.lock().lines.check()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().join("trace.jsonl")).unwrap();
        (folder, path)
    }

    fn broken(reason: &str) -> Event {
        Event::Broken { reason: reason.to_owned() }
    }

    #[test]
    fn every_event_is_on_disk_at_once_behind_the_header_with_the_phase_it_happened_in() {
        let (_folder, path) = folder();
        let trace = Trace::create(&path, Redactor::default()).unwrap();
        trace.write(1, Event::Held);
        trace.clone().phase("fault");
        trace.write(1, Event::Forwarded { upstream: 2 });
        let lines: Vec<Value> = std::fs::read_to_string(&path)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0], json!({"v": VERSION}));
        let t_ms = |line: &Value| line["t_ms"].as_f64().unwrap();
        assert!(t_ms(&lines[1]) <= t_ms(&lines[2]));
        let held =
            json!({"t_ms": lines[1]["t_ms"], "phase": "start", "request": 1, "event": "held"});
        assert_eq!(lines[1], held);
        let forwarded = json!({
            "t_ms": lines[2]["t_ms"], "phase": "fault", "request": 1, "event": "forwarded",
            "upstream": 2,
        });
        assert_eq!(lines[2], forwarded);
        assert_eq!(lines.len(), 3);
        trace.check().unwrap();
    }

    #[test]
    fn a_secret_never_reaches_the_file() {
        let (_folder, path) = folder();
        let redactor = Redactor::default();
        redactor.learn("0123456789abcdef");
        let trace = Trace::create(&path, redactor).unwrap();
        trace.write(1, broken("cookie 0123456789abcdef"));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("0123456789abcdef") && text.contains("[redacted]"), "{text}");
    }

    #[test]
    fn a_failed_write_is_remembered_and_returned() {
        let full = Trace::create("/dev/full".into(), Redactor::default()).unwrap();
        assert!(matches!(full.check(), Err(TraceError::Write { .. })));
    }
}
