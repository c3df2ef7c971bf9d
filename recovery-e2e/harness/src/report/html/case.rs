//! One case: its headline, and everything that says why.

use camino::{Utf8Path, Utf8PathBuf};

use super::markup::Markup;
use super::traces::Traces;
use super::{add_badge, add_fact, command, link, timeline};
use crate::record::journal::{Case, CaseResult, CaseView};
use crate::record::ledger::Holding;
use crate::record::verdict::{Evidence, ReceiptReport};
use crate::report::headline::{self, seconds};
use crate::report::{Summary, text};

/// The most that is shown of a reason, in bytes; the whole is in the verdict file.
const MAX_REASON: usize = 8 << 10;

/// The most that is shown of an observation, in bytes.
const MAX_CELL: usize = 1 << 10;

/// The most rows, pictures, files or attempts of a case.
const MAX_ROWS: usize = 100;

/// The out folder's place, and what was read below it.
pub type Files<'a> = (&'a Utf8Path, &'a Traces);

/// Adds a case with its `details`, or with a word on where they are when there is no room.
pub fn add(
    main: &mut Markup,
    CaseView { case, result, .. }: &CaseView,
    is_open: bool,
    place: &Utf8Path,
    details: Option<&Markup>,
) {
    let outcome = result.outcome.name();
    let kind = format!("case {outcome}");
    let opened = [("open", "")].into_iter().filter(|_| is_open);
    let attributes = [("class", &*kind), ("data-case", &case.id), ("data-outcome", outcome)];
    let attributes: Vec<_> = attributes.into_iter().chain(opened).collect();
    main.element("details", &attributes, |element| {
        element.element("summary", &[], |summary| add_headline(summary, case, result));
        // The anchor is inside: a browser that is led to it opens what is around it.
        element.element("div", &[("class", "body"), ("id", &link::anchor(&case.id))], |body| {
            match details {
                Some(details) => body.append(details),
                None => body.element("p", &[("class", "note")], |p| {
                    p.text("The details were left out, as this page is bounded; they are in ");
                    folder(p, place, &case.attempt_dir(result.attempt));
                    p.text(".");
                }),
            }
        });
    });
}

fn add_headline(summary: &mut Markup, case: &Case, result: &CaseResult) {
    add_badge(summary, result.outcome);
    summary.element("span", &[("class", "name")], |name| {
        name.text(&text::line(&case.id));
        if case.control.is_some() {
            name.leaf("span", &[("class", "tag")], "control");
        }
    });
    let stamp = headline::stamp(case, result).unwrap_or_default();
    summary.leaf("code", &[("class", "stamp")], &text::line(&stamp));
    summary.element("span", &[("class", "took")], |times| {
        if let Some(took) = headline::took(result) {
            times.leaf("b", &[], &took);
        }
        if let Some(predicted) = case.predicted_seconds {
            times.leaf("small", &[], &format!("of {}", seconds(predicted)));
        }
    });
    if let Some(reason) = &result.reason {
        summary.leaf("span", &[("class", "why")], &text::line(reason));
    }
}

/// Adds what is below the headline: the last attempt, and those before.
pub fn add_details(
    details: &mut Markup,
    summary: &Summary,
    CaseView { case, result, earlier }: &CaseView,
    files: Files<'_>,
) {
    attempt(details, summary, (case, result), files);
    for before in earlier.iter().take(MAX_ROWS) {
        details.element("details", &[("class", "attempt")], |element| {
            element.element("summary", &[], |summary| {
                add_badge(summary, before.outcome);
                summary.text(&format!("attempt {}", before.attempt));
                let stamp = before.stamp.as_ref().map(ToString::to_string).unwrap_or_default();
                summary.leaf("code", &[("class", "stamp")], &text::line(&stamp));
                summary.leaf("span", &[("class", "took")], &seconds(before.seconds));
            });
            element.element("div", &[("class", "body")], |body| {
                attempt(body, summary, (case, before), files);
            });
        });
    }
}

