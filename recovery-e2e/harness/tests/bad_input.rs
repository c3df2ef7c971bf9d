//! What the command answers to arguments and environments that cannot work.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use support::{Harness, Scratch};

/// Runs the command to its end and returns its exit code and what it said on standard error.
fn refused(scratch: &Scratch, args: &[&str]) -> (Option<i32>, String) {
    let output = Harness::command(scratch).args(args).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn an_unknown_scenario_is_refused_with_the_names_that_there_are() {
    let scratch = Scratch::new();
    let (code, said) = refused(&scratch, &["run", "-s", "rewind-windmill"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no scenario matches rewind-windmill"), "{said}");
    assert!(said.contains("rewind-window"), "{said}");
}

#[test]
fn no_worker_at_all_is_refused() {
    let scratch = Scratch::new();
    let (code, said) = refused(&scratch, &["run", "--jobs", "0"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--jobs"), "{said}");
}

#[test]
fn a_run_without_a_browser_is_refused_and_says_how_to_name_one() {
    let scratch = Scratch::new();
    let (code, said) = refused(&scratch, &["run"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--browser"), "{said}");
}

#[test]
fn a_program_that_is_no_browser_is_refused_with_what_it_said_and_nothing_is_left() {
    let scratch = Scratch::new();
    let not_a_browser = scratch.program("not-a-browser", "echo 'I make tea' >&2");
    let (code, said) = refused(&scratch, &["run", "--browser", not_a_browser.as_str()]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("cannot be driven as a browser"), "{said}");
    assert!(said.contains("I make tea"), "{said}");
    scratch.assert_no_temp_is_left();
}

#[test]
fn a_browser_that_is_not_there_is_refused_by_its_path() {
    let scratch = Scratch::new();
    let (code, said) = refused(&scratch, &["run", "--browser", "/nowhere/chromium"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("/nowhere/chromium does not start"), "{said}");
    assert_eq!(said.matches("No such file").count(), 1, "the cause is named once: {said}");
}

#[test]
fn a_folder_that_a_dead_run_has_left_is_swept_at_the_next_start() {
    let scratch = Scratch::new();
    let left = scratch.path().join("temp/recovery-e2e-dead");
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("lock"), "").unwrap();
    let (_, said) = refused(&scratch, &["run", "--browser", "/nowhere/chromium"]);
    assert!(said.contains("recovery-e2e-dead, which a killed run had left"), "{said}");
    scratch.assert_no_temp_is_left();
}

#[test]
fn controls_on_wall_time_are_refused() {
    let scratch = Scratch::new();
    let (code, said) = refused(&scratch, &["run", "--controls", "--clock", "real"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("run with page time only"), "{said}");
}
