//! What `list` prints.

use std::fmt::Write;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;

use crate::run::plan::timings::Timings;
use crate::scenario::{REGISTRY, Scenario};

/// The version of the JSON format.
const VERSION: u32 = 1;

/// The output format of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person
    Text,
    /// For a program
    Json,
    /// The README's table, without seconds: it must not change with every measurement
    Markdown,
}

/// A scenario, as it is told.
#[derive(Serialize)]
struct Told {
    id: &'static str,
    name: &'static str,
    family: &'static str,
    proves: &'static str,
    proof: &'static str,
    success: &'static str,
    controls: Vec<ToldControl>,
    expected_seconds: Option<f64>,
}

#[derive(Serialize)]
struct ToldControl {
    name: &'static str,
    predicted: &'static str,
}

/// Every scenario in the given format, with its last line feed. What one takes is as in `timings`.
pub fn render(format: Format, timings: &Timings) -> String {
    match format {
        Format::Text => text(timings),
        Format::Json => {
            let scenarios: Vec<_> =
                REGISTRY.iter().map(|scenario| told(scenario, timings)).collect();
            format!("{}\n", json!({"v": VERSION, "scenarios": scenarios}))
        }
        Format::Markdown => markdown(),
    }
}

fn told(scenario: &Scenario, timings: &Timings) -> Told {
    let &Scenario { id, name, family, proves, proof, success, controls, .. } = scenario;
    let controls =
        controls.iter().map(|it| ToldControl { name: it.name, predicted: it.predicted }).collect();
    let expected_seconds = timings.of(name);
    Told { id, name, family, proves, proof, success, controls, expected_seconds }
}

fn text(timings: &Timings) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for scenario in REGISTRY {
        let Scenario { id, name, family, proves, proof, success, controls, .. } = scenario;
        let seconds = timings.of(name).map_or("-".to_owned(), |seconds| format!("{seconds:.1} s"));
        let _ = writeln!(text, "{id:<3} {name:<28} {family:<12} {seconds:>7}");
        let _ =
            writeln!(text, "    proves   {proves}\n    proof    {proof}\n    ready    {success}");
        for control in *controls {
            let _ = writeln!(text, "    control  {} under {}", control.predicted, control.name);
        }
    }
    text
}

fn markdown() -> String {
    let mut table = "| id | scenario | family | proves that | rests on | controls |\n".to_owned();
    table.push_str("| --- | --- | --- | --- | --- | --- |\n");
    for Scenario { id, name, family, proves, proof, controls, .. } in REGISTRY {
        let controls: Vec<_> =
            controls.iter().map(|control| format!("`{}`", control.name)).collect();
        let controls = controls.join(", ");
        let _ = writeln!(table, "| {id} | `{name}` | {family} | {proves} | {proof} | {controls} |");
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
    fn every_scenario_is_told_with_its_proof_its_controls_and_the_seconds_that_are_known() {
        let text = render(Format::Text, &timings());
        let json: serde_json::Value =
            serde_json::from_str(&render(Format::Json, &timings())).unwrap();
        assert_eq!(json["v"], VERSION);
        for (at, scenario) in REGISTRY.iter().enumerate() {
            let told = &json["scenarios"][at];
            let known = if scenario.name == "storm" { json!(1.25) } else { json!(null) };
            assert_eq!(told["expected_seconds"], known, "{}", scenario.name);
            for (field, value) in [
                ("id", scenario.id),
                ("name", scenario.name),
                ("family", scenario.family),
                ("proves", scenario.proves),
                ("proof", scenario.proof),
                ("success", scenario.success),
            ] {
                assert_eq!(told[field], value);
                assert!(text.contains(value), "{value}");
            }
            for (at, control) in scenario.controls.iter().enumerate() {
                assert_eq!(told["controls"][at]["name"], control.name);
                assert_eq!(told["controls"][at]["predicted"], control.predicted);
                assert!(text.contains(&format!("{} under {}", control.predicted, control.name)));
            }
        }
        assert!(text.contains("1.2 s") && text.contains(" -\n"), "{text}");
    }

    #[test]
    fn no_text_of_a_scenario_breaks_the_table() {
        for scenario in REGISTRY {
            let texts =
                [scenario.id, scenario.name, scenario.family, scenario.proves, scenario.proof];
            let names = scenario.controls.iter().map(|control| control.name);
            for text in texts.into_iter().chain(names) {
                assert!(!text.contains(['|', '\n', '`', '<', '*', '_']), "{text:?}");
            }
        }
    }

    #[test]
    fn the_readme_lists_the_scenarios_as_they_are() {
        let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
        let readme = std::fs::read_to_string(readme).unwrap();
        let table = render(Format::Markdown, &Timings::default());
        assert!(
            readme.contains(&format!("\n\n{table}\n")),
            "put what `cargo xtask e2e list --format markdown` prints in place of README's table"
        );
    }
}
