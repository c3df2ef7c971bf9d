//! F1: the browser has given the dashboard's stream up when the node comes back.

use hyper::StatusCode;

use super::words::{Dashboard, Loaded, told};
use super::{Change, Control, Defect, Scenario};
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "F1",
    name: "roster-restart",
    family: "roster",
    proves: "a dashboard that reconnects by itself to a restarted node drops what is no longer \
             loaded",
    proof: "the cursor was live and had been neither truncated nor presented, the one redial of \
            the browser was refused with a 503, and the keeper was loaded by another process \
            before the page asked again, with that cursor",
    success: "RECOVERY-READY-ROSTER-trunc1-cursor1",
    controls: &[Control {
        name: "snapshot-merges",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/roster.js",
            find: "return new Map(frame.workstreams?.map((entry) => [entry.ws_id, entry]));",
            replace: "return new Map([...roster, \
                      ...(frame.workstreams ?? []).map((entry) => [entry.ws_id, entry])]);",
        }]),
        predicted: "RECOVERY-FAILED-ROSTER-trunc1-cursor1-ghost1-keeper1",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let dashboard = Dashboard::open(stage).await?;

    stage.phase("given up");
    let pid = stage.node_pid()?;
    dashboard.set_hidden(true).await?;
    stage.proxy.fail(Class::GLOBAL_EVENTS, 1, StatusCode::SERVICE_UNAVAILABLE);
    stage.stop_node().await?;
    dashboard.given_up().await?;
    dashboard.start_node_with_keeper(stage).await?;
    let pid_after = stage.node_pid()?;
    let redials = dashboard.redials(stage);
    let refused: Vec<_> = redials.iter().map(|redial| redial.status).collect();
    stage.require(
        "the keeper was loaded by another process while nobody asked",
        pid != pid_after && refused == [Some(503)],
        format!("process {pid}, then {pid_after}; redials {}", told::each_or_none(refused)),
    );
    stage.screenshot("fault").await?;

    stage.phase("heal");
    dashboard.set_hidden(false).await?;
    dashboard.caught_up(stage, 2).await?;
    let redials = dashboard.redials(stage);
    let presented = redials.last().and_then(|redial| redial.cursor_query.as_deref());
    stage.require(
        "the page then presented the cursor that it had",
        redials.len() == 2 && presented == dashboard.cursor(),
        format!(
            "{} of {}, redials {}",
            told::or_none(presented),
            told::or_none(dashboard.cursor()),
            redials.len()
        ),
    );
    let truncated = dashboard.frames("replay_truncated").await?;
    Ok(stamp(truncated, dashboard.presented(stage), dashboard.loaded().await?))
}

/// The cursor that was presented is no more, and with it went the ghost alone.
fn stamp(trunc: u64, cursor: u64, Loaded { ghost, keeper }: Loaded) -> Stamp {
    if trunc == 1 && cursor == 1 && !ghost && keeper {
        Stamp::ready("ROSTER").field("trunc", trunc).field("cursor", cursor)
    } else {
        Stamp::failed("ROSTER")
            .field("trunc", trunc)
            .field("cursor", cursor)
            .field("ghost", ghost.into())
            .field("keeper", keeper.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_roster_without_the_ghost_after_one_truncated_replay_is_ready() {
        let good = Loaded { ghost: false, keeper: true };
        assert_eq!(stamp(1, 1, good).to_string(), SCENARIO.success);
        let haunted = stamp(1, 1, Loaded { ghost: true, ..good });
        assert_eq!(haunted.to_string(), SCENARIO.controls[0].predicted);
        assert!(!stamp(1, 1, Loaded { keeper: false, ..good }).is_ready(), "a roster of nothing");
        assert!(!stamp(0, 1, good).is_ready(), "a gap that nobody was told of");
        assert!(!stamp(1, 0, good).is_ready(), "a cursor that was never presented");
        assert!(!stamp(2, 2, good).is_ready(), "a cursor that was presented once more");
    }
}
