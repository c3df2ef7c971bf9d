use std::fs;
use std::time::Instant;

use camino::Utf8PathBuf;
use proptest::prelude::*;
use roxmltree::{Document, Node};
use serde_json::json;

use super::super::tests::summary;
use super::*;
use crate::record::class::Class;
use crate::record::journal::tests::{result, run_info};
use crate::record::journal::{Part, RunInfo, ShardRun};
use crate::test_dir::test_dir;

/// The page of a run that left no file.
fn bare(summary: &Summary) -> String {
    render(summary, "target/e2e".into(), &Traces::default(), BOUNDS.details)
}

fn xml(page: &str) -> Document<'_> {
    let page = page.strip_prefix("<!DOCTYPE html>").unwrap();
    Document::parse(page).unwrap_or_else(|error| panic!("{error} in {page}"))
}

fn with_class<'a>(read: &'a Document<'a>, class: &str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node<'_, '_>| {
        node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class))
    };
    read.descendants().filter(has).collect()
}

fn content(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}

const HEADER: &str = "{\"v\":2}\n";

fn event(t_ms: f64, request: u64, event: &str, more: serde_json::Value) -> String {
    let mut line = json!({ "t_ms": t_ms, "phase": "fault", "request": request, "event": event });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    format!("{line}\n")
}

fn arrived(t_ms: f64, request: u64, class: &Class) -> String {
    let path = format!("/{class}");
    event(
        t_ms,
        request,
        "arrived",
        json!({
            "class": class, "method": "GET", "path": path, "cursor_header": null,
            "cursor_query": null, "handoff_token": false, "user_turn": false, "tool_turn": false,
        }),
    )
}

fn headed(t_ms: f64, request: u64, status: u16) -> String {
    event(t_ms, request, "headed", json!({ "status": status, "streams": false }))
}

fn fault(t_ms: f64, request: u64, kind: &str, name: &str) -> String {
    event(t_ms, request, "fault", json!({ "kind": kind, "name": name }))
}

/// A request that was answered with 200 within ten milliseconds.
fn answered(t_ms: f64, request: u64, class: &Class) -> String {
    [
        arrived(t_ms, request, class),
        headed(t_ms + 5.0, request, 200),
        event(t_ms + 10.0, request, "ended", json!({})),
    ]
    .concat()
}

/// An out folder in which each case of `summary` has these lines after the header.
fn out_folder(summary: &Summary, events: &str) -> (tempfile::TempDir, Utf8PathBuf) {
    let (dir, out) = test_dir();
    for seen in &summary.cases {
        let folder = out.join(seen.case.dir.strip_prefix("target/e2e").unwrap());
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("requests.jsonl"), format!("{HEADER}{events}")).unwrap();
    }
    (dir, out)
}

fn page_of(summary: &Summary, out: &Utf8Path) -> String {
    page(out, "target/e2e".into(), summary)
}

/// The page without its style and its script, an element a line.
fn outline(page: &str) -> String {
    fn add(node: Node<'_, '_>, depth: usize, lines: &mut String) {
        let own = |text: &str| told_on(depth, text);
        if let Some(text) = node.text().filter(|text| node.is_text() && !text.trim().is_empty()) {
            lines.push_str(&own(&format!("{text:?}")));
        }
        if node.is_element() {
            let attributes = node.attributes().filter(|attribute| attribute.name() != "content");
            let attributes: String =
                attributes.map(|a| format!(" {}={:?}", a.name(), a.value())).collect();
            lines.push_str(&own(&format!("{}{attributes}", node.tag_name().name())));
            if !node.has_tag_name("style") && !node.has_tag_name("script") {
                node.children().for_each(|child| add(child, depth + 1, lines));
            }
        }
    }
    fn told_on(depth: usize, text: &str) -> String {
        format!("{}{text}\n", "  ".repeat(depth))
    }
    let mut lines = String::new();
    add(xml(page).root_element(), 0, &mut lines);
    lines
}

