//! What the runner makes of cases that break in every way.
//!
//! Ignored by default, since they need a browser and a built node: `cargo xtask test` runs them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::HashMap;
use std::fs;

use camino::Utf8PathBuf;
use recovery_e2e::record::journal::{self, CaseResult};
use recovery_e2e::record::verdict::Outcome;
use support::{Harness, Scratch};

/// The largest log and screenshot together, in bytes.
const MAX_ARTIFACT: u64 = 17 << 20;

/// The ends of a run, by the names of the cases.
fn results(scratch: &Scratch) -> HashMap<String, CaseResult> {
    let view = journal::read(&scratch.out().join(journal::FILE_NAME)).unwrap();
    view.cases.into_iter().map(|seen| (seen.case.id, seen.result)).collect()
}

fn assert_ended(results: &HashMap<String, CaseResult>, case: &str, outcome: Outcome, says: &str) {
    let result = &results[case];
    let reason = result.reason.as_deref().unwrap_or_default();
    assert_eq!(result.outcome, outcome, "{case}: {reason}");
    assert!(reason.contains(says), "{case}: {reason}");
}

fn assert_strictly_readable(scratch: &Scratch, cases: usize) {
    let junit = fs::read_to_string(scratch.out().join("junit.xml")).unwrap();
    let document = roxmltree::Document::parse(&junit).unwrap();
    let testcases = document.descendants().filter(|node| node.has_tag_name("testcase")).count();
    assert_eq!(testcases, cases, "{junit}");
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_case_that_breaks_ends_with_its_reason_and_takes_no_other_along() {
    cases_break(&[]);
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn cases_that_break_in_turn_take_no_other_along_that_has_the_browser_after_them() {
    cases_break(&["--isolation", "context", "--jobs", "1"]);
}

fn cases_break(args: &[&str]) {
    let scratch = Scratch::new();
    let names = ["panic", "text", "flood", "node", "browser"].map(|name| format!("torture-{name}"));
    let selected: Vec<_> = names.iter().flat_map(|name| ["-s", name]).collect();
    let mut harness = Harness::start(&scratch, &[&["--torture"], args, &selected[..]].concat());
    harness.wait_for_line("1 passed, 4 failed");
    assert_eq!(harness.code(), Some(1));
    let results = results(&scratch);
    assert_ended(&results, "torture-panic", Outcome::Error, "the scenario panicked: on purpose");
    assert_ended(&results, "torture-text", Outcome::Inconclusive, "need not met: ");
    assert_ended(&results, "torture-flood", Outcome::Ready, "");
    let died = "ended without being asked to: signal 9";
    assert_ended(&results, "torture-node", Outcome::Error, &format!("the node {died}"));
    assert_ended(&results, "torture-browser", Outcome::Error, &format!("the browser {died}"));
    let thrown = "no exception was left uncaught in the page";
    let thrown = results["torture-text"].evidence.iter().find(|it| it.what == thrown).unwrap();
    assert_eq!((thrown.held, thrown.saw.as_str()), (false, "1"));
    let log = scratch.out().join("scenarios/torture-text/browser.log");
    assert!(fs::read_to_string(log).unwrap().contains("a half \\ud800"));
    for (case, result) in &results {
        let ledger = result.ledger.as_ref().unwrap();
        assert_eq!(ledger.left.describe(), None, "{case}");
        assert!(ledger.held.temp_bytes > 0, "{case}");
    }
    assert_strictly_readable(&scratch, names.len());
    let flood = scratch.out().join("scenarios/torture-flood/console.log");
    let flood = fs::read_to_string(flood).unwrap();
    assert!(flood.contains("bytes left out]"), "{} bytes", flood.len());
    for (path, content) in support::files_below(&scratch.out()) {
        assert!(content.len() as u64 <= MAX_ARTIFACT, "{path}: {} bytes", content.len());
    }
    scratch.assert_no_temp_is_left();
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_story_without_an_end_is_ended_by_its_timeout() {
    let scratch = Scratch::new();
    let args = ["--torture", "-s", "torture-hang", "--timeout", "0.001"];
    let mut harness = Harness::start(&scratch, &args);
    harness.wait_for_line("0 passed, 1 failed");
    assert_eq!(harness.code(), Some(1));
    assert_ended(
        &results(&scratch),
        "torture-hang",
        Outcome::Error,
        "the scenario ran longer than",
    );
    scratch.assert_no_temp_is_left();
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_browser_that_hangs_is_killed_with_its_case_be_it_shared_or_not() {
    for isolation in ["process", "context"] {
        let scratch = Scratch::new();
        let args = ["--torture", "-s", "torture-freeze", "--timeout", "1"];
        let isolation = ["--isolation", isolation];
        let mut harness = Harness::start(&scratch, &[&args[..], &isolation].concat());
        harness.wait_for_line("0 passed, 1 failed");
        assert_eq!(harness.code(), Some(1));
        let results = results(&scratch);
        assert_ended(&results, "torture-freeze", Outcome::Error, "the scenario ran longer than");
        assert_strictly_readable(&scratch, 1);
        scratch.assert_no_temp_is_left();
    }
}

/// How much the node of the next test prints, and how much it writes into its folder, in MiB.
const MIB: u64 = 200;

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_node_that_floods_fills_its_folder_and_leaves_a_daemon_is_named_and_cleaned_up_after() {
    let scratch = Scratch::new();
    let node = std::env::var("E2E_NODE").expect("`cargo xtask test` sets E2E_NODE");
    let bytes = MIB << 20;
    // One line without an end, and a process of a session and an environment of its own, that
    // keeps the pipe of the node open.
    let script = format!(
        "[[ \"$*\" =~ --data-dir\\ ([^ ]+) ]]; mkdir -p \"${{BASH_REMATCH[1]}}\"\n\
         head -c {bytes} /dev/zero > \"${{BASH_REMATCH[1]}}/ballast\"\n\
         head -c {bytes} /dev/zero | tr '\\0' x >&2; echo >&2\n\
         (env -i setsid sleep 1000 &)\n\
         exec '{node}' \"$@\""
    );
    let node = scratch.program("rude-node", &script);
    let args = ["-s", "rewind-window", "--node", node.as_str()];
    let mut harness = Harness::start(&scratch, &args);
    harness.wait_for_line("left behind: process");
    harness.wait_for_line("0 passed, 1 failed");
    assert_eq!(harness.code(), Some(1));
    let results = results(&scratch);
    assert_ended(&results, "rewind-window", Outcome::Error, "sleep still runs");
    assert_ended(&results, "rewind-window", Outcome::Error, "it was ready before: RECOVERY-READY");
    let ledger = results["rewind-window"].ledger.as_ref().unwrap();
    assert!(ledger.held.temp_bytes >= bytes, "{ledger:?}");
    assert!(ledger.held.ports.len() >= 2, "the node's and the browser's: {ledger:?}");
    assert_eq!(ledger.left.temp_bytes, 0);
    let log = fs::read(scratch.out().join("scenarios/rewind-window/node.log")).unwrap();
    assert!(log.len() < 1 << 20, "{} bytes", log.len());
    assert!(support::holds(&log, b"bytes left out]"));
    assert_strictly_readable(&scratch, 1);
    scratch.assert_no_temp_is_left();
}

/// A browser that leaves a process of a session and an environment of its own, which keeps the pipe
/// of the browser open.
fn rude_browser(scratch: &Scratch) -> Utf8PathBuf {
    let browser = std::env::var("E2E_BROWSER").expect("`cargo xtask test` sets E2E_BROWSER");
    let script = format!("(env -i setsid sleep 1000 &)\nexec '{browser}' \"$@\"");
    scratch.program("rude-browser", &script)
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_browser_whose_helper_holds_its_pipe_and_outlives_it_is_closed_in_bounded_time() {
    let scratch = Scratch::new();
    let browser = rude_browser(&scratch);
    let args = ["-s", "rewind-window", "--repeat-each", "2", "--browser", browser.as_str()];
    let mut harness = Harness::start(&scratch, &args);
    harness.wait_for_line("0 passed, 2 failed");
    assert_eq!(harness.code(), Some(1));
    let results = results(&scratch);
    for case in ["rewind-window#1", "rewind-window#2"] {
        assert_ended(&results, case, Outcome::Error, "sleep still runs");
        assert_ended(&results, case, Outcome::Error, "it was ready before: RECOVERY-READY");
    }
    scratch.assert_no_temp_is_left();
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_shared_browser_whose_helper_outlives_it_is_an_error_of_the_run() {
    let scratch = Scratch::new();
    let browser = rude_browser(&scratch);
    let args = ["-s", "rewind-window", "--jobs", "1", "--browser", browser.as_str()];
    let mut harness = Harness::start(&scratch, &[&args[..], &["--isolation", "context"]].concat());
    harness.wait_for_line("run leak: a shared browser left behind: process");
    harness.wait_for_line("1 passed, 0 failed");
    assert_eq!(harness.code(), Some(1));
    let junit = fs::read_to_string(scratch.out().join("junit.xml")).unwrap();
    assert!(junit.contains("name=\"run leak\""), "{junit}");
    scratch.assert_no_temp_is_left();
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn what_a_shared_browser_leaves_is_told_also_when_the_stage_breaks() {
    let scratch = Scratch::new();
    let browser = rude_browser(&scratch);
    let node = std::env::var("E2E_NODE").expect("`cargo xtask test` sets E2E_NODE");
    let starts = scratch.path().join("starts");
    // The pre-flight has the first node, the first case the second.
    let script = format!(
        "echo >> '{starts}'; [ $(wc -l < '{starts}') -lt 3 ] || exit 3\nexec '{node}' \"$@\""
    );
    let node = scratch.program("breaking-node", &script);
    let cases = ["-s", "rewind-window", "--repeat-each", "2", "--jobs", "1"];
    let programs =
        ["--isolation", "context", "--browser", browser.as_str(), "--node", node.as_str()];
    let mut harness = Harness::start(&scratch, &[cases, programs].concat());
    harness.wait_for_line("run leak: a shared browser left behind: process");
    harness.wait_for_line("1 passed, 1 failed");
    assert_eq!(harness.code(), Some(1));
    scratch.assert_no_temp_is_left();
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_run_without_file_handles_says_so_and_leaves_nothing() {
    // Too few for the inner process, and too few for a node.
    for handles in [12, 20] {
        let scratch = Scratch::new();
        let run = Harness::run(&scratch, &["-s", "rewind-window"]);
        let mut limited = std::process::Command::new("bash");
        limited
            .args(["-c", &format!("ulimit -n {handles}; exec \"$@\""), "bash"])
            .arg(run.get_program())
            .args(run.get_args())
            .current_dir(scratch.path());
        limited.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = limited.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(printed.contains("Too many open files"), "{printed}");
        scratch.assert_no_temp_is_left();
    }
}
