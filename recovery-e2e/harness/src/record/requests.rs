//! The fold: which requests there are, and what became of each, from the events so far.

use std::collections::BTreeMap;

use super::counters::{Counters, Counts};
use super::event::{Event, Line};
use super::request::Record;

/// All requests of a case, and their counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requests {
    records: BTreeMap<u64, Record>,
    counters: Counters,
}

impl Requests {
    /// The requests in the order of arrival.
    pub fn records(&self) -> impl ExactSizeIterator<Item = &Record> {
        self.records.values()
    }

    /// The request with this number.
    pub fn record(&self, request: u64) -> Option<&Record> {
        self.records.get(&request)
    }

    /// The counters of these requests.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Whether `event` can happen to `request`: it has arrived, once, and has not ended.
    pub fn accepts(&self, request: u64, event: &Event) -> bool {
        match (self.records.get(&request), event) {
            (record, Event::Arrived(_)) => record.is_none(),
            (record, _) => record.is_some_and(|record| record.ended_ms.is_none()),
        }
    }

    /// Adds one event. Returns false for one that [`Requests::accepts`] refuses, and changes
    /// nothing then.
    pub fn apply(&mut self, line: &Line) -> bool {
        let Line { t_ms, request, event, .. } = line;
        if !self.accepts(*request, event) {
            return false;
        }
        if let Event::Arrived(arrival) = event {
            let record = Record::arrived(*request, arrival.clone(), *t_ms);
            self.counters.replace(&record.class, Counts::default(), Counts::of(&record));
            self.records.insert(*request, record);
        } else if let Some(record) = self.records.get_mut(request) {
            let before = Counts::of(record);
            record.apply(*t_ms, event);
            self.counters.replace(&record.class, before, Counts::of(record));
        }
        true
    }
}

impl<'a> FromIterator<&'a Line> for Requests {
    fn from_iter<T: IntoIterator<Item = &'a Line>>(lines: T) -> Self {
        let mut requests = Self::default();
        for line in lines {
            requests.apply(line);
        }
        requests
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::class::Class;
    use super::super::event::{Arrival, Fault, FaultKind};
    use super::*;

    fn arrived(class: Class) -> Event {
        Event::Arrived(Arrival {
            class,
            method: "GET".to_owned(),
            path: "/".to_owned(),
            cursor_header: None,
            cursor_query: Some("a-1".to_owned()),
            handoff_token: false,
            user_turn: false,
            tool_turn: false,
        })
    }

    fn line(t_ms: f64, request: u64, event: Event) -> Line {
        Line { t_ms, phase: "fault".to_owned(), request, event }
    }

    fn broken() -> Event {
        Event::Broken { reason: "reset".to_owned() }
    }

    fn passed(bytes: u64, id: &str) -> Event {
        Event::Passed { bytes, last_event_id: Some(id.to_owned()) }
    }

    fn headed(status: u16) -> Event {
        Event::Headed { status, streams: false }
    }

    /// The record of request 1 after these events, one each millisecond from 1.
    fn after(events: impl IntoIterator<Item = Event>) -> Record {
        let all = [arrived(Class::HISTORY)].into_iter().chain(events).zip(0_u32..);
        let lines: Vec<Line> = all.map(|(event, t)| line(t.into(), 1, event)).collect();
        lines.iter().collect::<Requests>().record(1).unwrap().clone()
    }

    #[test]
    fn a_record_has_what_its_events_say() {
        let base = after([]);
        let fault = Fault { kind: FaultKind::Hold, name: "hold history x1".to_owned() };
        let table = [
            (vec![Event::Held], Record { held_ms: Some(1.0), ..base.clone() }),
            (vec![Event::Fault(fault.clone())], Record { faults: vec![fault], ..base.clone() }),
            (
                vec![Event::Forwarded { upstream: 2 }, headed(200)],
                Record {
                    forwarded_ms: Some(1.0),
                    upstream: Some(2),
                    first_byte_ms: Some(2.0),
                    status: Some(200),
                    ..base.clone()
                },
            ),
            (
                vec![passed(3, "a-1"), passed(4, "a-2"), Event::Ended],
                Record {
                    bytes: 7,
                    last_event_id: Some("a-2".to_owned()),
                    ended_ms: Some(3.0),
                    ..base.clone()
                },
            ),
            (
                vec![Event::Aborted, broken()],
                Record {
                    aborted_ms: Some(1.0),
                    ended_ms: Some(2.0),
                    broken: Some("reset".to_owned()),
                    ..base.clone()
                },
            ),
            (
                vec![Event::Ended, Event::Aborted, broken(), passed(1, "x"), Event::Held],
                Record { ended_ms: Some(1.0), ..base.clone() },
            ),
        ];
        for (events, expected) in table {
            assert_eq!(after(events.clone()), expected, "{events:?}");
        }
    }

    #[test]
    fn an_event_of_a_request_that_never_arrived_or_a_second_arrival_changes_nothing() {
        let mut requests = Requests::default();
        assert!(!requests.apply(&line(0.0, 1, Event::Ended)));
        assert!(requests.apply(&line(1.0, 1, arrived(Class::HISTORY))));
        let before = requests.clone();
        assert!(!requests.apply(&line(2.0, 1, arrived(Class::EVENTS))));
        assert!(!requests.apply(&line(2.0, 2, Event::Held)));
        assert_eq!(requests, before);
    }

    fn any_event() -> impl Strategy<Value = Event> {
        let class = prop::sample::select(vec![Class::HISTORY, Class::EVENTS, Class::OTHER]);
        let kind = prop::sample::select(vec![FaultKind::Fail, FaultKind::Sever]);
        prop_oneof![
            3 => class.prop_map(arrived),
            1 => (kind, ".{0,9}").prop_map(|(kind, name)| Event::Fault(Fault { kind, name })),
            1 => Just(Event::Held),
            1 => any::<u32>().prop_map(|upstream| Event::Forwarded { upstream }),
            1 => (100_u16..600, any::<bool>())
                .prop_map(|(status, streams)| Event::Headed { status, streams }),
            1 => (0_u64..1000, prop::option::of(".{0,9}"))
                .prop_map(|(bytes, last_event_id)| Event::Passed { bytes, last_event_id }),
            1 => Just(Event::Ended),
            1 => ".{0,9}".prop_map(|reason| Event::Broken { reason }),
            1 => Just(Event::Aborted),
        ]
    }

    proptest! {
        #[test]
        fn counters_kept_event_by_event_equal_those_counted_from_the_records_of_the_file(
            events in prop::collection::vec((1_u64..5, any_event()), 0..60),
        ) {
            let mut live = Requests::default();
            let mut file = String::new();
            for (t_ms, (request, event)) in (0_u32..).zip(events) {
                let line = line(t_ms.into(), request, event);
                if live.apply(&line) {
                    file += &serde_json::to_string(&line).unwrap();
                    file.push('\n');
                }
            }
            let lines: Vec<Line> =
                file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let read: Requests = lines.iter().collect();
            prop_assert_eq!(&read, &live);
            prop_assert_eq!(&Counters::derive(read.records()), live.counters());
        }
    }
}
