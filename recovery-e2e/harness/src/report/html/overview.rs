//! The top of the page: how the run went, and with what it was set up.

use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

use super::super::headline::seconds;
use super::super::summary::{Counts, ShardTimes, Summary, exit_code};
use super::super::{Trouble, text};
use super::markup::Markup;
use super::{OUTCOMES, add_badge, add_fact, command, sign};
use crate::record::build::short;
use crate::record::journal::{Part, RunFinished, RunInfo, Stop};
use crate::record::verdict::Outcome;

/// The most shards and errors that are shown.
const MAX_ROWS: usize = 100;

/// The page's title.
pub fn title(summary: &Summary) -> String {
    let sign = sign(if exit_code(summary) == 0 { Outcome::Ready } else { Outcome::Failed });
    format!("{sign} {} \u{2013} recovery-e2e", headline(summary))
}

/// Adds the top of the page.
pub fn add(body: &mut Markup, summary: &Summary) {
    let is_good = exit_code(summary) == 0;
    let class = if is_good { "good" } else { "bad" };
    body.element("header", &[("class", class)], |header| {
        header.leaf("p", &[("class", "product")], "recovery-e2e");
        header.element("h1", &[], |h1| {
            let sign = sign(if is_good { Outcome::Ready } else { Outcome::Failed });
            h1.leaf("span", &[("class", "sign"), ("aria-hidden", "true")], sign);
            h1.text(&headline(summary));
        });
        header.leaf("p", &[("class", "ended")], &how_it_ended(summary));
        proportions(header, summary);
        for Trouble { name, outcome, reason } in summary.troubles().into_iter().take(MAX_ROWS) {
            header.element("div", &[("class", "trouble")], |trouble| {
                add_badge(trouble, outcome);
                trouble.leaf("strong", &[], &text::line(&name));
                trouble.leaf("span", &[], &text::line(&reason));
            });
        }
        header.element("dl", &[("class", "facts")], |facts| run_facts(facts, summary));
        if summary.run.plan.shards > 1 {
            shards(header, summary);
        }
    });
}

/// `1 failed, 24 ready`, what is bad first. Trouble of the run is as bad as a case.
fn headline(summary: &Summary) -> String {
    let cases: Vec<_> = OUTCOMES
        .into_iter()
        .map(|outcome| (count(&summary.counts, outcome), outcome))
        .filter(|(count, _)| *count > 0)
        .map(|(count, outcome)| match outcome {
            Outcome::Error if count > 1 => format!("{count} errors"),
            _ => format!("{count} {}", outcome.name()),
        })
        .collect();
    let cases = if cases.is_empty() { "no case".to_owned() } else { cases.join(", ") };
    let is_cut = |trouble: &Trouble| trouble.outcome == Outcome::Interrupted;
    match summary.troubles().as_slice() {
        [] => cases,
        troubles if troubles.iter().all(is_cut) => format!("Not a whole run: {cases}"),
        _ => format!("Trouble with the run: {cases}"),
    }
}

fn how_it_ended(summary: &Summary) -> String {
    let ended = match &summary.finished {
        None => "The run was cut off before its end".to_owned(),
        Some(RunFinished { seconds: took, stopped, .. }) => {
            let took = seconds(*took);
            match stopped {
                None => format!("The run took {took}"),
                Some(Stop::Signal) => format!("The run was stopped by a signal after {took}"),
                Some(Stop::FailFast(bad)) => {
                    format!("The run stopped at {} after {took} (--fail-fast)", text::line(bad))
                }
            }
        }
    };
    let realised = summary.shards.iter().map(|shard| shard.realised_seconds).sum();
    let predicted = summary.shards.iter().map(|shard| shard.predicted_seconds).sum();
    let together = match predicted {
        Some(predicted) => format!("{}, predicted {}", seconds(realised), seconds(predicted)),
        None => seconds(realised),
    };
    format!("{ended}; its cases together took {together}.")
}

/// A bar of all cases, one stretch for each outcome.
fn proportions(header: &mut Markup, summary: &Summary) {
    let all = summary.cases.len();
    if all == 0 {
        return;
    }
    header.element(
        "svg",
        &[("class", "proportions"), ("height", "8"), ("aria-hidden", "true")],
        |svg| {
            let mut before = 0;
            for outcome in OUTCOMES {
                let count = count(&summary.counts, outcome);
                let percent = |cases: usize| format!("{:.2}%", cases as f64 / all as f64 * 100.0);
                if count > 0 {
                    let (x, width) = (percent(before), percent(count));
                    let class = format!("fill {}", outcome.name());
                    let place = [("class", &*class), ("x", &x), ("width", &width), ("height", "8")];
                    svg.void("rect", &place);
                }
                before += count;
            }
        },
    );
}

fn run_facts(facts: &mut Markup, summary: &Summary) {
    let run = &summary.run;
    let mut fact = |name: &str, value: &str| {
        add_fact(facts, name, |dd| dd.text(&text::line(value)));
    };
    fact("Browser", &run.browser.version);
    fact("Browser from", &format!("{}, {}", run.browser.origin, run.browser.path));
    fact("Sandbox", run.browser.sandbox.label());
    if run.browser.small_shm {
        fact("/dev/shm", "too small to be used");
    }
    fact("Isolation", run.isolation.label());
    fact("Clock", run.clock.label());
    if let Part::Shard(shard) = run.part {
        fact("Seed", &run.seed.to_string());
        fact("Shard", &format!("{shard} of {}", run.plan.shards));
    } else {
        fact("Shards", &format!("{}, merged", run.plan.shards));
    }
    fact("Jobs", &run.jobs.to_string());
    fact("Node", &run.node);
    fact("Harness", &run.harness_version);
    fact("Build", &run.build.to_string());
    fact("Run", &run.run_id);
    add_fact(facts, "Plan", |dd| {
        dd.leaf("code", &[("title", &text::line(&run.plan.hash))], short(&run.plan.hash));
    });
    add_fact(facts, "Started", |dd| {
        let (machine, person) = started(run);
        dd.leaf("time", &[("datetime", &machine)], &person);
    });
    if let Part::Shard(_) = run.part {
        add_fact(facts, "Again", |dd| {
            dd.leaf("code", &[("class", "command")], &text::line(&command::of_run(run)))
        });
    }
}

