//! A timeline in words.

use super::super::markup::Markup;
use super::super::traces::Request;
use super::lanes::fate;
use crate::proxy::Record;
use crate::report::text;

/// The most that is told of a path or a cursor, in bytes.
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
pub fn add(page: &mut Markup, requests: &[Request]) {
    page.element("details", &[("class", "more")], |details| {
        details.leaf("summary", &[], &format!("These {} requests as a table", requests.len()));
        details.element("div", &[("class", "scroll"), ("tabindex", "0")], |div| {
            div.element("table", &[], |table| {
                table.element("thead", &[], |head| {
                    head.element("tr", &[], |row| {
                        for (name, class) in COLUMNS {
                            row.leaf("th", &[("scope", "col"), ("class", class)], name);
                        }
                    });
                });
                table
                    .element("tbody", &[], |body| requests.iter().for_each(|told| row(body, told)));
            });
        });
    });
}

fn row(body: &mut Markup, request: &Request) {
    let Request { seq, class, arrived_ms, record } = request;
    let record = record.as_ref();
    let end = record.and_then(|record| record.ended_ms.or(record.aborted_ms));
    let took = end.map(|end| format!("{:.1} ms", end - arrived_ms)).unwrap_or_default();
    let asked = record.map(|record| format!("{} {}", record.method, record.path));
    body.element("tr", &[], |row| {
        row.leaf("td", &[("class", "number")], &seq.to_string());
        row.leaf("td", &[], class.name());
        row.leaf("td", &[("class", "path")], &text::capped(&asked.unwrap_or_default(), MAX_TEXT));
        row.leaf("td", &[("class", "number")], &format!("{arrived_ms:.1} ms"));
        row.leaf("td", &[("class", "number")], &took);
        row.leaf("td", &[], &became(request, record));
    });
}

/// Its fate, what was done to it by name, and the cursor that it carried.
fn became(request: &Request, record: Option<&Record>) -> String {
    let mut told = vec![fate(request)];
    if let Some(record) = record {
        told.extend(record.faults.iter().cloned());
        told.extend(record.broken.clone());
        let cursors = [("header", &record.cursor_header), ("query", &record.cursor_query)];
        told.extend(cursors.into_iter().filter_map(|(whose, cursor)| {
            Some(format!("cursor {} in the {whose}", cursor.as_ref()?))
        }));
    }
    let told: Vec<_> = told.iter().map(|part| text::capped(part, MAX_TEXT)).collect();
    told.join("; ")
}
