//! B: the node is restarted while the page is hidden, in the middle of a tool's work.

use super::words::{Mounted, Pane, Sight, arrived, end_of_turn, told, workstream};
use super::{Change, Control, Defect, Scenario};
use crate::node::model::{Reply, ToolCall};
use crate::node::tool_gate::{InGate, ToolGate};
use crate::node::wire::Follower;
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "B",
    name: "restart",
    family: "interactive",
    proves: "a page that was hidden over a restart shows the turn that it missed, once",
    proof: "it was hidden while a tool was at work, with a live cursor, and the redial carried \
            that cursor to another process",
    success: "RECOVERY-READY-RESTART-rows1-trunc1",
    controls: &[Control {
        name: "cursor-is-not-captured",
        defect: Defect::Client(&[Change {
            asset: "/static/recovery/stream.js",
            find: "this.#capture(message.lastEventId);",
            replace: "",
        }]),
        predicted: "RECOVERY-FAILED-RESTART-rows1-busy0-disc0-healed1-trunc0",
    }],
    story: |stage| Box::pin(story(stage)),
};

const FIRST: &str = "sounding the depth";
pub(super) const MISSED: &str = "Four fathoms, and a sandy bottom.";

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let (pane, turn): (Pane, Turn) = begin(stage, "restart").await?;
    pane.until_output("call-1", FIRST).await?;
    let seen = pane.look().await?;
    let held = last_event_id(stage);
    stage.require(
        "hidden while a tool was at work, with a live cursor",
        seen.busy && held.is_some(),
        format!("{seen}, brought {}", told::or_none(held)),
    );
    let (frozen, presented) = miss_the_end(stage, &pane, turn).await?;
    let frozen = frozen.cursor;
    stage.require(
        "the redial carried the cursor that the pane had",
        presented == Some(frozen.clone()),
        format!("{} of {}", told::or_none(presented.flatten()), told::or_none(frozen)),
    );
    let seen = pane.look().await?;
    let end = End {
        rows: pane.tools().await?.top,
        busy: seen.busy,
        disc: seen.ready_state != Some(1),
        healed: pane.count(MISSED).await? == 1,
        trunc: pane.frames("replay_truncated").await?,
    };
    Ok(end.stamp())
}

/// A turn whose tool stands in a gate.
pub(super) struct Turn {
    events: Follower,
    working: InGate,
}

/// Opens a pane on a new workstream, with a turn whose one tool is at work, and frozen time.
pub(super) async fn begin<S: Sight>(
    stage: &mut Stage,
    name: &str,
) -> Result<(Mounted<S>, Turn), StageError> {
    stage.phase("first paint");
    let gate = ToolGate::new().await?;
    let sound = ToolCall::bash("call-1", format!("echo {FIRST}; {}", gate.command()));
    let replies = vec![Reply::calls(vec![sound]), Reply::text(MISSED)];
    let ws = workstream(stage, name, replies).await?;
    let pane = Mounted::open(stage, ws, 0).await?;
    stage.screenshot("first-paint").await?;

    stage.phase("hidden in mid-turn");
    pane.freeze().await?;
    let events = stage.wire.follow(pane.ws()).await?;
    pane.write("How deep is it here?").await?;
    let working = gate.arrived(1).await?;
    Ok((pane, Turn { events, working }))
}

/// Hides the page, brings the turn to its end and the node to another process, and shows the page.
/// Gives what stood when it was hidden, and the cursor that the redial carried.
pub(super) async fn miss_the_end<S: Sight>(
    stage: &mut Stage,
    pane: &Mounted<S>,
    mut turn: Turn,
) -> Result<(S, Option<Option<String>>), StageError> {
    let frozen = pane.hide(stage).await?;
    turn.working.release();
    end_of_turn(&mut turn.events).await?;

    stage.phase("restart");
    let pid = stage.node_pid()?;
    stage.restart().await?;
    let pid_after = stage.node_pid()?;
    stage.require("another process", pid != pid_after, format!("{pid}, then {pid_after}"));
    let opens = arrived(stage, Class::EVENTS);
    pane.show().await?;
    pane.until_painted(MISSED).await?;
    pane.settled(stage).await?;
    Ok((frozen, redial_cursor(stage, opens)))
}

/// The id that the page's newest stream has brought last, as the proxy saw it.
fn last_event_id(stage: &Stage) -> Option<String> {
    let records = stage.proxy.records();
    records.into_iter().rfind(|record| record.class == Class::EVENTS)?.last_event_id
}

/// The cursor in the query of the first stream that was opened after `opens` others.
fn redial_cursor(stage: &Stage, opens: u64) -> Option<Option<String>> {
    let records = stage.proxy.records().into_iter();
    let mut streams = records.filter(|record| record.class == Class::EVENTS);
    Some(streams.nth(usize::try_from(opens).ok()?)?.cursor_query)
}

/// How the pane stands in the end.
#[derive(Clone, Copy)]
struct End {
    rows: u64,
    busy: bool,
    disc: bool,
    healed: bool,
    trunc: u64,
}

impl End {
    /// One row for the one call, with what was missed, after a truncated replay.
    fn stamp(self) -> Stamp {
        let End { rows, busy, disc, healed, trunc } = self;
        if rows == 1 && !busy && !disc && healed && trunc == 1 {
            Stamp::ready("RESTART").field("rows", rows).field("trunc", trunc)
        } else {
            Stamp::failed("RESTART")
                .field("rows", rows)
                .field("busy", busy.into())
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
        let good = End { rows: 1, busy: false, disc: false, healed: true, trunc: 1 };
        assert_eq!(good.stamp().to_string(), SCENARIO.success);
        let unseen = End { trunc: 0, ..good };
        assert_eq!(unseen.stamp().to_string(), SCENARIO.controls[0].predicted);
        for bad in [
            End { rows: 2, ..good },
            End { busy: true, ..good },
            End { disc: true, ..good },
            End { healed: false, ..good },
            End { trunc: 2, ..good },
        ] {
            assert!(!bad.stamp().is_ready(), "{}", bad.stamp());
        }
    }
}
