use std::fs;

use super::*;
use crate::record::journal::tests::{case, journal_of, result, run_info, run_started};
use crate::record::journal::{CaseView, Event, JournalView, PlanInfo, RunFinished, RunInfo, Stop};
use crate::record::settings::Isolation;
use crate::record::settings::{Clock, PageSettings};
use crate::record::verdict::Outcome;
use crate::redact::Redactor;
use crate::test_dir::test_dir;

/// The summary of a run with a case for each of `ends`, as if it lay in `target/e2e`.
pub(super) fn summary(ends: &[(&str, Option<&str>, Outcome, Option<&str>)]) -> Summary {
    let cases = ends.iter().map(|(id, control, outcome, reason)| CaseView {
        case: case(id, *control),
        result: result(id, *outcome, *reason),
        earlier: Vec::new(),
    });
    let view = JournalView {
        run: RunInfo { plan: PlanInfo { cases: ends.len(), ..run_info().plan }, ..run_info() },
        cases: cases.collect(),
        finished: Some(RunFinished { seconds: 12.34, stopped: None, leaks: vec![] }),
    };
    Summary::new(view, "target/e2e".into())
}

/// A repository with the out folder of a run that was cut off in its second case.
fn cut_off_run(root: &Utf8Path) -> Utf8PathBuf {
    fs::create_dir(root.join(".git")).unwrap();
    let out = root.join("target/e2e");
    fs::create_dir_all(&out).unwrap();
    let ended = Event::Finished(result("a", Outcome::Ready, None));
    journal_of(&out, run_started(&["a", "b"]), &[ended]);
    out
}

#[test]
fn the_reports_of_a_run_that_was_cut_off_hold_every_planned_case() {
    let (_dir, root) = test_dir();
    let out = cut_off_run(&root);
    let summary = write_all(&out).unwrap();
    assert_eq!(summary.counts, Counts { ready: 1, interrupted: 1, ..Counts::default() });
    assert_eq!(exit_code(&summary), 1);
    assert_eq!(summary.cases[0].result.artifacts[0], "target/e2e/scenarios/a/end.png");

    let xml = fs::read_to_string(out.join(JUNIT_FILE)).unwrap();
    let read = roxmltree::Document::parse(&xml).unwrap();
    let cases = read.descendants().filter(|node| node.has_tag_name("testcase"));
    let names: Vec<_> = cases.filter_map(|node| node.attribute("name")).collect();
    assert_eq!(names, ["a", "b", "run"]);
    let json = fs::read(out.join(SUMMARY_FILE)).unwrap();
    assert_eq!(serde_json::from_slice::<Summary>(&json).unwrap(), summary);

    // Rendering once more changes nothing: reports come from the journal alone.
    write_all(&out).unwrap();
    assert_eq!(fs::read_to_string(out.join(JUNIT_FILE)).unwrap(), xml);
    assert_eq!(fs::read(out.join(SUMMARY_FILE)).unwrap(), json);
}

#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let (_dir, root) = test_dir();
    let out = cut_off_run(&root);
    fs::create_dir_all(out.join(JUNIT_FILE).join("taken")).unwrap();
    let refused = write_all(&out).unwrap_err();
    assert!(matches!(&refused, ReportError::Write { path, .. } if path.ends_with(JUNIT_FILE)));
    assert!(matches!(write_all(&root), Err(ReportError::Journal(JournalError::Read { .. }))));
}

#[test]
fn the_exit_code_is_zero_only_for_a_whole_run_whose_cases_are_all_good() {
    let good = summary(&[
        ("a", None, Outcome::Ready, None),
        ("b", None, Outcome::Skipped, Some("the target cannot restart")),
        ("c", None, Outcome::Flaky, None),
    ]);
    assert_eq!(exit_code(&good), 0);
    let mut strict = good.clone();
    strict.run.fail_on_flaky = true;
    assert_eq!(exit_code(&strict), 1);

    for outcome in [Outcome::Failed, Outcome::Inconclusive, Outcome::Error, Outcome::Interrupted] {
        let bad = summary(&[("a", None, Outcome::Ready, None), ("b", None, outcome, None)]);
        assert_eq!(exit_code(&bad), 1, "{outcome:?}");
    }
    let cut_off = Summary { finished: None, ..good.clone() };
    let stopped = Some(RunFinished { seconds: 1.0, stopped: Some(Stop::Signal), leaks: vec![] });
    let stopped = Summary { finished: stopped, ..good.clone() };
    for bad in [cut_off, stopped, leaking(good), summary(&[])] {
        assert_eq!(exit_code(&bad), 1);
    }
}

/// The same, but two browsers left something behind.
fn leaking(mut summary: Summary) -> Summary {
    let leaks =
        [7, 8].map(|pid| format!("a shared browser left behind: process {pid} sleep still runs"));
    summary.finished.as_mut().unwrap().leaks = leaks.into();
    summary
}

#[test]
fn what_a_shared_browser_has_left_behind_is_one_trouble_of_the_run() {
    let troubles = leaking(summary(&[("a", None, Outcome::Ready, None)])).troubles();
    assert_eq!(troubles.len(), 1);
    assert_eq!((troubles[0].name.as_str(), troubles[0].outcome), ("run leak", Outcome::Error));
    let both = troubles[0].reason.contains("7 sleep") && troubles[0].reason.contains("8 sleep");
    assert!(both, "{}", troubles[0].reason);
}

#[test]
fn the_file_of_a_verdict_tells_the_case_the_browser_and_the_page_without_secrets() {
    let (_dir, out) = test_dir();
    let redactor = Redactor::default();
    redactor.learn("0123456789abcdef");
    let (case, end) = (
        case("a", None),
        result("a", Outcome::Error, Some("GET /login?token=0123456789abcdef failed")),
    );
    let conditions = Conditions {
        browser: run_info().browser,
        isolation: Isolation::Context,
        page: PageSettings::new(Clock::Page, 7),
        defect: vec![],
    };
    write_verdict_file(&out.join(&case.dir), (&case, &end), &conditions, &redactor).unwrap();
    let text = fs::read_to_string(out.join("scenarios/a").join(VERDICT_FILE)).unwrap();
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read["v"], VERDICT_VERSION);
    assert_eq!(read["case"]["id"], "a");
    assert_eq!(read["result"]["reason"], "GET /login?token=[redacted] failed");
    assert_eq!(read["browser"]["version"], "Chromium 156.0");
    assert_eq!(read["page"]["seed"], 7);
    let saved = read_verdict_file(&out.join("a")).unwrap();
    assert_eq!((saved.case, saved.conditions), (case, conditions));
}
