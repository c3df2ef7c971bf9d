//! Negative controls: a defect put in on purpose, and the failure that it must bring.

use crate::proxy::{self, Patch};
use crate::scenario::stage::{Stage, StageError};

/// A negative control.
#[derive(Clone, Copy)]
pub struct Control {
    /// What the defect is, as its name.
    pub name: &'static str,
    /// The defect itself.
    pub defect: Defect,
    /// The fields that come out otherwise under it, and how; all others come out as expected.
    pub breaks: &'static [(&'static str, u64)],
}

/// What is wrong on purpose.
#[derive(Clone, Copy)]
pub enum Defect {
    /// The client, whose served text is edited.
    Client(&'static [Edit]),
    /// The node, which has a defect of this name to be turned on.
    Node(&'static str),
}

/// One place of the client that a defect edits.
#[derive(Clone, Copy)]
pub struct Edit {
    /// The served file.
    pub asset: &'static str,
    /// The text, which is in it exactly once.
    pub find: &'static str,
    /// The text in its place.
    pub replace: &'static str,
}

impl Defect {
    /// Puts it into a stage whose page is not open yet.
    ///
    /// # Errors
    /// When the node does not take it.
    pub async fn put_into(&self, stage: &Stage) -> Result<(), StageError> {
        match self {
            Defect::Client(edits) => {
                for patch in patches(edits) {
                    stage.proxy.patch(patch);
                }
                Ok(())
            }
            Defect::Node(name) => Ok(stage.control.turn_on_defect(name).await?),
        }
    }
}

/// The edits as the proxy applies them: one patch for each served file.
fn patches(edits: &[Edit]) -> Vec<Patch> {
    Patch::group(edits.iter().map(|Edit { asset, find, replace }| {
        let edit = proxy::Edit { find: (*find).to_owned(), replace: (*replace).to_owned() };
        ((*asset).to_owned(), edit)
    }))
}
