use proptest::prelude::*;
use roxmltree::{Document, Node};

use super::super::tests::summary;
use super::*;
use crate::record::journal::tests::result;
use crate::record::journal::{RunFinished, Stop};
use crate::report::exit_code;

const OUTCOMES: [Outcome; 7] = [
    Outcome::Ready,
    Outcome::Flaky,
    Outcome::Failed,
    Outcome::Inconclusive,
    Outcome::Error,
    Outcome::Interrupted,
    Outcome::Skipped,
];

fn xml(summary: &Summary) -> String {
    String::from_utf8(render(summary).unwrap()).unwrap()
}

fn all<'a>(read: &'a Document<'a>, tag: &str) -> Vec<Node<'a, 'a>> {
    read.descendants().filter(|node| node.has_tag_name(tag)).collect()
}

/// All the text in `node`; a split CDATA section reads as one.
fn content(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}

#[test]
fn every_outcome_has_its_own_element_and_its_name_as_the_type() {
    for (outcome, element) in OUTCOMES.into_iter().zip([
        None,
        None,
        Some("failure"),
        Some("error"),
        Some("error"),
        Some("error"),
        Some("skipped"),
    ]) {
        let xml = xml(&summary(&[("rewind-window", None, outcome, Some("because"))]));
        let read = Document::parse(&xml).unwrap();
        let case = all(&read, "testcase")[0];
        assert_eq!(case.attribute("name"), Some("rewind-window"));
        assert_eq!(case.attribute("classname"), Some("pane"));
        let expected: Vec<_> =
            case.children().filter(|node| !node.has_tag_name("system-out")).collect();
        assert_eq!(expected.first().map(|node| node.tag_name().name()), element, "{outcome:?}");
        assert_eq!(
            expected.first().and_then(|node| node.attribute("type")),
            element.map(|_| outcome.name())
        );
        let suite = all(&read, "testsuite")[0];
        let count = |of: &str| usize::from(element == Some(of)).to_string();
        assert_eq!(suite.attribute("failures"), Some(&*count("failure")));
        assert_eq!(suite.attribute("errors"), Some(&*count("error")));
    }
}

#[test]
fn a_failure_says_its_stamp_first_and_its_reason_in_full() {
    let xml = xml(&summary(&[("a", None, Outcome::Failed, Some("one\ntwo"))]));
    let read = Document::parse(&xml).unwrap();
    let failure = all(&read, "failure")[0];
    let message = "RECOVERY-FAILED-REWINDWIN-posts2: one two";
    assert_eq!(failure.attribute("message"), Some(message));
    assert_eq!(content(failure), "RECOVERY-FAILED-REWINDWIN-posts2: one\ntwo");
}

#[test]
fn controls_have_a_suite_of_their_own_and_each_suite_tells_the_browser() {
    let xml = xml(&summary(&[
        ("rewind-window/gate-is-busy-alone", Some("gate-is-busy-alone"), Outcome::Ready, None),
        ("rewind-window#2", None, Outcome::Ready, None),
    ]));
    let read = Document::parse(&xml).unwrap();
    let suites = all(&read, "testsuite");
    let named: Vec<_> = suites
        .iter()
        .map(|suite| {
            let case = suite.children().find(|node| node.has_tag_name("testcase")).unwrap();
            (suite.attribute("name").unwrap(), case.attribute("name").unwrap())
        })
        .collect();
    assert_eq!(
        named,
        [
            ("recovery-e2e", "rewind-window#2"),
            ("recovery-e2e controls", "rewind-window/gate-is-busy-alone"),
        ]
    );
    assert!(content(suites[1]).contains("predicted: RECOVERY-FAILED-REWINDWIN-posts2-rows0\n"));
    for suite in suites {
        let out = suite.children().find(|node| node.has_tag_name("system-out")).unwrap();
        assert!(content(out).contains(
            "browser: Chromium 156.0\nbrowser program: /opt/chromium\nbrowser from: nix\nsandbox: on\n/dev/shm: used\n"
        ));
        let build =
            format!("build digest: {}\nbuild commit: {}\n", "5e1f".repeat(16), "c0ffee".repeat(6));
        assert!(content(out).contains(&build));
    }
}

