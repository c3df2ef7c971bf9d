//! The counter trace of one scenario: what changed, when, in which phase, and why.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

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
    /// A line could not be formed: only structures and maps have a line.
    #[error("cannot form a line of {path}: {reason}; note a structure or a map")]
    Form {
        /// The file.
        path: Utf8PathBuf,
        /// What the serialiser said.
        reason: String,
    },
}

/// A file of JSON lines, each written whole at once and without secrets.
///
/// Unbuffered, so that a killed run keeps every line. The first failure is remembered, and
/// nothing is written after it: a file with a hole in its middle would look complete.
#[derive(Debug)]
pub(crate) struct JsonLines {
    file: File,
    path: Utf8PathBuf,
    redactor: Redactor,
    failed: Option<TraceError>,
}

impl JsonLines {
    /// An empty file at `path`; an older one is replaced.
    pub(crate) fn create(path: &Utf8Path, redactor: Redactor) -> Result<JsonLines, TraceError> {
        let file = File::create(path).map_err(|source| TraceError::Create {
            path: path.to_owned(),
            source: Arc::new(source),
        })?;
        Ok(JsonLines { file, path: path.to_owned(), redactor, failed: None })
    }

    /// Adds `value` as one line; a failure shows in [`JsonLines::check`].
    pub(crate) fn write(&mut self, value: &impl Serialize) {
        if self.failed.is_none() {
            self.failed = self.try_write(value).err();
        }
    }

    /// The first failure so far.
    pub(crate) fn check(&self) -> Result<(), TraceError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn try_write(&mut self, value: &impl Serialize) -> Result<(), TraceError> {
        let path = || self.path.clone();
        let line = serde_json::to_string(value)
            .map_err(|error| TraceError::Form { path: path(), reason: error.to_string() })?;
        let line = self.redactor.clean(&line) + "\n";
        self.file
            .write_all(line.as_bytes())
            .map_err(|source| TraceError::Write { path: path(), source: Arc::new(source) })
    }
}

/// The trace of one scenario. Clones share it.
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

#[derive(Serialize)]
struct Line<'a, C> {
    t_ms: f64,
    phase: &'a str,
    cause: &'a str,
    #[serde(flatten)]
    change: &'a C,
}

impl Trace {
    /// An empty trace at `path`, in the phase `start`; its clock starts now.
    ///
    /// # Errors
    /// [`TraceError::Create`] when the file cannot be made.
    pub fn create(path: &Utf8Path, redactor: Redactor) -> Result<Trace, TraceError> {
        let lines = JsonLines::create(path, redactor)?;
        let shared = Shared { phase: "start".to_owned(), lines };
        Ok(Trace { started: Instant::now(), shared: Arc::new(Mutex::new(shared)) })
    }

    /// Names the phase of all that is noted from now on.
    pub fn phase(&self, phase: &str) {
        self.lock().phase = phase.to_owned();
    }

    /// Writes one line at once: the time, the phase, `cause`, and the fields of `change`.
    ///
    /// `change` is a structure or a map; a failure shows in [`Trace::check`].
    pub fn note(&self, cause: &str, change: &impl Serialize) {
        let mut guard = self.lock();
        let Shared { phase, lines } = &mut *guard;
        // Read under the lock: the order of the lines is the order of their times.
        lines.write(&Line { t_ms: self.now_ms(), phase, cause, change });
    }

    /// Milliseconds since the trace was created, to the microsecond, never going back.
    pub fn now_ms(&self) -> f64 {
        self.started.elapsed().as_micros() as f64 / 1000.0
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

    #[test]
    fn every_note_is_on_disk_at_once_with_the_phase_it_was_made_in() {
        let (_folder, path) = folder();
        let trace = Trace::create(&path, Redactor::default()).unwrap();
        trace.note("request 1 arrived", &json!({"counter": "rewind.arrived", "value": 1}));
        trace.clone().phase("fault");
        trace.note("request 2 arrived", &json!({"counter": "rewind.arrived", "value": 2}));
        let lines: Vec<Value> = std::fs::read_to_string(&path)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["phase"], "start");
        assert_eq!(lines[1]["phase"], "fault");
        assert_eq!(lines[1]["cause"], "request 2 arrived");
        assert_eq!(lines[1]["counter"], "rewind.arrived");
        assert_eq!(lines[1]["value"], 2);
        assert!(lines[0]["t_ms"].as_f64() <= lines[1]["t_ms"].as_f64());
        trace.check().unwrap();
    }

    #[test]
    fn a_secret_never_reaches_the_file() {
        let (_folder, path) = folder();
        let redactor = Redactor::default();
        redactor.learn("0123456789abcdef");
        let trace = Trace::create(&path, redactor).unwrap();
        trace.note("cookie 0123456789abcdef", &json!({"header": "0123456789abcdef"}));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("0123456789abcdef") && text.contains("[redacted]"), "{text}");
    }

    #[test]
    fn a_failed_write_is_remembered_and_returned() {
        let full = Trace::create("/dev/full".into(), Redactor::default()).unwrap();
        full.check().unwrap();
        full.note("anything", &json!({"value": 1}));
        assert!(matches!(full.check(), Err(TraceError::Write { .. })));
    }

    #[test]
    fn a_note_that_has_no_fields_is_a_failure_and_not_a_missing_line() {
        let (_folder, path) = folder();
        let trace = Trace::create(&path, Redactor::default()).unwrap();
        trace.note("a number", &3);
        assert!(matches!(trace.check(), Err(TraceError::Form { .. })));
    }
}
