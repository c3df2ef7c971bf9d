//! I1: a message is sent from one of two panes of a workstream.

use super::words::{
    Held, Shown, Traffic, TwoPanes, each_stream_asked, end_of_turn, told, workstream,
};
use super::{Change, Control, Defect, Scenario};
use crate::node::model::Reply;
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "I1",
    name: "user-turn-two-pane",
    family: "projection",
    proves: "a message stands once in each pane, as the node has stored it, without a fetch or a \
             new connection",
    proof: "both streams had asked for user turns, a bubble without a row stood in the pane that \
            sent, and in no other, and both rows have the same id",
    success: "RECOVERY-READY-USERTURN-panes2-rows1-events1-history0-redial0",
    controls: &[Control {
        name: "bubble-is-not-settled",
        defect: Defect::Client(&[Change {
            asset: "/static/pane/transcript.js",
            find: "        this.settle(frame.client_send_ids ?? []);\n",
            replace: "",
        }]),
        predicted: "RECOVERY-FAILED-USERTURN-panes2-rows2-events1-history0-redial0",
    }],
    story: |stage| Box::pin(story(stage)),
};

const MESSAGE: &str = "Who has the watch?";

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    stage.phase("first paint");
    let (answer, gate) = Reply::text("The second mate, until four.").held();
    let ws = workstream(stage, "user-turn-two-pane", vec![answer]).await?;
    let panes = TwoPanes::open(stage, ws).await?;
    let asked = each_stream_asked(stage, |record| record.user_turn);
    stage.require("both streams asked for user turns", asked == [true; 2], told::listed(asked));

    stage.phase("bubble");
    let before = Traffic::so_far(stage);
    let mut events = stage.wire.follow(panes.ws()).await?;
    let send = stage.proxy.hold(Class::SEND, 1);
    panes.write(MESSAGE).await?;
    let send = Held::arrived(send).await?;
    let [origin, peer] = panes.look().await?;
    stage.require(
        "a bubble without a row stood in the pane that sent, and in no other",
        matches!(&origin.users[..], [bubble] if bubble.row_id.is_none() && bubble.send_id.is_some())
            && peer.users.is_empty(),
        format!("{}; and in the other {}", told::listed(&origin.users), told::listed(&peer.users)),
    );
    stage.screenshot("bubble").await?;

    stage.phase("turn");
    send.release();
    panes.until_each_brought("user_turn", 1).await?;
    send.answered(stage).await?;
    panes.quiet(stage).await?;
    // The end of the turn takes away what was sent and is not shown, so it is looked at before too.
    let running = panes.look().await?;
    gate.release();
    end_of_turn(&mut events).await?;
    panes.caught_up(stage).await?;
    let ended = panes.look().await?;
    let ids: Vec<_> = ended.iter().map(row_ids).collect();
    stage.require(
        "both rows have the same id",
        ids[0] == ids[1] && ids[0].len() == 1,
        told::listed(ids.iter().map(told::listed)),
    );
    let Traffic { history, streams } = before.since(stage);
    let events = panes.frames_of_each("user_turn").await?;
    let seen = UserTurn {
        panes: ended.iter().filter(|pane| pane.users.iter().any(|row| row.text == MESSAGE)).count(),
        rows: running.iter().chain(&ended).map(|pane| pane.users.len()).max().unwrap_or(0),
        events: events.into_iter().max().unwrap_or(0),
        history,
        redial: streams,
    };
    Ok(seen.stamp())
}

fn row_ids(pane: &Shown) -> Vec<&str> {
    pane.users.iter().filter_map(|row| row.row_id.as_deref()).collect()
}

/// What became of the message.
#[derive(Clone, Copy)]
struct UserTurn {
    /// Panes that show it.
    panes: usize,
    /// User rows, with what stands for one, in the pane that had most of them.
    rows: usize,
    /// Events that told of it, in the pane that was told most often.
    events: u64,
    history: u64,
    redial: u64,
}

impl UserTurn {
    fn stamp(self) -> Stamp {
        let UserTurn { panes, rows, events, history, redial } = self;
        let good = panes == 2 && rows == 1 && events == 1 && history == 0 && redial == 0;
        let stamp = if good { Stamp::ready } else { Stamp::failed };
        stamp("USERTURN")
            .field("panes", panes as u64)
            .field("rows", rows as u64)
            .field("events", events)
            .field("history", history)
            .field("redial", redial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_row_in_each_pane_by_one_event_is_ready() {
        let good = UserTurn { panes: 2, rows: 1, events: 1, history: 0, redial: 0 };
        assert_eq!(good.stamp().to_string(), SCENARIO.success);
        let twice = UserTurn { rows: 2, ..good };
        assert_eq!(twice.stamp().to_string(), SCENARIO.controls[0].predicted);
        for bad in [
            UserTurn { panes: 1, ..good },
            UserTurn { events: 2, ..good },
            UserTurn { history: 1, ..good },
            UserTurn { redial: 1, ..good },
        ] {
            assert!(!bad.stamp().is_ready(), "{}", bad.stamp());
        }
    }
}
