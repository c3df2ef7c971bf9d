//! The transport falls and comes back while a refetch is under way.

use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "E8",
    name: "reconnect-in-await",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "a turn that both a snapshot and the replay of a new connection hold is painted once",
    code: "RECONNECTAWAIT",
    fields: &[
        field("dupes", 1, Read::Page(Quantity::Text(GAP)), "copies of the turn from the gap"),
        field("healed", 1, Read::Holds(HEALED), "two rows, and the pane is current"),
    ],
    ready_shows: &[Show::Field("dupes"), Show::Field("healed")],
    rests_on: &[FELL, STILL_OPEN, ANSWERED],
    controls: &[Control {
        name: "no-generation-and-no-row-id",
        defect: Defect::Client(&[
            Edit {
                asset: "/static/recovery/history.js",
                find: " && this.#stream.generation === generation;",
                replace: " && generation !== null;",
            },
            Edit {
                asset: "/static/recovery/history.js",
                find: "if (standsIn(this.#rows, frame)) this.#view.passOver(frame);",
                replace: "if (this.#rows === null) this.#view.passOver(frame);",
            },
        ]),
        breaks: &[("dupes", 2), ("healed", 0)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const FELL: Check = claim("the transport fell, and the refetch went on");
const STILL_OPEN: Check =
    claim("the refetch was still open when the replay of the new connection had come");
const ANSWERED: Check = need("the refetch was then answered 200");

const GAP: &str = "A buoy broke loose off the harbour mouth.";

const HEALED: Condition<'static> =
    Condition::All(&[Condition::rows(2), Condition::Is(Flag::Current)]);

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let pane = seeded_pane(stage, vec![Reply::text(GAP)]).await?;

    stage.phase("fault");
    let retry = hold_retry_of_failed_rewind(stage, &pane).await?;

    stage.phase("gap");
    pane.call("disconnect").await?;
    let seen = pane.look().await?;
    stage.check(&FELL, seen.offline && seen.queued.is_some(), seen)?;
    take_turn(stage, pane.ws(), "Anything new on the radio?").await?;
    let replays = pane.measure(Quantity::Frames("replay_complete")).await?;
    pane.call("redial").await?;
    pane.claim(Condition::frames("replay_complete", replays + 1)).await?;
    let seen = pane.look().await?;
    let still_open = seen.open && seen.queued.is_some_and(|queued| queued > 0);
    stage.check(&STILL_OPEN, still_open, seen)?;
    stage.screenshot("fault").await?;

    stage.phase("heal");
    retry.release();
    pane.settled().await?;
    stage.check(&ANSWERED, retry.is_ok(), retry.saw())
}
