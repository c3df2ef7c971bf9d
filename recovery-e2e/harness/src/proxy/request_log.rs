//! The requests of one proxy and what is armed for the next, under one lock.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use hyper::http::request;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::arrival::arrival;
use super::faults::{Fault, FaultQueue, Turns};
use super::patch::Patch;
use super::receipt::Receipt;
use crate::record::class::Class;
use crate::record::counters::Counters;
use crate::record::event::{self, Event, FaultKind};
use crate::record::request::Record;
use crate::record::requests::Requests;
use crate::record::trace::{Trace, TraceError};

/// Why a record has no answer when the proxy was ended before it.
const PROXY_ENDED: &str = "the proxy was shut down";

/// What is known of every request, and what is armed for the next.
#[derive(Debug)]
pub(super) struct RequestLog {
    state: Mutex<State>,
    counters: watch::Sender<Counters>,
    trace: Trace,
    ending: CancellationToken,
}

#[derive(Debug)]
struct State {
    requests: Requests,
    /// The bytes that passed since the last event that has some, by request.
    passed: HashMap<u64, u64>,
    faults: FaultQueue,
    patches: Vec<(Patch, Receipt)>,
    receipts: Vec<Receipt>,
}

impl RequestLog {
    /// An empty log; `ending` is cancelled when the proxy ends, before the browser leaves.
    pub(super) fn new(trace: Trace, ending: CancellationToken) -> RequestLog {
        let state = State {
            requests: Requests::default(),
            passed: HashMap::new(),
            faults: FaultQueue::default(),
            patches: Vec::new(),
            receipts: Vec::new(),
        };
        let (counters, _) = watch::channel(Counters::default());
        RequestLog { state: Mutex::new(state), counters, trace, ending }
    }

    /// Counts a request whose head has been read, and takes what is armed for it.
    ///
    /// One step under the lock: requests take their faults in the order in which they count.
    pub(super) fn arrive(
        self: &Arc<Self>,
        class: Class,
        head: &request::Parts,
    ) -> (Entry, Option<Fault>) {
        let mut state = self.lock();
        let seq = state.requests.records().len() as u64 + 1;
        let fault = state.faults.take(&class);
        self.write(&mut state, seq, Event::Arrived(arrival(class, head)));
        (Entry { request_log: Arc::clone(self), seq }, fault)
    }

    /// Arms `fault` for the next arrivals of `class`.
    pub(super) fn arm(&self, class: Class, turns: Turns, fault: Fault) {
        let mut state = self.lock();
        state.receipts.push(fault.receipt.clone());
        state.faults.arm(class, turns, fault);
    }

    /// Keeps the receipt of a fault that meets no arrival but what is open already.
    pub(super) fn keep(&self, receipt: Receipt) {
        self.lock().receipts.push(receipt);
    }

    /// Serves `patch` from now on.
    pub(super) fn arm_patch(&self, patch: Patch, receipt: Receipt) {
        let mut state = self.lock();
        state.receipts.push(receipt.clone());
        state.patches.push((patch, receipt));
    }

    /// The patches for the asset at `path`, in the order of arming.
    pub(super) fn patches(&self, path: &str) -> Vec<(Patch, Receipt)> {
        self.lock().patches.iter().filter(|(patch, _)| patch.asset == path).cloned().collect()
    }

    pub(super) fn receipts(&self) -> Vec<Receipt> {
        self.lock().receipts.clone()
    }

    pub(super) fn records(&self) -> Vec<Record> {
        self.lock().requests.records().cloned().collect()
    }

    pub(super) fn counters(&self) -> watch::Receiver<Counters> {
        self.counters.subscribe()
    }

    /// Whether every event so far was written.
    pub(super) fn check(&self) -> Result<(), TraceError> {
        self.trace.check()
    }

    /// `event` happens to the request `seq`, unless it has ended: what comes later is not part of
    /// it.
    fn happen(&self, seq: u64, event: Event) {
        let mut state = self.lock();
        if !state.requests.accepts(seq, &event) {
            return;
        }
        if event.is_end()
            && let Some(bytes) = state.passed.remove(&seq)
        {
            let record = state.requests.record(seq);
            let last_event_id = record.and_then(|record| record.last_event_id.clone());
            self.write(&mut state, seq, Event::Passed { bytes, last_event_id });
        }
        self.write(&mut state, seq, event);
    }

    /// `bytes` of an answer pass. Chunks are many, so only a new id is an event of its own.
    fn pass(&self, seq: u64, bytes: u64, last_event_id: Option<&str>) {
        let mut state = self.lock();
        let Some(record) = state.requests.record(seq) else { return };
        let is_new = record.last_event_id.as_deref() != last_event_id;
        let before = state.passed.remove(&seq).unwrap_or_default();
        let bytes = before.saturating_add(bytes);
        let event = Event::Passed { bytes, last_event_id: last_event_id.map(str::to_owned) };
        if !is_new {
            state.passed.insert(seq, bytes);
        } else if state.requests.accepts(seq, &event) {
            self.write(&mut state, seq, event);
        }
    }

    /// Writes, folds and publishes one event. Under the lock, so that the file, the records and
    /// the counters have one order.
    fn write(&self, state: &mut State, seq: u64, event: Event) {
        state.requests.apply(&self.trace.write(seq, event));
        self.counters.send_if_modified(|counters| {
            let is_new = counters != state.requests.counters();
            if is_new {
                counters.clone_from(state.requests.counters());
            }
            is_new
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Writes what happens to one request.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    request_log: Arc<RequestLog>,
    seq: u64,
}

impl Entry {
    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    /// `event` happens to it now.
    pub(super) fn happen(&self, event: Event) {
        self.request_log.happen(self.seq, event);
    }

    /// The fault of `receipt` acts on it now.
    pub(super) fn fired(&self, kind: FaultKind, receipt: &Receipt) {
        self.happen(Event::Fault(event::Fault { kind, name: receipt.name().to_owned() }));
        receipt.fire();
    }

    /// A part of its answer passes.
    pub(super) fn passed(&self, bytes: u64, last_event_id: Option<&str>) {
        self.request_log.pass(self.seq, bytes, last_event_id);
    }

    /// Its connection is broken, for `reason`.
    pub(super) fn broken(&self, reason: &str) {
        self.happen(Event::Broken { reason: reason.to_owned() });
    }
}

/// The browser's interest in one answer. Dropped before the answer's end, the browser has gone.
#[derive(Debug)]
pub(super) struct Browser(pub(super) Entry);

impl Drop for Browser {
    fn drop(&mut self) {
        if self.0.request_log.ending.is_cancelled() {
            self.0.broken(PROXY_ENDED);
        } else {
            self.0.happen(Event::Aborted);
        }
    }
}
