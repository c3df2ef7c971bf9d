use super::super::tests::summary;
use super::*;
use crate::record::journal::RunFinished;
use crate::record::journal::tests::{case, result, run_started};
use crate::record::stamp::Stamp;

/// Escape characters would not show in a snapshot.
fn shown(text: &str) -> String {
    text.replace('\u{1b}', "^")
}

fn plain() -> Layout {
    Layout { out: "out".into(), colour: false, width: 0 }
}

/// The verdict of a scenario for each outcome, one after the other.
fn verdicts(colour: bool) -> String {
    [
        (Outcome::Ready, None),
        (Outcome::Flaky, None),
        (Outcome::Failed, None),
        (Outcome::Inconclusive, Some("did not hold: the refetch was held; saw none\nand more")),
        (Outcome::Error, Some("the node died")),
        (Outcome::Interrupted, Some("the run ended before this case started")),
        (Outcome::Skipped, Some("the target cannot restart")),
    ]
    .map(|(outcome, reason)| {
        let mut end = result("rewind-window", outcome, reason);
        match outcome {
            Outcome::Inconclusive => end.stamp = Some(Stamp::ready("REWINDWIN").field("posts", 1)),
            Outcome::Interrupted => end.artifacts.clear(),
            _ => {}
        }
        let layout = Layout { out: "target/e2e".into(), colour, width: 16 };
        let case = case("rewind-window", None);
        layout.ended(&CaseView { case, result: end, earlier: Vec::new() })
    })
    .join("\n")
}

