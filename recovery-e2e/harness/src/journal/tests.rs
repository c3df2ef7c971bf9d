use std::collections::HashSet;
use std::fs;

use proptest::prelude::*;
use time::macros::datetime;

use super::view::{Refusal, parse};
use super::*;
use crate::stage::clock::Clock;
use crate::verdict::{Evidence, Outcome, ReceiptReport, Stamp};

/// How a run of this many cases begins; for the tests of the reports too.
pub(crate) fn run_started(selected: u32) -> RunStarted {
    RunStarted {
        v: VERSION,
        run_id: "7d3f".into(),
        started_at: datetime!(2026-01-02 03:04:05 UTC),
        harness_version: "0.1.0".into(),
        browser: BrowserInfo {
            path: "/opt/chromium".into(),
            version: "Chromium 156.0".into(),
            origin: "nix".into(),
        },
        node: "recovery-node".into(),
        args: vec!["--jobs".into(), "2".into()],
        clock: Clock::Page,
        seed: 7,
        jobs: 2,
        selected,
    }
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
        dir: format!("scenarios/{id}").into(),
    }
}

/// An end with something in every field.
pub(crate) fn result(id: &str, outcome: Outcome, reason: Option<&str>) -> CaseResult {
    CaseResult {
        case: id.into(),
        outcome,
        stamp: match outcome {
            Outcome::Ready => Some(Stamp::ready("REWINDWIN").field("posts", 1)),
            Outcome::Failed => Some(Stamp::failed("REWINDWIN").field("posts", 2)),
            _ => None,
        },
        reason: reason.map(Into::into),
        seconds: 1.875,
        phases: vec![Phase { name: "seed".into(), seconds: 0.5 }],
        evidence: vec![Evidence {
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
    }
}

pub(crate) fn journal_of(dir: &Utf8Path, events: &[Event]) -> Utf8PathBuf {
    let path = dir.join(FILE_NAME);
    let journal = Journal::create(&path, Redactor::default()).unwrap();
    events.iter().for_each(|event| journal.append(event).unwrap());
    path
}

pub(crate) fn temp_dir() -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(dir.path().to_owned()).unwrap();
    (dir, path)
}

fn bytes_of(events: &[Event]) -> Vec<u8> {
    let (_dir, path) = temp_dir();
    fs::read(journal_of(&path, events)).unwrap()
}

fn started(id: &str) -> Event {
    Event::Started(Started { case: id.into(), worker: 1, t_s: 3.25 })
}

/// A run of cases of which some started and some of those finished.
fn runs() -> impl Strategy<Value = Vec<Event>> {
    let reason = prop::option::of(any::<String>());
    let progress = prop::collection::vec((0u8..3, reason, 0u32..1000), 0..5);
    (progress, prop::option::of(any::<bool>())).prop_map(|(progress, interrupted)| {
        let mut events = vec![Event::RunStarted(run_started(progress.len() as u32))];
        let id = |n: usize| format!("rewind-window#{n}");
        events.extend((0..progress.len()).map(|n| Event::Planned(case(&id(n), None))));
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
        events.extend(
            interrupted
                .map(|interrupted| Event::RunFinished(RunFinished { seconds: 4.5, interrupted })),
        );
        events
    })
}

/// What `events` say of each case, without the code that reads a journal.
fn told(events: &[Event]) -> Vec<(String, Option<CaseResult>)> {
    let end = |id: &str| {
        events.iter().find_map(|event| match event {
            Event::Finished(end) if end.case == id => Some(end.clone()),
            _ => None,
        })
    };
    let planned = |event: &Event| match event {
        Event::Planned(case) => Some((case.id.clone(), end(&case.id))),
        _ => None,
    };
    events.iter().filter_map(planned).collect()
}

fn assert_tells(view: &JournalView, events: &[Event]) {
    let expected = told(events);
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
        Event::RunFinished(finished) => Some(*finished),
        _ => None,
    });
    assert_eq!(view.finished, finished);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_journal_is_read_back_as_it_was_written(events in runs()) {
        let view = parse(&bytes_of(&events)).unwrap();
        prop_assert_eq!(Event::RunStarted(view.run.clone()), events[0].clone());
        assert_tells(&view, &events);
    }

    #[test]
    fn a_journal_cut_at_any_byte_accounts_for_every_case_that_it_plans(events in runs()) {
        let text = bytes_of(&events);
        let ends: Vec<usize> =
            text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        for cut in 0..=text.len() {
            // A line is whole with its last brace; its line feed adds nothing to it.
            let whole = ends.iter().filter(|end| **end <= cut).count();
            match parse(&text[..cut]) {
                Ok(view) => assert_tells(&view, &events[..whole]),
                Err(Refusal::NotOurs) => prop_assert_eq!(whole, 0),
                Err(other) => prop_assert!(false, "cut at {}: {:?}", cut, other),
            }
        }
    }

    #[test]
    fn no_file_whatever_it_holds_makes_the_reader_panic(
        events in runs(),
        at in any::<prop::sample::Index>(),
        byte: u8,
    ) {
        let mut text = bytes_of(&events);
        let at = at.index(text.len());
        text[at] = byte;
        let _ = parse(&text);
    }
}

