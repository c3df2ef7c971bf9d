use std::fs::{self, OpenOptions};

use proptest::prelude::*;
use time::macros::datetime;

use super::view::{Refusal, parse};
use super::*;
use crate::record::build::BuildInfo;
use crate::record::ledger::{Holding, Ledger};
use crate::record::settings::Clock;
use crate::record::settings::Isolation;
use crate::record::settings::{BrowserInfo, Sandbox};
use crate::record::stamp::Stamp;
use crate::record::verdict::{Evidence, Outcome, ReceiptReport};
use crate::test_dir::test_dir;
use crate::wait::Kind;

/// A run; for the tests of the reports too.
pub(crate) fn run_info() -> RunInfo {
    RunInfo {
        v: VERSION,
        run_id: "7d3f".into(),
        started_at: datetime!(2026-01-02 03:04:05 UTC),
        harness_version: "0.1.0".into(),
        build: BuildInfo {
            digest: "5e1f".repeat(16),
            commit: Some("c0ffee".repeat(6)),
            dirty: false,
        },
        browser: BrowserInfo {
            path: "/opt/chromium".into(),
            version: "Chromium 156.0".into(),
            origin: "nix".into(),
            sandbox: Sandbox::On,
            small_shm: false,
        },
        node: "recovery-node".into(),
        args: vec!["--jobs".into(), "2".into()],
        clock: Clock::Page,
        isolation: Isolation::Process,
        seed: 7,
        jobs: 2,
        plan: PlanInfo { hash: "0123456789abcdef0123".into(), shards: 1, cases: 2 },
        part: Part::Shard(1),
        fail_on_flaky: false,
    }
}

/// How a run of these scenarios begins.
pub(crate) fn run_started(ids: &[&str]) -> RunStarted {
    RunStarted { run: run_info(), cases: ids.iter().map(|id| case(id, None)).collect() }
}

/// A case of the scenario `rewind-window`; `control` names the defect put in.
pub(crate) fn case(id: &str, control: Option<&str>) -> Case {
    Case {
        id: id.into(),
        scenario: "rewind-window".into(),
        family: "pane".into(),
        control: control.map(Into::into),
        predicted: control.map(|_| "RECOVERY-FAILED-REWINDWIN-posts2-rows0".into()),
        repeat: None,
        shard: 1,
        predicted_seconds: Some(2.5),
        dir: format!("scenarios/{id}").into(),
    }
}

/// An end with something in every field.
pub(crate) fn result(id: &str, outcome: Outcome, reason: Option<&str>) -> CaseResult {
    CaseResult {
        case: id.into(),
        attempt: 1,
        outcome,
        stamp: match outcome {
            Outcome::Ready | Outcome::Flaky => Some(Stamp::ready("REWINDWIN").field("posts", 1)),
            Outcome::Failed => Some(Stamp::failed("REWINDWIN").field("posts", 2)),
            _ => None,
        },
        reason: reason.map(Into::into),
        seconds: 1.875,
        phases: vec![Phase { name: "seed".into(), seconds: 0.5 }],
        evidence: vec![Evidence {
            kind: Kind::Need,
            what: "the refetch was held".into(),
            held: true,
            saw: "1 arrival".into(),
        }],
        receipts: vec![ReceiptReport {
            name: "hold history".into(),
            redeemed: 1,
            armed: 1,
            broken: None,
        }],
        artifacts: vec!["end.png".into(), "trace.jsonl".into()],
        ledger: Some(Ledger {
            held: Holding {
                processes: vec!["4711 chromium".into()],
                ports: vec![40001],
                temp_bytes: 2_000_000,
                shm: Vec::new(),
            },
            left: Holding::default(),
        }),
    }
}

/// A journal in `dir` that begins with `begin` and goes on with `events`.
pub(crate) fn journal_of(dir: &Utf8Path, begin: RunStarted, events: &[Event]) -> Utf8PathBuf {
    let path = dir.join(FILE_NAME);
    let journal = Journal::create(&path, Redactor::default(), begin).unwrap();
    events.iter().for_each(|event| journal.append(event).unwrap());
    path
}

fn bytes_of(begin: &RunStarted, events: &[Event]) -> Vec<u8> {
    let (_dir, path) = test_dir();
    fs::read(journal_of(&path, begin.clone(), events)).unwrap()
}

