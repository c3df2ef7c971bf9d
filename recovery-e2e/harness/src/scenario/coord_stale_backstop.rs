//! G3: as E4, over the coordinator pane: refetch and retry both fail; only an idle edge can heal.

use super::stale_backstop::{fail_twice, heal_at_rest};
use super::words::Coord;
use super::{Change, Control, Defect, Scenario};
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "G3",
    name: "coord-stale-backstop",
    family: "coordinator",
    proves: "after two failed refetches a coordinator's next idle edge heals, without a new \
             connection",
    proof: "refetch and retry had both failed over three stale rows before the idle edge came",
    success: "RECOVERY-READY-COORDSTALEBACKSTOP-heal1-sse0",
    controls: &[Control {
        name: "backstop-goes-through-the-transport",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/core.js",
            find: "if (!this.#truncation.idleEdge()) this.#history.idleEdge();",
            replace: "if (!this.#truncation.idleEdge() && this.#history.latch) void this.#reload();",
        }]),
        predicted: "RECOVERY-FAILED-COORDSTALEBACKSTOP-heal1-sse1-hist1-gated1-posts2-rows0",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Coord::seeded(stage, "coord-stale-backstop", vec![]).await?;
    fail_twice(stage, &pane).await?;
    Ok(heal_at_rest(stage, &pane).await?.stamp("COORDSTALEBACKSTOP"))
}

#[cfg(test)]
mod tests {
    use super::super::stale_backstop::Backstop;
    use super::*;

    #[test]
    fn it_is_judged_as_the_interactive_pane_is() {
        let good = Backstop { heal: true, sse: 0, hist: 1, gated: 1, posts: 2, rows: 0 };
        assert_eq!(good.stamp("COORDSTALEBACKSTOP").to_string(), SCENARIO.success);
        let through = Backstop { sse: 1, ..good };
        assert_eq!(through.stamp("COORDSTALEBACKSTOP").to_string(), SCENARIO.controls[0].predicted);
    }
}
