//! E6: the transport falls while a refetch is under way, whose answer is good.

use super::words::{Pane, hold_retry_of_failed_rewind, told};
use super::{Change, Control, Defect, Scenario};
use crate::node::model::Reply;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "E6",
    name: "await-window-gate",
    family: "interactive",
    proves: "a snapshot that arrives after the transport has fallen is not rendered",
    proof: "the refetch was answered 200 after the transport had fallen, and the pane healed \
            before a fourth turn",
    success: "RECOVERY-READY-AWAITGATE-rows3-latch1",
    controls: &[Control {
        name: "no-render-gate",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/history.js",
            find: "const fits = this.#stream.readyState === EventSource.OPEN && \
                   this.#stream.generation === generation;",
            replace: "const fits = generation !== null;",
        }]),
        predicted: "RECOVERY-FAILED-AWAITGATE-rows1-latch0-heal1",
    }],
    story: |stage| Box::pin(story(stage)),
};

const FOURTH: &str = "Drop anchor in the lee of the island.";

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Pane::seeded(stage, "await-window-gate", vec![Reply::text(FOURTH)]).await?;

    stage.phase("fault");
    let retry = hold_retry_of_failed_rewind(stage, &pane).await?;
    pane.hide(stage).await?;
    let open = retry.statuses(stage) == [None];
    retry.release();
    pane.until("the end of the refetch", "s.queued === null").await?;
    let statuses = retry.statuses(stage);
    stage.require(
        "the refetch was answered 200, after the transport had fallen",
        open && statuses == [Some(200)],
        format!("open {open}, then {}", told::each_or_none(statuses)),
    );
    let stood = pane.look().await?;
    stage.screenshot("fault").await?;

    stage.phase("heal");
    pane.show().await?;
    pane.quiet(stage).await?;
    let seen = pane.look().await?;
    let healed = seen.rows == 1 && !seen.latch;
    stage.require("shown again, the pane healed before the fourth turn", healed, seen);
    pane.write("Where shall we anchor?").await?;
    pane.until_painted(FOURTH).await?;
    pane.settled(stage).await?;
    let seen = pane.look().await?;
    let heal = seen.rows == 2 && !seen.latch && pane.count(FOURTH).await? == 1;
    Ok(stamp(stood.rows, stood.latch, heal))
}

/// The answer changed nothing: the rows from before the cut stood, and were known to be stale.
fn stamp(rows: u64, latch: bool, heal: bool) -> Stamp {
    if rows == 3 && latch && heal {
        Stamp::ready("AWAITGATE").field("rows", 3).field("latch", 1)
    } else {
        Stamp::failed("AWAITGATE")
            .field("rows", rows)
            .field("latch", latch.into())
            .field("heal", heal.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stale_rows_that_stood_and_healed_later_are_ready() {
        assert_eq!(stamp(3, true, true).to_string(), SCENARIO.success);
        assert_eq!(stamp(1, false, true).to_string(), SCENARIO.controls[0].predicted);
        assert!(!stamp(3, true, false).is_ready(), "a fourth turn that is lost or stands twice");
        assert!(!stamp(3, false, true).is_ready(), "stale rows that passed for true");
    }
}
