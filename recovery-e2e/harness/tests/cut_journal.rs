//! `report` after the worst end of a run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::BTreeSet;
use std::fs;

use camino::Utf8Path;
use recovery_e2e::record::build::BuildInfo;
use recovery_e2e::record::journal::{
    self, Case, CaseResult, Event, Journal, Part, PlanInfo, RunFinished, RunInfo, RunStarted,
    Started,
};
use recovery_e2e::record::settings::BrowserInfo;
use recovery_e2e::record::settings::Clock;
use recovery_e2e::record::settings::Isolation;
use recovery_e2e::record::settings::Sandbox;
use recovery_e2e::record::stamp::Stamp;
use recovery_e2e::record::verdict::Outcome;
use recovery_e2e::redact::Redactor;
use recovery_e2e::report::{self, HTML_FILE, JUNIT_FILE};
use support::{Harness, Scratch};

/// How many cases the run has.
const CASES: u32 = 300;

/// The steps in which its journal is cut, in bytes.
const STEP: usize = 1000;

fn case(n: u32) -> Case {
    Case {
        id: format!("case-{n}"),
        scenario: format!("case-{n}"),
        family: "interactive".to_owned(),
        control: None,
        predicted: None,
        repeat: None,
        shard: 1,
        predicted_seconds: Some(1.5),
        dir: format!("scenarios/case-{n}").into(),
    }
}

/// The journal of a run whose cases are all ready, some of them at a second attempt.
fn journal(out: &Utf8Path) -> Vec<u8> {
    let run = RunInfo {
        v: journal::VERSION,
        run_id: "run".to_owned(),
        started_at: time::OffsetDateTime::UNIX_EPOCH,
        harness_version: "0.1.0".to_owned(),
        build: BuildInfo::of_this_program(),
        browser: BrowserInfo {
            path: "/opt/chromium".to_owned(),
            version: "Chromium 156".to_owned(),
            origin: "PATH".to_owned(),
            sandbox: Sandbox::OffForRoot,
            small_shm: false,
        },
        node: "recovery-node-control".to_owned(),
        args: Vec::new(),
        clock: Clock::Page,
        isolation: Isolation::Process,
        seed: 7,
        jobs: 2,
        plan: PlanInfo { hash: "0".repeat(64), shards: 1, cases: CASES as usize },
        part: Part::Shard(1),
        fail_on_flaky: false,
    };
    let cases: Vec<_> = (0..CASES).map(case).collect();
    fs::create_dir_all(out).unwrap();
    let path = out.join(journal::FILE_NAME);
    let journal =
        Journal::create(&path, Redactor::default(), RunStarted { run, cases: cases.clone() })
            .unwrap();
    for (n, case) in cases.into_iter().enumerate() {
        let attempts = if n % 10 == 0 { 2 } else { 1 };
        for attempt in 1..=attempts {
            let is_last = attempt == attempts;
            let started = Started { case: case.id.clone(), attempt, worker: 0, t_s: 0.5 };
            journal.append(&Event::Started(started)).unwrap();
            let ended = CaseResult {
                case: case.id.clone(),
                attempt,
                outcome: if is_last { Outcome::Ready } else { Outcome::Error },
                stamp: is_last.then(|| Stamp::ready("REWINDWIN").field("posts", 1)),
                reason: (!is_last).then(|| "]]> \u{1b}[31m \u{fffe} &amp; Zürich 😀".repeat(9)),
                seconds: 1.25,
                phases: Vec::new(),
                evidence: Vec::new(),
                receipts: Vec::new(),
                artifacts: vec!["verdict.json".into()],
                ledger: None,
            };
            journal.append(&Event::Finished(ended)).unwrap();
        }
    }
    let finished = RunFinished { seconds: 400.0, stopped: None, leaks: vec![] };
    journal.append(&Event::RunFinished(finished)).unwrap();
    fs::read(path).unwrap()
}

/// The testcases of the JUnit file, and how many of them are red; a strict reader has accepted it.
fn junit(out: &Utf8Path) -> (Vec<String>, usize) {
    let xml = fs::read_to_string(out.join(JUNIT_FILE)).unwrap();
    let read = roxmltree::Document::parse(&xml).unwrap();
    let named = |tag: &str| read.descendants().filter(|node| node.has_tag_name(tag)).count();
    let cases = read.descendants().filter(|node| node.has_tag_name("testcase"));
    let names = cases.filter_map(|node| node.attribute("name").map(str::to_owned)).collect();
    (names, named("error") + named("failure"))
}

