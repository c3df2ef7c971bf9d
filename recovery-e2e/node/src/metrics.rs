//! What a node counts of itself, and how Prometheus reads it.
//!
//! Labels have a handful of values each, known beforehand: no metric grows with what clients do.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows, from 0 at the start of the process.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one.
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many there were.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one node.
#[derive(Debug, Default)]
pub struct Metrics {
    /// History reads of the store.
    pub history_loads: Counter,
    /// Histories that waited for the read of another.
    pub history_joins: Counter,
    /// Connections that ended because the peer took nothing.
    pub write_deadlines: Counter,
    /// Connections over the limit.
    pub connections_refused: Counter,
    /// Panes that fell behind.
    pub pane_overflows: Counter,
    /// Readers of the global lane that fell behind.
    pub global_overflows: Counter,
    /// Turns whose answer is complete.
    pub turns_complete: Counter,
    /// Turns that a person cancelled.
    pub turns_cancelled: Counter,
    /// Turns that failed, or ended with the node.
    pub turns_incomplete: Counter,
}

/// What lanes hold at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Connections that listen.
    pub listeners: usize,
    /// Events kept for replay.
    pub events: usize,
    /// Their bytes.
    pub bytes: usize,
}

impl std::iter::Sum for Load {
    fn sum<I: Iterator<Item = Self>>(loads: I) -> Self {
        loads.fold(Self::default(), |sum, load| Self {
            listeners: sum.listeners + load.listeners,
            events: sum.events + load.events,
            bytes: sum.bytes + load.bytes,
        })
    }
}

/// The current values, beside the counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Present {
    /// Loaded workstreams.
    pub workstreams: usize,
    /// Open connections.
    pub connections: usize,
    /// All pane lanes together.
    pub panes: Load,
    /// The global lane.
    pub global: Load,
}

/// The text that Prometheus scrapes.
pub fn text(counted: &Metrics, present: &Present) -> String {
    let Present { workstreams, connections, panes, global } = *present;
    let mut text = Text(String::new());
    text.gauge("workstreams", "Loaded workstreams.", &[("", workstreams)]);
    text.gauge("connections", "Open connections.", &[("", connections)]);
    text.gauge("listeners", "Open event streams.", &lanes(panes, global, |load| load.listeners));
    let events = lanes(panes, global, |load| load.events);
    text.gauge("ring_events", "Events kept for replay.", &events);
    text.gauge("ring_bytes", "Bytes kept for replay.", &lanes(panes, global, |load| load.bytes));
    let overflows = [
        ("lane=\"pane\"", &counted.pane_overflows),
        ("lane=\"global\"", &counted.global_overflows),
    ];
    text.counter("overflows", "Event streams ended because they fell behind.", &overflows);
    let deadlines = [("", &counted.write_deadlines)];
    text.counter("write_deadlines", "Connections ended because the peer took nothing.", &deadlines);
    let refused = [("", &counted.connections_refused)];
    text.counter("connections_refused", "Connections over the limit.", &refused);
    text.counter("history_loads", "History reads of the store.", &[("", &counted.history_loads)]);
    let joins = [("", &counted.history_joins)];
    text.counter("history_joins", "Histories that shared the read of another.", &joins);
    let turns = [
        ("outcome=\"complete\"", &counted.turns_complete),
        ("outcome=\"cancelled\"", &counted.turns_cancelled),
        ("outcome=\"incomplete\"", &counted.turns_incomplete),
    ];
    text.counter("turns", "Turns that ended, by what became of the answer.", &turns);
    text.0
}

fn lanes<'a>(panes: Load, global: Load, part: fn(Load) -> usize) -> [(&'a str, usize); 2] {
    [("lane=\"pane\"", part(panes)), ("lane=\"global\"", part(global))]
}

struct Text(String);

impl Text {
    fn gauge(&mut self, name: &str, help: &str, samples: &[(&str, usize)]) {
        self.head(name, help, "gauge");
        for (labels, value) in samples {
            self.sample(name, labels, *value as u64);
        }
    }

    fn counter(&mut self, name: &str, help: &str, samples: &[(&str, &Counter)]) {
        let name = format!("{name}_total");
        self.head(&name, help, "counter");
        for (labels, counter) in samples {
            self.sample(&name, labels, counter.get());
        }
    }

    fn head(&mut self, name: &str, help: &str, kind: &str) {
        self.line(format_args!("# HELP recovery_node_{name} {help}"));
        self.line(format_args!("# TYPE recovery_node_{name} {kind}"));
    }

    fn sample(&mut self, name: &str, labels: &str, value: u64) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        self.line(format_args!("recovery_node_{name}{labels} {value}"));
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a text never fails.
        let _ = writeln!(self.0, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_follows_its_help_and_type_and_has_its_value() {
        let counted = Metrics::default();
        counted.global_overflows.count();
        counted.turns_complete.count();
        counted.turns_complete.count();
        let panes = Load { listeners: 1, events: 2, bytes: 3 };
        let global = Load { listeners: 4, events: 5, bytes: 6 };
        let text = text(&counted, &Present { workstreams: 7, connections: 8, panes, global });
        let mut family = String::new();
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                family = help.split(' ').next().unwrap().to_owned();
                assert_eq!(text.matches(&format!("# HELP {family} ")).count(), 1, "{family}");
                assert_eq!(text.matches(&format!("# TYPE {family} ")).count(), 1, "{family}");
            } else if !line.starts_with("# TYPE ") {
                let name = line.split(['{', ' ']).next().unwrap();
                assert_eq!(name, family);
                assert!(line.rsplit(' ').next().unwrap().parse::<u64>().is_ok(), "{line}");
            }
        }
        for sample in [
            "workstreams 7",
            "connections 8",
            "listeners{lane=\"pane\"} 1",
            "listeners{lane=\"global\"} 4",
            "ring_events{lane=\"pane\"} 2",
            "ring_events{lane=\"global\"} 5",
            "ring_bytes{lane=\"pane\"} 3",
            "ring_bytes{lane=\"global\"} 6",
            "overflows_total{lane=\"pane\"} 0",
            "overflows_total{lane=\"global\"} 1",
            "turns_total{outcome=\"complete\"} 2",
            "write_deadlines_total 0",
        ] {
            assert!(text.contains(&format!("\nrecovery_node_{sample}\n")), "{sample}\n{text}");
        }
    }

    #[test]
    fn loads_add_up_part_by_part() {
        let loads = [
            Load { listeners: 1, events: 2, bytes: 3 },
            Load { listeners: 10, events: 20, bytes: 30 },
        ];
        let sum: Load = loads.into_iter().sum();
        assert_eq!(sum, Load { listeners: 11, events: 22, bytes: 33 });
    }
}