#[test]
fn a_page_shows_the_run_and_each_case_with_its_timeline() {
    let mut mixed = summary(&[
        ("a", None, Outcome::Ready, None),
        ("b/gate", Some("gate"), Outcome::Failed, Some("the scenario did not notice the defect")),
        ("c", None, Outcome::Interrupted, Some("the run ended before this case started")),
    ]);
    mixed.cases[2].result.artifacts.clear();
    mixed.finished = None;
    let events = [
        answered(100.0, 1, &Class::ASSET),
        arrived(200.0, 2, &Class::HISTORY),
        fault(200.0, 2, "fail", "fail history x1 with 500"),
        headed(205.0, 2, 500),
        event(210.0, 2, "ended", json!({})),
        arrived(300.0, 3, &Class::HISTORY),
        fault(301.0, 3, "hold", "hold history x1"),
        event(301.0, 3, "held", json!({})),
        event(400.0, 3, "forwarded", json!({ "upstream": 2 })),
        headed(405.0, 3, 200),
        event(409.0, 3, "passed", json!({ "bytes": 7, "last_event_id": null })),
        event(410.0, 3, "ended", json!({})),
        arrived(500.0, 4, &Class::EVENTS),
    ];
    let (_dir, out) = out_folder(&mixed, &events.concat());
    fs::remove_dir_all(out.join("scenarios/c")).unwrap();
    insta::assert_snapshot!(outline(&page_of(&mixed, &out)));
}

#[test]
fn every_planned_case_stands_once_whatever_its_outcome_and_the_worst_come_first() {
    let ends: Vec<_> =
        OUTCOMES.iter().rev().map(|outcome| (outcome.name(), None, *outcome, None)).collect();
    let page = bare(&summary(&ends));
    let read = xml(&page);
    let cases = with_class(&read, "case");
    let text = |name| cases.iter().filter_map(move |case| case.attribute(name)).collect::<Vec<_>>();
    assert_eq!(text("data-case"), OUTCOMES.map(Outcome::name));
    assert_eq!(text("data-outcome"), OUTCOMES.map(Outcome::name));
    let closed: Vec<_> = cases.iter().filter(|case| case.attribute("open").is_none()).collect();
    assert_eq!(closed.len(), 1, "only what is ready is closed");
    for case in cases {
        let id = link::anchor(case.attribute("data-case").unwrap());
        assert!(case.descendants().any(|node| node.attribute("id") == Some(&id)), "{id}");
    }
}

#[test]
fn what_is_wrong_with_the_run_is_told_at_the_top_also_when_all_cases_are_ready() {
    let mut merged = summary(&[("a", None, Outcome::Ready, None)]);
    let one = RunInfo { part: Part::Shard(1), seed: 11, ..run_info() };
    let one = ShardRun { run: one, finished: merged.finished.clone() };
    merged.run.part = Part::Merged(vec![one]);
    merged.run.plan.shards = 2;
    let page = bare(&merged);
    let read = xml(&page);
    let h1 = read.descendants().find(|node| node.has_tag_name("h1")).unwrap();
    assert_eq!(content(h1), "\u{2717}Trouble with the run: 1 ready");
    let troubles = with_class(&read, "trouble");
    assert_eq!(content(troubles[0]), "!errorshard 2/2no run of this shard was merged");
    let rows: Vec<_> = with_class(&read, "shards")[0]
        .descendants()
        .filter(|node| node.has_tag_name("tr"))
        .map(content)
        .collect();
    assert_eq!(
        rows[1],
        "1/212.5 s1.9 s11cargo xtask e2e --jobs 2 --browser /opt/chromium --seed 11"
    );
    assert_eq!(rows[2], "2/2missing");
}

#[test]
fn a_flaky_case_tells_its_attempts_before_with_files_of_their_own() {
    let mut flaky = summary(&[("a", None, Outcome::Flaky, None)]);
    let seen = &mut flaky.cases[0];
    seen.earlier = vec![result("a", Outcome::Failed, Some("two rows"))];
    seen.earlier[0].artifacts = vec!["target/e2e/scenarios/a/1-end.png".into()];
    seen.result.attempt = 2;
    seen.result.artifacts = vec!["target/e2e/scenarios/a/attempt-2/1-end.png".into()];
    let page = bare(&flaky);
    let read = xml(&page);
    assert_eq!(with_class(&read, "case").len(), 1);
    let before = with_class(&read, "attempt")[0];
    assert!(content(before).contains("two rows"));
    let pictures = |node: Node<'_, '_>| {
        let all = node.descendants().filter_map(|node| node.attribute("src").map(str::to_owned));
        all.collect::<Vec<_>>()
    };
    assert_eq!(pictures(before), ["scenarios/a/1-end.png"]);
    assert_eq!(pictures(read.root_element())[0], "scenarios/a/attempt-2/1-end.png");
}

