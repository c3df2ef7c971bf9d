//! The scenarios: what each proves, and how each can fail.

mod await_window_gate;
mod coord_handoff_repair_budget;
mod coord_heal_midturn;
mod coord_hidden_retry;
mod coord_joined_flight;
mod coord_orphan_rewind;
mod coord_restart;
mod coord_rewind_failed_window;
mod coord_rewind_window;
mod coord_stale_backstop;
mod destroy_invalidation;
mod fail_refetch;
mod handoff_repair_budget;
mod hidden_retry;
mod reconnect_in_await;
mod restart;
mod rewind_failed_window;
mod rewind_window;
mod roster_restart;
mod roster_restart_native;
pub mod stage;
mod stale_backstop;
mod stale_ref_reload;
mod storm;
mod tool_turn_two_pane;
pub mod torture;
mod user_turn_two_pane;
pub mod words;

use std::pin::Pin;

use crate::proxy::{Edit, Patch};
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// The story of a scenario: it drives the stage, and ends with a stamp.
pub type Story = for<'a> fn(
    &'a mut Stage,
)
    -> Pin<Box<dyn Future<Output = Result<Stamp, StageError>> + Send + 'a>>;

/// One scenario of the catalogue.
pub struct Scenario {
    /// Its number in the catalogue.
    pub id: &'static str,
    /// Its name on the command line and in reports.
    pub name: &'static str,
    /// The part of the application whose recovery it proves.
    pub family: &'static str,
    /// What it proves, in one sentence.
    pub proves: &'static str,
    /// What is seen besides the stamp's own numbers, or its outcome is inconclusive.
    pub proof: &'static str,
    /// The stamp of a success, in full.
    pub success: &'static str,
    /// The defects under which it must fail.
    pub controls: &'static [Control],
    /// How it goes.
    pub story: Story,
}

/// A negative control: a defect put in on purpose, and the stamp that it must bring.
pub struct Control {
    /// What the defect is, as its name.
    pub name: &'static str,
    /// The defect itself.
    pub defect: Defect,
    /// The stamp that it must bring, in full.
    pub predicted: &'static str,
}

/// What is wrong on purpose.
pub enum Defect {
    /// The client, whose served text is changed.
    Client(&'static [Change]),
    /// The node, which has a defect of this name to be turned on.
    Node(&'static str),
}

/// One place of the client that a defect changes.
pub struct Change {
    /// The served file.
    pub asset: &'static str,
    /// The text that stands there exactly once.
    pub find: &'static str,
    /// What stands in its place.
    pub replace: &'static str,
}

impl Defect {
    /// Puts it into a stage whose page is not open yet.
    ///
    /// # Errors
    /// When the node does not take it.
    pub async fn put_into(&self, stage: &Stage) -> Result<(), StageError> {
        match self {
            Defect::Client(changes) => {
                for patch in patches(changes) {
                    stage.proxy.patch(patch);
                }
                Ok(())
            }
            Defect::Node(name) => Ok(stage.control.turn_on_defect(name).await?),
        }
    }
}

/// The changes as the proxy proxy applies them: one patch for each served file.
fn patches(changes: &[Change]) -> Vec<Patch> {
    Patch::group(changes.iter().map(|Change { asset, find, replace }| {
        let edit = Edit { find: (*find).to_owned(), replace: (*replace).to_owned() };
        ((*asset).to_owned(), edit)
    }))
}

/// All scenarios, in the order of the catalogue.
pub const REGISTRY: [&Scenario; 25] = [
    &storm::SCENARIO,
    &restart::SCENARIO,
    &coord_restart::SCENARIO,
    &fail_refetch::SCENARIO,
    &stale_ref_reload::SCENARIO,
    &rewind_window::SCENARIO,
    &rewind_failed_window::SCENARIO,
    &stale_backstop::SCENARIO,
    &hidden_retry::SCENARIO,
    &await_window_gate::SCENARIO,
    &destroy_invalidation::SCENARIO,
    &reconnect_in_await::SCENARIO,
    &coord_rewind_window::SCENARIO,
    &coord_rewind_failed_window::SCENARIO,
    &coord_stale_backstop::SCENARIO,
    &coord_heal_midturn::SCENARIO,
    &coord_hidden_retry::SCENARIO,
    &coord_orphan_rewind::SCENARIO,
    &coord_joined_flight::SCENARIO,
    &handoff_repair_budget::SCENARIO,
    &coord_handoff_repair_budget::SCENARIO,
    &user_turn_two_pane::SCENARIO,
    &tool_turn_two_pane::SCENARIO,
    &roster_restart::SCENARIO,
    &roster_restart_native::SCENARIO,
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_scenario_has_a_name_of_its_own_and_a_control_that_fails_it() {
        let names: HashSet<_> = REGISTRY.iter().map(|scenario| scenario.name).collect();
        assert_eq!(names.len(), REGISTRY.len());
        for scenario in REGISTRY {
            let success: Stamp = scenario.success.parse().unwrap();
            assert!(success.is_ready(), "{}", scenario.name);
            assert!(!scenario.proof.is_empty(), "{} rests on nothing", scenario.name);
            assert!(!scenario.controls.is_empty(), "{} cannot be seen failing", scenario.name);
            for control in scenario.controls {
                let predicted: Stamp = control.predicted.parse().unwrap();
                assert!(!predicted.is_ready(), "{}/{}", scenario.name, control.name);
                if let Defect::Client(changes) = control.defect {
                    assert!(!changes.is_empty(), "{}/{}", scenario.name, control.name);
                    assert!(changes.iter().all(|change| change.find != change.replace));
                }
            }
        }
    }
    #[test]
    fn each_text_that_a_control_changes_stands_once_in_the_client() {
        let web = concat!(env!("CARGO_MANIFEST_DIR"), "/../web");
        for scenario in REGISTRY {
            for control in scenario.controls {
                let Defect::Client(changes) = control.defect else { continue };
                for Change { asset, find, .. } in changes {
                    let text = std::fs::read_to_string(format!("{web}{asset}")).unwrap();
                    let found = text.matches(find).count();
                    assert_eq!(found, 1, "{}/{}: {find:?}", scenario.name, control.name);
                }
            }
        }
    }
}
