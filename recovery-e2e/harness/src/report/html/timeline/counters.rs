//! What the counters came to.

use std::collections::BTreeSet;

use super::super::markup::Markup;
use super::super::traces::Counters;
use crate::proxy::Class;

/// The columns: what each says, the counter, and whether its largest value is told.
const COLUMNS: [(&str, &str, bool); 7] = [
    ("arrived", "arrived", false),
    ("answered", "answered", false),
    ("with 2xx", "ok", false),
    ("failed", "failed", false),
    ("left by the browser", "aborted", false),
    ("at once, at most", "in_flight", true),
    ("held at once, at most", "held", true),
];

/// Adds the table of the counters.
pub fn add(page: &mut Markup, counters: &Counters) {
    if counters.values.is_empty() {
        return;
    }
    page.element("details", &[("class", "more")], |details| {
        details.leaf("summary", &[], "What the counters came to");
        details.element("div", &[("class", "scroll"), ("tabindex", "0")], |div| {
            div.element("table", &[], |table| {
                table.element("thead", &[], |head| {
                    head.element("tr", &[], |row| {
                        row.leaf("th", &[("scope", "col")], "class");
                        for (name, ..) in COLUMNS {
                            row.leaf("th", &[("scope", "col"), ("class", "number")], name);
                        }
                    });
                });
                table.element("tbody", &[], |body| {
                    let classes = counters.values.keys().map(|(class, _)| class);
                    for class in classes.collect::<BTreeSet<_>>() {
                        row(body, class, counters);
                    }
                });
            });
        });
    });
}

fn row(body: &mut Markup, class: &Class, counters: &Counters) {
    let value = |counter: &str| counters.values.get(&(*class, counter.to_owned()));
    if value("arrived").is_none() {
        return;
    }
    body.element("tr", &[], |row| {
        row.leaf("th", &[("scope", "row")], class.name());
        for (_, counter, is_most) in COLUMNS {
            let told =
                value(counter).map_or(0, |value| if is_most { value.most } else { value.last });
            row.leaf("td", &[("class", "number")], &told.to_string());
        }
    });
}
