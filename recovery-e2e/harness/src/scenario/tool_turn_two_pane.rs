//! I2: two turns call a tool under the same id, before two panes.

use super::words::{Shown, Traffic, TwoPanes, each_stream_asked, end_of_turn, told, workstream};
use super::{Change, Control, Defect, Scenario};
use crate::node::model::{Reply, ToolCall};
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "I2",
    name: "tool-turn-two-pane",
    family: "projection",
    proves: "each result stands in the row of its own call, though another call has the same id",
    proof: "both streams had asked for the results of tools, and both turns called under one id",
    success: "RECOVERY-READY-TOOLTURN-panes2-rows2-events2-history0-redial0",
    controls: &[Control {
        name: "paired-by-call-id-alone",
        defect: Defect::Client(&[
            Change {
                asset: "/static/pane/transcript.js",
                find: "const free = found !== null && (rowId === null || found.call.rowId === \
                       null || found.call.rowId === rowId);",
                replace: "const free = found !== null;",
            },
            Change {
                asset: "/static/pane/calls.js",
                find: "for (let entry = entries.length - 1; entry >= 0; entry -= 1) {",
                replace: "for (let entry = 0; entry < entries.length; entry += 1) {",
            },
        ]),
        predicted: "RECOVERY-FAILED-TOOLTURN-panes2-rows2-events2-crossed1-history0-redial0",
    }],
    story: |stage| Box::pin(story(stage)),
};

/// The id of both calls.
const CALL: &str = "call-1";

/// What the calls bring, in their order.
const OUTPUTS: [&str; 2] = ["port light out", "starboard light out"];

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    stage.phase("first paint");
    let look = |output| Reply::calls(vec![ToolCall::bash(CALL, format!("echo {output}"))]);
    let [port, starboard] = OUTPUTS.map(look);
    let replies = vec![port, Reply::text("Noted."), starboard, Reply::text("Both, then.")];
    let ws = workstream(stage, "tool-turn-two-pane", replies).await?;
    let panes = TwoPanes::open(stage, ws).await?;
    let asked = each_stream_asked(stage, |record| record.tool_turn);
    let what = "both streams asked for the results of tools";
    stage.require(what, asked == [true; 2], told::listed(asked));

    stage.phase("turns");
    let before = Traffic::so_far(stage);
    let mut events = stage.wire.follow(panes.ws()).await?;
    for question in ["How is the port light?", "And the other one?"] {
        panes.write(question).await?;
        end_of_turn(&mut events).await?;
        panes.caught_up(stage).await?;
    }
    let Traffic { history, streams } = before.since(stage);
    let shown = panes.look().await?;
    let calls = shown.iter().flat_map(|pane| &pane.calls);
    let same = calls.clone().all(|call| call.id == CALL);
    stage.require("every call had the one id", same, told::listed(calls));
    let events = panes.frames_of_each("accepted tool_result").await?;
    let seen = ToolTurn {
        panes: shown.iter().filter(|pane| !pane.calls.is_empty()).count(),
        rows: shown.iter().map(|pane| pane.calls.len()).max().unwrap_or(0),
        events: events.into_iter().max().unwrap_or(0),
        crossed: !shown.iter().all(stands_in_its_own_row),
        history,
        redial: streams,
    };
    Ok(seen.stamp())
}

fn stands_in_its_own_row(pane: &Shown) -> bool {
    let outputs = pane.calls.iter().map(|call| call.output.trim());
    outputs.eq(OUTPUTS)
}

/// What became of the calls.
#[derive(Clone, Copy)]
struct ToolTurn {
    /// Panes that show calls.
    panes: usize,
    /// Calls in the pane that has most of them.
    rows: usize,
    /// Stored results that were told of, in the pane that was told most often.
    events: u64,
    /// A result that does not stand in the row of its call.
    crossed: bool,
    history: u64,
    redial: u64,
}

impl ToolTurn {
    fn stamp(self) -> Stamp {
        let ToolTurn { panes, rows, events, crossed, history, redial } = self;
        let good = panes == 2 && rows == 2 && events == 2 && !crossed;
        let stamp = if good && history == 0 && redial == 0 { Stamp::ready } else { Stamp::failed };
        let stamp = stamp("TOOLTURN")
            .field("panes", panes as u64)
            .field("rows", rows as u64)
            .field("events", events);
        let stamp = if crossed { stamp.field("crossed", 1) } else { stamp };
        stamp.field("history", history).field("redial", redial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_rows_in_each_pane_each_with_its_own_result_are_ready() {
        let good = ToolTurn { panes: 2, rows: 2, events: 2, crossed: false, history: 0, redial: 0 };
        assert_eq!(good.stamp().to_string(), SCENARIO.success);
        let crossed = ToolTurn { crossed: true, ..good };
        assert_eq!(crossed.stamp().to_string(), SCENARIO.controls[0].predicted);
        for bad in [
            ToolTurn { panes: 1, ..good },
            ToolTurn { rows: 3, ..good },
            ToolTurn { events: 1, ..good },
            ToolTurn { history: 1, ..good },
            ToolTurn { redial: 1, ..good },
        ] {
            assert!(!bad.stamp().is_ready(), "{}", bad.stamp());
        }
    }
}