#[test]
fn pictures_stand_in_the_order_in_which_they_were_taken() {
    let mut run = summary(&[("a", None, Outcome::Failed, None)]);
    let names = ["1-first-paint.png", "10-end.png", "2-fault.png"];
    run.cases[0].result.artifacts =
        names.iter().map(|name| format!("target/e2e/scenarios/a/{name}").into()).collect();
    let page = bare(&run);
    let read = xml(&page);
    let alts: Vec<_> = read.descendants().filter_map(|node| node.attribute("alt")).collect();
    assert_eq!(alts, ["The page: 1 first paint", "The page: 2 fault", "The page: 10 end"]);
}

#[test]
fn a_trace_that_is_missing_cut_or_unreadable_is_reported_in_its_place() {
    let run = summary(&[("a", None, Outcome::Failed, None)]);
    let notes = |out: &Utf8Path| {
        let page = page_of(&run, out);
        let read = xml(&page);
        with_class(&read, "note").into_iter().map(content).collect::<Vec<_>>().join("\n")
    };
    let whole = answered(1.0, 1, &Class::HISTORY);
    let (_dir, out) = out_folder(&run, &format!("{whole}{{\"seq\":2}}\n{{\"se"));
    let (folder, file) = (out.join("scenarios/a"), out.join("scenarios/a/requests.jsonl"));
    let text = notes(&out);
    assert!(text.contains("Only the beginning of requests.jsonl was read"), "{text}");
    assert!(text.contains("In requests.jsonl, lines that cannot be read: 1."), "{text}");

    fs::write(&file, HEADER).unwrap();
    let text = notes(&out);
    assert!(text.contains("There is no request to draw."), "{text}");
    let of_version_1 = r#"{"seq":1,"class":"history","method":"GET","path":"/","bytes":1}"#;
    for other in [of_version_1, "", "{\"v\":1}\n", "\u{fffd}\0\n"] {
        fs::write(&file, other).unwrap();
        let text = notes(&out);
        let why = "no timeline: requests.jsonl, it does not begin as version 2 of this file does.";
        assert!(text.contains(why), "{text}");
    }
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    let text = notes(&out);
    assert!(text.contains("requests.jsonl, it is not a regular file."), "{text}");

    fs::remove_dir_all(&folder).unwrap();
    let text = notes(&out);
    assert!(text.contains("There is no timeline: requests.jsonl, it is not there."), "{text}");
    let mut outside = run.clone();
    outside.cases[0].case.dir = "/etc".into();
    let page = page_of(&outside, &out);
    assert!(page.contains("its folder is outside of the report"), "{page}");
}

#[test]
fn a_request_that_was_open_when_the_run_was_killed_is_drawn_as_open() {
    let run = summary(&[("a", None, Outcome::Interrupted, None)]);
    let events = answered(10.0, 1, &Class::HISTORY) + &arrived(90.0, 2, &Class::EVENTS);
    let (_dir, out) = out_folder(&run, &events);
    let page = page_of(&run, &out);
    assert!(page.contains("<title>events #2, arrived at 90 ms: still open</title>"), "{page}");
}

#[test]
fn a_trace_that_lies_elsewhere_is_not_read() {
    let (_dir, out) = test_dir();
    let summary = summary(&[("a", None, Outcome::Failed, None)]);
    let elsewhere = out.join("elsewhere");
    fs::create_dir_all(elsewhere.join("scenarios/a")).unwrap();
    let text = format!("{HEADER}{}", answered(1.0, 1, &Class::HISTORY));
    fs::write(elsewhere.join("scenarios/a/requests.jsonl"), text).unwrap();
    let run = out.join("run");
    fs::create_dir(&run).unwrap();
    std::os::unix::fs::symlink(elsewhere.join("scenarios"), run.join("scenarios")).unwrap();
    let page = page_of(&summary, &run);
    assert!(page.contains("its folder is outside of the report"), "{page}");
    assert!(!page.contains("class=\"lane"), "{page}");
}

