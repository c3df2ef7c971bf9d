//! What GitHub reads: annotations on the standard output, and the job's summary.

use std::fs::OpenOptions;
use std::io::{self, Write};

use camino::Utf8Path;

use super::summary::Summary;
use super::text;
use crate::record::journal::CaseView;
use crate::record::verdict::Outcome;

/// The most annotations of one kind that GitHub shows for a step.
const MAX_ANNOTATIONS: usize = 10;

/// One workflow command for each thing that is wrong, up to as many as are shown; the last then
/// says how many more there are.
pub fn annotations(summary: &Summary) -> Vec<String> {
    let troubles = summary.troubles();
    let of_run = troubles.iter().map(|trouble| error(&trouble.name, &trouble.reason));
    let is_bad = |seen: &&CaseView| seen.result.outcome.is_bad();
    let of_cases = summary.cases.iter().filter(is_bad).map(|CaseView { case, result, .. }| {
        let stamp = result.stamp.as_ref().filter(|_| result.outcome == Outcome::Failed);
        let stamp = stamp.map(ToString::to_string);
        let said: Vec<_> = stamp.iter().chain(&result.reason).map(String::as_str).collect();
        let title = format!("{} {}", case.id, result.outcome.name());
        error(&title, &format!("{}\nlook in {}", said.join("\n"), case.dir))
    });
    let mut all: Vec<_> = of_run.chain(of_cases).collect();
    if all.len() > MAX_ANNOTATIONS {
        let more = all.len() - (MAX_ANNOTATIONS - 1);
        all.truncate(MAX_ANNOTATIONS - 1);
        all.push(error("recovery-e2e", &format!("and {more} more: see the job's summary")));
    }
    all
}

/// Adds `page` to the summary of the job, a file that GitHub names.
///
/// # Errors
/// When that file cannot be written.
pub fn append_to_job_summary(file: &Utf8Path, page: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    file.write_all(page.as_bytes())
}

fn error(title: &str, message: &str) -> String {
    let title = escape(&text::line(title)).replace(':', "%3A").replace(',', "%2C");
    format!("::error title={title}::{}", escape(&text::block(message)))
}

fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::super::tests::summary;
    use super::*;

    #[test]
    fn everything_that_is_wrong_is_annotated_and_escaped() {
        let mut mixed = summary(&[
            ("a", None, Outcome::Ready, None),
            ("b:1,2", None, Outcome::Failed, None),
            ("c", None, Outcome::Error, Some("100% gone: a, b\r\n::set-env name=x::y")),
            ("d", None, Outcome::Skipped, Some("the target cannot restart")),
            ("e", None, Outcome::Flaky, None),
        ]);
        mixed.finished = None;
        insta::assert_snapshot!(annotations(&mixed).join("\n"), @r"
        ::error title=run::it was cut off before its end
        ::error title=b%3A1%2C2 failed::RECOVERY-FAILED-REWINDWIN-posts2%0Alook in target/e2e/scenarios/b:1,2
        ::error title=c error::100%25 gone: a, b%0A::set-env name=x::y%0Alook in target/e2e/scenarios/c
        ");
    }

    #[test]
    fn no_more_are_said_than_are_shown() {
        let ids: Vec<_> = (0..25).map(|n| format!("case-{n}")).collect();
        let of = |count: usize| {
            let ends = ids[..count].iter().map(|id| (id.as_str(), None, Outcome::Error, Some("x")));
            annotations(&summary(&ends.collect::<Vec<_>>()))
        };
        assert_eq!(of(10).len(), 10);
        assert!(of(10)[9].starts_with("::error title=case-9 error::"));
        assert_eq!(of(25).len(), 10);
        assert_eq!(of(25)[9], "::error title=recovery-e2e::and 16 more: see the job's summary");
    }

    #[test]
    fn the_summary_of_a_job_is_added_to() {
        let (_dir, dir) = crate::test_dir::test_dir();
        let file = dir.join("summary.md");
        append_to_job_summary(&file, "one\n").unwrap();
        append_to_job_summary(&file, "two\n").unwrap();
        assert_eq!(std::fs::read_to_string(file).unwrap(), "one\ntwo\n");
    }
}
