//! G5: as E5, over the coordinator pane: the page is hidden before the retry of a failed refetch is
//! due.

use super::hidden_retry::{heal_when_shown, outlast_retry_hidden};
use super::words::Coord;
use super::{Change, Control, Defect, Scenario};
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "G5",
    name: "coord-hidden-retry",
    family: "coordinator",
    proves: "a coordinator's retry that falls due without a transport fetches nothing, and showing \
             heals",
    proof: "the refetch had failed when the page was hidden, the retry's time passed without a \
            transport, and the node told nothing new before the heal",
    success: "RECOVERY-READY-COORDHIDDENRETRY-hidden0-heal1",
    controls: &[Control {
        name: "retry-ignores-the-transport",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/history.js",
            find: "if (open && this.#mayHeal()",
            replace: "if (this.#mayHeal()",
        }]),
        predicted: "RECOVERY-FAILED-COORDHIDDENRETRY-hidden1-heal1-sse1-posts2-rows0",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Coord::seeded(stage, "coord-hidden-retry", vec![]).await?;
    let (before, hidden, _) = outlast_retry_hidden(stage, &pane).await?;
    stage.require("hidden over three stale rows", before.rows == 3, &before);
    Ok(heal_when_shown(stage, &pane, hidden).await?.stamp("COORDHIDDENRETRY"))
}

#[cfg(test)]
mod tests {
    use super::super::hidden_retry::Showing;
    use super::*;

    #[test]
    fn it_is_judged_as_the_interactive_pane_is() {
        let good = Showing { hidden: 0, heal: true, sse: 1, posts: 2, rows: 0 };
        assert_eq!(good.stamp("COORDHIDDENRETRY").to_string(), SCENARIO.success);
        let fetched = Showing { hidden: 1, ..good };
        assert_eq!(fetched.stamp("COORDHIDDENRETRY").to_string(), SCENARIO.controls[0].predicted);
    }
}
