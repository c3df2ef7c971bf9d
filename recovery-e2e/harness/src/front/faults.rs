//! The faults that are armed, and which of them an arrival meets.

use std::collections::VecDeque;

use hyper::StatusCode;

use super::class::Class;
use super::hold::Gate;
use super::receipt::Receipt;

/// What is done to one request.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Answered by the front with this status; the upstream never sees it.
    Fail(StatusCode),
    /// Kept from the upstream until the gate opens.
    Hold(Gate),
}

/// An action, and the receipt that it redeems.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) action: Action,
    pub(super) receipt: Receipt,
}

/// First in, first out within a class: each arrival takes one turn of the oldest fault.
#[derive(Debug, Default)]
pub(super) struct FaultQueue {
    armed: VecDeque<Armed>,
}

#[derive(Debug)]
struct Armed {
    class: Class,
    left: u32,
    fault: Fault,
}

impl FaultQueue {
    /// Arms `fault` for the next `n` arrivals of `class` that no older fault takes.
    pub(super) fn arm(&mut self, class: Class, n: u32, fault: Fault) {
        if n > 0 {
            self.armed.push_back(Armed { class, left: n, fault });
        }
    }

    /// What the arrival of a request of `class` meets.
    pub(super) fn take(&mut self, class: Class) -> Option<Fault> {
        let at = self.armed.iter().position(|armed| armed.class == class)?;
        let armed = self.armed.get_mut(at)?;
        armed.left -= 1;
        let (left, fault) = (armed.left, armed.fault.clone());
        if left == 0 {
            self.armed.remove(at);
        }
        Some(fault)
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
        queue.take(class).map(|fault| fault.receipt.name().to_owned())
    }

    #[test]
    fn arrivals_take_the_faults_of_their_class_in_the_order_of_arming() {
        let mut queue = FaultQueue::default();
        queue.arm(Class::History, 2, named("a"));
        queue.arm(Class::Rewind, 1, named("r"));
        queue.arm(Class::History, 0, named("never"));
        queue.arm(Class::History, 1, named("b"));
        let table = [
            (Class::History, Some("a")),
            (Class::Events, None),
            (Class::History, Some("a")),
            (Class::Rewind, Some("r")),
            (Class::History, Some("b")),
            (Class::History, None),
            (Class::Rewind, None),
        ];
        for (class, name) in table {
            assert_eq!(taken(&mut queue, class).as_deref(), name, "{class:?}");
        }
    }

    proptest! {
        #[test]
        fn each_fault_serves_exactly_its_number_of_arrivals_whatever_else_is_armed(
            armed in proptest::collection::vec((0usize..3, 0u32..4), 0..12),
        ) {
            let mut queue = FaultQueue::default();
            for (at, (class, n)) in armed.iter().enumerate() {
                queue.arm(Class::ALL[*class], *n, named(&at.to_string()));
            }
            for class in 0..3 {
                let of_class = armed.iter().enumerate().filter(|(_, (of, _))| *of == class);
                let expected: Vec<String> = of_class
                    .flat_map(|(at, (_, n))| std::iter::repeat_n(at.to_string(), *n as usize))
                    .collect();
                let seen: Vec<String> =
                    std::iter::from_fn(|| taken(&mut queue, Class::ALL[class])).collect();
                prop_assert_eq!(seen, expected);
            }
        }
    }
}
