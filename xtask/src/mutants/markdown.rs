//! The report as Markdown, for `target/mutants/report.md` and for the repository.

use std::fmt::Write as _;

use super::accepted::{self, Accepted};
use super::record::{Bad, Outcome, Record, Verdict};
use super::report::{Line, Report, percent};
use super::suite::{Control, Scenario, Suite};

/// A cell lists this many mutants by name, and counts the rest.
const MOST_NAMED: usize = 6;

/// How much is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// All, for the person who runs it.
    Full,
    /// What is the same on every machine: no reason of an inconclusive case, no duration.
    Kept,
}

/// The whole page.
pub fn page(report: &Report, suite: &Suite, detail: Detail) -> String {
    let mut page = format!(
        "# Mutants of the client\n\n\
         Each mutant removes one guard or one reset of `recovery-e2e/web/static/recovery`. The \
         scenarios of its family run on it until one fails. `cargo xtask mutants` makes this page; \
         `{}` has the reasons of those that did not fail.\n\n",
        accepted::PATH
    );
    page += &totals(report);
    for file in files(report) {
        let _ = write!(page, "\n## {file}\n\n");
        page += "| mutant | line | in | what is lost | outcome | detected by, or reason |\n";
        page += "| --- | ---: | --- | --- | --- | --- |\n";
        for line in report.lines.iter().filter(|line| line.mutant.file == file) {
            page += &row(line, detail);
        }
    }
    page += &fields(report, suite);
    if detail == Detail::Full && report.unexplained().next().is_some() {
        let entries: Vec<_> =
            report.unexplained().map(|line| Accepted::of(line.mutant, "")).collect();
        let entries = serde_json::to_string_pretty(&entries).unwrap_or_default();
        let _ = write!(
            page,
            "\n## Without a reason\n\nAs entries of `{}`:\n\n```json\n{entries}\n```\n",
            accepted::PATH
        );
    }
    page
}

/// How many mutants have which outcome.
pub fn totals(report: &Report) -> String {
    let all = report.lines.len();
    let mut table = "| outcome | mutants | % |\n| --- | ---: | ---: |\n".to_owned();
    for outcome in Outcome::ALL {
        let count = report.count(outcome);
        let _ = writeln!(table, "| {outcome} | {count} | {:.1} |", percent(count, all));
    }
    if report.missing() > 0 {
        let missing = report.missing();
        let _ = writeln!(table, "| no result | {missing} | {:.1} |", percent(missing, all));
    }
    let _ = writeln!(table, "| all | {all} | 100.0 |");
    table
}

fn files<'a>(report: &Report<'a>) -> Vec<&'a str> {
    let mut files: Vec<&str> = report.lines.iter().map(|line| line.mutant.file.as_str()).collect();
    files.dedup();
    files
}

fn row(line: &Line, detail: Detail) -> String {
    let mutant = line.mutant;
    let outcome = line.outcome().map_or("no result".to_owned(), |outcome| outcome.to_string());
    format!(
        "| {} | {} | {} | {}: {} | {outcome} | {} |\n",
        mutant.id,
        mutant.line,
        code(&mutant.within),
        mutant.what,
        code(mutant.first_line()),
        why(line, detail)
    )
}

/// The scenario that failed, or why none did.
fn why(line: &Line, detail: Detail) -> String {
    let Some(record) = line.record else { return String::new() };
    let mut parts: Vec<String> = Vec::new();
    let mut failed = record.bad.iter().filter_map(|bad| match &bad.verdict {
        Verdict::Failed { stamp, .. } => Some((&bad.scenario, stamp)),
        Verdict::Inconclusive { .. } | Verdict::Error { .. } => None,
    });
    parts.extend(failed.next().map(|(scenario, stamp)| format!("{scenario} {}", code(stamp))));
    let others = failed.count();
    if others > 0 {
        parts.push(format!("and {others} more"));
    }
    if detail == Detail::Full || record.outcome() != Outcome::Failed {
        parts.extend(record.bad.iter().filter_map(|bad| without_failure(bad, detail)));
    }
    match (record.outcome(), line.reason) {
        (Outcome::Failed, _) => {}
        (_, Some(reason)) => parts.insert(0, cell(reason)),
        (_, None) => parts.insert(0, "**no reason**".to_owned()),
    }
    parts.join("; ")
}

fn without_failure(Bad { scenario, verdict }: &Bad, detail: Detail) -> Option<String> {
    let (outcome, reason) = match verdict {
        Verdict::Failed { .. } => return None,
        Verdict::Inconclusive { reason, .. } => (Outcome::Inconclusive, reason),
        Verdict::Error { reason } => (Outcome::Error, reason),
    };
    Some(match detail {
        Detail::Full => format!("{outcome} in {scenario}: {}", cell(reason)),
        Detail::Kept => format!("{outcome} in {scenario}"),
    })
}