/// The cases of the page; a strict reader has accepted it.
fn html(out: &Utf8Path) -> Vec<String> {
    let page = fs::read_to_string(out.join(HTML_FILE)).unwrap();
    let read = roxmltree::Document::parse(page.trim_start_matches("<!DOCTYPE html>")).unwrap();
    let cases = read.descendants().filter_map(|node| node.attribute("data-case"));
    cases.map(str::to_owned).collect()
}

#[test]
fn a_journal_cut_at_every_thousandth_byte_gives_a_report_that_accounts_for_every_case() {
    let scratch = Scratch::new();
    let out = scratch.out();
    let whole = journal(&out);
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    assert!(whole.len() > 150 * STEP, "{} bytes", whole.len());
    let planned: BTreeSet<_> = (0..CASES).map(|n| format!("case-{n}")).collect();
    let mut ready_before = 0;
    for cut in (0..whole.len()).step_by(STEP) {
        fs::write(out.join(journal::FILE_NAME), &whole[..cut]).unwrap();
        for file in [JUNIT_FILE, HTML_FILE] {
            let _ = fs::remove_file(out.join(file));
        }
        let reported = report::write_all(&out);
        if cut < first {
            // A run never leaves this: its journal appears with the first event in it.
            assert!(reported.is_err() && !out.join(JUNIT_FILE).exists(), "cut at {cut}");
            assert!(!out.join(HTML_FILE).exists(), "cut at {cut}");
            continue;
        }
        let summary = reported.unwrap();
        let (mut names, red) = junit(&out);
        assert_eq!(names.pop().as_deref(), Some("run"), "cut at {cut}");
        assert_eq!(names.len(), planned.len(), "cut at {cut}");
        assert_eq!(names.into_iter().collect::<BTreeSet<_>>(), planned, "cut at {cut}");
        let mut shown = html(&out);
        assert_eq!(shown.len(), planned.len(), "cut at {cut}");
        shown.sort();
        assert!(shown.iter().eq(&planned), "cut at {cut}");
        assert_eq!(red, summary.counts.not_passed() + 1, "cut at {cut}");
        assert!(summary.counts.passed() >= ready_before, "cut at {cut}");
        ready_before = summary.counts.passed();
    }
    assert!(ready_before > 290, "{ready_before}");
}

#[test]
fn the_command_reports_a_run_again_with_its_exit_code_and_refuses_what_is_none() {
    let scratch = Scratch::new();
    let whole = journal(&scratch.out());
    let report = |scratch: &Scratch| {
        let mut report = Harness::command(scratch);
        report.env_remove("GITHUB_ACTIONS").env_remove("GITHUB_STEP_SUMMARY");
        let output = report.args(["report", scratch.out().as_str()]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, said) = report(&scratch);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with("\n300 passed, 0 failed, 30 flaky\n"), "{said}");
    assert_eq!(junit(&scratch.out()).1, 0);

    // All cases are ready, and the run was cut off before it could say so.
    let cut = whole.trim_ascii_end().iter().rposition(|byte| *byte == b'\n').unwrap();
    fs::write(scratch.out().join(journal::FILE_NAME), &whole[..=cut]).unwrap();
    let (code, said) = report(&scratch);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.ends_with("\n300 passed, 0 failed, 30 flaky\n"), "{said}");
    assert!(said.contains("run: it was cut off before its end"), "{said}");
    assert_eq!(junit(&scratch.out()).1, 1);

    fs::write(scratch.out().join(journal::FILE_NAME), "{}").unwrap();
    assert_eq!(report(&scratch).0, Some(2));
}

#[test]
fn on_github_a_report_annotates_and_adds_to_the_summary_of_the_job() {
    let scratch = Scratch::new();
    let whole = journal(&scratch.out());
    fs::write(scratch.out().join(journal::FILE_NAME), &whole[..whole.len() / 2]).unwrap();
    let page = scratch.path().join("page.md");
    fs::write(&page, "before\n").unwrap();
    let mut report = Harness::command(&scratch);
    report.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", &page);
    let output = report.args(["report", scratch.out().as_str()]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let annotations = said.lines().filter(|line| line.starts_with("::error title="));
    assert_eq!(annotations.count(), 10, "{said}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.starts_with("before\n### recovery-e2e: "), "{page}");
    let own = fs::read_to_string(scratch.out().join("summary.md")).unwrap();
    assert_eq!(page.strip_prefix("before\n"), Some(&*own));
}
