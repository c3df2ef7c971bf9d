//! Which scenarios can detect a mutant of which module.

use anyhow::ensure;

use super::suite::{Scenario, Suite};

const ROSTER: &[&str] = &["roster"];
/// Every family that opens a pane.
const PANES: &[&str] = &["interactive", "coordinator", "handoff", "projection"];

/// The scenario families of each module; a module that is not listed here gets all scenarios.
const FAMILIES: [(&str, &[&str]); 14] = [
    ("churn.js", PANES),
    ("core.js", PANES),
    ("cursor.js", PANES),
    ("gate.js", PANES),
    ("handoff.js", PANES),
    ("history.js", PANES),
    ("live_calls.js", &["coordinator", "handoff"]),
    ("quiesce.js", &["interactive", "handoff", "projection"]),
    ("roster.js", ROSTER),
    ("roster_stream.js", ROSTER),
    ("rows.js", PANES),
    ("status.js", PANES),
    ("stream.js", PANES),
    ("truncation.js", PANES),
];

/// What the names of the scenarios begin with that drive a coordinator's pane.
const COORDINATOR: &str = "coord-";

/// The scenarios of a module's families whose pages load the module, in the order of the suite.
pub fn scenarios<'a>(suite: &'a Suite, file: &str) -> Vec<&'a Scenario> {
    let families = families(file);
    let loads = |scenario: &Scenario| match file {
        // The policies of a coordinator's pane and of every other one.
        "live_calls.js" => scenario.name.starts_with(COORDINATOR),
        "quiesce.js" => !scenario.name.starts_with(COORDINATOR),
        _ => true,
    };
    let is_meant = |scenario: &&Scenario| {
        families.is_none_or(|families| families.contains(&scenario.family.as_str()))
            && loads(scenario)
    };
    suite.scenarios.iter().filter(is_meant).collect()
}

/// Fails when a family of the table has no scenario: its mutants would survive unseen.
pub fn check(suite: &Suite) -> anyhow::Result<()> {
    for family in FAMILIES.iter().flat_map(|(_, families)| families.iter()) {
        ensure!(
            suite.scenarios.iter().any(|scenario| scenario.family == *family),
            "no scenario has the family {family:?}; correct the table in xtask/src/mutants/families.rs"
        );
    }
    Ok(())
}

fn families(file: &str) -> Option<&'static [&'static str]> {
    FAMILIES.iter().find(|(name, _)| *name == file).map(|(_, families)| *families)
}

#[cfg(test)]
mod tests {
    use super::super::suite;
    use super::*;

    fn names(suite: &Suite, file: &str) -> Vec<String> {
        scenarios(suite, file).into_iter().map(|scenario| scenario.name.clone()).collect()
    }

    #[test]
    fn a_module_gets_the_scenarios_of_its_families_and_an_unknown_one_gets_all() {
        let suite = suite::sample(&[
            ("restart", "interactive"),
            ("coord-restart", "coordinator"),
            ("handoff", "handoff"),
            ("coord-handoff", "handoff"),
            ("two-pane", "projection"),
            ("roster-restart", "roster"),
        ]);
        assert!(check(&suite).is_ok());
        assert_eq!(names(&suite, "roster.js"), ["roster-restart"]);
        assert_eq!(names(&suite, "live_calls.js"), ["coord-restart", "coord-handoff"]);
        assert_eq!(names(&suite, "quiesce.js"), ["restart", "handoff", "two-pane"]);
        assert_eq!(names(&suite, "core.js").len(), 5);
        assert_eq!(names(&suite, "wire.js").len(), 6);
        assert_eq!(names(&suite, "new.js").len(), 6);
    }

    #[test]
    fn a_family_without_a_scenario_is_an_error() {
        let error = check(&suite::sample(&[("restart", "interactive")])).unwrap_err();
        assert!(error.to_string().contains("coordinator"), "{error}");
    }

    #[test]
    fn every_module_of_the_table_exists() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../recovery-e2e/web/static/recovery");
        for (file, _) in FAMILIES {
            assert!(camino::Utf8Path::new(folder).join(file).is_file(), "{file}");
        }
    }
}
