//! The scenarios, as `recovery-e2e list --format json` prints them.

use serde::Deserialize;
use serde_json::Value;

use super::stamp::{Change, fields};

/// All scenarios.
#[derive(Debug, Deserialize)]
pub struct Suite {
    pub scenarios: Vec<Scenario>,
}

/// A scenario, and what its stamp is expected to be.
#[derive(Debug, Deserialize)]
pub struct Scenario {
    pub name: String,
    pub family: String,
    /// The stamp of a ready verdict.
    pub success: String,
    pub controls: Vec<Control>,
    /// What the stamp has to have, where the harness lists it; else `success` is read for it.
    #[serde(default)]
    fields: Vec<Field>,
}

/// A negative control of a scenario.
#[derive(Debug, Deserialize)]
pub struct Control {
    pub name: String,
    /// The stamp that its defect causes.
    pub predicted: String,
}

#[derive(Debug, Deserialize)]
struct Field {
    name: String,
    expected: Value,
}

impl Suite {
    /// The scenario of this name.
    pub fn scenario(&self, name: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.name == name)
    }
}

impl Scenario {
    /// The fields of the stamp with their expected values, in the order of the stamp.
    pub fn expected(&self) -> Vec<(String, String)> {
        if self.fields.is_empty() {
            return fields(&self.success);
        }
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.fields.iter().map(|field| (field.name.clone(), text(&field.expected))).collect()
    }

    /// The fields of a stamp that differ from what this scenario expects. A field that only one of
    /// the two has is not compared.
    pub fn changes(&self, stamp: &str) -> Vec<Change> {
        let found = fields(stamp);
        let value = |name: &str| found.iter().find(|(field, _)| field == name).map(|(_, v)| v);
        self.expected()
            .into_iter()
            .filter_map(|(field, expected)| {
                let found = value(&field).filter(|found| **found != expected)?.clone();
                Some(Change { field, expected, found })
            })
            .collect()
    }
}

/// A suite for tests, of names and families; each scenario stamps `posts1-rows1`, and has one
/// control that changes the posts.
#[cfg(test)]
pub fn sample(scenarios: &[(&str, &str)]) -> Suite {
    let scenario = |(name, family): &(&str, &str)| Scenario {
        name: (*name).to_owned(),
        family: (*family).to_owned(),
        success: "RECOVERY-READY-X-posts1-rows1".to_owned(),
        controls: vec![Control {
            name: "no-gate".to_owned(),
            predicted: "RECOVERY-FAILED-X-posts2-rows1".to_owned(),
        }],
        fields: Vec::new(),
    };
    Suite { scenarios: scenarios.iter().map(scenario).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_field_decides_what_is_expected_and_else_the_ready_stamp_does() {
        let line = |fields: &str| {
            let text = format!(
                r#"{{"name":"a","family":"f","success":"RECOVERY-READY-A-posts1","controls":[]{fields}}}"#
            );
            serde_json::from_str::<Scenario>(&text).unwrap()
        };
        let change = |field: &str, expected: &str, found: &str| Change {
            field: field.to_owned(),
            expected: expected.to_owned(),
            found: found.to_owned(),
        };
        let stamp = "RECOVERY-FAILED-A-posts2-rows3";
        assert_eq!(line("").changes(stamp), [change("posts", "1", "2")]);
        let listed = line(
            r#","fields":[{"name":"posts","expected":2},{"name":"rows","expected":1},{"name":"gone","expected":0}]"#,
        );
        assert_eq!(listed.changes(stamp), [change("rows", "1", "3")]);
    }
}
