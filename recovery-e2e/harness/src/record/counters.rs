//! Counts per class of requests.

use std::collections::BTreeMap;
use std::fmt;

use super::class::Class;
use super::request::Record;

/// What has become of the requests of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Their number; counted when the head has been read, before any hold.
    pub arrived: u64,
    /// Those that the browser still waits for.
    pub in_flight: u64,
    /// Those of them that a hold keeps.
    pub waiting: u64,
    /// Those of them that no hold keeps, and whose answer has not come: of an event stream, its
    /// head.
    pub moving: u64,
    /// Those that a hold keeps, also where the browser has gone.
    pub held: u64,
    /// Those whose answer passed whole.
    pub answered: u64,
    /// Those whose answer's head said 2xx: an event stream counts here once it is open.
    pub ok: u64,
    /// Those refused with 4xx or 5xx, or whose connection was broken.
    pub failed: u64,
    /// Those that the browser left before their end.
    pub aborted: u64,
}

impl Counts {
    /// What one request counts for.
    pub(super) fn of(record: &Record) -> Counts {
        Counts {
            arrived: 1,
            in_flight: u64::from(record.in_flight()),
            waiting: u64::from(record.in_flight() && record.held()),
            moving: u64::from(record.moving()),
            held: u64::from(record.held()),
            answered: u64::from(record.answered()),
            ok: u64::from(record.ok()),
            failed: u64::from(record.failed()),
            aborted: u64::from(record.aborted_ms.is_some()),
        }
    }

    fn combine(self, other: Counts, with: fn(u64, u64) -> u64) -> Counts {
        Counts {
            arrived: with(self.arrived, other.arrived),
            in_flight: with(self.in_flight, other.in_flight),
            waiting: with(self.waiting, other.waiting),
            moving: with(self.moving, other.moving),
            held: with(self.held, other.held),
            answered: with(self.answered, other.answered),
            ok: with(self.ok, other.ok),
            failed: with(self.failed, other.failed),
            aborted: with(self.aborted, other.aborted),
        }
    }

    /// By name, what a report shows. The others change only together with these.
    pub fn fields(&self) -> [(&'static str, u64); 7] {
        [
            ("arrived", self.arrived),
            ("in_flight", self.in_flight),
            ("held", self.held),
            ("answered", self.answered),
            ("ok", self.ok),
            ("failed", self.failed),
            ("aborted", self.aborted),
        ]
    }
}

/// The counts of every class at one moment.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Counters {
    counts: BTreeMap<Class, Counts>,
}

/// One counter's new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// `class.counter`
    pub counter: String,
    /// What it is now.
    pub value: u64,
}

impl Counters {
    /// The counts of `class`.
    pub fn of(&self, class: Class) -> Counts {
        self.counts.get(&class).copied().unwrap_or_default()
    }

    /// How many requests that the browser waits for are kept by a hold.
    pub fn waiting(&self) -> u64 {
        self.counts.values().map(|counts| counts.waiting).sum()
    }

    /// How many requests of the browser are on their way: not held, and not answered. An event
    /// stream is answered once it is open.
    pub fn moving(&self) -> u64 {
        self.counts.values().map(|counts| counts.moving).sum()
    }

    /// The counts of every class that has a request, in the order of their names.
    pub fn classes(&self) -> impl Iterator<Item = (&Class, &Counts)> {
        self.counts.iter()
    }

    /// Counts a request of `class` for `after` in place of `before`.
    pub(super) fn replace(&mut self, class: &Class, before: Counts, after: Counts) {
        let counts = self.counts.entry(*class).or_default();
        *counts = counts.combine(after, |now, more| now + more);
        *counts = counts.combine(before, |now, less| now - less);
    }

    #[cfg(test)]
    pub(super) fn derive<'a>(records: impl IntoIterator<Item = &'a Record>) -> Counters {
        let mut counters = Counters::default();
        for record in records {
            counters.replace(&record.class, Counts::default(), Counts::of(record));
        }
        counters
    }

    /// The counters that differ from `earlier`, in the order of the names of the classes.
    pub fn changes_since(&self, earlier: &Counters) -> Vec<Change> {
        let mut changes = Vec::new();
        for (class, counts) in &self.counts {
            let before = earlier.counts.get(class).copied().unwrap_or_default();
            let pairs = counts.fields().into_iter().zip(before.fields());
            for ((field, value), _) in pairs.filter(|((_, now), (_, then))| now != then) {
                changes.push(Change { counter: format!("{}.{field}", class.name()), value });
            }
        }
        changes
    }
}

