//! Whole runs, in a real browser: what they leave behind, and what remains when they are ended.
//!
//! Ignored by default, since they need a browser and a built node: `cargo xtask test` runs them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use recovery_e2e::record::journal::{self, JournalView};
use recovery_e2e::record::verdict::Outcome;
use rustix::process::Signal;
use support::{Harness, Scratch};

/// A run of two cases in one slot, with the first verdict said and the second case under way.
fn in_the_middle(scratch: &Scratch) -> Harness {
    let args = ["-s", "rewind-failed-window", "--repeat-each", "2", "--jobs", "1"];
    let mut harness = Harness::start(scratch, &args);
    harness.wait_for_line("rewind-failed-window#1");
    let second = scratch.out().join("scenarios/rewind-failed-window-2");
    support::wait_for_file(&second.join("1-first-paint.png"));
    harness
}

/// After the first case was ready and the second did not end.
fn assert_one_ready_and_one_interrupted(out: &Utf8Path) {
    let view = journal::read(&out.join(journal::FILE_NAME)).unwrap();
    let outcomes: Vec<_> = view.cases.iter().map(|case| case.result.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ready, Outcome::Interrupted]);
    let junit = fs::read_to_string(out.join("junit.xml")).unwrap();
    let document = roxmltree::Document::parse(&junit).unwrap();
    let cases: Vec<_> = document.descendants().filter(|n| n.has_tag_name("testcase")).collect();
    let names: Vec<_> = cases.iter().filter_map(|case| case.attribute("name")).collect();
    assert_eq!(names, ["rewind-failed-window#1", "rewind-failed-window#2", "run"], "{junit}");
    let errors: Vec<_> = document.descendants().filter(|n| n.has_tag_name("error")).collect();
    let types: Vec<_> = errors.iter().filter_map(|error| error.attribute("type")).collect();
    assert_eq!(types, ["interrupted", "interrupted"], "{junit}");
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_killed_outer_process_leaves_no_process_and_a_report_of_what_was_finished() {
    let scratch = Scratch::new();
    let harness = in_the_middle(&scratch);
    let outer = harness.outer();
    let status = harness.end_by(Signal::KILL, outer);
    assert_eq!(status.code(), None);
    assert_one_ready_and_one_interrupted(&scratch.out());
    scratch.assert_no_temp_is_left();
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_killed_inner_process_leaves_no_process_and_a_report_of_what_was_finished() {
    let scratch = Scratch::new();
    let harness = in_the_middle(&scratch);
    let inner = harness.inner();
    let status = harness.end_by(Signal::KILL, inner);
    assert_eq!(status.code(), Some(1));
    assert_one_ready_and_one_interrupted(&scratch.out());
    scratch.assert_no_temp_is_left();
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn an_interrupt_ends_the_run_in_good_order() {
    for signal in [Signal::INT, Signal::TERM] {
        let scratch = Scratch::new();
        let harness = in_the_middle(&scratch);
        let outer = harness.outer();
        let status = harness.end_by(signal, outer);
        assert_eq!(status.code(), Some(1));
        assert_one_ready_and_one_interrupted(&scratch.out());
        scratch.assert_no_temp_is_left();
    }
}

/// A node whose `breaks`th start, counted from 1, and whichever follow it up to `last`, fail. The
/// first start is that of the pre-flight.
fn breaking_node(scratch: &Scratch, breaks: u32, last: u32) -> Utf8PathBuf {
    let node = std::env::var("E2E_NODE").expect("`cargo xtask test` sets E2E_NODE");
    let starts = scratch.path().join("starts");
    let script = format!(
        "echo >> '{starts}'; n=$(wc -l < '{starts}')\n\
         if [ $n -ge {breaks} ] && [ $n -le {last} ]; then exit 3; fi\n\
         exec '{node}' \"$@\""
    );
    scratch.program("breaking-node", &script)
}

fn view_of(scratch: &Scratch) -> JournalView {
    journal::read(&scratch.out().join(journal::FILE_NAME)).unwrap()
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_case_that_is_ready_only_when_it_is_tried_again_is_flaky_and_keeps_both_attempts() {
    let scratch = Scratch::new();
    let node = breaking_node(&scratch, 2, 2);
    let args = ["-s", "rewind-window", "--node", node.as_str(), "--retries", "2"];
    let mut harness = Harness::start(&scratch, &[&args[..], &["--fail-on-flaky"]].concat());
    harness.wait_for_line("retry rewind-window");
    harness.wait_for_line("1 passed, 0 failed, 1 flaky");
    assert_eq!(harness.code(), Some(1), "--fail-on-flaky");
    let seen = &view_of(&scratch).cases[0];
    assert_eq!(seen.result.outcome, Outcome::Flaky);
    assert_eq!(seen.earlier.len(), 1);
    let reason = seen.earlier[0].reason.as_ref().unwrap();
    assert!(reason.contains("ended before it printed its address"), "{reason}");
    let folder = scratch.out().join("scenarios/rewind-window");
    for attempt in ["verdict.json", "attempt-2/verdict.json", "attempt-2/1-first-paint.png"] {
        assert!(folder.join(attempt).exists(), "{attempt}");
    }
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn after_a_bad_case_fail_fast_begins_no_other_and_last_failed_runs_what_is_left() {
    let scratch = Scratch::new();
    let node = breaking_node(&scratch, 3, 3);
    let args = ["-s", "rewind-window", "--jobs", "1", "--node", node.as_str()];
    let three = ["--repeat-each", "3", "--fail-fast"];
    let mut harness = Harness::start(&scratch, &[&args[..], &three].concat());
    harness.wait_for_line("1 passed, 2 failed");
    assert_eq!(harness.code(), Some(1));
    let outcomes =
        |view: &JournalView| view.cases.iter().map(|seen| seen.result.outcome).collect::<Vec<_>>();
    let view = view_of(&scratch);
    assert_eq!(outcomes(&view), [Outcome::Ready, Outcome::Error, Outcome::Interrupted]);
    let reason = view.cases[2].result.reason.as_ref().unwrap();
    assert!(reason.starts_with("rewind-window#2 was bad"), "{reason}");

    let mut again = Harness::start(&scratch, &["--last-failed"]);
    again.wait_for_line("1 passed, 0 failed");
    assert_eq!(again.code(), Some(0));
    assert_eq!(view_of(&scratch).cases[0].case.id, "rewind-window");
    // Nothing is left that was not good.
    assert_eq!(Harness::start(&scratch, &["--last-failed"]).code(), Some(2));
    assert_eq!(outcomes(&view_of(&scratch)), [Outcome::Ready], "the run before is kept");
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_scenario_that_runs_longer_than_its_time_is_an_error_and_its_stage_ends() {
    let scratch = Scratch::new();
    let mut harness = Harness::start(&scratch, &["-s", "rewind-window", "--timeout", "0.001"]);
    harness.wait_for_line("the scenario ran longer than 0.001 s");
    harness.wait_for_line("0 passed, 1 failed");
    assert_eq!(harness.code(), Some(1));
    let seen = &view_of(&scratch).cases[0];
    assert_eq!(seen.result.outcome, Outcome::Error);
    assert!(!seen.result.phases.is_empty(), "the stage was closed, and its phases are known");
    scratch.assert_no_temp_is_left();
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_node_that_dies_by_itself_is_an_error_of_its_case_and_the_others_go_on() {
    let scratch = Scratch::new();
    let mut harness = in_the_middle(&scratch);
    harness.kill_child("recovery-node");
    harness.wait_for_line("1 passed, 1 failed");
    assert_eq!(harness.code(), Some(1));
    let view = journal::read(&scratch.out().join(journal::FILE_NAME)).unwrap();
    let result = &view.cases[1].result;
    assert_eq!(result.outcome, Outcome::Error);
    let reason = result.reason.as_deref().unwrap_or_default();
    assert!(reason.contains("the node ended without being asked to: signal 9"), "{reason}");
    scratch.assert_no_temp_is_left();
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_shared_browser_serves_case_after_case_until_one_is_bad() {
    let scratch = Scratch::new();
    let node = breaking_node(&scratch, 4, 4);
    let args = ["-s", "rewind-window", "--node", node.as_str(), "--repeat-each", "5"];
    let shared = ["--jobs", "1", "--isolation", "context"];
    let mut harness = Harness::start(&scratch, &[&args[..], &shared].concat());
    harness.wait_for_line("4 passed, 1 failed");
    assert_eq!(harness.code(), Some(1));
    let launches = |k| {
        let log = scratch.out().join(format!("scenarios/rewind-window-{k}/browser.log"));
        fs::read_to_string(log).unwrap().matches("DevTools listening").count()
    };
    // The pre-flight has the first node, so the third case is the bad one.
    assert_eq!([1, 2, 4, 5].map(launches), [1, 0, 1, 0]);
    let held = |at: usize| view_of(&scratch).cases[at].result.ledger.clone().unwrap().held;
    assert!(!held(0).processes.is_empty(), "the node is the case's own");
    assert!(!held(0).processes.iter().any(|name| name.contains("chrom")), "{:?}", held(0));
    scratch.assert_no_temp_is_left();
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_second_run_with_the_same_out_folder_is_refused_and_the_first_goes_on() {
    let scratch = Scratch::new();
    let mut first = in_the_middle(&scratch);
    let holder = format!("in use by another run, process {}", first.inner());
    let second = Harness::run(&scratch, &["-s", "rewind-window"]).output().unwrap();
    let said = String::from_utf8_lossy(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(said.contains(&holder), "{said}");
    first.wait_for_line("2 passed, 0 failed");
    assert_eq!(first.code(), Some(0));
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn no_artifact_holds_a_token_a_cookie_or_a_login_url() {
    let scratch = Scratch::new();
    let node = std::env::var("E2E_NODE").expect("`cargo xtask test` sets E2E_NODE");
    // The node itself, and a copy of what it says on its standard output: its login URL.
    let said = scratch.path().join("said");
    let talking_node =
        scratch.program("talking-node", &format!("exec '{node}' \"$@\" > >(exec tee -a '{said}')"));
    let mut harness = Harness::start(&scratch, &["--node", talking_node.as_str(), "--controls"]);
    harness.wait_for_line(" passed, 0 failed");
    assert_eq!(harness.code(), Some(0));

    let said = fs::read_to_string(said).unwrap();
    let tokens: Vec<_> = said
        .lines()
        .map(|line| line.split_once("token=").unwrap().1.trim_end_matches(['"', '}']))
        .collect();
    assert!(tokens.len() >= 3, "one of the pre-flight and one of each control: {said}");
    assert!(tokens.iter().all(|token| token.len() >= 32), "{said}");
    let mut files = 0;
    for (path, content) in support::files_below(&scratch.out()) {
        files += 1;
        for token in &tokens {
            assert!(!support::holds(&content, token.as_bytes()), "{path} holds a token");
        }
        let text = String::from_utf8_lossy(&content).to_lowercase();
        for sign in ["login?token=", "set-cookie", "cookie:", "authorization"] {
            assert!(!text.contains(sign), "{path} holds {sign}");
        }
    }
    assert!(files > 10, "a run leaves reports, logs and screenshots; there are {files} files");
}
