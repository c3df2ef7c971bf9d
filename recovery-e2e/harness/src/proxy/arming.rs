//! The faults that a scenario can arm.

use hyper::StatusCode;

use super::door::Parked;
use super::faults::{Action, Fault, Standing, Turns};
use super::hold::Hold;
use super::patch::Patch;
use super::receipt::Receipt;
use super::server::Proxy;
use crate::record::class::Class;

impl Proxy {
    /// Answers `n` arrivals of `class` with `status`; the upstream never sees them.
    pub fn fail(&self, class: Class, n: u32, status: StatusCode) -> Receipt {
        let name = format!("fail {class} x{n} with {}", status.as_u16());
        let receipt = Receipt::new(name, n);
        let fault = Fault { action: Action::Fail(status), receipt: receipt.clone() };
        self.shared.request_log.arm(class, Turns::Left(n), fault);
        receipt
    }

    /// Answers every arrival of `class` with 500 until it is lifted; one of them redeems it.
    #[must_use = "a fault that cannot be lifted acts until the proxy ends"]
    pub fn fail_until(&self, class: Class) -> Standing {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        let name = format!("fail {class} with {} until lifted", status.as_u16());
        let receipt = Receipt::new(name, 1);
        let (standing, turns) = Standing::new(receipt.clone());
        self.shared.request_log.arm(class, turns, Fault { action: Action::Fail(status), receipt });
        standing
    }

    /// Takes the handoff token out of the answers to `n` arrivals of `class`, as a node does that
    /// has none to give. An answer that is no history with a token breaks the receipt.
    pub fn tokenless(&self, class: Class, n: u32) -> Receipt {
        let receipt = Receipt::new(format!("tokenless {class} x{n}"), n);
        let fault = Fault { action: Action::Tokenless, receipt: receipt.clone() };
        self.shared.request_log.arm(class, Turns::Left(n), fault);
        receipt
    }

    /// Breaks the event streams of `class` that are open now, as a cut line does: what has not
    /// been written out is lost. Redeemed by the first that breaks.
    pub fn sever(&self, class: Class) -> Receipt {
        let receipt = Receipt::new(format!("sever {class}"), 1);
        self.shared.request_log.keep(receipt.clone());
        // Without an open stream there is no listener, and the receipt stays as it is.
        let _ = self.shared.severed.send((class, receipt.clone()));
        receipt
    }

    /// Keeps `n` arrivals of `class` from the upstream, until they are released.
    #[must_use = "a hold that cannot be released holds until the proxy ends"]
    pub fn hold(&self, class: Class, n: u32) -> Hold {
        let receipt = Receipt::new(format!("hold {class} x{n}"), n);
        let (hold, gate) = Hold::new(receipt.clone(), n);
        let fault = Fault { action: Action::Hold(gate), receipt };
        self.shared.request_log.arm(class, Turns::Left(n), fault);
        hold
    }

    /// Has new connections wait, with what they ask for, as while a server's successor takes over
    /// its port. Redeemed by the first request that waits. Fences and the proxy's own pages wait
    /// too.
    #[must_use = "parked connections must be accepted"]
    pub fn park(&self) -> Parked {
        let receipt = Receipt::new("park connections".to_owned(), 1);
        self.shared.request_log.keep(receipt.clone());
        self.shared.door.park(receipt)
    }

    /// Resets new connections before a byte, which to a browser looks like a port without a
    /// listener: it tries again and again, so nothing of it is counted. Redeemed by the first.
    pub fn refuse(&self) -> Receipt {
        let receipt = Receipt::new("refuse connections".to_owned(), 1);
        self.shared.request_log.keep(receipt.clone());
        self.shared.door.refuse(receipt.clone());
        receipt
    }

    /// Serves new connections again, and those that were parked.
    pub fn accept(&self) {
        self.shared.door.accept();
    }

    /// Changes the text of an asset each time that it is served from now on.
    ///
    /// Where the patch does not apply, the answer is a 500 and the receipt is broken.
    pub fn patch(&self, patch: Patch) -> Receipt {
        let receipt = Receipt::new(format!("patch {}", patch.asset), 1);
        self.shared.request_log.arm_patch(patch, receipt.clone());
        receipt
    }
}
