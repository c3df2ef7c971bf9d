//! What the control socket can do to a node: hold its history reads, and turn on its defects.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The faults of one node; none at first.
#[derive(Default)]
pub struct Faults {
    hold: watch::Sender<Hold>,
    parked: AtomicUsize,
    forgets_generation: AtomicBool,
}

/// Whether reads are held, and how often they were released: a release that is followed by
/// another hold still releases.
#[derive(Clone, Copy, Default)]
struct Hold {
    on: bool,
    releases: u64,
}

impl Faults {
    /// Holds every history read that ends from now on.
    pub fn hold(&self) {
        self.hold.send_modify(|hold| hold.on = true);
    }

    /// Releases what is held, and holds nothing more.
    pub fn release(&self) {
        self.hold.send_modify(|hold| *hold = Hold { on: false, releases: hold.releases + 1 });
    }

    /// Waits here while reads are held. Call it outside of every lock.
    pub async fn park(&self, stop: &CancellationToken) {
        let mut hold = self.hold.subscribe();
        let Hold { on: true, releases } = *hold.borrow_and_update() else { return };
        self.parked.fetch_add(1, Ordering::Relaxed);
        tokio::select! {
            // The sender lives as long as the node.
            _ = hold.wait_for(|hold| hold.releases != releases) => {}
            () = stop.cancelled() => {}
        }
        self.parked.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many reads are held.
    pub fn parked(&self) -> usize {
        self.parked.load(Ordering::Relaxed)
    }

    /// Turns on the defect of this name; false if there is none.
    pub fn turn_on(&self, defect: &str) -> bool {
        let known = defect == "flight-key-without-generation";
        if known {
            self.forgets_generation.store(true, Ordering::Relaxed);
        }
        known
    }

    /// The generation within which a history read is shared: under the defect, all are the same.
    pub fn flight_generation(&self, generation: u64) -> u64 {
        if self.forgets_generation.load(Ordering::Relaxed) { 0 } else { generation }
    }
}
