//! The page is hidden before the retry of a failed refetch is due.

use crate::scenario::prelude::*;

pub const INTERACTIVE: Scenario = Scenario {
    id: "E5",
    name: "hidden-retry",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "a retry that falls due without a transport fetches nothing, and showing heals",
    code: "HIDDENRETRY",
    fields: &[
        field("hidden", 0, Read::Since(Class::HISTORY), "histories fetched while hidden"),
        field("heal", 1, Read::Holds(ONE_ROW_LEFT), "one row is left, and the pane is current"),
        field("sse", 1, Read::Since(Class::EVENTS), "streams that showing opened"),
        field("posts", 2, Read::Arrived(Class::REWIND), "rewinds in all"),
        field("rows", 0, Read::Page(Quantity::Rows), "user rows after the last rewind"),
    ],
    ready_shows: &[Show::Field("hidden"), Show::Field("heal")],
    rests_on: &[ARMED, PASSED, NOTHING_NEW],
    controls: &[Control {
        name: "retry-ignores-the-transport",
        defect: Defect::Client(&[Edit {
            asset: "/static/recovery/history.js",
            find: "if (open && this.#mayHeal()",
            replace: "if (this.#mayHeal()",
        }]),
        breaks: &[("hidden", 1)],
    }],
    story: |stage| Box::pin(story(stage)),
};

pub const COORDINATOR: Scenario = Scenario {
    id: "G5",
    name: "coord-hidden-retry",
    family: "coordinator",
    pane: PaneKind::Coordinator,
    proves: "a coordinator's retry that falls due without a transport fetches nothing, and showing \
             heals",
    code: "COORDHIDDENRETRY",
    ..INTERACTIVE
};

const ARMED: Check =
    claim("the page was hidden over three stale rows, and over an armed retry where that shows");
const PASSED: Check = claim("the retry's time passed over three rows, without a transport");
const NOTHING_NEW: Check = need("the node published nothing, so the end of the replay healed");

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    let pane = seeded_pane(stage, vec![]).await?;

    stage.phase("fault");
    stage.proxy.fail(Class::HISTORY, 1, StatusCode::INTERNAL_SERVER_ERROR);
    pane.click_rewind(1).await?;
    pane.claim(REFETCH_FAILED).await?;
    let before = pane.hide().await?;
    // A coordinator keeps its retry to itself.
    let shows = stage.pane_kind() == PaneKind::Interactive;
    let armed = before.rows == 3 && (before.refetch_failed || !shows);
    stage.check(&ARMED, armed, &before)?;
    stage.mark();
    pane.outlast(Timing::stale_retry).await?;
    stage.read(&["hidden"]).await?;
    let after = pane.look().await?;
    let passed = after.rows == 3 && after.offline && !(shows && after.refetch_failed);
    stage.check(&PASSED, passed, &after)?;
    stage.screenshot("fault").await?;

    stage.phase("heal");
    stage.mark();
    let head = stage.control.head(pane.ws()).await?;
    pane.show().await?;
    pane.quiet().await?;
    stage.read(&["sse", "heal"]).await?;
    let since = stage.control.head(pane.ws()).await?;
    stage.check(&NOTHING_NEW, head == since, format!("{head:?}, then {since:?}"))?;
    stage.screenshot("healed").await?;
    reopen(stage, "heal").await
}
