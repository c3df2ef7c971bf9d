//! The proof that a fault which was armed really fired.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::record::verdict::{ReceiptReport, ReceiptState};

/// The proof of one fault. Clones are the same receipt.
///
/// A verdict may be ready only when every receipt of its scenario is redeemed.
#[derive(Clone)]
pub struct Receipt {
    name: Arc<str>,
    /// How many firings redeem it.
    due: u32,
    fate: Arc<Mutex<Fate>>,
}

#[derive(Default)]
struct Fate {
    fired: u32,
    broken: Option<String>,
}

impl Receipt {
    /// The receipt of a fault that is redeemed by `due` firings; of none, it never is.
    pub(super) fn new(name: String, due: u32) -> Receipt {
        Receipt { name: name.into(), due, fate: Arc::default() }
    }

    /// What was armed, for a person: `fail history x1 with 500`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has fired.
    pub fn state(&self) -> ReceiptState {
        ReceiptReport::from(self).state()
    }

    pub(super) fn fire(&self) {
        self.lock().fired += 1;
    }

    pub(super) fn break_off(&self, reason: String) {
        self.lock().broken.get_or_insert(reason);
    }

    fn lock(&self) -> MutexGuard<'_, Fate> {
        self.fate.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl From<&Receipt> for ReceiptReport {
    fn from(receipt: &Receipt) -> ReceiptReport {
        let fate = receipt.lock();
        ReceiptReport {
            name: receipt.name.to_string(),
            redeemed: fate.fired,
            armed: receipt.due,
            broken: fate.broken.clone(),
        }
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.name, self.state())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_redeemed_by_its_last_firing_and_not_before() {
        let receipt = Receipt::new("fail history x2 with 500".to_owned(), 2);
        assert_eq!(receipt.state(), ReceiptState::Armed { times: 0 });
        receipt.clone().fire();
        assert_eq!(receipt.state(), ReceiptState::Armed { times: 1 });
        receipt.fire();
        assert_eq!(receipt.state(), ReceiptState::Redeemed { times: 2 });
    }

    #[test]
    fn a_broken_receipt_keeps_its_first_reason_whatever_fires_later() {
        let receipt = Receipt::new("patch /static/gate.js".to_owned(), 1);
        receipt.break_off("found twice".to_owned());
        receipt.break_off("something else".to_owned());
        receipt.fire();
        assert_eq!(receipt.state(), ReceiptState::Broken { reason: "found twice".to_owned() });
    }

    #[test]
    fn a_fault_armed_for_no_arrival_is_never_redeemed() {
        let receipt = Receipt::new("hold history x0".to_owned(), 0);
        assert_eq!(receipt.state(), ReceiptState::Armed { times: 0 });
    }
}
