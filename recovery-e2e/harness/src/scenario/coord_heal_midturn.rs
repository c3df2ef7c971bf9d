//! G4: a call begins while the refetch that would heal a coordinator is under way.

use super::stale_backstop::{fail_twice, rest};
use super::words::{Coord, Held, arrived, rewinds, told};
use super::{Change, Control, Defect, Scenario};
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "G4",
    name: "coord-heal-midturn",
    family: "coordinator",
    proves: "a snapshot that comes while a call runs takes nothing from a coordinator's screen, \
             and the next idle edge heals",
    proof: "refetch and retry had both failed, the call was on screen while the third fetch was \
            held, and that fetch was answered with 200",
    success: "RECOVERY-READY-COORDHEALMIDTURN-heal1-mid1-sse0",
    controls: &[Control {
        name: "every-snapshot-is-rendered",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/live_calls.js",
            find: "return this.calm && [...this.#painted].every((row) => rows.has(row));",
            replace: "return rows !== null;",
        }]),
        predicted: "RECOVERY-FAILED-COORDHEALMIDTURN-heal1-mid0-sse0-hist1-posts2-rows0",
    }],
    story: |stage| Box::pin(story(stage)),
};

const CALL: &str = "call-1";

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Coord::seeded(stage, "coord-heal-midturn", vec![]).await?;
    fail_twice(stage, &pane).await?;

    stage.phase("midturn");
    let (opens, fetches) = (arrived(stage, Class::EVENTS), arrived(stage, Class::HISTORY));
    let refetch = stage.proxy.hold(Class::HISTORY, 1);
    rest(stage, &pane).await?;
    let refetch = Held::arrived(refetch).await?;
    stage.control.emit_tool_pending(pane.ws(), CALL).await?;
    pane.until("a call that is shown as running", "s.running === 1").await?;
    let open = refetch.statuses(stage) == [None];
    refetch.release();
    pane.quiet(stage).await?;
    let statuses = refetch.statuses(stage);
    stage.require(
        "the refetch was answered with 200, after the call had begun",
        open && statuses == [Some(200)],
        format!("open {open}, then {}", told::each_or_none(statuses)),
    );
    let seen = pane.look().await?;
    let mid = seen.rows == 3 && seen.running == 1;
    stage.screenshot("fault").await?;

    stage.phase("heal");
    stage.control.emit_tool_result(pane.ws(), CALL).await?;
    rest(stage, &pane).await?;
    pane.quiet(stage).await?;
    let sse = arrived(stage, Class::EVENTS) - opens;
    let hist = arrived(stage, Class::HISTORY) - fetches;
    let seen = pane.look().await?;
    let heal = seen.rows == 1 && seen.stream == "live";
    stage.screenshot("healed").await?;

    stage.phase("reopen");
    if heal {
        pane.click_rewind(0).await?;
        pane.fence(stage).await?;
        pane.settled(stage).await?;
    }
    Ok(Midturn { heal, mid, sse, hist, posts: rewinds(stage), rows: pane.rows().await? }.stamp())
}

/// What came of the fetches around the call.
#[derive(Clone, Copy)]
struct Midturn {
    heal: bool,
    /// What was on screen when the call began stood when the snapshot had come.
    mid: bool,
    /// Streams that were opened.
    sse: u64,
    /// Histories that were fetched.
    hist: u64,
    /// Rewinds in all.
    posts: u64,
    rows: u64,
}

impl Midturn {
    /// One fetch was declined and the next one healed, no stream was opened, the gate was open.
    fn stamp(self) -> Stamp {
        let Midturn { heal, mid, sse, hist, posts, rows } = self;
        if heal && mid && sse == 0 && hist == 2 && posts == 2 {
            Stamp::ready("COORDHEALMIDTURN").field("heal", 1).field("mid", 1).field("sse", 0)
        } else {
            Stamp::failed("COORDHEALMIDTURN")
                .field("heal", heal.into())
                .field("mid", mid.into())
                .field("sse", sse)
                .field("hist", hist)
                .field("posts", posts)
                .field("rows", rows)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_declined_snapshot_that_the_next_one_replaces_is_ready() {
        let good = Midturn { heal: true, mid: true, sse: 0, hist: 2, posts: 2, rows: 0 };
        assert_eq!(good.stamp().to_string(), SCENARIO.success);
        let wiped = Midturn { mid: false, hist: 1, ..good };
        assert_eq!(wiped.stamp().to_string(), SCENARIO.controls[0].predicted);
        for bad in [
            Midturn { heal: false, posts: 1, rows: 3, ..good },
            Midturn { mid: false, ..good },
            Midturn { sse: 1, ..good },
            Midturn { hist: 3, ..good },
            Midturn { posts: 1, ..good },
        ] {
            assert!(!bad.stamp().is_ready(), "{}", bad.stamp());
        }
    }
}