#[test]
fn a_case_without_an_end_is_interrupted_and_says_how_far_it_came() {
    let view = parse(&bytes_of(&[
        Event::RunStarted(run_started(2)),
        Event::Planned(case("a", None)),
        Event::Planned(case("b", None)),
        started("a"),
    ]))
    .unwrap();
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
    let (planned, ended) =
        (Event::Planned(case("a", None)), Event::Finished(result("a", Outcome::Ready, None)));
    let over = Event::RunFinished(RunFinished { seconds: 1.0, interrupted: false });
    for (events, line, says) in [
        (vec![planned.clone(), planned.clone()], 3, "planned twice"),
        (vec![ended.clone()], 2, "never planned"),
        (vec![started("a")], 2, "never planned"),
        (vec![planned.clone(), ended.clone(), ended.clone()], 4, "finishes a second time"),
        (vec![planned.clone(), started("a"), started("a")], 4, "starts a second time"),
        (vec![planned.clone(), ended.clone(), started("a")], 4, "starts a second time"),
        (vec![Event::RunStarted(run_started(0))], 2, "starts a second time"),
        (vec![over, planned], 3, "after the run has finished"),
    ] {
        let events: Vec<_> =
            [Event::RunStarted(run_started(0))].into_iter().chain(events).collect();
        match parse(&bytes_of(&events)) {
            Err(Refusal::Line(at, what)) if at == line && what.contains(says) => {}
            other => panic!("expected {says:?} at line {line}, found {other:?}"),
        }
    }
}

#[test]
fn only_the_last_line_may_be_torn() {
    let mut text = bytes_of(&[Event::RunStarted(run_started(1))]);
    text.extend(b"{\"event\":\"plan");
    parse(&text).unwrap();
    text.push(b'\n');
    assert!(matches!(parse(&text), Err(Refusal::Line(2, _))));
}

#[test]
fn another_version_and_another_file_are_refused_clearly() {
    let (_dir, dir) = temp_dir();
    let path = dir.join("x.jsonl");
    let later = RunStarted { v: VERSION + 1, ..run_started(0) };
    fs::write(&path, bytes_of(&[Event::RunStarted(later)])).unwrap();
    let refused = read(&path).unwrap_err().to_string();
    assert!(refused.contains("has version 2, and this harness reads version 1"), "{refused}");
    assert!(is_journal(&path).unwrap(), "a journal of another version is ours all the same");

    let planned = bytes_of(&[Event::Planned(case("a", None))]);
    for other in [&b""[..], b"\n", b"{}", b"{\"v\":1}\n", b"\xff\xfe\n", &planned] {
        fs::write(&path, other).unwrap();
        assert!(matches!(read(&path), Err(JournalError::NotOurs { .. })));
        assert!(!is_journal(&path).unwrap());
    }
    assert!(matches!(read(&dir.join("absent")), Err(JournalError::Read { .. })));
}

#[test]
fn no_secret_reaches_the_file() {
    let (_dir, dir) = temp_dir();
    let redactor = Redactor::default();
    let journal = Journal::create(&dir.join(FILE_NAME), redactor.clone()).unwrap();
    redactor.learn("0123456789abcdef");
    let mut run = run_started(0);
    run.args.push("--url=/login?token=0123456789abcdef".into());
    journal.append(&Event::RunStarted(run)).unwrap();
    let text = fs::read_to_string(dir.join(FILE_NAME)).unwrap();
    assert!(text.contains("token=[redacted]") && !text.contains("0123456789abcdef"), "{text}");
}

#[test]
fn a_journal_that_stands_already_is_not_written_over() {
    let (_dir, dir) = temp_dir();
    let path = journal_of(&dir, &[Event::RunStarted(run_started(0))]);
    let refused = Journal::create(&path, Redactor::default());
    assert!(matches!(refused, Err(AppendError::Create { .. })));
    assert!(is_journal(&path).unwrap());
}

#[test]
fn nothing_is_written_behind_a_line_that_may_be_torn() {
    // The device that is always full stands for a full disk.
    let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
    let journal = Journal {
        path: "/dev/full".into(),
        redactor: Redactor::default(),
        file: Mutex::new(Some(full)),
    };
    let event = Event::RunStarted(run_started(0));
    assert!(matches!(journal.append(&event), Err(AppendError::Write { .. })));
    assert!(matches!(journal.append(&event), Err(AppendError::Ended { .. })));
}

#[test]
fn events_of_many_workers_never_mix_within_a_line() {
    let (_dir, dir) = temp_dir();
    let path = dir.join(FILE_NAME);
    let journal = Journal::create(&path, Redactor::default()).unwrap();
    journal.append(&Event::RunStarted(run_started(80))).unwrap();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let journal = &journal;
            scope.spawn(move || {
                for n in 0..20 {
                    let id = format!("{worker}-{n}");
                    journal.append(&Event::Planned(case(&id, None))).unwrap();
                }
            });
        }
    });
    let view = read(&path).unwrap();
    let ids: HashSet<_> = view.cases.iter().map(|seen| &seen.case.id).collect();
    assert_eq!(ids.len(), 80);
}
