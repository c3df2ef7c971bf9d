//! E7: a pane is destroyed while its first load is under way.

use super::words::{Pane, arrived, seed_three_turns};
use super::{Change, Control, Defect, Scenario};
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "E7",
    name: "destroy-invalidation",
    family: "interactive",
    proves: "a load that ends after its pane was destroyed opens no stream",
    proof: "no stream had been opened when the pane was destroyed, and its load came to an end \
            after that",
    success: "RECOVERY-READY-DESTROYINVAL-sse0-vis0",
    controls: &[Control {
        name: "destroy-leaves-the-load-valid",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/history.js",
            find: "cancel() {\n    this.#loadToken += 1;",
            replace: "cancel() {",
        }]),
        predicted: "RECOVERY-FAILED-DESTROYINVAL-sse1-detached1-vis0",
    }],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    stage.phase("seed");
    let ws = seed_three_turns(stage, "destroy-invalidation", vec![]).await?;

    stage.phase("fault");
    let load = stage.proxy.hold(Class::HISTORY, 1);
    let pane = Pane::mount(stage, ws).await?;
    load.arrived().await?;
    let opens = arrived(stage, Class::EVENTS);
    stage.require("no stream was opened before the pane was destroyed", opens == 0, opens);
    stage.screenshot("first-paint").await?;
    pane.call("destroy").await?;
    load.release();
    pane.first_load_ended().await?;
    pane.fence(stage).await?;
    let sse = arrived(stage, Class::EVENTS);

    stage.phase("aftermath");
    pane.blink().await?;
    pane.fence(stage).await?;
    let vis = arrived(stage, Class::EVENTS) - sse;
    Ok(stamp(sse, !pane.is_attached().await?, vis))
}

/// Neither the end of the load nor a page that is shown again opened a stream.
fn stamp(sse: u64, detached: bool, vis: u64) -> Stamp {
    if sse == 0 && detached && vis == 0 {
        Stamp::ready("DESTROYINVAL").field("sse", 0).field("vis", 0)
    } else {
        Stamp::failed("DESTROYINVAL")
            .field("sse", sse)
            .field("detached", detached.into())
            .field("vis", vis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_detached_pane_that_opens_no_stream_is_ready() {
        assert_eq!(stamp(0, true, 0).to_string(), SCENARIO.success);
        assert_eq!(stamp(1, true, 0).to_string(), SCENARIO.controls[0].predicted);
        assert!(!stamp(0, true, 1).is_ready(), "a pane that still hears of its page");
        assert!(!stamp(0, false, 0).is_ready(), "a pane that is still there");
    }
}
