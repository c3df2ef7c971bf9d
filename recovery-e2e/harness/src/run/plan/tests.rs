use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::record::build::BuildInfo;

fn names() -> Vec<&'static str> {
    REGISTRY.iter().map(|scenario| scenario.name).collect()
}

fn selection(patterns: &[&str]) -> Selection {
    Selection {
        patterns: patterns.iter().map(ToString::to_string).collect(),
        ..Selection::default()
    }
}

/// The ids of a plan in the order of the registry, whatever they are predicted to take.
fn ids(selection: &Selection) -> Vec<String> {
    let plan = plan(selection, &Timings::default(), 1).unwrap();
    let folders: HashSet<_> = plan.jobs.iter().map(|job| job.case.dir.clone()).collect();
    assert_eq!(folders.len(), plan.jobs.len(), "each case has a folder of its own");
    plan.jobs.into_iter().map(|job| job.case.id).collect()
}

#[test]
fn no_pattern_selects_every_scenario_once() {
    let mut sorted = names();
    sorted.sort_unstable();
    assert_eq!(ids(&selection(&[])), sorted);
}

#[test]
fn a_name_or_a_glob_selects_and_two_that_overlap_select_once() {
    assert_eq!(ids(&selection(&["rewind-window"])), ["rewind-window"]);
    let overlap = selection(&["rewind-*", "rewind-window"]);
    assert_eq!(ids(&overlap), ["rewind-failed-window", "rewind-window"]);
}

#[test]
fn a_group_selects_what_it_stands_for() {
    assert_eq!(ids(&selection(&["both"])), ["restart", "storm"]);
    assert_eq!(ids(&selection(&["all"])), ids(&selection(&[])));
    assert_eq!(ids(&selection(&["both", "rewind-window"])), ["restart", "rewind-window", "storm"]);
}

#[test]
fn a_repeated_scenario_is_numbered_from_one_and_two_comes_before_ten() {
    let twelve = Selection { repeat_each: 12, ..selection(&["rewind-window"]) };
    let expected: Vec<_> = (1..=12).map(|k| format!("rewind-window#{k}")).collect();
    assert_eq!(ids(&twelve), expected);
}

#[test]
fn controls_stand_in_the_place_of_their_scenarios() {
    let controls = Selection { controls: true, ..selection(&["rewind-window"]) };
    assert_eq!(ids(&controls), ["rewind-window/gate-is-busy-alone"]);
}

#[test]
fn an_unknown_name_is_refused_with_those_that_there_are() {
    let refusal = plan(&selection(&["rewind"]), &Timings::default(), 1).err().unwrap().to_string();
    assert!(refusal.starts_with("no scenario matches rewind; the scenarios are: "), "{refusal}");
    assert!(refusal.contains("rewind-window"), "{refusal}");
}

/// A registry of made-up scenarios. They live as long as the process, as scenarios do.
fn registry(names: &[String]) -> Vec<&'static Scenario> {
    let made = |name: &String| {
        let scenario = Scenario { name: Box::leak(name.clone().into_boxed_str()), ..*REGISTRY[0] };
        &*Box::leak(Box::new(scenario))
    };
    names.iter().map(made).collect()
}

/// Names, the timings of some of them, and the names in another order.
fn suites() -> impl Strategy<Value = (Vec<String>, Timings, Vec<String>)> {
    prop::collection::btree_map("[a-e][a-z]{0,3}", prop::option::of(0u32..200), 1..14)
        .prop_flat_map(|suite| {
            let names: Vec<_> = suite.keys().cloned().collect();
            let timed = suite.into_iter().filter_map(|(name, tenths)| Some((name, tenths?)));
            let timings = timed.map(|(name, tenths)| (name, f64::from(tenths) / 10.0)).collect();
            (Just(names.clone()), Just(timings), Just(names).prop_shuffle())
        })
}

