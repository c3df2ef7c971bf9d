//! `summary.md`: a run on one page, as the job summary of a CI.

use std::cmp::Reverse;
use std::fmt::Write;

use super::summary::{ShardTimes, Summary};
use super::text;
use crate::record::build::short;
use crate::record::journal::CaseView;
use crate::record::verdict::Outcome;

/// The most rows of a table: a job summary has room for a mebibyte.
const MAX_ROWS: usize = 100;

/// How many of the slowest are named.
const SLOWEST: usize = 5;

/// The page, with its last line feed.
pub fn render(summary: &Summary) -> String {
    let counts = &summary.counts;
    let passed = counts.passed();
    let mut page = format!("### recovery-e2e: {passed} passed, {} failed", counts.not_passed());
    // Writing to a string cannot fail.
    for (count, what) in [(counts.flaky, "flaky"), (counts.skipped, "skipped")] {
        if count > 0 {
            let _ = write!(page, ", {count} {what}");
        }
    }
    let _ = writeln!(
        page,
        "\n\n{}, plan `{}`, build {}",
        inline(&summary.run.browser.version),
        short(&summary.run.plan.hash),
        inline(&summary.run.build.to_string())
    );
    for trouble in summary.troubles() {
        let _ = writeln!(page, "\n**{}**: {}", inline(&trouble.name), inline(&trouble.reason));
    }
    let noted = summary.cases.iter().filter(|seen| seen.result.outcome != Outcome::Ready);
    let rows = noted.map(|CaseView { case, result, .. }| {
        let stamp = result.stamp.as_ref().map(ToString::to_string);
        let said: Vec<_> = stamp.iter().chain(&result.reason).map(|text| inline(text)).collect();
        let outcome = result.outcome.name();
        format!(
            "{} | {outcome} | {} | {}",
            inline(&case.id),
            said.join(": "),
            inline(case.dir.as_str())
        )
    });
    table(&mut page, "case | outcome | why | folder", rows.collect());

    let mut slowest: Vec<_> =
        summary.cases.iter().filter(|seen| seen.result.seconds > 0.0).collect();
    slowest.sort_by_key(|seen| Reverse((seen.result.seconds * 1000.0).round() as u64));
    slowest.truncate(SLOWEST);
    let rows = slowest
        .iter()
        .map(|seen| format!("{} | {:.1}", inline(&seen.case.id), seen.result.seconds));
    table(&mut page, "slowest | seconds", rows.collect());

    let rows = summary.shards.iter().map(|times| {
        let ShardTimes { shard, cases, predicted_seconds, realised_seconds } = times;
        let predicted = predicted_seconds.map_or("-".to_owned(), |s| format!("{s:.1}"));
        format!(
            "{shard}/{} | {cases} | {predicted} | {realised_seconds:.1}",
            summary.run.plan.shards
        )
    });
    table(&mut page, "shard | cases | predicted seconds | realised seconds", rows.collect());
    page
}

/// A table with these rows, unless there is none.
fn table(page: &mut String, head: &str, rows: Vec<String>) {
    if rows.is_empty() {
        return;
    }
    let rule = head.split('|').map(|_| "---").collect::<Vec<_>>().join(" | ");
    let _ = writeln!(page, "\n| {head} |\n| {rule} |");
    for row in rows.iter().take(MAX_ROWS) {
        let _ = writeln!(page, "| {row} |");
    }
    if rows.len() > MAX_ROWS {
        let _ = writeln!(page, "\nand {} more", rows.len() - MAX_ROWS);
    }
}

/// `text` on one line, in which nothing is markup.
fn inline(text: &str) -> String {
    let mut inline = String::new();
    for c in text::line(text).chars() {
        if "\\`*_[]<>&|~!#$".contains(c) {
            inline.push('\\');
        }
        inline.push(c);
    }
    inline
}

#[cfg(test)]
mod tests {
    use super::super::tests::summary;
    use super::*;

    #[test]
    fn a_page_tells_what_is_not_ready_the_slowest_and_the_shards() {
        let mut mixed = summary(&[
            ("a", None, Outcome::Ready, None),
            ("b", None, Outcome::Failed, None),
            ("c", None, Outcome::Inconclusive, Some("did not hold: a|b\n<img src=x> `rm`")),
            ("d", None, Outcome::Flaky, None),
            ("e", None, Outcome::Interrupted, Some("the run ended before this case started")),
        ]);
        mixed.cases[0].result.seconds = 9.04;
        mixed.cases[4].result.seconds = 0.0;
        mixed.finished = None;
        insta::assert_snapshot!(render(&mixed), @r"
        ### recovery-e2e: 2 passed, 3 failed, 1 flaky

        Chromium 156.0, plan `0123456789abcdef`, build digest 5e1f5e1f5e1f5e1f, commit c0ffeec0ffeec0ff

        **run**: it was cut off before its end

        | case | outcome | why | folder |
        | --- | --- | --- | --- |
        | b | failed | RECOVERY-FAILED-REWINDWIN-posts2 | target/e2e/scenarios/b |
        | c | inconclusive | did not hold: a\|b \<img src=x\> \`rm\` | target/e2e/scenarios/c |
        | d | flaky | RECOVERY-READY-REWINDWIN-posts1 | target/e2e/scenarios/d |
        | e | interrupted | the run ended before this case started | target/e2e/scenarios/e |

        | slowest | seconds |
        | --- | --- |
        | a | 9.0 |
        | b | 1.9 |
        | c | 1.9 |
        | d | 1.9 |

        | shard | cases | predicted seconds | realised seconds |
        | --- | --- | --- | --- |
        | 1/1 | 5 | 12.5 | 9.4 |
        ");
    }

    #[test]
    fn a_good_run_has_no_table_of_cases_and_a_large_one_a_short_one() {
        let good = summary(&[("a", None, Outcome::Ready, None)]);
        assert!(!render(&good).contains("| why |"));
        let many: Vec<_> = (0..150).map(|n| format!("case-{n}")).collect();
        let ends: Vec<_> =
            many.iter().map(|id| (id.as_str(), None, Outcome::Error, Some("x"))).collect();
        let page = render(&summary(&ends));
        assert_eq!(page.matches("| error |").count(), MAX_ROWS);
        assert!(page.contains("\nand 50 more\n"));
    }

    #[test]
    fn what_a_case_tells_is_no_markup() {
        assert_eq!(inline("a|b\n![x](http://y)"), r"a\|b \!\[x\](http://y)");
    }
}