/// Which controls and mutants changed each field of each scenario's stamp.
fn fields(report: &Report, suite: &Suite) -> String {
    let mut table = "\n## What changes each field of a stamp\n\n\
        | scenario | field | expected | controls | mutants |\n\
        | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for scenario in &suite.scenarios {
        for (field, expected) in scenario.expected() {
            let controls = controls(scenario, &field);
            let mutants = mutants(report, &scenario.name, &field);
            let _ = writeln!(
                table,
                "| {} | {field} | {expected} | {} | {} |",
                scenario.name,
                names(&controls),
                names(&mutants)
            );
        }
    }
    table
}

fn controls<'a>(scenario: &'a Scenario, field: &str) -> Vec<&'a str> {
    let changes = |control: &&Control| {
        scenario.changes(&control.predicted).iter().any(|change| change.field == field)
    };
    scenario.controls.iter().filter(changes).map(|control| control.name.as_str()).collect()
}

fn mutants<'a>(report: &Report<'a>, scenario: &str, field: &str) -> Vec<&'a str> {
    let changes = |record: &Record| {
        record.bad.iter().any(|bad| {
            bad.scenario == scenario
                && matches!(&bad.verdict, Verdict::Failed { changed, .. }
                    if changed.iter().any(|change| change.field == field))
        })
    };
    let lines = report.lines.iter().filter(|line| line.record.is_some_and(changes));
    lines.map(|line| line.mutant.id.as_str()).collect()
}

fn names(names: &[&str]) -> String {
    match names.len().saturating_sub(MOST_NAMED) {
        _ if names.is_empty() => "none".to_owned(),
        0 => names.join(", "),
        rest => format!("{} and {rest} more", names[..MOST_NAMED].join(", ")),
    }
}

/// Text in a cell of a table: one line, and no bar.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Code in a cell of a table.
fn code(text: &str) -> String {
    match text {
        "" => String::new(),
        text if text.contains('`') => format!("`` {} ``", cell(text)),
        text => format!("`{}`", cell(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::stamp::Change;
    use super::super::{mutant, record, suite};
    use super::*;

    fn failed(stamp: &str, field: &str) -> Verdict {
        let changed =
            Change { field: field.to_owned(), expected: "1".to_owned(), found: "2".to_owned() };
        Verdict::Failed { stamp: stamp.to_owned(), changed: vec![changed] }
    }

    #[test]
    fn the_page_has_the_totals_each_mutant_and_what_changes_each_field() {
        let mutants = [
            mutant::sample("core.js", 3, "if (a || b) return;\nsecond line"),
            mutant::sample("gate.js", 9, "a || `b`"),
            mutant::sample("gate.js", 10, "c"),
            mutant::sample("gate.js", 11, "d"),
        ];
        let stamp = "RECOVERY-FAILED-X-posts1-rows2";
        let slow = Verdict::Inconclusive {
            stamp: None,
            reason: "a wait timed out\nafter 12.5 s".to_owned(),
        };
        let records = [
            record::sample(
                &mutants[0],
                &[("storm", slow.clone()), ("restart", failed(stamp, "rows"))],
            ),
            record::sample(&mutants[1], &[]),
            record::sample(&mutants[2], &[("storm", slow)]),
        ];
        let accepted = [Accepted::of(&mutants[1], "b is a | c")];
        let all: Vec<_> = mutants.iter().collect();
        let report = Report::new(&all, &records, &accepted, true);
        let suite = suite::sample(&[("restart", "interactive")]);

        let kept = page(&report, &suite, Detail::Kept);
        for line in [
            "| failed | 1 | 25.0 |",
            "| survived | 1 | 25.0 |",
            "| no result | 1 | 25.0 |",
            "| all | 4 | 100.0 |",
            "## core.js",
            "| core-3 | 3 | `Recovery.open` | guard dropped: `if (a \\|\\| b) return;` | failed | \
             restart `RECOVERY-FAILED-X-posts1-rows2` |",
            "| gate-9 | 9 | `Recovery.open` | guard dropped: `` a \\|\\| `b` `` | survived | \
             b is a \\| c |",
            "| gate-10 | 10 | `Recovery.open` | guard dropped: `c` | inconclusive | \
             **no reason**; inconclusive in storm |",
            "| gate-11 | 11 | `Recovery.open` | guard dropped: `d` | no result |  |",
            "| restart | posts | 1 | no-gate | none |",
            "| restart | rows | 1 | none | core-3 |",
        ] {
            assert!(kept.lines().any(|it| it == line), "{line}\nis missing in\n{kept}");
        }
        assert!(!kept.contains("12.5 s") && !kept.contains("Without a reason"), "{kept}");

        let full = page(&report, &suite, Detail::Full);
        assert!(
            full.contains("; inconclusive in storm: a wait timed out after 12.5 s |"),
            "{full}"
        );
        assert!(full.contains("## Without a reason"), "{full}");
    }

    #[test]
    fn a_long_list_of_names_is_counted() {
        assert_eq!(names(&["a"; 6]), "a, a, a, a, a, a");
        assert_eq!(names(&["a"; 8]), "a, a, a, a, a, a and 2 more");
    }
}