fn attempt(
    body: &mut Markup,
    summary: &Summary,
    (case, result): (&Case, &CaseResult),
    (place, traces): Files<'_>,
) {
    if let Some(reason) = &result.reason {
        body.leaf("pre", &[("class", "reason")], &text::capped(reason, MAX_REASON));
    }
    evidence(body, &result.evidence);
    receipts(body, &result.receipts);
    let dir = case.attempt_dir(result.attempt);
    if let Some(trace) = traces.of(&dir) {
        body.leaf("h2", &[], "Timeline");
        timeline::add(body, trace, &result.phases);
    }
    let (pictures, others): (Vec<_>, Vec<_>) =
        result.artifacts.iter().partition(|path| path.extension() == Some("png"));
    gallery(body, place, pictures);
    body.element("dl", &[("class", "facts")], |facts| {
        if let Some(predicted) = &case.predicted {
            add_fact(facts, "Predicted", |dd| dd.leaf("code", &[], &text::line(predicted)));
        }
        add_fact(facts, "Family", |dd| dd.text(&text::line(&case.family)));
        if summary.run.plan.shards > 1 {
            add_fact(facts, "Shard", |dd| dd.text(&case.shard.to_string()));
        }
        if let Some(ledger) = &result.ledger {
            let left = ledger.left.describe().unwrap_or("nothing".to_owned());
            add_fact(facts, "Left behind", |dd| dd.text(&text::capped(&left, MAX_CELL)));
        }
        phases(facts, result);
        if let Some(ledger) = &result.ledger {
            add_fact(facts, "Held before its stage closed", |dd| {
                dd.leaf("p", &[], &held(&ledger.held));
            });
        }
        add_fact(facts, "Files", |dd| links(dd, place, &dir, &others));
        let again = command::of_attempt(summary, case, result);
        add_fact(facts, "Again", |dd| {
            dd.leaf("code", &[("class", "command")], &text::line(&again))
        });
    });
}

fn evidence(body: &mut Markup, evidence: &[Evidence]) {
    let rows = evidence.iter().map(|Evidence { what, held, saw, .. }| {
        let mark = if *held { "held" } else { "did not hold" };
        (*held, mark.to_owned(), what.as_str(), saw.as_str())
    });
    table(body, "Evidence", ["did it hold", "what must be so", "what was seen"], rows.collect());
}

fn receipts(body: &mut Markup, receipts: &[ReceiptReport]) {
    let rows = receipts.iter().map(|ReceiptReport { name, redeemed, armed, broken }| {
        let has_fired = broken.is_none() && *redeemed > 0 && redeemed >= armed;
        let mark = match (broken, redeemed) {
            (Some(_), _) => "broke".to_owned(),
            (None, 0) => "never fired".to_owned(),
            (None, _) => format!("fired {redeemed} of {armed}"),
        };
        (has_fired, mark, name.as_str(), broken.as_deref().unwrap_or_default())
    });
    table(body, "Faults", ["did it fire", "fault", "why it broke"], rows.collect());
}

/// A table of what is so and what is not, unless there is neither.
fn table(
    body: &mut Markup,
    title: &str,
    [mark, what, saw]: [&str; 3],
    rows: Vec<(bool, String, &str, &str)>,
) {
    if rows.is_empty() {
        return;
    }
    let has_more = rows.iter().any(|(.., more)| !more.is_empty());
    body.leaf("h2", &[], title);
    body.element("table", &[("class", "proof")], |table| {
        table.element("thead", &[], |head| {
            head.element("tr", &[], |row| {
                for name in [mark, what].into_iter().chain(Some(saw).filter(|_| has_more)) {
                    row.leaf("th", &[("scope", "col")], name);
                }
            });
        });
        table.element("tbody", &[], |body| {
            for (is_so, mark, what, saw) in rows.iter().take(MAX_ROWS) {
                let class = if *is_so { "yes" } else { "no" };
                body.element("tr", &[("class", class)], |row| {
                    row.element("td", &[("class", "mark")], |cell| {
                        let sign = if *is_so { "\u{2713}" } else { "\u{2717}" };
                        cell.leaf("span", &[("class", "sign"), ("aria-hidden", "true")], sign);
                        cell.text(mark);
                    });
                    row.leaf("td", &[], &text::capped(what, MAX_CELL));
                    if has_more {
                        row.leaf("td", &[("class", "saw")], &text::capped(saw, MAX_CELL));
                    }
                });
            }
        });
    });
    more(body, rows.len());
}

