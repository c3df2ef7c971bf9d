//! A message is sent from one of two panes of a workstream.

use crate::node::client::Transcript;
use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "I1",
    name: "user-turn-two-pane",
    family: "projection",
    pane: PaneKind::Interactive,
    proves: "a message is painted once in each pane, as the node has stored it, without a fetch or \
             a new connection",
    code: "USERTURN",
    fields: &[
        field("panes", 2, Read::By(|stage| Box::pin(panes(stage))), "panes that show the message"),
        field(
            "rows",
            1,
            Read::By(|stage| Box::pin(rows(stage))),
            "user rows, with what looks like \
             one, in the pane that had most of them",
        ),
        field(
            "events",
            1,
            Read::By(|stage| Box::pin(events(stage))),
            "events of it, on the stream \
             that brought most of them",
        ),
        field("history", 0, Read::Since(Class::HISTORY), "histories fetched since the message"),
        field("redial", 0, Read::Since(Class::EVENTS), "streams opened since the message"),
    ],
    ready_shows: &[
        Show::Field("panes"),
        Show::Field("rows"),
        Show::Field("events"),
        Show::Field("history"),
        Show::Field("redial"),
    ],
    rests_on: &[ASKED, BUBBLE, SAME_ID],
    controls: &[Control {
        name: "bubble-is-not-settled",
        defect: Defect::Client(&[Edit {
            asset: "/static/pane/transcript.js",
            find: "        this.settle(frame.client_send_ids ?? []);\n",
            replace: "",
        }]),
        breaks: &[("rows", 2)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const ASKED: Check = claim("both streams asked for user turns");
const BUBBLE: Check =
    claim("a bubble without a row was painted in the pane that sent, and in no other");
const SAME_ID: Check = claim("the rows in both panes have the same id");

const MESSAGE: &str = "Who has the watch?";

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    stage.phase("first paint");
    let (answer, gate) = Reply::text("The second mate, until four.").held();
    let ws = workstream(stage, stage.name(), vec![answer]).await?;
    let both = open_two_panes(stage, ws).await?;
    let asked = each_stream_asked(stage, |record| record.user_turn);
    stage.check(&ASKED, asked == [true; 2], format!("{asked:?}"))?;

    stage.phase("bubble");
    stage.mark();
    let mut events = stage.wire.follow(both.ws()).await?;
    let send = stage.proxy.hold(Class::SEND, 1);
    both.write(MESSAGE).await?;
    let send = both.arrival(send).await?;
    let [origin, peer] = both.look().await?;
    let bubble =
        matches!(&origin.users[..], [one] if one.row_id.is_none() && one.send_id.is_some());
    let saw = format!("{}; in the other {}", users(&origin), users(&peer));
    stage.check(&BUBBLE, bubble && peer.users.is_empty(), saw)?;
    stage.screenshot("bubble").await?;

    stage.phase("turn");
    send.release();
    both.claim_of_each("user_turn", 1).await?;
    send.answered().await?;
    both.quiet().await?;
    // The end of the turn takes away what was sent and is not painted, so it is looked at before too.
    let running = most_rows(&both.look().await?);
    gate.release();
    end_of_turn(&mut events).await?;
    both.caught_up().await?;
    let ended = both.look().await?;
    stage.saw("rows", running.max(most_rows(&ended)))?;
    let [origin, peer] = ended.each_ref().map(row_ids);
    let same = origin == peer && origin.len() == 1;
    stage.check(&SAME_ID, same, format!("{origin:?} and {peer:?}"))
}

fn row_ids(pane: &Transcript) -> Vec<&str> {
    pane.users.iter().filter_map(|row| row.row_id.as_deref()).collect()
}

fn users(pane: &Transcript) -> String {
    let users: Vec<_> = pane.users.iter().map(ToString::to_string).collect();
    if users.is_empty() { "none".to_owned() } else { users.join(", ") }
}

fn most_rows(panes: &[Transcript; 2]) -> u64 {
    panes.iter().map(|pane| pane.users.len() as u64).max().unwrap_or(0)
}

async fn panes(stage: &Stage) -> Result<u64, StageError> {
    let both = stage.two_panes()?.look().await?;
    let shows = |pane: &&Transcript| pane.users.iter().any(|row| row.text == MESSAGE);
    Ok(both.iter().filter(shows).count() as u64)
}

async fn rows(stage: &Stage) -> Result<u64, StageError> {
    Ok(most_rows(&stage.two_panes()?.look().await?))
}

async fn events(stage: &Stage) -> Result<u64, StageError> {
    Ok(stage.two_panes()?.most_frames("user_turn").await?)
}
