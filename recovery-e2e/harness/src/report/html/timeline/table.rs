//! The requests of a timeline as a table.

use super::super::markup::Markup;
use super::lanes::fate;
use crate::record::request::Record;
use crate::report::text;

/// The most that is shown of a path or a cursor, in bytes.
const MAX_TEXT: usize = 200;

/// The columns and their classes.
const COLUMNS: [(&str, &str); 6] = [
    ("#", "number"),
    ("class", ""),
    ("request", "path"),
    ("arrived", "number"),
    ("took", "number"),
    ("what became of it", ""),
];

/// Adds the table of the requests.
pub fn add(page: &mut Markup, records: &[Record]) {
    page.element("details", &[("class", "more")], |details| {
        details.leaf("summary", &[], &format!("These {} requests as a table", records.len()));
        details.element("div", &[("class", "scroll"), ("tabindex", "0")], |div| {
            div.element("table", &[], |table| {
                table.element("thead", &[], |head| {
                    head.element("tr", &[], |row| {
                        for (name, class) in COLUMNS {
                            row.leaf("th", &[("scope", "col"), ("class", class)], name);
                        }
                    });
                });
                table.element("tbody", &[], |body| {
                    records.iter().for_each(|record| row(body, record))
                });
            });
        });
    });
}

fn row(body: &mut Markup, record: &Record) {
    let Record { seq, class, method, path, arrived_ms, .. } = record;
    let end = record.ended_ms.or(record.aborted_ms);
    let took = end.map(|end| format!("{:.1} ms", end - arrived_ms)).unwrap_or_default();
    body.element("tr", &[], |row| {
        row.leaf("td", &[("class", "number")], &seq.to_string());
        row.leaf("td", &[], &text::capped(class.name(), MAX_TEXT));
        row.leaf("td", &[("class", "path")], &text::capped(&format!("{method} {path}"), MAX_TEXT));
        row.leaf("td", &[("class", "number")], &format!("{arrived_ms:.1} ms"));
        row.leaf("td", &[("class", "number")], &took);
        row.leaf("td", &[], &became(record));
    });
}

/// Its fate, the names of its faults, the start of the node that it reached, and its cursor.
fn became(record: &Record) -> String {
    let mut parts = vec![fate(record)];
    parts.extend(record.faults.iter().map(|fault| fault.name.clone()));
    parts.extend(record.broken.clone());
    parts.extend(record.upstream.map(|start| format!("start {start} of the node")));
    let cursors = [("header", &record.cursor_header), ("query", &record.cursor_query)];
    parts.extend(
        cursors.into_iter().filter_map(|(place, cursor)| {
            Some(format!("cursor {} in the {place}", cursor.as_ref()?))
        }),
    );
    let parts: Vec<_> = parts.iter().map(|part| text::capped(part, MAX_TEXT)).collect();
    parts.join("; ")
}
