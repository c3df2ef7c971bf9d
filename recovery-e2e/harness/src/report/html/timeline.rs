//! The requests of an attempt over time, as a drawing and as a table.

mod counters;
mod draw;
mod lanes;
mod table;

pub use draw::add_patterns;

use super::markup::Markup;
use super::traces::{COUNTERS_FILE, Gap, REQUESTS_FILE, Requests, Trace, Untold};
use crate::record::journal::Phase;

/// The drawing and its tables, or what stands in its way.
pub fn add(page: &mut Markup, trace: &Trace, phases: &[Phase]) {
    match &trace.requests {
        Ok(requests) if requests.told.is_empty() => {
            let told = match requests.plain {
                0 => "There is no request to draw.".to_owned(),
                plain => format!("Only files and pages were asked for: {plain} requests."),
            };
            page.leaf("p", &[("class", "note")], &told);
        }
        Ok(requests) => {
            let lanes = lanes::lay_out(trace, requests, phases);
            draw::add(page, &lanes);
            table::add(page, &requests.told);
        }
        Err(untold) => missing(page, "The timeline is missing", REQUESTS_FILE, untold),
    }
    if let Ok(requests) = &trace.requests {
        notes(page, requests);
    }
    match &trace.counters {
        Ok(counters) => {
            counters::add(page, counters);
            gap(page, COUNTERS_FILE, counters.gap);
        }
        Err(untold) => missing(page, "The counters are missing", COUNTERS_FILE, untold),
    }
}

fn missing(page: &mut Markup, what: &str, file: &str, why: &Untold) {
    page.element("p", &[("class", "note missing")], |p| {
        p.text(&format!("{what}: "));
        p.leaf("code", &[], file);
        p.text(&format!(", {why}."));
    });
}

fn notes(page: &mut Markup, requests: &Requests) {
    let Requests { told, left_out, plain, gap: of_file } = requests;
    if *left_out > 0 {
        let what = format!("{left_out} more requests were left out; all are told by ");
        note(page, &what, REQUESTS_FILE, "");
    }
    if *plain > 0 && !told.is_empty() {
        let what = format!("Files and pages that were served are not drawn: {plain}, told by ");
        note(page, &what, REQUESTS_FILE, "");
    }
    gap(page, REQUESTS_FILE, *of_file);
}

fn gap(page: &mut Markup, file: &str, Gap { is_cut, unreadable }: Gap) {
    if is_cut {
        note(page, "Only the beginning of ", file, " was read: it is cut off, or long");
    }
    if unreadable > 0 {
        note(page, "In ", file, &format!(", lines that cannot be read: {unreadable}"));
    }
}

fn note(page: &mut Markup, before: &str, file: &str, after: &str) {
    page.element("p", &[("class", "note")], |p| {
        p.text(before);
        p.leaf("code", &[], file);
        p.text(&format!("{after}."));
    });
}