/// The pictures in the order in which they were taken: their names begin with a number.
fn gallery(body: &mut Markup, place: &Utf8Path, pictures: Vec<&Utf8PathBuf>) {
    let mut pictures: Vec<_> = pictures.into_iter().map(|path| (shown(path), path)).collect();
    if pictures.is_empty() {
        return;
    }
    pictures.sort();
    body.leaf("h2", &[], "Screenshots");
    body.element("ol", &[("class", "gallery")], |list| {
        for ((_, name), path) in pictures.iter().take(MAX_ROWS) {
            let Some(href) = link::below(place, path).map(link::href) else { continue };
            let alt = format!("The page: {name}");
            list.element("li", &[], |item| {
                item.element("a", &[("href", &href)], |a| {
                    a.void("img", &[("src", &href), ("alt", &alt), ("loading", "lazy")]);
                    a.leaf("span", &[], name);
                });
            });
        }
    });
    more(body, pictures.len());
}

/// The number and the name of a screenshot: of `3-first-paint.png`, 3 and `3 first paint`.
fn shown(path: &Utf8Path) -> (u32, String) {
    let stem = text::line(path.file_stem().unwrap_or_default());
    let number = stem.split('-').next().and_then(|number| number.parse().ok());
    (number.unwrap_or(u32::MAX), stem.replace('-', " "))
}

fn phases(facts: &mut Markup, result: &CaseResult) {
    if result.phases.is_empty() {
        return;
    }
    add_fact(facts, "Phases", |dd| {
        dd.element("ol", &[("class", "phases")], |list| {
            for phase in result.phases.iter().take(MAX_ROWS) {
                list.element("li", &[], |item| {
                    item.text(&text::line(&phase.name));
                    item.leaf("b", &[], &format!("{:.2} s", phase.seconds));
                });
            }
        });
    });
}

/// What a case held of the machine, in a line.
fn held(Holding { processes, ports, temp_bytes, shm }: &Holding) -> String {
    let ports: Vec<_> = ports.iter().map(ToString::to_string).collect();
    let listed = |what: &str, names: &[String]| match names {
        [] => format!("{what}: none"),
        names => format!("{what}: {} ({})", names.len(), names.join(", ")),
    };
    let (processes, ports) = (listed("processes", processes), listed("ports", &ports));
    let files = format!("temporary files: {:.1} MB", *temp_bytes as f64 / 1e6);
    let shm = listed("/dev/shm", shm);
    text::capped(&[processes, ports, files, shm].join("; "), MAX_CELL)
}

fn links(dd: &mut Markup, place: &Utf8Path, dir: &Utf8Path, files: &[&Utf8PathBuf]) {
    dd.element("ul", &[("class", "files")], |list| {
        list.element("li", &[], |item| folder(item, place, dir));
        for path in files.iter().take(MAX_ROWS) {
            let name = text::line(path.file_name().unwrap_or_default());
            list.element("li", &[], |item| match link::below(place, path).map(link::href) {
                Some(href) => item.leaf("a", &[("href", &href)], &name),
                None => item.text(&name),
            });
        }
    });
    more(dd, files.len());
}

/// Adds a link to a folder of the report, or its path where there can be none.
fn folder(markup: &mut Markup, place: &Utf8Path, dir: &Utf8Path) {
    match link::below(place, dir) {
        Some(below) => {
            let href = format!("{}/", link::href(below));
            markup.leaf("a", &[("href", &href)], &format!("{}/", text::line(below.as_str())));
        }
        None => markup.leaf("code", &[], &text::line(dir.as_str())),
    }
}

fn more(markup: &mut Markup, count: usize) {
    if count > MAX_ROWS {
        markup.leaf("p", &[("class", "note")], &format!("and {} more", count - MAX_ROWS));
    }
}
