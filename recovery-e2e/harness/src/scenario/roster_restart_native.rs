//! F2: the browser itself redials a restarted node for the dashboard.

use hyper::StatusCode;

use super::words::{Dashboard, Loaded, told};
use super::{Change, Control, Defect, Scenario};
use crate::proxy::{Class, Record};
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "F2",
    name: "roster-restart-native",
    family: "roster",
    proves: "a cursor that ended with a redial by the browser is never presented by the page",
    proof: "the page was visible, one redial of the browser held the old cursor in its header, \
            the keeper was loaded before that one was let in, no workstream was said to have \
            closed, and no frame with an id came before the page asked by itself",
    success: "RECOVERY-READY-ROSTERNATIVE-trunc1-cursor0-opens2",
    controls: &[Control {
        name: "cursor-outlives-a-snapshot",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/roster_stream.js",
            find: "if (CURSOR_ENDS.has(frame.type)) this.#cursor = null;",
            replace: "",
        }]),
        predicted: "RECOVERY-FAILED-ROSTERNATIVE-dead-cursor-represented-cursor1",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let dashboard = Dashboard::open(stage).await?;

    stage.phase("restart");
    let parked = stage.proxy.park();
    stage.stop_node().await?;
    parked.arrived(1).await?;
    dashboard.start_node_with_keeper(stage).await?;
    stage.screenshot("fault").await?;

    stage.phase("heal");
    stage.proxy.accept();
    dashboard.caught_up(stage, 2).await?;
    let redials = dashboard.redials(stage);
    let by_header = redials.iter().filter(|redial| {
        redial.cursor_header.as_deref() == dashboard.cursor() && redial.cursor_query.is_none()
    });
    stage.require(
        "one redial of the browser held the old cursor in its header, and brought no other",
        by_header.count() == 1 && redials.len() == 1 && redials[0].last_event_id.is_none(),
        format!(
            "{} of {}",
            told::listed(redials.iter().map(presented)),
            told::or_none(dashboard.cursor())
        ),
    );
    let closed = dashboard.frames("ws_closed").await?;
    stage.require("no workstream was said to have closed", closed == 0, closed);
    let loaded = dashboard.loaded().await?;
    stage.screenshot("healed").await?;

    stage.phase("page's own redial");
    stage.proxy.fail(Class::GLOBAL_EVENTS, 1, StatusCode::SERVICE_UNAVAILABLE);
    stage.proxy.sever(Class::GLOBAL_EVENTS);
    dashboard.given_up().await?;
    dashboard.focus().await?;
    dashboard.caught_up(stage, 3).await?;
    let end = End {
        trunc: dashboard.frames("replay_truncated").await?,
        cursor: dashboard.presented(stage),
        opens: dashboard.opens().await?,
        loaded,
    };
    Ok(end.stamp())
}

/// The cursors of a redial, in words.
fn presented(redial: &Record) -> String {
    let Record { cursor_header, cursor_query, last_event_id, .. } = redial;
    format!(
        "header {}, query {}, brought {}",
        told::or_none(cursor_header.as_ref()),
        told::or_none(cursor_query.as_ref()),
        told::or_none(last_event_id.as_ref())
    )
}

/// What came of both redials.
#[derive(Clone, Copy)]
struct End {
    /// Truncated replays.
    trunc: u64,
    /// Streams with a cursor in their address.
    cursor: u64,
    /// Event sources.
    opens: u64,
    loaded: Loaded,
}

impl End {
    /// The header alone has carried the dead cursor, once.
    fn stamp(self) -> Stamp {
        let End { trunc, cursor, opens, loaded: Loaded { ghost, keeper } } = self;
        if cursor > 0 {
            return Stamp::failed("ROSTERNATIVE").field("dead-cursor-represented-cursor", cursor);
        }
        if trunc == 1 && opens == 2 && !ghost && keeper {
            return Stamp::ready("ROSTERNATIVE")
                .field("trunc", trunc)
                .field("cursor", cursor)
                .field("opens", opens);
        }
        Stamp::failed("ROSTERNATIVE")
            .field("trunc", trunc)
            .field("cursor", cursor)
            .field("opens", opens)
            .field("ghost", ghost.into())
            .field("keeper", keeper.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_dead_cursor_that_the_page_never_presents_is_ready() {
        let loaded = Loaded { ghost: false, keeper: true };
        let good = End { trunc: 1, cursor: 0, opens: 2, loaded };
        assert_eq!(good.stamp().to_string(), SCENARIO.success);
        let represented = End { trunc: 2, cursor: 1, ..good };
        assert_eq!(represented.stamp().to_string(), SCENARIO.controls[0].predicted);
        for bad in [
            End { trunc: 0, ..good },
            End { trunc: 2, ..good },
            End { opens: 1, ..good },
            End { loaded: Loaded { ghost: true, ..loaded }, ..good },
            End { loaded: Loaded { keeper: false, ..loaded }, ..good },
        ] {
            assert!(!bad.stamp().is_ready(), "{}", bad.stamp());
        }
    }
}