fn started(id: &str) -> Event {
    Event::Started(Started { case: id.into(), attempt: 1, worker: 1, t_s: 3.25 })
}

/// A run of cases of which some started and some of those finished.
fn runs() -> impl Strategy<Value = (RunStarted, Vec<Event>)> {
    let reason = prop::option::of(any::<String>());
    let progress = prop::collection::vec((0u8..3, reason, 0u32..1000), 0..5);
    (progress, prop::option::of(any::<bool>())).prop_map(|(progress, finished)| {
        let id = |n: usize| format!("rewind-window#{n}");
        let cases = (0..progress.len()).map(|n| case(&id(n), None)).collect();
        let mut events = Vec::new();
        for (n, (stage, reason, eighths)) in progress.into_iter().enumerate() {
            if stage > 0 {
                events.push(started(&id(n)));
            }
            if stage > 1 {
                // Eighths of a second are exact in binary and in JSON.
                let seconds = f64::from(eighths) / 8.0;
                let end = result(&id(n), Outcome::Ready, reason.as_deref());
                events.push(Event::Finished(CaseResult { seconds, ..end }));
            }
        }
        events.extend(finished.map(|stopped| stopped.then_some(Stop::Signal)).map(|stopped| {
            Event::RunFinished(RunFinished { seconds: 4.5, stopped, leaks: vec![] })
        }));
        (RunStarted { run: run_info(), cases }, events)
    })
}

/// What `events` say of each case, without the code that reads a journal.
fn expected_ends(begin: &RunStarted, events: &[Event]) -> Vec<(String, Option<CaseResult>)> {
    let end = |id: &str| {
        events.iter().find_map(|event| match event {
            Event::Finished(end) if end.case == id => Some(end.clone()),
            _ => None,
        })
    };
    begin.cases.iter().map(|case| (case.id.clone(), end(&case.id))).collect()
}

fn assert_tells(view: &JournalView, begin: &RunStarted, events: &[Event]) {
    let expected = expected_ends(begin, events);
    assert_eq!(view.run, begin.run);
    assert_eq!(view.cases.len(), expected.len());
    for (seen, (id, end)) in view.cases.iter().zip(expected) {
        assert_eq!((&seen.case.id, &seen.result.case), (&id, &id));
        match end {
            Some(end) => assert_eq!(seen.result, end),
            None => {
                assert_eq!(seen.result.outcome, Outcome::Interrupted);
                assert!(seen.result.reason.is_some());
            }
        }
    }
    let finished = events.iter().find_map(|event| match event {
        Event::RunFinished(finished) => Some(finished.clone()),
        _ => None,
    });
    assert_eq!(view.finished, finished);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_journal_is_read_back_as_it_was_written((begin, events) in runs()) {
        let view = parse(&bytes_of(&begin, &events)).unwrap();
        assert_tells(&view, &begin, &events);
    }

    #[test]
    fn a_journal_cut_anywhere_behind_its_first_event_accounts_for_every_case(
        (begin, events) in runs(),
    ) {
        let text = bytes_of(&begin, &events);
        let ends: Vec<usize> =
            text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        for cut in 0..=text.len() {
            // A line is whole with its last brace; its line feed adds nothing to it.
            let whole = ends.iter().filter(|end| **end <= cut).count();
            match parse(&text[..cut]) {
                Ok(view) => assert_tells(&view, &begin, &events[..whole - 1]),
                Err(Refusal::NotOurs) => prop_assert_eq!(whole, 0),
                Err(other) => prop_assert!(false, "cut at {}: {:?}", cut, other),
            }
        }
    }

    #[test]
    fn no_file_whatever_it_holds_makes_the_reader_panic(
        (begin, events) in runs(),
        at in any::<prop::sample::Index>(),
        byte: u8,
    ) {
        let mut text = bytes_of(&begin, &events);
        let at = at.index(text.len());
        text[at] = byte;
        let _ = parse(&text);
    }
}