#[test]
fn a_run_that_is_not_whole_is_an_error_beside_its_cases_also_when_all_of_them_are_ready() {
    let good = summary(&[("a", None, Outcome::Ready, None)]);
    let stopped = Some(RunFinished { seconds: 1.0, stopped: Some(Stop::Signal), leaks: vec![] });
    for (summary, named, kind) in [
        (Summary { finished: None, ..good.clone() }, vec!["a", "run"], Some("interrupted")),
        (Summary { finished: stopped, ..good.clone() }, vec!["a", "run"], Some("interrupted")),
        (summary(&[]), vec!["run"], Some("error")),
        (good, vec!["a"], None),
    ] {
        let xml = xml(&summary);
        let read = Document::parse(&xml).unwrap();
        let cases = all(&read, "testcase");
        let names: Vec<_> = cases.iter().filter_map(|case| case.attribute("name")).collect();
        assert_eq!(names, named);
        let errors = all(&read, "error");
        assert_eq!(errors.first().and_then(|error| error.attribute("type")), kind);
        if kind.is_some() {
            assert_eq!(cases.last().unwrap().attribute("classname"), Some("recovery-e2e"));
        }
    }
}

proptest! {
    #[test]
    fn a_reader_of_this_file_alone_sees_red_exactly_when_the_exit_code_is_1(
        outcomes in prop::collection::vec(prop::sample::select(OUTCOMES.to_vec()), 0..3),
        finished in prop::option::of(any::<bool>()),
        fail_on_flaky: bool,
    ) {
        let ids = ["a", "b", "c"];
        let ends: Vec<_> =
            ids.iter().zip(outcomes).map(|(id, outcome)| (*id, None, outcome, None)).collect();
        let finished = finished.map(|stopped| stopped.then_some(Stop::Signal));
        let finished = finished.map(|stopped| RunFinished { seconds: 1.0, stopped, leaks: vec![] });
        let mut summary = Summary { finished, ..summary(&ends) };
        summary.run.fail_on_flaky = fail_on_flaky;
        let xml = xml(&summary);
        let read = Document::parse(&xml).unwrap();
        let red = all(&read, "failure").len() + all(&read, "error").len();
        prop_assert_eq!(red > 0, exit_code(&summary) == 1);
    }
}

#[test]
fn only_what_the_strict_dialect_knows_is_written() {
    let ends = OUTCOMES.map(|outcome| (outcome.name(), None, outcome, Some("because")));
    let xml = xml(&summary(&ends));
    let read = Document::parse(&xml).unwrap();
    for node in read.descendants().filter(Node::is_element) {
        let known: &[&str] = match node.tag_name().name() {
            "testsuites" | "system-out" => &[],
            "testsuite" => &[
                "id",
                "name",
                "package",
                "tests",
                "errors",
                "failures",
                "hostname",
                "timestamp",
                "time",
            ],
            "testcase" => &["name", "classname", "time"],
            "failure" | "error" | "skipped" => &["type", "message"],
            other => panic!("the strict dialect knows no <{other}>"),
        };
        for attribute in node.attributes() {
            assert!(known.contains(&attribute.name()), "{attribute:?}");
        }
    }
}

#[test]
fn a_time_is_told_to_the_millisecond_without_an_exponent() {
    for (seconds, expected) in [
        (1.8754, "1.875"),
        (0.0004, "0"),
        (1e-9, "0"),
        (-1.0, "0"),
        (f64::NAN, "0"),
        (f64::MAX, "1000000000"),
    ] {
        let mut summary = summary(&[("a", None, Outcome::Ready, None)]);
        summary.cases[0].result.seconds = seconds;
        let xml = xml(&summary);
        let read = Document::parse(&xml).unwrap();
        assert_eq!(all(&read, "testcase")[0].attribute("time"), Some(expected), "{seconds}");
    }
}