#[test]
fn a_verdict_is_a_line_and_a_bad_one_says_why_and_where_to_look() {
    insta::assert_snapshot!(shown(&verdicts(false)), @r"
    ok    rewind-window      RECOVERY-READY-REWINDWIN-posts1   1.9 s
    FLAKY rewind-window      RECOVERY-READY-REWINDWIN-posts1   1.9 s
    FAIL  rewind-window      RECOVERY-FAILED-REWINDWIN-posts2   1.9 s
          look in target/e2e/scenarios/rewind-window
    INCONCLUSIVE rewind-window      1.9 s
          did not hold: the refetch was held; saw none
          and more
          look in target/e2e/scenarios/rewind-window
    ERROR rewind-window      1.9 s
          the node died
          look in target/e2e/scenarios/rewind-window
    INTERRUPTED rewind-window
          the run ended before this case started
    skip  rewind-window
          the target cannot restart
    ");
}

#[test]
fn only_the_outcome_is_coloured() {
    insta::assert_snapshot!(shown(&verdicts(true)), @r"
    ^[32mok   ^[0m rewind-window      RECOVERY-READY-REWINDWIN-posts1   1.9 s
    ^[33mFLAKY^[0m rewind-window      RECOVERY-READY-REWINDWIN-posts1   1.9 s
    ^[31mFAIL ^[0m rewind-window      RECOVERY-FAILED-REWINDWIN-posts2   1.9 s
          look in target/e2e/scenarios/rewind-window
    ^[31mINCONCLUSIVE^[0m rewind-window      1.9 s
          did not hold: the refetch was held; saw none
          and more
          look in target/e2e/scenarios/rewind-window
    ^[31mERROR^[0m rewind-window      1.9 s
          the node died
          look in target/e2e/scenarios/rewind-window
    ^[31mINTERRUPTED^[0m rewind-window
          the run ended before this case started
    ^[33mskip ^[0m rewind-window
          the target cannot restart
    ");
}

#[test]
fn a_control_shows_the_stamp_that_was_seen() {
    let control = case("rewind-window/gate", Some("gate"));
    let seen = Stamp::failed("REWINDWIN").field("posts", 2).field("rows", 0);
    let ready = Stamp::ready("REWINDWIN").field("posts", 1);
    let shown = [
        (Outcome::Ready, seen, None),
        (Outcome::Failed, ready, Some("the scenario did not notice the defect")),
    ]
    .map(|(outcome, stamp, reason)| {
        let end =
            CaseResult { stamp: Some(stamp), ..result("rewind-window/gate", outcome, reason) };
        plain().ended(&CaseView { case: control.clone(), result: end, earlier: Vec::new() })
    })
    .join("\n");
    insta::assert_snapshot!(shown, @r"
    ok    rewind-window/gate   seen RECOVERY-FAILED-REWINDWIN-posts2-rows0   1.9 s
    FAIL  rewind-window/gate   seen RECOVERY-READY-REWINDWIN-posts1   1.9 s
          the scenario did not notice the defect
          look in out/scenarios/rewind-window/gate
    ");
}

#[test]
fn an_attempt_that_is_not_the_last_says_why_there_is_another() {
    let mut end = result("a", Outcome::Error, Some("the node died"));
    end.attempt = 2;
    insta::assert_snapshot!(plain().retried(&case("a", None), &end), @r"
    retry a   1.9 s
          the node died
          look in out/scenarios/a/attempt-2
    ");
}

#[test]
fn what_a_case_prints_cannot_pass_for_a_line_of_ours() {
    let reason = "\u{1b}[2K\u{1b}[1Ax\r\n3 passed, 0 failed\rok    b\n::error::x";
    let end = result("a", Outcome::Error, Some(reason));
    let lines = plain().retried(&case("a", None), &end);
    assert!(!lines.contains(['\u{1b}', '\r']));
    assert!(lines.lines().all(|line| !line.trim_start().starts_with("::")), "{lines}");
    assert!(lines.lines().skip(1).all(|line| line.starts_with(INDENT)), "{lines}");
}

#[test]
fn a_run_begins_with_its_browser_its_cases_and_its_jobs() {
    insta::assert_snapshot!(head(&run_started(&["a"])), @r"
    browser Chromium 156.0 from nix (/opt/chromium), sandbox on
    plan 0123456789abcdef, shard 1/1
    build: digest 5e1f5e1f5e1f5e1f, commit c0ffeec0ffeec0ff
    1 case, 2 jobs, a browser a case, page time, seed 7
    ");
}

#[test]
fn a_machine_without_room_for_shared_memory_is_told() {
    let mut started = run_started(&["a"]);
    started.run.browser.small_shm = true;
    let lines = head(&started);
    let first = lines.lines().next().unwrap();
    assert!(first.ends_with("sandbox on, /dev/shm too small to be used"), "{first}");
}

#[test]
fn a_run_ends_with_where_its_reports_are_and_then_the_counts_alone() {
    let good = summary(&[("a", None, Outcome::Ready, None)]);
    insta::assert_snapshot!(end(&good, "target/e2e".into()), @r"
    the run took 12.3 s; report.html, junit.xml, summary.json, summary.md and journal.jsonl are in target/e2e
    cases together: predicted 2.5 s, took 1.9 s
    1 passed, 0 failed
    ");

    let mixed = summary(&[
        ("a", None, Outcome::Ready, None),
        ("a/gate", Some("gate"), Outcome::Ready, None),
        ("b", None, Outcome::Failed, None),
        ("c", None, Outcome::Inconclusive, None),
        ("d", None, Outcome::Error, None),
        ("e", None, Outcome::Interrupted, None),
        ("f", None, Outcome::Skipped, None),
        ("g", None, Outcome::Flaky, None),
    ]);
    let stopped = Some(RunFinished { seconds: 2.0, stopped: Some(Stop::Signal), leaks: vec![] });
    let stopped = Summary { finished: stopped, ..mixed.clone() };
    insta::assert_snapshot!(end(&stopped, "out".into()), @r"
    the run was interrupted after 2.0 s; report.html, junit.xml, summary.json, summary.md and journal.jsonl are in out
    run: it was interrupted before its end
    3 passed, 4 failed, 1 flaky, 1 skipped
    ");

    let cut_off = Summary { finished: None, ..mixed };
    assert!(end(&cut_off, "out".into()).starts_with("the run was cut off; "));
}