#[test]
fn a_case_without_an_end_is_interrupted_and_says_how_far_it_came() {
    let view = parse(&bytes_of(&run_started(&["a", "b"]), &[started("a")])).unwrap();
    let reasons: Vec<_> = view.cases.iter().filter_map(|c| c.result.reason.as_deref()).collect();
    assert_eq!(
        reasons,
        [
            "the run ended while this case was under way, since 3.2 s on worker 1",
            "the run ended before this case started",
        ]
    );
}

#[test]
fn a_journal_that_tells_what_cannot_be_is_refused_with_its_line() {
    let ended = Event::Finished(result("a", Outcome::Ready, None));
    let over = Event::RunFinished(RunFinished { seconds: 1.0, stopped: None, leaks: vec![] });
    let begin = run_started(&["a"]);
    for (planned, events, line, says) in [
        (&["a", "a"][..], vec![], 1, "planned twice"),
        (&[], vec![ended.clone()], 2, "never planned"),
        (&[], vec![started("a")], 2, "never planned"),
        (&["a"], vec![ended.clone(), ended.clone()], 3, "attempt 1 of a finishes, and the next"),
        (&["a"], vec![started("a"), started("a")], 3, "attempt 1 of a starts, and the next"),
        (&["a"], vec![ended.clone(), started("a")], 3, "attempt 1 of a starts, and the next"),
        (&["a"], vec![Event::RunStarted(begin)], 2, "starts a second time"),
        (&["a"], vec![over, started("a")], 3, "after the run has finished"),
    ] {
        match parse(&bytes_of(&run_started(planned), &events)) {
            Err(Refusal::Line(at, what)) if at == line && what.contains(says) => {}
            other => panic!("expected {says:?} at line {line}, found {other:?}"),
        }
    }
}

#[test]
fn a_plan_of_more_shards_than_there_can_be_is_refused() {
    for shards in [0, 1001, u32::MAX] {
        let mut begin = run_started(&["a"]);
        begin.run.plan.shards = shards;
        let refused = parse(&bytes_of(&begin, &[])).unwrap_err();
        assert!(matches!(refused, Refusal::Line(1, what) if what.contains("1 to 1000 shards")));
    }
}

#[test]
fn the_last_attempt_decides_and_those_before_are_kept() {
    let attempt =
        |n: u32, outcome| Event::Finished(CaseResult { attempt: n, ..result("a", outcome, None) });
    let begun =
        |n: u32| Event::Started(Started { case: "a".into(), attempt: n, worker: 0, t_s: 1.0 });
    let (failed, ready) = (Outcome::Failed, Outcome::Ready);
    for (events, outcome, earlier) in [
        (vec![begun(1), attempt(1, ready)], ready, &[][..]),
        (vec![begun(1), attempt(1, failed)], failed, &[]),
        (vec![attempt(1, failed), begun(2), attempt(2, ready)], Outcome::Flaky, &[failed]),
        (vec![attempt(1, failed), begun(2), attempt(2, failed)], failed, &[failed]),
        (vec![attempt(1, failed), begun(2)], Outcome::Interrupted, &[failed]),
        (
            vec![attempt(1, failed), attempt(2, failed), attempt(3, ready)],
            Outcome::Flaky,
            &[failed, failed],
        ),
    ] {
        let view = parse(&bytes_of(&run_started(&["a"]), &events)).unwrap();
        let seen = &view.cases[0];
        assert_eq!(seen.result.outcome, outcome, "{events:?}");
        let before: Vec<_> = seen.earlier.iter().map(|result| result.outcome).collect();
        assert_eq!(before, earlier, "{events:?}");
    }
}

#[test]
fn a_case_that_fail_fast_left_out_says_after_which_other() {
    let stopped = Some(Stop::FailFast("a".to_owned()));
    let ends = [
        Event::Finished(result("a", Outcome::Failed, None)),
        Event::RunFinished(RunFinished { seconds: 1.0, stopped, leaks: vec![] }),
    ];
    let view = parse(&bytes_of(&run_started(&["a", "b"]), &ends)).unwrap();
    let reason = view.cases[1].result.reason.as_deref();
    assert_eq!(reason, Some("a was bad, and after that no case was started (--fail-fast)"));
}

#[test]
fn only_the_last_line_may_be_torn() {
    let mut text = bytes_of(&run_started(&["a"]), &[]);
    text.extend(b"{\"event\":\"star");
    parse(&text).unwrap();
    text.push(b'\n');
    assert!(matches!(parse(&text), Err(Refusal::Line(2, _))));
}

