//! The scenarios: what each proves, what it rests on, and how each can fail.

mod case_log;
mod catalogue;
mod declaration;
mod defect;
mod example;
mod judge;
mod prelude;
pub mod stage;
pub mod steps;
pub mod torture;

use std::pin::Pin;

pub use case_log::CaseLog;
pub use catalogue::REGISTRY;
pub use declaration::{Alone, Check, Field, Read, Show, claim, field, need};
pub use defect::{Control, Defect, Edit};
pub use judge::{Ending, Observed, judge, judge_control};

use crate::node::client::PaneKind;
use crate::record::stamp::Stamp;
use stage::{Stage, StageError};

/// The future of a story, or of a reading.
pub type StageFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StageError>> + Send + 'a>>;

/// The story of a scenario: it drives the stage. What it sees becomes the stamp by the scenario's
/// [`Field`]s.
pub type Story = for<'a> fn(&'a mut Stage) -> StageFuture<'a, ()>;

/// One scenario of the catalogue.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Its number in the catalogue.
    pub id: &'static str,
    /// Its name on the command line and in reports.
    pub name: &'static str,
    /// The part of the application whose recovery it proves.
    pub family: &'static str,
    /// The pane that it drives; of no matter where it drives something else.
    pub pane: PaneKind,
    /// What it proves, in one sentence.
    pub proves: &'static str,
    /// Its code in a stamp, in capital letters.
    pub code: &'static str,
    /// The numbers of its stamp, in the order of a failure. It is ready when each is as expected.
    pub fields: &'static [Field],
    /// What a stamp of success shows of them.
    pub ready_shows: &'static [Show],
    /// What its story checks besides these numbers.
    pub rests_on: &'static [Check],
    /// The defects under which it must fail.
    pub controls: &'static [Control],
    /// How it goes.
    pub story: Story,
}

/// What a stage is set up for on which a person plays.
pub const SERVED: Scenario = Scenario {
    id: "-",
    name: "serve",
    family: "none",
    pane: PaneKind::Interactive,
    proves: "nothing: a person plays",
    code: "SERVE",
    fields: &[],
    ready_shows: &[],
    rests_on: &[],
    controls: &[],
    story: |_| Box::pin(async { Ok(()) }),
};

impl Scenario {
    /// The stamp of a success, in full.
    pub fn success(&self) -> Stamp {
        let values: Vec<_> = self.fields.iter().map(|field| (field, field.expected)).collect();
        declaration::ready(self, &values)
    }

    /// The stamp that a control must bring, in full.
    pub fn predicted(&self, control: &Control) -> Stamp {
        let value = |field: &Field| {
            let broken = control.breaks.iter().find(|(name, _)| *name == field.name);
            broken.map_or(field.expected, |(_, value)| *value)
        };
        let values: Vec<_> = self.fields.iter().map(|field| (field, value(field))).collect();
        declaration::failed(self, &values)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_documented_example_is_the_one_that_is_compiled_and_run() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let docs = format!("{root}/docs/writing-a-scenario.md");
        let docs = std::fs::read_to_string(docs).unwrap();
        let example = include_str!("example.rs");
        assert!(
            docs.contains(&format!("```rust\n{example}```")),
            "put src/scenario/example.rs in place of the example in docs/writing-a-scenario.md"
        );
    }
}
