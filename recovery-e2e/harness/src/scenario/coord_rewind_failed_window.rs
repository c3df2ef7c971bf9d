//! G2: as E3, over the coordinator pane: a second rewind click lands after the refetch has failed.

use super::rewind_failed_window::click_after_the_failure;
use super::words::Coord;
use super::{Change, Control, Defect, Scenario};
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "G2",
    name: "coord-rewind-failed-window",
    family: "coordinator",
    proves: "a failed refetch leaves a coordinator's rows and their gate shut until a retry heals \
             both",
    proof: "at the second click the refetch had failed over three stale rows, and a fence stood \
            between it and the retry",
    success: "RECOVERY-READY-COORDREWINDFAIL-posts2-heal1",
    controls: &[Control {
        name: "gate-is-the-refetch",
        defect: Defect::Client(&[Change {
            asset: "/static/pane/conversation.js",
            find: "return rowsGated(this.#recovery.state());",
            replace: "return rowsGated({ ...this.#recovery.state(), latch: this.#recovery.reloading });",
        }]),
        predicted: "RECOVERY-FAILED-COORDREWINDFAIL-closed2-heal0-posts2-rows0",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Coord::seeded(stage, "coord-rewind-failed-window", vec![]).await?;
    Ok(click_after_the_failure(stage, &pane).await?.stamp("COORDREWINDFAIL"))
}

#[cfg(test)]
mod tests {
    use super::super::rewind_failed_window::Clicks;
    use super::*;

    #[test]
    fn it_is_judged_as_the_interactive_pane_is() {
        let good = Clicks { closed: 1, heal: true, posts: 2, rows: 0 };
        assert_eq!(good.stamp("COORDREWINDFAIL").to_string(), SCENARIO.success);
        let open = Clicks { closed: 2, heal: false, ..good };
        assert_eq!(open.stamp("COORDREWINDFAIL").to_string(), SCENARIO.controls[0].predicted);
    }
}
