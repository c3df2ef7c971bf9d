//! The counters at the end, and every change of them.

use super::super::markup::Markup;
use super::super::traces::Trace;
use crate::report::text;

/// The most that is shown of what happened, in bytes.
const MAX_TEXT: usize = 200;

/// Adds the tables of the counters.
pub fn add(page: &mut Markup, trace: &Trace) {
    if trace.changes.is_empty() {
        return;
    }
    let columns = [
        ("class", ""),
        ("arrived", "number"),
        ("answered", "number"),
        ("with 2xx", "number"),
        ("failed", "number"),
        ("left by the browser", "number"),
        ("max. in flight", "number"),
        ("max. held", "number"),
    ];
    table(page, "Counters at the end", &columns, |body| {
        for (class, counts) in trace.counters.classes() {
            let peak = trace.peaks.get(class).copied().unwrap_or_default();
            let ends = [counts.arrived, counts.answered, counts.ok, counts.failed, counts.aborted];
            body.element("tr", &[], |row| {
                row.leaf("th", &[("scope", "row")], class.name());
                for value in ends.into_iter().chain([peak.in_flight, peak.held]) {
                    row.leaf("td", &[("class", "number")], &value.to_string());
                }
            });
        }
    });
    let columns = [
        ("at", "number"),
        ("phase", ""),
        ("request", "number"),
        ("what happened", ""),
        ("counters", ""),
    ];
    let title = format!("Counter trace: {} events", trace.changes.len());
    table(page, &title, &columns, |body| {
        for change in &trace.changes {
            body.element("tr", &[], |row| {
                row.leaf("td", &[("class", "number")], &format!("{:.1} ms", change.t_ms));
                row.leaf("td", &[], &text::capped(&change.phase, MAX_TEXT));
                row.leaf("td", &[("class", "number")], &format!("#{}", change.request));
                row.leaf("td", &[], &text::capped(&change.what, MAX_TEXT));
                let counters = change.counters.iter();
                let counters = counters.map(|of| format!("{} {}", of.counter, of.value));
                row.leaf("td", &[], &text::line(&counters.collect::<Vec<_>>().join(", ")));
            });
        }
    });
}

fn table(page: &mut Markup, title: &str, columns: &[(&str, &str)], rows: impl FnOnce(&mut Markup)) {
    page.element("details", &[("class", "more")], |details| {
        details.leaf("summary", &[], title);
        details.element("div", &[("class", "scroll"), ("tabindex", "0")], |div| {
            div.element("table", &[], |table| {
                table.element("thead", &[], |head| {
                    head.element("tr", &[], |row| {
                        for (name, class) in columns {
                            row.leaf("th", &[("scope", "col"), ("class", class)], name);
                        }
                    });
                });
                table.element("tbody", &[], rows);
            });
        });
    });
}