#[test]
fn another_version_and_another_file_are_refused_clearly() {
    let (_dir, dir) = test_dir();
    let path = dir.join("x.jsonl");
    let mut later = run_started(&[]);
    later.run.v = VERSION + 1;
    fs::write(&path, bytes_of(&later, &[])).unwrap();
    let refused = read(&path).unwrap_err().to_string();
    assert!(refused.contains("has version 3, and this harness reads version 2"), "{refused}");
    assert!(is_journal(&path).unwrap(), "a journal of another version is ours all the same");

    // Before the journal contained its build.
    let earlier = r#"{"event":"run_started","v":1,"run_id":"7d3f","harness_version":"0.1.0"}"#;
    fs::write(&path, format!("{earlier}\n")).unwrap();
    let refused = read(&path).unwrap_err().to_string();
    assert!(refused.contains("has version 1, and this harness reads version 2"), "{refused}");

    let begun = bytes_of(&run_started(&["a"]), &[started("a")]);
    let headless = begun.split_inclusive(|byte| *byte == b'\n').nth(1).unwrap();
    for other in [&b""[..], b"\n", b"{}", b"{\"v\":1}\n", b"\xff\xfe\n", headless] {
        fs::write(&path, other).unwrap();
        assert!(matches!(read(&path), Err(JournalError::NotOurs { .. })));
        assert!(!is_journal(&path).unwrap());
    }
    assert!(matches!(read(&dir.join("absent")), Err(JournalError::Read { .. })));
}

#[test]
fn no_secret_reaches_the_file() {
    let (_dir, dir) = test_dir();
    let redactor = Redactor::default();
    redactor.learn("0123456789abcdef");
    let said = "GET /login?token=0123456789abcdef";
    let mut begin = run_started(&["a"]);
    begin.run.args.push(said.into());
    let journal = Journal::create(&dir.join(FILE_NAME), redactor, begin).unwrap();
    journal.append(&Event::Finished(result("a", Outcome::Error, Some(said)))).unwrap();
    let text = fs::read_to_string(dir.join(FILE_NAME)).unwrap();
    assert_eq!(text.matches("token=[redacted]").count(), 2, "{text}");
    assert!(!text.contains("0123456789abcdef"), "{text}");
}

#[test]
fn a_journal_that_stands_already_is_not_written_over() {
    let (_dir, dir) = test_dir();
    let path = journal_of(&dir, run_started(&["a"]), &[]);
    let refused = Journal::create(&path, Redactor::default(), run_started(&["b"]));
    assert!(matches!(refused, Err(AppendError::Create { .. })));
    assert_eq!(read(&path).unwrap().cases[0].case.id, "a");
    assert_eq!(dir.read_dir().unwrap().count(), 1, "nothing is left of the other");
}

#[test]
fn nothing_is_written_behind_a_line_that_may_be_torn() {
    // The device that is always full serves as a full disk.
    let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
    let journal = Journal {
        path: "/dev/full".into(),
        redactor: Redactor::default(),
        file: Mutex::new(Some(full)),
    };
    let event = started("a");
    assert!(matches!(journal.append(&event), Err(AppendError::Write { .. })));
    assert!(matches!(journal.append(&event), Err(AppendError::Ended { .. })));
}

#[test]
fn events_of_many_workers_never_mix_within_a_line() {
    let (_dir, dir) = test_dir();
    let path = dir.join(FILE_NAME);
    let id = |worker: usize, n: usize| format!("{worker}-{n}");
    let cases = (0..80).map(|n| case(&id(n / 20, n % 20), None)).collect();
    let begin = RunStarted { run: run_info(), cases };
    let journal = Journal::create(&path, Redactor::default(), begin).unwrap();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let journal = &journal;
            scope.spawn(move || {
                for n in 0..20 {
                    let end = result(&id(worker, n), Outcome::Ready, None);
                    journal.append(&Event::Finished(end)).unwrap();
                }
            });
        }
    });
    let view = read(&path).unwrap();
    let ready = view.cases.iter().filter(|seen| seen.result.outcome == Outcome::Ready);
    assert_eq!(ready.count(), 80);
}
