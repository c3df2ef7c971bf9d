//! The records of one proxy, and all that is derived from them, under one lock.

use std::sync::{Arc, Mutex, MutexGuard};

use hyper::StatusCode;
use hyper::http::request;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::class::Class;
use super::counters::Counters;
use super::faults::{Fault, FaultQueue, Turns};
use super::patch::Patch;
use super::receipt::Receipt;
use super::record::Record;
use crate::record::trace::{JsonLines, Trace, TraceError};

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
    records: Vec<Record>,
    faults: FaultQueue,
    patches: Vec<(Patch, Receipt)>,
    receipts: Vec<Receipt>,
    log: JsonLines,
}

impl RequestLog {
    /// An empty request_log; `ending` tells it that the proxy goes, not the browser.
    pub(super) fn new(log: JsonLines, trace: Trace, ending: CancellationToken) -> RequestLog {
        let state = State {
            records: Vec::new(),
            faults: FaultQueue::default(),
            patches: Vec::new(),
            receipts: Vec::new(),
            log,
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
        let seq = state.records.len() as u64 + 1;
        let fault = state.faults.take(&class);
        state.records.push(Record::arrived(seq, class, head, self.trace.now_ms()));
        self.publish(&state, &format!("request {seq} arrived"));
        (Entry(Arc::new(Open { request_log: Arc::clone(self), seq })), fault)
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
        self.lock().records.clone()
    }

    pub(super) fn counters(&self) -> watch::Receiver<Counters> {
        self.counters.subscribe()
    }

    /// Whether every line of the request log so far was written.
    pub(super) fn check(&self) -> Result<(), TraceError> {
        self.lock().log.check()
    }

    /// Changes the record `seq`, if it has not ended: what comes later is no longer part of it.
    fn change(&self, seq: u64, what: &str, change: impl FnOnce(&mut Record, f64)) {
        let mut state = self.lock();
        let now = self.trace.now_ms();
        if let Some(record) = record(&mut state, seq).filter(|record| record.ended_ms.is_none()) {
            change(record, now);
            self.publish(&state, &format!("request {seq} {what}"));
        }
    }

    /// Traces and publishes what changed. Under the lock, so that the trace, the channel and the
    /// records tell one order.
    fn publish(&self, state: &State, cause: &str) {
        let counters = Counters::derive(&state.records);
        let changes = counters.changes_since(&self.counters.borrow());
        for change in &changes {
            self.trace.note(cause, change);
        }
        if !changes.is_empty() {
            self.counters.send_replace(counters);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn record(state: &mut State, seq: u64) -> Option<&mut Record> {
    state.records.get_mut(usize::try_from(seq).ok()?.checked_sub(1)?)
}

/// The hand that writes one record. When its last clone is dropped, the record is complete, and
/// its line is written.
#[derive(Clone, Debug)]
pub(super) struct Entry(Arc<Open>);

#[derive(Debug)]
struct Open {
    request_log: Arc<RequestLog>,
    seq: u64,
}

impl Entry {
    pub(super) fn seq(&self) -> u64 {
        self.0.seq
    }

    /// The fault of `receipt` is done to it now.
    pub(super) fn fired(&self, receipt: &Receipt) {
        self.change("met a fault", |record, _| record.faults.push(receipt.name().to_owned()));
        receipt.fire();
    }

    pub(super) fn held(&self) {
        self.change("held", |record, now| record.held_ms = Some(now));
    }

    /// It is handed to the upstream's `start`.
    pub(super) fn forwarded(&self, start: u32) {
        self.change("forwarded", |record, now| {
            record.forwarded_ms = Some(now);
            record.upstream = Some(start);
        });
    }

    /// The head of its answer has come; `streams` if it is an event stream.
    pub(super) fn headed(&self, status: StatusCode, streams: bool) {
        self.change(&format!("answered {}", status.as_u16()), |record, now| {
            record.first_byte_ms = Some(now);
            record.status = Some(status.as_u16());
            record.streams = streams;
        });
    }

    /// A part of its answer passes. Moves no counter, so nothing is derived anew for each chunk.
    pub(super) fn passed(&self, bytes: u64, last_event_id: Option<&str>) {
        if let Some(record) = record(&mut self.0.request_log.lock(), self.seq()) {
            record.bytes += bytes;
            if record.last_event_id.as_deref() != last_event_id {
                record.last_event_id = last_event_id.map(str::to_owned);
            }
        }
    }

    /// Its answer has passed whole.
    pub(super) fn ended(&self) {
        self.change("ended", |record, now| record.ended_ms = Some(now));
    }

    /// Its connection is broken, for `reason`.
    pub(super) fn broken(&self, reason: &str) {
        self.change(&format!("broken: {reason}"), |record, now| {
            record.ended_ms = Some(now);
            record.broken = Some(reason.to_owned());
        });
    }

    /// The browser no longer waits: it has gone, if its answer had not ended before.
    fn left(&self) {
        if self.0.request_log.ending.is_cancelled() {
            return self.broken(PROXY_ENDED);
        }
        self.change("aborted", |record, now| record.aborted_ms = Some(now));
    }

    fn change(&self, what: &str, change: impl FnOnce(&mut Record, f64)) {
        self.0.request_log.change(self.seq(), what, change);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut state = self.request_log.lock();
        let State { records, log, .. } = &mut *state;
        if let Some(record) = records.iter().find(|record| record.seq == self.seq) {
            log.write(record);
        }
    }
}

/// The browser's interest in one answer. Dropped before the answer's end, the browser has gone.
#[derive(Debug)]
pub(super) struct Browser(pub(super) Entry);

impl Drop for Browser {
    fn drop(&mut self) {
        self.0.left();
    }
}
