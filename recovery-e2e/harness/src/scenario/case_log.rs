//! What a case has seen so far. It outlives the stage, however that ends.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use crate::record::journal::Phase;
use crate::record::verdict::Evidence;
use crate::redact::Redactor;
use crate::wait::Kind;

/// The evidence, the readings and the phases of one case. Clones are the same log.
#[derive(Clone)]
pub struct CaseLog {
    redactor: Redactor,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    evidence: Vec<Evidence>,
    readings: Vec<(&'static str, u64)>,
    phases: Vec<(String, Instant)>,
}

impl CaseLog {
    /// An empty log; what it keeps is cleaned by `redactor`.
    pub fn new(redactor: Redactor) -> CaseLog {
        CaseLog { redactor, seen: Arc::default() }
    }

    /// From now on the case is in this phase.
    pub fn phase(&self, name: &str) {
        self.lock().phases.push((name.to_owned(), Instant::now()));
    }

    /// Keeps an observation.
    pub fn observe(&self, kind: Kind, what: &str, held: bool, saw: &str) {
        let what = self.redactor.clean(what);
        let saw = self.redactor.clean(saw);
        self.lock().evidence.push(Evidence { kind, what, held, saw });
    }

    /// Keeps the value of a field; the first one counts.
    pub fn read(&self, field: &'static str, value: u64) {
        let mut seen = self.lock();
        if seen.readings.iter().all(|(name, _)| *name != field) {
            seen.readings.push((field, value));
        }
    }

    /// The value of a field, if it was read.
    pub fn reading(&self, field: &str) -> Option<u64> {
        self.lock().readings.iter().find(|(name, _)| *name == field).map(|(_, value)| *value)
    }

    /// All values so far.
    pub fn readings(&self) -> Vec<(&'static str, u64)> {
        self.lock().readings.clone()
    }

    /// All observations so far.
    pub fn evidence(&self) -> Vec<Evidence> {
        self.lock().evidence.clone()
    }

    /// The phases so far, and how long each has taken; the last one goes on until now.
    pub fn phases(&self) -> Vec<Phase> {
        let phases = &self.lock().phases;
        let ends = phases.iter().skip(1).map(|(_, begin)| *begin).chain([Instant::now()]);
        let both = phases.iter().zip(ends);
        both.map(|((name, begin), end)| Phase {
            name: name.clone(),
            seconds: (end - *begin).as_secs_f64(),
        })
        .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
