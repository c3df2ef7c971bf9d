//! E1: a transport falls in the middle of a streamed answer, and the pane is loaded anew.

use super::words::{Pane, arrived, end_of_turn, workstream};
use super::{Change, Control, Defect, Scenario};
use crate::node::model::Reply;
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "E1",
    name: "stale-ref-reload",
    family: "interactive",
    proves: "an answer that was cut off never takes in the text of the next one",
    proof: "one bubble was live when its transport fell, and no history was answered before the \
            second answer had painted",
    success: "RECOVERY-READY-STALEREF-fresh1",
    controls: &[Control {
        name: "refs-survive-a-reload",
        defect: Defect::Client(&[
            Change {
                asset: "/static/recovery/core.js",
                find: "    this.#pane.endRefs();\n    await this.#reload();",
                replace: "    await this.#reload();",
            },
            Change {
                asset: "/static/pane/transcript.js",
                find: "if (this.live?.rowId !== rowId) this.#begin(rowId);",
                replace: "if (!this.live) this.#begin(rowId);",
            },
        ]),
        predicted: "RECOVERY-FAILED-STALEREF-staleset1-present1-fresh0-unchanged0",
    }],
    story: |stage| Box::pin(story(stage)),
};

const FIRST: &str = "The tide turns at six, and the wind with it.";
const SECOND: &str = "Then reef the main before the point.";

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    stage.phase("first paint");
    let (first, gate) = Reply::text(FIRST).held_midway();
    let ws = workstream(stage, "stale-ref-reload", vec![first, Reply::text(SECOND)]).await?;
    let pane = Pane::open(stage, ws, 0).await?;
    stage.screenshot("first-paint").await?;

    stage.phase("teardown in mid-answer");
    pane.freeze().await?;
    let mut events = stage.wire.follow(pane.ws()).await?;
    pane.write("When does the tide turn?").await?;
    pane.until("an answer that is being streamed", "s.liveRefs === 1").await?;
    pane.call("disconnect").await?;
    let torn = pane.look().await?;
    let begun = pane.bubbles().await?;
    let stale_set = torn.live_refs == 1 && torn.ready_state.is_none();
    stage.require("the transport fell in the middle of one bubble", begun.len() == 1, &torn);
    gate.release();
    end_of_turn(&mut events).await?;

    stage.phase("reload and second turn");
    let loaded = stage.proxy.counters().borrow().of(Class::HISTORY).ok;
    // Nothing may rebuild the rows, which would hide where the next text goes.
    let failing = stage.proxy.fail_until(Class::HISTORY);
    pane.call("connect").await?;
    pane.until("a stream that is open again", "s.readyState === EventSource.OPEN").await?;
    pane.write("And if it blows?").await?;
    pane.until_painted(SECOND).await?;
    let bubbles = pane.bubbles().await?;
    let loaded_since = stage.proxy.counters().borrow().of(Class::HISTORY).ok - loaded;
    let tried = arrived(stage, Class::HISTORY);
    stage.require(
        "no reload had rebuilt the rows",
        loaded_since == 0,
        format!("{loaded_since} of {tried}"),
    );
    failing.lift();
    Ok(stamp(stale_set, &begun, &bubbles))
}

/// The second answer stands in a bubble of its own, below the first, which is as it was left.
fn stamp(stale_set: bool, begun: &[String], bubbles: &[String]) -> Stamp {
    let at = bubbles.iter().position(|bubble| bubble.contains(SECOND));
    let (present, fresh) = (at.is_some(), at.is_some_and(|at| at > 0));
    let unchanged = bubbles.first() == begun.first();
    if stale_set && fresh && unchanged {
        Stamp::ready("STALEREF").field("fresh", 1)
    } else {
        Stamp::failed("STALEREF")
            .field("staleset", stale_set.into())
            .field("present", present.into())
            .field("fresh", fresh.into())
            .field("unchanged", unchanged.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_second_answer_below_an_untouched_first_one_is_ready() {
        let stamp = |stale_set, bubbles: &[&str]| {
            let bubbles: Vec<String> = bubbles.iter().map(ToString::to_string).collect();
            stamp(stale_set, &["The tide".to_owned()], &bubbles)
        };
        assert_eq!(stamp(true, &["The tide", SECOND]).to_string(), SCENARIO.success);
        let grown = format!("The tide{SECOND}");
        assert_eq!(stamp(true, &[&grown]).to_string(), SCENARIO.controls[0].predicted);
        assert!(!stamp(false, &["The tide", SECOND]).is_ready(), "no live ref to be stale");
        assert!(!stamp(true, &["The tide turns", SECOND]).is_ready(), "a first one that grew");
        assert!(!stamp(true, &["The tide"]).is_ready(), "no second one at all");
    }
}