/// When the run began, for a machine and for a person.
fn started(run: &RunInfo) -> (String, String) {
    let form = format_description!("[year]-[month]-[day] [hour]:[minute]:[second] UTC");
    // A journal of others may name a time that has no like in UTC.
    let utc = run.started_at.checked_to_offset(time::UtcOffset::UTC);
    let at = utc.unwrap_or(run.started_at);
    (at.format(&Rfc3339).unwrap_or_default(), at.format(form).unwrap_or_default())
}

/// A row for each shard: of a merged run for every one that was planned, be it there or not.
fn shards(header: &mut Markup, summary: &Summary) {
    let all = summary.run.plan.shards;
    let runs: Vec<(u32, Option<&RunInfo>)> = match &summary.run.part {
        Part::Shard(shard) => vec![(*shard, Some(&summary.run))],
        Part::Merged(runs) => {
            let of_shard = |shard| runs.iter().find(|run| run.run.part == Part::Shard(shard));
            let shards = (1..=all).take(MAX_ROWS);
            shards.map(|shard| (shard, of_shard(shard).map(|run| &run.run))).collect()
        }
    };
    header.element("div", &[("class", "scroll"), ("tabindex", "0")], |div| {
        div.element("table", &[("class", "shards")], |table| {
            table.element("thead", &[], |head| {
                head.element("tr", &[], |row| {
                    for name in ["shard", "cases", "predicted", "took", "seed", "again"] {
                        row.leaf("th", &[("scope", "col")], name);
                    }
                });
            });
            table.element("tbody", &[], |body| {
                for (shard, run) in runs {
                    let times = summary.shards.iter().find(|times| times.shard == shard);
                    body.element("tr", &[], |row| {
                        row.leaf("th", &[("scope", "row")], &format!("{shard}/{all}"));
                        match run {
                            Some(run) => shard_run(row, times, run),
                            None => row.leaf("td", &[("class", "no"), ("colspan", "5")], "missing"),
                        }
                    });
                }
            });
        });
    });
}

fn shard_run(row: &mut Markup, times: Option<&ShardTimes>, run: &RunInfo) {
    let cases = times.map_or(0, |times| times.cases).to_string();
    let predicted = times.and_then(|times| times.predicted_seconds);
    let realised = times.map_or(0.0, |times| times.realised_seconds);
    row.leaf("td", &[], &cases);
    row.leaf("td", &[], &predicted.map_or("\u{2013}".to_owned(), seconds));
    row.leaf("td", &[], &seconds(realised));
    row.leaf("td", &[], &run.seed.to_string());
    row.element("td", &[], |cell| {
        cell.leaf("code", &[("class", "command")], &text::line(&command::of_run(run)));
    });
}

/// Adds what narrows the list of cases. By outcome it works without the script too.
pub fn add_filter(main: &mut Markup, summary: &Summary) {
    main.element("form", &[("class", "filter"), ("role", "search")], |form| {
        form.element("fieldset", &[], |choices| {
            choices.leaf("legend", &[], "Outcome");
            choice(choices, "all", &format!("all {}", summary.cases.len()), true);
            for outcome in OUTCOMES {
                let count = count(&summary.counts, outcome);
                if count > 0 {
                    let text = format!("{} {} {count}", sign(outcome), outcome.name());
                    choice(choices, outcome.name(), &text, false);
                }
            }
        });
        form.element("div", &[("class", "find"), ("hidden", "")], |find| {
            find.leaf("label", &[("for", "find")], "Find a case");
            let field = [
                ("id", "find"),
                ("type", "search"),
                ("placeholder", "name, stamp or reason  /"),
                ("autocomplete", "off"),
                ("spellcheck", "false"),
            ];
            find.void("input", &field);
            find.leaf("button", &[("type", "button"), ("id", "open-all")], "Open all");
            find.leaf("button", &[("type", "button"), ("id", "close-all")], "Close all");
        });
        form.leaf("output", &[("id", "shown"), ("for", "find")], "");
    });
}

fn choice(choices: &mut Markup, value: &str, text: &str, is_chosen: bool) {
    let id = format!("show-{value}");
    choices.element("label", &[("class", &format!("choice {value}"))], |label| {
        let field = [("type", "radio"), ("name", "show"), ("id", &*id), ("value", value)];
        let chosen = [("checked", "")].into_iter().filter(|_| is_chosen);
        label.void("input", &field.into_iter().chain(chosen).collect::<Vec<_>>());
        label.leaf("span", &[], text);
    });
}

fn count(counts: &Counts, outcome: Outcome) -> usize {
    match outcome {
        Outcome::Ready => counts.ready,
        Outcome::Flaky => counts.flaky,
        Outcome::Failed => counts.failed,
        Outcome::Inconclusive => counts.inconclusive,
        Outcome::Error => counts.error,
        Outcome::Interrupted => counts.interrupted,
        Outcome::Skipped => counts.skipped,
    }
}
