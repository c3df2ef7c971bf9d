//! A verdict again, under a defect of one's own, and a stage for a person.
//!
//! Ignored by default, since they need a browser and a built node: `cargo xtask test` runs them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::fs;

use recovery_e2e::record::journal::{self, JournalView};
use recovery_e2e::record::verdict::Outcome;
use rustix::process::{Pid, Signal};
use support::{Harness, Scratch};

fn view(scratch: &Scratch, out: &str) -> JournalView {
    journal::read(&scratch.path().join(out).join(journal::FILE_NAME)).unwrap()
}

fn stamp(view: &JournalView) -> String {
    view.cases[0].result.stamp.as_ref().unwrap().to_string()
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_repeated_verdict_has_the_same_control_seed_and_stamp() {
    let scratch = Scratch::new();
    let args = ["run", "-s", "rewind-window", "--controls", "--seed", "7", "--out", "first"];
    assert!(Harness::in_browser(&scratch).args(args).status().unwrap().success());
    let verdict = "first/rewind-window/gate-is-busy-alone";
    let args = ["repeat", verdict, "--out", "second"];
    assert!(Harness::in_browser(&scratch).args(args).status().unwrap().success());
    let (first, second) = (view(&scratch, "first"), view(&scratch, "second"));
    assert_eq!(first.cases[0].case, second.cases[0].case);
    assert_eq!((first.run.seed, stamp(&first)), (second.run.seed, stamp(&second)));
    assert_eq!(second.run.seed, 7);
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_defect_of_ones_own_fails_the_scenario_that_notices_it() {
    let scratch = Scratch::new();
    let defect = r#"[{"asset": "/static/recovery/gate.js",
        "find": "return state.busy || state.latch;", "replace": "return state.busy;"}]"#;
    fs::write(scratch.path().join("defect.json"), defect).unwrap();
    let args = ["run", "-s", "rewind-window", "--defect", "defect.json", "--out", "out"];
    let status = Harness::in_browser(&scratch).args(args).status().unwrap();
    assert_eq!(status.code(), Some(1));
    let view = view(&scratch, "out");
    assert_eq!(view.cases[0].result.outcome, Outcome::Failed);
    assert_eq!(stamp(&view), "RECOVERY-FAILED-REWINDWIN-posts2-rows0");

    // The verdict contains the defect, so its file is not needed any more.
    fs::remove_file(scratch.path().join("defect.json")).unwrap();
    let again = ["repeat", "out/rewind-window", "--out", "again"];
    let status = Harness::in_browser(&scratch).args(again).status().unwrap();
    assert_eq!(status.code(), Some(1));
    assert_eq!(stamp(&self::view(&scratch, "again")), stamp(&view));
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_defect_whose_text_is_not_found_is_an_error_that_says_so() {
    let scratch = Scratch::new();
    let defect =
        r#"[{"asset": "/static/recovery/gate.js", "find": "no such text", "replace": ""}]"#;
    fs::write(scratch.path().join("defect.json"), defect).unwrap();
    let args = ["run", "-s", "rewind-window", "--defect", "defect.json", "--out", "out"];
    assert_eq!(Harness::in_browser(&scratch).args(args).status().unwrap().code(), Some(1));
    let result = view(&scratch, "out").cases.remove(0).result;
    assert_eq!(result.outcome, Outcome::Error);
    let reason = result.reason.unwrap();
    assert!(reason.contains("\"no such text\" occurs 0 times in it"), "{reason}");
}

#[test]
#[ignore = "needs a built node: cargo xtask test"]
fn a_served_node_that_is_killed_runs_again_and_the_end_leaves_nothing() {
    let scratch = Scratch::new();
    let mut harness = Harness::begin(&scratch, &["serve", "--keep-open", "0"]);
    harness.wait_for_line("log in     http://127.0.0.1:");
    let line = harness.wait_for_line("crashes it; either way it starts");
    let pid = line.split(' ').nth(1).unwrap().parse().unwrap();
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    harness.wait_for_line("it runs again as process");
    let outer = harness.outer();
    let status = harness.end_by(Signal::INT, outer);
    assert_eq!(status.code(), Some(0));
    scratch.assert_no_temp_is_left();
}
