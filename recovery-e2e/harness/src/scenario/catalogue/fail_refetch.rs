//! The first reload after a restart fails.

use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "D",
    name: "fail-refetch",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "a reload that fails after a restart leaves every row, and the next one heals",
    code: "FAILFETCH",
    fields: &[
        field("stale", 1, Read::Holds(STALE), "the stale rows were painted after the failure"),
        field(
            "healed",
            1,
            Read::Holds(Condition::Equals(Quantity::Text(MISSED), 1)),
            "the missed answer is painted, once",
        ),
        field("rows", 2, Read::Page(Quantity::Rows), "user rows"),
        field("busy", 0, Read::Holds(Condition::Is(Flag::Busy)), "the turn still runs"),
        field("trunc", 2, Read::Page(Quantity::Frames("replay_truncated")), "truncated replays"),
    ],
    ready_shows: &[Show::Field("stale"), Show::Field("healed")],
    rests_on: &[ANSWERED],
    controls: &[Control {
        name: "wiped-before-the-fetch",
        defect: Defect::Client(&[Edit {
            asset: "/static/recovery/core.js",
            find: "const load = this.#history.load();",
            replace: "this.#pane.render({ messages: [], cursor: null, handoff_token: null }); \
                      const load = this.#history.load();",
        }]),
        breaks: &[("stale", 0)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const ANSWERED: Check = need("the fetch that was held over the stale rows was then answered 200");

/// What is said while the page is hidden.
const MISSED: &str = "Past the lighthouse, and then due north.";

const STALE: Condition<'static> = Condition::All(&[
    Condition::rows(2),
    Condition::Not(Flag::Empty),
    Condition::Equals(Quantity::Text(MISSED), 0),
]);

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    stage.phase("seed");
    let (answer, gate) = Reply::text(MISSED).held();
    let replies = vec![Reply::text("At the north quay."), answer];
    let ws = workstream(stage, stage.name(), replies).await?;
    take_turn(stage, &ws, "Where are we?").await?;
    let pane = open_pane(stage, ws, 1).await?;

    stage.phase("hidden in mid-turn");
    let mut events = stage.wire.follow(pane.ws()).await?;
    pane.send("Which way shall we sail?").await?;
    let under_way = [
        Condition::Is(Flag::Busy),
        Condition::rows(2),
        Condition::AtLeast(Quantity::CursorMoves, 1),
    ];
    pane.claim(Condition::All(&under_way)).await?;
    pane.hide().await?;
    gate.release();
    end_of_turn(&mut events).await?;
    stage.restart().await?;

    stage.phase("fault");
    stage.proxy.fail(Class::HISTORY, 1, StatusCode::INTERNAL_SERVER_ERROR);
    let next = stage.proxy.hold(Class::HISTORY, 1);
    pane.show().await?;
    // The turn was under way when the page was hidden, and is over: the first reload comes with
    // that edge. It fails, and the connection after it is truncated once more.
    pane.claim(Condition::frames("replay_truncated", 2)).await?;
    pane.outlast(Timing::truncated_reload).await?;
    let next = pane.arrival(next).await?;
    stage.read(&["stale"]).await?;
    stage.screenshot("fault").await?;

    stage.phase("heal");
    next.release();
    pane.settled().await?;
    stage.check(&ANSWERED, next.is_ok(), next.saw())
}