/// Only what is not zero: this is what a missed wait shows.
impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for change in self.changes_since(&Counters::default()) {
            map.entry(&format_args!("{}", change.counter), &change.value);
        }
        map.finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::event::Arrival;
    use super::*;

    fn record(class: Class, change: impl FnOnce(&mut Record)) -> Record {
        let arrival = Arrival {
            class,
            method: "GET".to_owned(),
            path: "/".to_owned(),
            cursor_header: None,
            cursor_query: None,
            handoff_token: false,
            user_turn: false,
            tool_turn: false,
        };
        let mut record = Record::arrived(1, arrival, 0.0);
        change(&mut record);
        record
    }

    #[test]
    fn a_record_counts_for_what_has_become_of_it() {
        type Life = fn(&mut Record);
        let table: [(&str, Life, Counts); 7] = [
            ("just arrived", |_| {}, Counts { in_flight: 1, moving: 1, ..Counts::default() }),
            (
                "held",
                |r| r.held_ms = Some(1.0),
                Counts { in_flight: 1, waiting: 1, held: 1, ..Counts::default() },
            ),
            (
                "held, and the browser gone",
                |r| (r.held_ms, r.aborted_ms) = (Some(1.0), Some(2.0)),
                Counts { held: 1, aborted: 1, ..Counts::default() },
            ),
            (
                "let go after the browser had gone",
                |r| {
                    (r.held_ms, r.aborted_ms) = (Some(1.0), Some(2.0));
                    (r.forwarded_ms, r.first_byte_ms) = (Some(3.0), Some(4.0));
                    (r.ended_ms, r.status) = (Some(5.0), Some(200));
                },
                Counts { answered: 1, ok: 1, aborted: 1, ..Counts::default() },
            ),
            (
                "an answer that has begun",
                |r| (r.forwarded_ms, r.status) = (Some(1.0), Some(200)),
                Counts { in_flight: 1, moving: 1, ok: 1, ..Counts::default() },
            ),
            (
                "refused",
                |r| (r.ended_ms, r.status) = (Some(1.0), Some(500)),
                Counts { answered: 1, failed: 1, ..Counts::default() },
            ),
            (
                "broken in the middle",
                |r| {
                    (r.ended_ms, r.status) = (Some(1.0), Some(200));
                    r.broken = Some("reset".to_owned());
                },
                Counts { ok: 1, failed: 1, ..Counts::default() },
            ),
        ];
        for (life, change, counts) in table {
            let counters = Counters::derive(&[record(Class::REWIND, change)]);
            assert_eq!(counters.of(Class::REWIND), Counts { arrived: 1, ..counts }, "{life}");
            assert_eq!(counters.of(Class::HISTORY), Counts::default(), "{life}");
        }
    }

    #[test]
    fn an_event_stream_has_come_when_it_is_open_and_a_held_request_does_not_move() {
        type Life = fn(&mut Record);
        let table: [(Class, Life, (u64, u64)); 5] = [
            (Class::EVENTS, |_| {}, (1, 0)),
            (Class::EVENTS, |r| (r.streams, r.status) = (true, Some(200)), (0, 0)),
            (Class::EVENTS, |r| (r.streams, r.status) = (false, Some(200)), (1, 0)),
            (Class::HISTORY, |r| r.held_ms = Some(1.0), (0, 1)),
            (Class::HISTORY, |r| (r.held_ms, r.aborted_ms) = (Some(1.0), Some(2.0)), (0, 0)),
        ];
        for (class, life, seen) in table {
            let record = record(class, life);
            let counters = Counters::derive(std::slice::from_ref(&record));
            assert_eq!((counters.moving(), counters.waiting()), seen, "{record:?}");
        }
    }

    #[test]
    fn a_change_has_the_name_of_class_and_counter_and_the_new_value() {
        let before = Counters::derive(&[record(Class::REWIND, |_| {})]);
        let after = Counters::derive(&[
            record(Class::REWIND, |r| r.ended_ms = Some(1.0)),
            record(Class::GLOBAL_EVENTS, |_| {}),
        ]);
        let changes: Vec<String> = after
            .changes_since(&before)
            .iter()
            .map(|change| format!("{}={}", change.counter, change.value))
            .collect();
        assert_eq!(
            changes,
            [
                "global_events.arrived=1",
                "global_events.in_flight=1",
                "rewind.in_flight=0",
                "rewind.answered=1",
            ]
        );
        assert_eq!(after.changes_since(&after), []);
    }

    #[test]
    fn what_a_missed_wait_shows_leaves_out_the_zeros() {
        let counters = Counters::derive(&[record(Class::SEND, |r| r.ended_ms = Some(1.0))]);
        assert_eq!(format!("{counters:?}"), "{send.arrived: 1, send.answered: 1}");
    }

    const CLASSES: [Class; 3] = [Class::HISTORY, Class::EVENTS, Class::OTHER];

    proptest! {
        #[test]
        fn every_arrival_is_in_flight_answered_broken_or_aborted(
            lives in proptest::collection::vec((0usize..3, 0u8..32, 100u16..600), 0..40),
        ) {
            let records: Vec<Record> = lives
                .iter()
                .map(|(class, bits, status)| record(CLASSES[*class], |r| {
                    let bit = |n: u8| (bits & (1 << n) != 0).then_some(1.0);
                    (r.held_ms, r.forwarded_ms) = (bit(0), bit(1));
                    (r.ended_ms, r.aborted_ms) = (bit(2), bit(3));
                    r.status = Some(*status);
                    r.broken = bit(4).and(r.ended_ms).map(|_| "reset".to_owned());
                }))
                .collect();
            let counters = Counters::derive(&records);
            let total: u64 = CLASSES.into_iter().map(|class| counters.of(class).arrived).sum();
            prop_assert_eq!(total, records.len() as u64);
            for class in CLASSES {
                let counts = counters.of(class);
                let others = counts.answered + counts.failed + counts.aborted;
                prop_assert!(counts.arrived <= counts.in_flight + others);
                prop_assert!(counts.in_flight <= counts.arrived);
            }
        }
    }
}
