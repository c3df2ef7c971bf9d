//! What `list` prints.

use std::fmt::Write;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;

use crate::run::plan::timings::Timings;
use crate::scenario::{Check, Control, Field, REGISTRY, Scenario};
use crate::wait::Kind;

/// The version of the JSON format.
const VERSION: u32 = 1;

/// The output format of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person
    Text,
    /// For a program
    Json,
    /// The table of docs/scenarios.md, without durations: they change with every measurement
    Markdown,
}

/// A scenario in JSON.
#[derive(Serialize)]
struct Listed {
    id: &'static str,
    name: &'static str,
    family: &'static str,
    proves: &'static str,
    rests_on: Vec<ListedCheck>,
    success: String,
    fields: Vec<ListedField>,
    controls: Vec<ListedControl>,
    expected_seconds: Option<f64>,
}

#[derive(Serialize)]
struct ListedCheck {
    kind: Kind,
    what: &'static str,
}

#[derive(Serialize)]
struct ListedField {
    name: &'static str,
    expected: u64,
    means: &'static str,
}

#[derive(Serialize)]
struct ListedControl {
    name: &'static str,
    predicted: String,
}

/// Every scenario in the given format, with its last line feed. Durations are from `timings`.
pub fn render(format: Format, timings: &Timings) -> String {
    match format {
        Format::Text => text(timings),
        Format::Json => {
            let scenarios: Vec<_> =
                REGISTRY.iter().map(|scenario| listed(scenario, timings)).collect();
            format!("{}\n", json!({"v": VERSION, "scenarios": scenarios}))
        }
        Format::Markdown => markdown(),
    }
}

fn listed(scenario: &Scenario, timings: &Timings) -> Listed {
    let &Scenario { id, name, family, proves, rests_on, fields, controls, .. } = scenario;
    let check = |check: &Check| ListedCheck { kind: check.kind, what: check.what };
    let field = |field: &Field| ListedField {
        name: field.name,
        expected: field.expected,
        means: field.means,
    };
    let control = |control: &Control| {
        let predicted = scenario.predicted(control).to_string();
        ListedControl { name: control.name, predicted }
    };
    Listed {
        id,
        name,
        family,
        proves,
        rests_on: rests_on.iter().map(check).collect(),
        success: scenario.success().to_string(),
        fields: fields.iter().map(field).collect(),
        controls: controls.iter().map(control).collect(),
        expected_seconds: timings.of(name),
    }
}

fn text(timings: &Timings) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for scenario in REGISTRY {
        let Scenario { id, name, family, proves, rests_on, fields, controls, .. } = scenario;
        let seconds = timings.of(name).map_or("-".to_owned(), |seconds| format!("{seconds:.1} s"));
        let _ = writeln!(text, "{id:<3} {name:<28} {family:<12} {seconds:>7}");
        let _ = writeln!(text, "    proves   {proves}");
        let _ = writeln!(text, "    ready    {}", scenario.success());
        for Field { name, expected, means, .. } in *fields {
            let _ = writeln!(text, "    field    {name} = {expected}: {means}");
        }
        for Check { kind, what } in *rests_on {
            let _ = writeln!(text, "    {:<8} {what}", kind_name(*kind));
        }
        for control in *controls {
            let predicted = scenario.predicted(control);
            let _ = writeln!(text, "    control  {predicted} under {}", control.name);
        }
    }
    text
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Need => "need",
        Kind::Claim => "claim",
    }
}

fn markdown() -> String {
    let mut table =
        "| id | scenario | family | proves that | stamp fields | rests on | controls |\n"
            .to_owned();
    table.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
    for Scenario { id, name, family, proves, rests_on, fields, controls, .. } in REGISTRY {
        let fields: Vec<_> = fields
            .iter()
            .map(|Field { name, expected, means, .. }| format!("`{name}` {expected}: {means}"))
            .collect();
        let rests_on: Vec<_> = rests_on.iter().map(|check| check.what).collect();
        let controls: Vec<_> =
            controls.iter().map(|control| format!("`{}`", control.name)).collect();
        let (fields, rests_on) = (fields.join("<br>"), rests_on.join("<br>"));
        let controls = controls.join(", ");
        let _ = writeln!(
            table,
            "| {id} | `{name}` | {family} | {proves} | {fields} | {rests_on} | {controls} |"
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timings() -> Timings {
        [("storm".to_owned(), 1.25)].into_iter().collect()
    }

    #[test]
    fn every_scenario_is_listed_with_its_checks_its_controls_and_the_durations_that_are_known() {
        let text = render(Format::Text, &timings());
        let json: serde_json::Value =
            serde_json::from_str(&render(Format::Json, &timings())).unwrap();
        assert_eq!(json["v"], VERSION);
        for (at, scenario) in REGISTRY.iter().enumerate() {
            let listed = &json["scenarios"][at];
            let known = if scenario.name == "storm" { json!(1.25) } else { json!(null) };
            assert_eq!(listed["expected_seconds"], known, "{}", scenario.name);
            let success = scenario.success().to_string();
            for (field, value) in [
                ("id", scenario.id),
                ("name", scenario.name),
                ("family", scenario.family),
                ("proves", scenario.proves),
                ("success", &success),
            ] {
                assert_eq!(listed[field], value);
                assert!(text.contains(value), "{value}");
            }
            for (at, check) in scenario.rests_on.iter().enumerate() {
                assert_eq!(listed["rests_on"][at]["what"], check.what);
                assert!(text.contains(check.what), "{}", check.what);
            }
            for (at, field) in scenario.fields.iter().enumerate() {
                assert_eq!(listed["fields"][at]["expected"], field.expected);
                let line = format!("{} = {}: {}", field.name, field.expected, field.means);
                assert!(text.contains(&line), "{line}");
            }
            for (at, control) in scenario.controls.iter().enumerate() {
                let predicted = scenario.predicted(control).to_string();
                assert_eq!(listed["controls"][at]["name"], control.name);
                assert_eq!(listed["controls"][at]["predicted"], predicted);
                assert!(text.contains(&format!("{predicted} under {}", control.name)));
            }
        }
        assert!(text.contains("1.2 s") && text.contains(" -\n"), "{text}");
    }

    #[test]
    fn no_text_of_a_scenario_breaks_the_table() {
        for scenario in REGISTRY {
            let texts = [scenario.id, scenario.name, scenario.family, scenario.proves];
            let checks = scenario.rests_on.iter().map(|check| check.what);
            let fields = scenario.fields.iter().flat_map(|field| [field.name, field.means]);
            let names = scenario.controls.iter().map(|control| control.name);
            for text in texts.into_iter().chain(checks).chain(fields).chain(names) {
                assert!(!text.contains(['|', '\n', '`', '<', '*', '_']), "{text:?}");
            }
        }
    }

    #[test]
    fn the_documentation_lists_the_scenarios_as_they_are() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenarios.md");
        let page = std::fs::read_to_string(page).unwrap();
        let table = render(Format::Markdown, &Timings::default());
        assert!(
            page.contains(&format!(
                "<!-- scenarios: begin -->\n\n{table}\n<!-- scenarios: end -->"
            )),
            "put what `cargo xtask e2e list --format markdown` prints between the two markers of docs/scenarios.md"
        );
    }
}
