//! E8: the transport falls and comes back while a refetch is under way.

use super::words::{Pane, hold_retry_of_failed_rewind, take_turn, told};
use super::{Change, Control, Defect, Scenario};
use crate::node::model::Reply;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "E8",
    name: "reconnect-in-await",
    family: "interactive",
    proves: "a turn that both a snapshot and the replay of a new connection hold stands once",
    proof: "a turn was taken in the gap, and the refetch was still open when the replay of the \
            new connection had come, then answered 200",
    success: "RECOVERY-READY-RECONNECTAWAIT-dupes1-healed1",
    controls: &[Control {
        name: "no-generation-and-no-row-id",
        defect: Defect::Client(&[
            Change {
                asset: "/static/recovery/history.js",
                find: " && this.#stream.generation === generation;",
                replace: " && generation !== null;",
            },
            Change {
                asset: "/static/recovery/history.js",
                find: "if (standsIn(this.#rows, frame)) this.#view.passOver(frame);",
                replace: "if (this.#rows === null) this.#view.passOver(frame);",
            },
        ]),
        predicted: "RECOVERY-FAILED-RECONNECTAWAIT-dupes2-healed0",
    }],
    story: |stage| Box::pin(story(stage)),
};

const GAP: &str = "A buoy broke loose off the harbour mouth.";

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Pane::seeded(stage, "reconnect-in-await", vec![Reply::text(GAP)]).await?;

    stage.phase("fault");
    let retry = hold_retry_of_failed_rewind(stage, &pane).await?;

    stage.phase("gap");
    pane.call("disconnect").await?;
    let seen = pane.look().await?;
    stage.require("the transport fell", seen.ready_state.is_none() && seen.queued.is_some(), seen);
    take_turn(stage, pane.ws(), "Anything new on the radio?").await?;
    let replays = pane.frames("replay_complete").await?;
    pane.call("redial").await?;
    pane.until_frames("replay_complete", replays + 1).await?;
    let seen = pane.look().await?;
    let open = retry.statuses(stage) == [None];
    stage.require(
        "the refetch was still open when the replay of the new connection had come",
        open && seen.ready_state == Some(1) && seen.queued.is_some_and(|queued| queued > 0),
        format!("open {open}, {seen}"),
    );
    stage.screenshot("fault").await?;

    stage.phase("heal");
    retry.release();
    pane.settled(stage).await?;
    let statuses = retry.statuses(stage);
    let answered = statuses == [Some(200)];
    let saw = told::each_or_none(statuses);
    stage.require("it was answered 200", answered, saw);
    let seen = pane.look().await?;
    let healed = seen.rows == 2 && !seen.latch;
    Ok(stamp(pane.count(GAP).await?, healed))
}

/// The turn from the gap stands once, after the one turn that the rewind has left.
fn stamp(dupes: u64, healed: bool) -> Stamp {
    let stamp = if dupes == 1 && healed { Stamp::ready } else { Stamp::failed };
    stamp("RECONNECTAWAIT").field("dupes", dupes).field("healed", healed.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_copy_in_a_healed_transcript_is_ready() {
        assert_eq!(stamp(1, true).to_string(), SCENARIO.success);
        assert_eq!(stamp(2, false).to_string(), SCENARIO.controls[0].predicted);
        for (dupes, healed) in [(0, true), (1, false), (2, true)] {
            assert!(!stamp(dupes, healed).is_ready());
        }
    }
}