fn dealt(plan: &Plan) -> Vec<(u32, &str)> {
    plan.jobs.iter().map(|job| (job.case.shard, &*job.case.id)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_case_is_on_exactly_one_shard_and_no_shard_is_empty_while_cases_last(
        (names, timings, _) in suites(),
        shards in 1u32..7,
        repeat_each in 1u32..4,
    ) {
        let wanted = Selection { repeat_each, ..Selection::default() };
        let plan = plan_of(&registry(&names), &wanted, &timings, shards).unwrap();
        let mut ids = Vec::new();
        let mut sums = Vec::new();
        for shard in 1..=shards {
            let jobs: Vec<_> = plan.of_shard(shard).collect();
            prop_assert!(!jobs.is_empty() || plan.info.cases < shards as usize);
            let order: Vec<_> = jobs.iter().map(|job| Reverse(weight(&job.case))).collect();
            prop_assert!(order.is_sorted(), "the longest of a shard start first");
            sums.push(jobs.iter().map(|job| weight(&job.case)).sum::<u64>());
            ids.extend(jobs.iter().map(|job| job.case.id.clone()));
        }
        let distinct: HashSet<_> = ids.iter().collect();
        prop_assert_eq!(distinct.len(), ids.len());
        prop_assert_eq!(ids.len(), names.len() * repeat_each as usize);
        let longest = plan.jobs.iter().map(|job| weight(&job.case)).max().unwrap();
        prop_assert!(sums.iter().max().unwrap() - sums.iter().min().unwrap() <= longest);
    }

    #[test]
    fn the_order_of_the_registry_changes_nothing(
        (names, timings, shuffled) in suites(),
        shards in 1u32..7,
    ) {
        let [plan, again] = [&names, &shuffled].map(|names| {
            plan_of(&registry(names), &Selection::default(), &timings, shards).unwrap()
        });
        prop_assert_eq!(dealt(&plan), dealt(&again));
        prop_assert_eq!(plan.info, again.info);
    }

    #[test]
    fn whatever_changes_the_plan_changes_its_hash(
        (names, timings, _) in suites(),
        shards in 1u32..7,
    ) {
        let of = |names: &[String], selection: &Selection, timings: &Timings, shards| {
            plan_of(&registry(names), selection, timings, shards).unwrap().info.hash
        };
        let all = Selection::default();
        let hash = of(&names, &all, &timings, shards);
        let more = [&names[..], &["zz".to_owned()]].concat();
        let twice = Selection { repeat_each: 2, ..all.clone() };
        let controls = Selection { controls: true, ..all.clone() };
        let slower = names.iter().map(|name| (name.clone(), 99.9)).collect();
        let others = [
            of(&more, &all, &timings, shards),
            of(&more, &selection(&["zz"]), &timings, shards),
            of(&names, &twice, &timings, shards),
            of(&names, &controls, &timings, shards),
            of(&names, &all, &slower, shards),
            of(&names, &all, &timings, shards + 1),
        ];
        let distinct: HashSet<_> = others.iter().chain([&hash]).collect();
        prop_assert_eq!(distinct.len(), others.len() + 1);
        prop_assert_eq!(hash.len(), 64);
    }
}

#[test]
fn a_case_without_a_timing_is_predicted_to_take_the_median_of_the_others() {
    let names: Vec<_> = ["a", "b", "c", "new"].map(str::to_owned).into();
    let predicted = |timings: &Timings| {
        let plan = plan_of(&registry(&names), &Selection::default(), timings, 1).unwrap();
        let predicted = plan.jobs.into_iter().map(|job| (job.case.id, job.case.predicted_seconds));
        predicted.collect::<Vec<_>>()
    };
    let timings = [("a", 1.0), ("b", 9.0), ("c", 2.0), ("gone", 50.0)];
    let timings = timings.into_iter().map(|(name, s)| (name.to_owned(), s)).collect();
    let expected = [("b", 9.0), ("c", 2.0), ("new", 2.0), ("a", 1.0)];
    assert_eq!(predicted(&timings), expected.map(|(id, s)| (id.to_owned(), Some(s))));
    let unknown = ["a", "b", "c", "new"].map(|id| (id.to_owned(), None));
    assert_eq!(predicted(&Timings::default()), unknown);
}

#[test]
fn only_what_is_named_is_left_scenarios_and_controls_alike() {
    let only = ["rewind-window/gate-is-busy-alone", "rewind-failed-window", "gone"];
    let only = Some(only.map(str::to_owned).into_iter().collect());
    let wanted = Selection { only, ..Selection::default() };
    assert_eq!(ids(&wanted), ["rewind-failed-window", "rewind-window/gate-is-busy-alone"]);
    let nothing = Selection { only: Some(BTreeSet::new()), ..Selection::default() };
    assert!(matches!(plan(&nothing, &Timings::default(), 1), Err(PlanError::NothingLeft)));
}

fn shown(format: show::Format, timings: &[(&str, f64)]) -> String {
    let names: Vec<_> = ["storm", "restart", "rewind-window"].map(str::to_owned).into();
    let timings = timings.iter().map(|(name, s)| ((*name).to_owned(), *s)).collect();
    let mut plan = plan_of(&registry(&names), &Selection::default(), &timings, 2).unwrap();
    // The true one has the version of the harness in it.
    plan.info.hash = "0123456789abcdef0123456789abcdef".to_owned();
    let digest = "5e1f".repeat(16);
    let build = BuildInfo { digest, commit: Some("c0ffee".repeat(6)), dirty: true };
    show::render(&plan, &build, format)
}

#[test]
fn a_plan_is_shown_to_a_person_with_its_spread() {
    let timings = [("storm", 4.3), ("restart", 2.0), ("rewind-window", 0.9)];
    insta::assert_snapshot!(shown(show::Format::Text, &timings), @r"
    plan 0123456789abcdef, cases: 3
    build: digest 5e1f5e1f5e1f5e1f, commit c0ffeec0ffeec0ff, dirty

    shard 1/2, cases: 1, predicted: 4.3 s
      storm             4.3 s

    shard 2/2, cases: 2, predicted: 2.9 s
      restart           2.0 s
      rewind-window     0.9 s

    predicted: 2.9 s to 4.3 s a shard, a spread of 1.4 s
    ");
    insta::assert_snapshot!(shown(show::Format::Text, &[]), @r"
    plan 0123456789abcdef, cases: 3
    build: digest 5e1f5e1f5e1f5e1f, commit c0ffeec0ffeec0ff, dirty

    shard 1/2, cases: 2, predicted: -
      restart               -
      storm                 -

    shard 2/2, cases: 1, predicted: -
      rewind-window         -

    no timings: every case counts the same
    ");
}

#[test]
fn a_plan_is_shown_to_a_program_and_to_github() {
    let timings = [("storm", 4.3), ("restart", 2.0), ("rewind-window", 0.9)];
    insta::assert_snapshot!(shown(show::Format::Json, &timings), @r#"{"build":{"commit":"c0ffeec0ffeec0ffeec0ffeec0ffeec0ffee","digest":"5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f5e1f","dirty":true},"hash":"0123456789abcdef0123456789abcdef","shards":[{"cases":[{"id":"storm","predicted_seconds":4.3}],"predicted_seconds":4.3,"shard":"1/2"},{"cases":[{"id":"restart","predicted_seconds":2.0},{"id":"rewind-window","predicted_seconds":0.9}],"predicted_seconds":2.9,"shard":"2/2"}],"spread_seconds":1.4,"v":1}"#);
    insta::assert_snapshot!(shown(show::Format::Github, &timings), @r#"{"shard":["1/2","2/2"]}"#);
}