#[test]
fn a_time_that_has_no_like_in_utc_is_told_as_it_is() {
    let mut summary = summary(&[("a", None, Outcome::Ready, None)]);
    summary.run.started_at = time::macros::datetime!(9999-12-31 23:59:59 -1);
    assert!(bare(&summary).contains("9999-12-31 23:59:59"));
}

#[test]
fn a_page_is_bounded_and_says_what_it_left_out() {
    let ids: Vec<_> = (0..40).map(|n| format!("case-{n}")).collect();
    let ends: Vec<_> =
        ids.iter().map(|id| (id.as_str(), None, Outcome::Error, Some("x"))).collect();
    let run = summary(&ends);
    let events: String =
        (1..=500_u32).map(|n| answered(n.into(), n.into(), &Class::HISTORY)).collect();
    let (_dir, out) = out_folder(&run, &events);
    let bounds = Bounds { read: 10 * events.len() as u64, details: 600_000 };
    let begin = Instant::now();
    let page = bounded(&out, "target/e2e".into(), &run, bounds);
    assert!(page.len() < 700_000, "{} bytes", page.len());
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
    let read = xml(&page);
    assert_eq!(with_class(&read, "case").len(), 40);
    assert!(page.contains("350 more requests were left out"));
    assert!(page.contains("The details were left out, as this page is bounded; they are in"));
    assert!(page.contains("it was not read, as the size of this page is limited"));
}

#[test]
fn the_policy_of_the_page_lets_in_its_own_style_and_script_alone() {
    let page = bare(&summary(&[("a", None, Outcome::Ready, None)]));
    let read = xml(&page);
    let policy = read.descendants().find_map(|node| {
        node.attribute("http-equiv")?;
        node.attribute("content")
    });
    let policy = policy.unwrap();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for node in read.descendants().filter(Node::is_element) {
        for attribute in node.attributes() {
            let name = attribute.name();
            assert!(name != "style" && !name.starts_with("on"), "{name} would be refused");
        }
    }
}

proptest! {
    #[test]
    fn a_strict_reader_finds_each_case_whatever_its_texts_are(
        texts in prop::collection::vec(
            prop_oneof![
                any::<String>(),
                prop::sample::select(vec![
                    "</details><script>x</script>", "\"><img src=x onerror=x>", "]]>", "&#0;",
                    "\u{1b}[31m", "\u{fffe}", "\0", "../../x", "javascript:x", "--><style>",
                ]).prop_map(String::from),
            ],
            9,
        ),
    ) {
        let mut odd = summary(&[("a", Some("gate"), Outcome::Inconclusive, Some(&*texts[0]))]);
        odd.run.browser.version = texts[1].clone();
        odd.run.args = vec![texts[2].clone()];
        let seen = &mut odd.cases[0];
        seen.case.id = texts[3].clone();
        seen.case.dir = format!("target/e2e/{}", texts[4]).into();
        seen.result.evidence[0].saw = texts[5].clone();
        seen.result.receipts[0].broken = Some(texts[6].clone());
        seen.result.phases[0].name = texts[7].clone();
        seen.result.artifacts.push(format!("target/e2e/{}.png", texts[8]).into());
        let (_dir, out) = test_dir();
        let page = page_of(&odd, &out);
        let read = xml(&page);
        prop_assert_eq!(with_class(&read, "case").len(), 1);
        let scripts = read.descendants().filter(|node| node.has_tag_name("script"));
        prop_assert_eq!(scripts.count(), 1);
        let links = read.descendants();
        for link in links.filter_map(|node| node.attribute("href").or(node.attribute("src"))) {
            let leaves = link.contains(':')
                || link.starts_with('/')
                || link.split('/').any(|part| part == "..");
            prop_assert!(!leaves || link == "data:,", "{}", link);
        }
    }
}
