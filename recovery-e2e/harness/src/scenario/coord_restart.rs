//! C: as B, over the coordinator pane: the node is restarted while the page is hidden, in the middle
//! of a tool's work.

use super::restart::{MISSED, begin, miss_the_end};
use super::words::{Coord, arrived};
use super::{Change, Control, Defect, Scenario};
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "C",
    name: "coord-restart",
    family: "coordinator",
    proves: "a coordinator that was hidden over a restart shows the turn that it missed, once",
    proof: "two events or more had come from a running turn when it was hidden, and another \
            process answered when it was shown",
    success: "RECOVERY-READY-COORD-rows1-trunc1",
    controls: &[Control {
        name: "cursor-is-not-captured",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/stream.js",
            find: "this.#capture(message.lastEventId);",
            replace: "",
        }]),
        predicted: "RECOVERY-FAILED-COORD-rows1-reopened1-disc0-healed1-trunc0",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let (pane, turn) = begin(stage, "coord-restart").await?;
    let pane: Coord = pane;
    pane.until("a call that is shown as running", "s.running === 1").await?;
    let seen = pane.look().await?;
    let moves = pane.cursor_moves().await?;
    stage.require(
        "hidden while a tool was at work, after two events or more",
        seen.busy && moves >= 2,
        format!("{seen}, {moves} events"),
    );
    let opens = arrived(stage, Class::EVENTS);
    miss_the_end(stage, &pane, turn).await?;
    let end = End {
        rows: pane.tools().await?.top,
        reopened: arrived(stage, Class::EVENTS) > opens,
        disc: pane.look().await?.dim,
        healed: pane.count(MISSED).await? == 1,
        trunc: pane.frames("replay_truncated").await?,
    };
    Ok(end.stamp())
}

/// How the pane stands in the end.
#[derive(Clone, Copy)]
struct End {
    rows: u64,
    reopened: bool,
    disc: bool,
    healed: bool,
    trunc: u64,
}

impl End {
    /// One row for the one call, with what was missed, after a truncated replay.
    fn stamp(self) -> Stamp {
        let End { rows, reopened, disc, healed, trunc } = self;
        if rows == 1 && reopened && !disc && healed && trunc == 1 {
            Stamp::ready("COORD").field("rows", rows).field("trunc", trunc)
        } else {
            Stamp::failed("COORD")
                .field("rows", rows)
                .field("reopened", reopened.into())
                .field("disc", disc.into())
                .field("healed", healed.into())
                .field("trunc", trunc)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_row_and_what_was_missed_after_a_truncated_replay_is_ready() {
        let good = End { rows: 1, reopened: true, disc: false, healed: true, trunc: 1 };
        assert_eq!(good.stamp().to_string(), SCENARIO.success);
        let unseen = End { trunc: 0, ..good };
        assert_eq!(unseen.stamp().to_string(), SCENARIO.controls[0].predicted);
        for bad in [
            End { rows: 2, ..good },
            End { reopened: false, ..good },
            End { disc: true, ..good },
            End { healed: false, ..good },
            End { trunc: 2, ..good },
        ] {
            assert!(!bad.stamp().is_ready(), "{}", bad.stamp());
        }
    }
}
