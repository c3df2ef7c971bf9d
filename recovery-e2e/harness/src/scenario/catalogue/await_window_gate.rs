//! The transport falls while a refetch is under way, whose answer is good.

use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "E6",
    name: "await-window-gate",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "a snapshot that arrives after the transport has fallen is not rendered",
    code: "AWAITGATE",
    fields: &[
        field("rows", 3, Read::Page(Quantity::Rows), "user rows when the answer had come"),
        field("latch", 1, Read::Holds(Condition::Is(Flag::Latched)), "they are known to be stale"),
        field("heal", 1, Read::Holds(HEALED), "later two rows, current, with the fourth turn once"),
    ],
    ready_shows: &[Show::Field("rows"), Show::Field("latch")],
    rests_on: &[AFTER_THE_FALL, HEALED_BEFORE],
    controls: &[Control {
        name: "no-render-gate",
        defect: Defect::Client(&[Edit {
            asset: "/static/recovery/history.js",
            find: "const fits = this.#stream.readyState === EventSource.OPEN && \
                   this.#stream.generation === generation;",
            replace: "const fits = generation !== null;",
        }]),
        breaks: &[("rows", 1), ("latch", 0)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const AFTER_THE_FALL: Check = need("the refetch was answered 200 after the transport had fallen");
const HEALED_BEFORE: Check = claim("shown again, the pane healed before the fourth turn");

const FOURTH: &str = "Drop anchor in the lee of the island.";

const HEALED: Condition<'static> = Condition::All(&[
    Condition::rows(2),
    Condition::Is(Flag::Current),
    Condition::Equals(Quantity::Text(FOURTH), 1),
]);

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let pane = seeded_pane(stage, vec![Reply::text(FOURTH)]).await?;

    stage.phase("fault");
    let retry = hold_retry_of_failed_rewind(stage, &pane).await?;
    pane.hide().await?;
    retry.release();
    retry.answered().await?;
    pane.claim(Condition::Not(Flag::Queueing)).await?;
    stage.check(&AFTER_THE_FALL, retry.is_ok(), retry.saw())?;
    stage.read(&["rows", "latch"]).await?;
    stage.screenshot("fault").await?;

    stage.phase("heal");
    pane.show().await?;
    pane.quiet().await?;
    let seen = pane.look().await?;
    stage.check(&HEALED_BEFORE, seen.rows == 1 && seen.current, seen)?;
    pane.send("Where shall we anchor?").await?;
    pane.claim(Condition::painted(FOURTH)).await?;
    Ok(pane.settled().await?)
}
