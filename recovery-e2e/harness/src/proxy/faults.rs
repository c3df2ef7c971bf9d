//! The faults that are armed, and which of them an arrival meets.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::StatusCode;

use super::hold::PassLater;
use super::receipt::Receipt;
use crate::record::class::Class;

/// What is done to one request.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Answered by the proxy with this status; the upstream never sees it.
    Fail(StatusCode),
    /// Kept from the upstream until the gate opens.
    Hold(PassLater),
    /// Answered by the upstream, and the answer's handoff token taken out.
    Tokenless,
}

/// An action, and the receipt that it redeems.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) action: Action,
    pub(super) receipt: Receipt,
}

/// A fault that serves every arrival of its class until it is lifted.
///
/// Dropped without that it goes on: a forgotten lift must show as a condition that is never met.
#[derive(Debug)]
pub struct Standing {
    receipt: Receipt,
    lifted: Arc<AtomicBool>,
}

impl Standing {
    /// A standing fault, and what the queue looks at.
    pub(super) fn new(receipt: Receipt) -> (Standing, Turns) {
        let lifted = Arc::new(AtomicBool::new(false));
        (Standing { receipt, lifted: Arc::clone(&lifted) }, Turns::UntilLifted(lifted))
    }

    /// The proof that it served an arrival.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Arrivals from now on meet the next fault of the class, or none.
    pub fn lift(&self) {
        self.lifted.store(true, Ordering::Relaxed);
    }
}

/// How many arrivals a fault serves.
#[derive(Clone, Debug)]
pub(super) enum Turns {
    /// So many more.
    Left(u32),
    /// All, until this is set.
    UntilLifted(Arc<AtomicBool>),
}

impl Turns {
    fn are_over(&self) -> bool {
        match self {
            Turns::Left(left) => *left == 0,
            Turns::UntilLifted(lifted) => lifted.load(Ordering::Relaxed),
        }
    }

    fn take_one(&mut self) {
        if let Turns::Left(left) = self {
            *left -= 1;
        }
    }
}

/// First in, first out within a class: each arrival takes one turn of the oldest fault.
#[derive(Debug, Default)]
pub(super) struct FaultQueue {
    armed: VecDeque<Armed>,
}

#[derive(Debug)]
struct Armed {
    class: Class,
    turns: Turns,
    fault: Fault,
}

impl FaultQueue {
    /// Arms `fault` for the next arrivals of `class` that no older fault takes.
    pub(super) fn arm(&mut self, class: Class, turns: Turns, fault: Fault) {
        self.armed.push_back(Armed { class, turns, fault });
    }

    /// What the arrival of a request of `class` meets.
    pub(super) fn take(&mut self, class: &Class) -> Option<Fault> {
        self.armed.retain(|armed| !armed.turns.are_over());
        let armed = self.armed.iter_mut().find(|armed| armed.class == *class)?;
        armed.turns.take_one();
        Some(armed.fault.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(name: &str) -> Fault {
        let action = Action::Fail(StatusCode::INTERNAL_SERVER_ERROR);
        Fault { action, receipt: Receipt::new(name.to_owned(), 1) }
    }

    fn taken(queue: &mut FaultQueue, class: Class) -> Option<String> {
        queue.take(&class).map(|fault| fault.receipt.name().to_owned())
    }

    #[test]
    fn arrivals_take_the_faults_of_their_class_in_the_order_of_arming() {
        let mut queue = FaultQueue::default();
        queue.arm(Class::HISTORY, Turns::Left(2), named("a"));
        queue.arm(Class::REWIND, Turns::Left(1), named("r"));
        queue.arm(Class::HISTORY, Turns::Left(0), named("never"));
        queue.arm(Class::HISTORY, Turns::Left(1), named("b"));
        let table = [
            (Class::HISTORY, Some("a")),
            (Class::EVENTS, None),
            (Class::HISTORY, Some("a")),
            (Class::REWIND, Some("r")),
            (Class::HISTORY, Some("b")),
            (Class::HISTORY, None),
            (Class::REWIND, None),
        ];
        for (class, name) in table {
            assert_eq!(taken(&mut queue, class).as_deref(), name, "{class:?}");
        }
    }

    #[test]
    fn a_standing_fault_keeps_its_place_until_it_is_lifted() {
        let mut queue = FaultQueue::default();
        let (standing, turns) = Standing::new(Receipt::new("standing".to_owned(), 1));
        queue.arm(Class::HISTORY, Turns::Left(1), named("first"));
        queue.arm(Class::HISTORY, turns, named("standing"));
        queue.arm(Class::HISTORY, Turns::Left(1), named("last"));
        let mut take = || taken(&mut queue, Class::HISTORY).unwrap_or_default();
        assert_eq!([take(), take(), take()], ["first", "standing", "standing"]);
        standing.lift();
        assert_eq!([take(), take()], ["last", ""]);
    }

    const CLASSES: [Class; 3] = [Class::HISTORY, Class::EVENTS, Class::OTHER];

    proptest! {
        #[test]
        fn each_fault_serves_exactly_its_number_of_arrivals_whatever_else_is_armed(
            armed in proptest::collection::vec((0usize..3, 0u32..4), 0..12),
        ) {
            let mut queue = FaultQueue::default();
            for (at, (class, n)) in armed.iter().enumerate() {
                queue.arm(CLASSES[*class], Turns::Left(*n), named(&at.to_string()));
            }
            for (class, name) in CLASSES.into_iter().enumerate() {
                let of_class = armed.iter().enumerate().filter(|(_, (of, _))| *of == class);
                let expected: Vec<String> = of_class
                    .flat_map(|(at, (_, n))| std::iter::repeat_n(at.to_string(), *n as usize))
                    .collect();
                let seen: Vec<String> =
                    std::iter::from_fn(|| taken(&mut queue, name)).collect();
                prop_assert_eq!(seen, expected);
            }
        }
    }
}
