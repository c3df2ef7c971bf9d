//! The requests of an attempt over time, as a drawing and as tables.

mod counters;
mod draw;
mod lanes;
mod table;

pub use draw::add_patterns;

use super::markup::Markup;
use super::traces::{Gap, NoTrace, REQUESTS_FILE, Trace};
use crate::record::journal::Phase;

/// Adds the drawing and its tables, or why there are none.
pub fn add(page: &mut Markup, trace: &Result<Trace, NoTrace>, phases: &[Phase]) {
    let trace = match trace {
        Ok(trace) => trace,
        Err(why) => {
            page.element("p", &[("class", "note missing")], |p| {
                p.text("There is no timeline: ");
                p.leaf("code", &[], REQUESTS_FILE);
                p.text(&format!(", {why}."));
            });
            return;
        }
    };
    if trace.shown.is_empty() {
        let why = match trace.plain {
            0 => "There is no request to draw.".to_owned(),
            plain => format!("Only files and pages were requested: {plain} requests."),
        };
        page.leaf("p", &[("class", "note")], &why);
    } else {
        draw::add(page, &lanes::lay_out(trace, phases));
        table::add(page, &trace.shown);
    }
    counters::add(page, trace);
    notes(page, trace);
}

fn notes(page: &mut Markup, trace: &Trace) {
    let Trace { shown, left_out, plain, changes_left_out, gap, .. } = trace;
    let Gap { is_cut, unreadable } = gap;
    if *left_out > 0 {
        note(page, &format!("{left_out} more requests were left out; all are in "), "");
    }
    if *plain > 0 && !shown.is_empty() {
        note(page, &format!("Files and pages that were served are not drawn: {plain}, in "), "");
    }
    if *changes_left_out > 0 {
        let what = format!(
            "{changes_left_out} more events that changed counters were left out; all are in "
        );
        note(page, &what, "");
    }
    if *is_cut {
        let after = " was read: it is cut off, or long; a request may have ended after that";
        note(page, "Only the beginning of ", after);
    }
    if *unreadable > 0 {
        note(page, "In ", &format!(", lines that cannot be read: {unreadable}"));
    }
}

fn note(page: &mut Markup, before: &str, after: &str) {
    page.element("p", &[("class", "note")], |p| {
        p.text(before);
        p.leaf("code", &[], REQUESTS_FILE);
        p.text(&format!("{after}."));
    });
}
