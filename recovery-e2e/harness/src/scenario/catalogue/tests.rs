use std::collections::HashSet;

use super::*;
use crate::record::stamp::Stamp;
use crate::scenario::{Control, Defect, Edit};

#[test]
fn every_scenario_has_a_name_of_its_own_and_a_control_that_fails_it() {
    let names: HashSet<_> = REGISTRY.iter().map(|scenario| scenario.name).collect();
    assert_eq!(names.len(), REGISTRY.len());
    for scenario in REGISTRY {
        let name = scenario.name;
        assert!(!scenario.rests_on.is_empty(), "{name} rests on nothing");
        assert!(!scenario.controls.is_empty(), "{name} cannot be seen failing");
        let fields: HashSet<_> = scenario.fields.iter().map(|field| field.name).collect();
        assert_eq!(fields.len(), scenario.fields.len(), "{name} has a field twice");
        for show in scenario.ready_shows {
            assert!(fields.contains(show.name()), "{name} shows {}", show.name());
        }
        for Control { name: control, breaks, .. } in scenario.controls {
            assert!(!breaks.is_empty(), "{name}/{control} breaks nothing");
            for (field, value) in *breaks {
                let declared = scenario.fields.iter().find(|it| it.name == *field);
                let declared =
                    declared.unwrap_or_else(|| panic!("{name}/{control} breaks {field}"));
                assert_ne!(declared.expected, *value, "{name}/{control} leaves {field} as it is");
            }
        }
    }
}

#[test]
fn stamps_are_those_of_the_founding_documents() {
    let stamps: Vec<_> = REGISTRY
        .iter()
        .flat_map(|scenario| {
            let success = [(scenario.name.to_owned(), scenario.success())];
            let controls = scenario.controls.iter().map(|control| {
                (format!("{}/{}", scenario.name, control.name), scenario.predicted(control))
            });
            success.into_iter().chain(controls)
        })
        .map(|(name, stamp)| {
            let text = stamp.to_string();
            assert_eq!(text.parse::<Stamp>().unwrap().to_string(), text, "it is read back");
            format!("{name:<60} {text}")
        })
        .collect();
    insta::assert_snapshot!(stamps.join("\n"));
}

#[test]
fn each_text_that_a_control_changes_is_once_in_the_client() {
    let web = concat!(env!("CARGO_MANIFEST_DIR"), "/../web");
    for scenario in REGISTRY {
        for control in scenario.controls {
            let Defect::Client(edits) = control.defect else { continue };
            assert!(!edits.is_empty(), "{}/{}", scenario.name, control.name);
            for Edit { asset, find, replace } in edits {
                assert_ne!(find, replace, "{}/{}", scenario.name, control.name);
                let text = std::fs::read_to_string(format!("{web}{asset}")).unwrap();
                let found = text.matches(find).count();
                assert_eq!(found, 1, "{}/{}: {find:?}", scenario.name, control.name);
            }
        }
    }
}
