//! The node refuses a message: it must not look sent.

use crate::scenario::prelude::*;

pub const SCENARIO: Scenario = Scenario {
    id: "X1",
    name: "refused-send",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "a message that the node refuses is not shown as sent",
    code: "REFUSEDSEND",
    fields: &[
        // The name in the stamp, the value of a success, how it is read at the end, what it means.
        field("rows", 3, Read::Page(Quantity::Rows), "user rows"),
        field("ghost", 0, Read::Page(Quantity::Text(MESSAGE)), "copies of the refused message"),
    ],
    ready_shows: &[Show::Field("rows"), Show::Field("ghost")],
    rests_on: &[ONE_SEND],
    controls: &[Control {
        name: "bubble-stays",
        defect: Defect::Client(&[Edit {
            asset: "/static/pane/conversation.js",
            find: "else if (this.messages.dropSend(id)) {",
            replace: "else {",
        }]),
        breaks: &[("rows", 4), ("ghost", 1)],
    }],
    story: |stage| Box::pin(story(stage)),
};

const MESSAGE: &str = "Are we there yet?";

const ONE_SEND: Check = claim("one send left the page");

async fn story(stage: &mut Stage) -> Result<(), StageError> {
    // Three finished turns, painted; the page's time is frozen.
    let pane = seeded_pane(stage, vec![]).await?;

    stage.phase("fault");
    // Armed before its cause. A fault that never fires makes the verdict inconclusive.
    stage.proxy.fail(Class::SEND, 1, StatusCode::SERVICE_UNAVAILABLE);
    pane.write(MESSAGE).await?;
    // No sleep: every request of the page is answered then, and a frame has passed.
    pane.quiet().await?;
    let sends = stage.arrived(Class::SEND);
    stage.check(&ONE_SEND, sends == 1, format!("{sends} sends"))?;
    stage.screenshot("refused").await
}