#[test]
fn a_retried_case_is_one_testcase_that_tells_the_attempts_before() {
    let mut summary = summary(&[("a", None, Outcome::Flaky, None)]);
    summary.cases[0].earlier = vec![result("a", Outcome::Failed, Some("]]> two rows"))];
    let xml = xml(&summary);
    let read = Document::parse(&xml).unwrap();
    assert_eq!(all(&read, "testcase").len(), 1);
    assert!(all(&read, "failure").is_empty());
    let out = content(*all(&read, "system-out").first().unwrap());
    let expected = "attempt 1: failed: RECOVERY-FAILED-REWINDWIN-posts2: ]]> two rows\n";
    assert!(out.contains(expected), "{out}");
    assert!(out.contains("attempt 1 is in target/e2e/scenarios/a\n"), "{out}");
}

#[test]
fn each_artifact_is_attached_by_its_path_from_the_root_and_no_base_name_twice() {
    let mut summary = summary(&[("a", None, Outcome::Ready, None)]);
    summary.cases[0].result.artifacts.push("target/e2e/scenarios/a/second/end.png".into());
    let xml = xml(&summary);
    let read = Document::parse(&xml).unwrap();
    let out = content(*all(&read, "system-out").first().unwrap());
    let attached: Vec<_> = out.lines().filter(|line| line.starts_with("[[")).collect();
    assert_eq!(
        attached,
        [
            "[[ATTACHMENT|target/e2e/scenarios/a/end.png]]",
            "[[ATTACHMENT|target/e2e/scenarios/a/trace.jsonl]]",
        ]
    );
}

/// Text in which what is dangerous is common.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        any::<char>().prop_map(String::from),
        (0u32..0xa0).prop_filter_map("a character", char::from_u32).prop_map(String::from),
        prop::sample::select(vec![
            "]]>",
            "]]",
            ">",
            "]]]]><![CDATA[>",
            "<!--",
            "\u{1b}[31m",
            "\u{1b}]0;",
            "\u{9b}",
            "\u{fffe}",
            "\u{ffff}",
            "\u{10ffff}",
            "&#0;",
            "&",
            "\"",
            "'",
            "\r",
            "\0",
            "[[ATTACHMENT|/etc/passwd]]",
        ])
        .prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_strict_reader_accepts_the_file_and_reads_every_text_as_it_was_cleaned(
        outcome in prop::sample::select(OUTCOMES.to_vec()),
        texts in prop::collection::vec(nasty(), 8),
    ) {
        let mut summary = summary(&[("a", None, outcome, Some(&*texts[0]))]);
        summary.run.browser.version = texts[1].clone();
        let seen = &mut summary.cases[0];
        seen.case.id = texts[2].clone();
        seen.case.family = texts[3].clone();
        seen.result.evidence[0].saw = texts[4].clone();
        seen.result.receipts[0].broken = Some(texts[5].clone());
        seen.result.phases[0].name = texts[6].clone();
        seen.result.artifacts.push(format!("a/{}", texts[7]).into());
        let artifacts = seen.result.artifacts.clone();

        let xml = xml(&summary);
        let read = Document::parse(&xml).unwrap();
        let case = all(&read, "testcase")[0];
        prop_assert_eq!(case.attribute("name"), Some(&*text::line(&texts[2])));
        prop_assert_eq!(case.attribute("classname"), Some(&*text::line(&texts[3])));
        let out = case.children().find(|node| node.has_tag_name("system-out")).unwrap();
        let out = content(out);
        let saw = text::block(&format!("saw {}", texts[4])).replace("[[A", "[ [A");
        prop_assert!(out.contains(&saw), "{:?} is not in {:?}", saw, out);
        for (at, _) in out.match_indices("[[ATTACHMENT|") {
            let path = out[at + 13..].split("]]").next().unwrap();
            prop_assert!(artifacts.iter().any(|known| known == path), "{:?} is attached", path);
        }
    }
}
