use super::*;
use crate::record::journal::tests::{case, result};
use crate::test_dir::test_dir;

/// What each case of a run took.
fn cases(took: &[(&str, Option<&str>, f64)]) -> Vec<CaseView> {
    took.iter()
        .map(|(scenario, control, seconds)| {
            let mut case = case(scenario, *control);
            case.scenario = (*scenario).to_owned();
            let mut result = result(scenario, Outcome::Ready, None);
            result.seconds = *seconds;
            CaseView { case, result, earlier: Vec::new() }
        })
        .collect()
}

fn seconds_of(timings: &Timings) -> Vec<(&str, f64)> {
    timings.seconds.iter().map(|(name, seconds)| (name.as_str(), *seconds)).collect()
}

#[test]
fn a_scenario_takes_the_median_of_its_repeats_to_a_tenth_of_a_second() {
    let repeats = [("b", None, 9.0), ("b", None, 1.04), ("b", None, 1.26), ("a", None, 0.01)];
    let measured = Timings::measured(&cases(&repeats)).unwrap();
    assert_eq!(seconds_of(&measured), [("a", 0.1), ("b", 1.3)]);
}

#[test]
fn a_run_that_is_no_measure_is_refused() {
    let mut bad = cases(&[("a", None, 1.0), ("b", None, 2.0)]);
    for outcome in [Outcome::Failed, Outcome::Flaky, Outcome::Interrupted, Outcome::Skipped] {
        bad[1].result.outcome = outcome;
        let refused = Timings::measured(&bad).unwrap_err();
        assert_eq!(refused, NotMeasured::NotReady { case: "b".to_owned() });
    }
    let uniform = Timings::measured(&cases(&[("a", None, 1.01), ("b", None, 0.99)])).unwrap_err();
    assert_eq!(uniform, NotMeasured::Uniform { tenths: 10 });
}

#[test]
fn new_timings_take_the_place_of_the_old_ones_of_their_kind_alone() {
    let of = |took: &[(&str, Option<&str>, f64)]| Timings::measured(&cases(took)).unwrap();
    let old = of(&[("gone", None, 1.0), ("a", None, 2.0), ("a", Some("gate"), 3.0)]);
    let scenarios = of(&[("a", None, 4.0), ("b", None, 5.0)]).over(old.clone());
    assert_eq!(seconds_of(&scenarios), [("a", 4.0), ("a/gate", 3.0), ("b", 5.0)]);
    let controls = of(&[("b", Some("gate"), 6.0)]).over(old);
    assert_eq!(seconds_of(&controls), [("a", 2.0), ("b/gate", 6.0), ("gone", 1.0)]);
}

#[test]
fn what_is_written_is_read_back_and_a_file_that_is_none_is_refused_by_name() {
    let (_dir, dir) = test_dir();
    let path = dir.join("ci/timings.json");
    let given = Some(path.as_path());
    assert!(matches!(Timings::load(given, Missing::IsAnError), Err(TimingsError::Read { .. })));
    assert_eq!(Timings::load(given, Missing::IsEmpty).unwrap(), Timings::default());
    let timings = Timings::measured(&cases(&[("a", None, 1.0), ("b", None, 2.0)])).unwrap();
    assert_eq!(timings.clone().write(given).unwrap(), path);
    assert_eq!(Timings::load(given, Missing::IsAnError).unwrap(), timings);

    for (text, says) in [
        ("", "EOF"),
        ("{}", "missing field"),
        (r#"{"v":2,"comment":"","seconds":{}}"#, "version 2"),
        (r#"{"v":1,"comment":"","seconds":{"a":-1}}"#, "a cannot take -1 seconds"),
        (r#"{"v":1,"comment":"","seconds":{"a":1e300}}"#, "a cannot take 1"),
    ] {
        fs::write(&path, text).unwrap();
        let refused = Timings::load(given, Missing::IsEmpty).unwrap_err().to_string();
        assert!(refused.contains(says) && refused.contains(path.as_str()), "{refused}");
    }
}
