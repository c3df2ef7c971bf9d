//! The vocabulary of the scenarios: the few things that they do and wait for.

use serde::Deserialize;

use crate::edge;
use crate::front::Class;
use crate::model::Reply;
use crate::stage::page::Page;
use crate::stage::wire::WsId;
use crate::stage::{Stage, StageError};

/// The turns of [`seed_three_turns`], what is asked and what the model answers.
const SEED: [(&str, &str); 3] = [
    ("How is the weather at sea?", "Calm, with a light swell from the west."),
    ("And tomorrow?", "A front comes in. Expect rain before noon."),
    ("Shall we sail?", "Sail early, and be back by eleven."),
];

/// The longest wait before a failed refetch is tried again, in the client's own terms.
pub const STALE_RETRY: &str = "t.STALE_RETRY_MS + t.STALE_RETRY_JITTER_MS";

/// A workstream with three finished turns, made before any page is open.
pub async fn seed_three_turns(stage: &mut Stage, name: &str) -> Result<WsId, StageError> {
    let replies = SEED.map(|(_, answer)| Reply::text(answer)).to_vec();
    let model = stage.script(name, replies)?;
    let ws = stage.wire.create(name, &model).await?;
    let mut events = stage.wire.follow(&ws).await?;
    for (question, _) in SEED {
        stage.wire.send(&ws, question).await?;
        events
            .until("the idle edge of a seeded turn", |event| {
                event["type"] == "state_change" && event["state"] == "idle"
            })
            .await?;
    }
    Ok(ws)
}

/// What stood in the pane at one moment.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    /// User rows that are painted.
    pub rows: u64,
    /// Whether the transcript is known to be stale.
    pub latch: bool,
    /// How many events wait for a refetch, or none when no refetch is under way.
    pub queued: Option<u64>,
    /// Whether a turn runs.
    pub busy: bool,
    /// Whether a failed refetch will be tried again.
    pub retry_armed: bool,
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Seen { rows, latch, queued, busy, retry_armed } = self;
        write!(
            f,
            "rows {rows}, latch {latch}, queued {queued:?}, busy {busy}, retry armed {retry_armed}"
        )
    }
}

/// The interactive pane of one workstream, open in the stage's page.
pub struct Pane {
    page: Page,
    ws: WsId,
}

impl Pane {
    /// Opens the pane, and waits until `rows` user rows are painted and its stream is open.
    pub async fn open(stage: &mut Stage, ws: WsId, rows: u64) -> Result<Pane, StageError> {
        let page = stage.open(&format!("/recovery?ws_id={}", ws.as_str())).await?;
        page.until("a loaded page", "window.__e2e").await?;
        page.until(
            "the first paint, with an open stream",
            &format!("__e2e.look().rows === {rows} && __e2e.look().readyState === 1"),
        )
        .await?;
        Ok(Pane { page, ws })
    }

    /// What stands in the pane now.
    pub async fn look(&self) -> Result<Seen, StageError> {
        Ok(self.page.eval("the pane's state", "__e2e.look()").await?)
    }

    /// Waits until a condition on the pane's state, `s`, holds in the page.
    pub async fn until(&self, edge: &str, condition: &str) -> Result<(), StageError> {
        Ok(self.page.until(edge, &format!("((s) => {condition})(__e2e.look())")).await?)
    }

    /// Clicks the rewind button of a user row, and tells what stood at that very moment.
    pub async fn click_rewind(&self, row: usize) -> Result<Seen, StageError> {
        let script = format!("__e2e.clickRewind({row})");
        Ok(self.page.eval("a click on a rewind button", &script).await?)
    }

    /// The same, at the first moment at which a condition on the pane's state, `s`, holds: for a
    /// state that passes by itself.
    pub async fn click_rewind_when(
        &self,
        edge: &str,
        condition: &str,
        row: usize,
    ) -> Result<Seen, StageError> {
        self.until(edge, &format!("({condition}) && (__e2e.clicked = __e2e.clickRewind({row}))"))
            .await?;
        Ok(self.page.eval("what stood at the click", "__e2e.clicked").await?)
    }

    /// Returns when everything that the page has asked for so far is counted at the front.
    pub async fn fence(&self, stage: &Stage) -> Result<(), StageError> {
        stage.fence(&self.page).await
    }

    /// Stops the page's time: no timer fires before [`Pane::outlast`].
    pub async fn freeze(&self) -> Result<(), StageError> {
        self.page.freeze().await
    }

    /// Lets a window of the client pass, given by its timing constants, `t`: whatever was due in
    /// it has happened then, as far as no hold stands in the way.
    pub async fn outlast(&self, stage: &Stage, window: &str) -> Result<(), StageError> {
        let script = format!("((t) => {window})(__e2e.timing)");
        let ms = self.page.eval("a window of the client", &script).await?;
        stage.advance(&self.page, ms).await
    }

    /// Waits until nothing moves any more: no request of the page is under way, the page has seen
    /// all that the node has published, no event is queued, and a frame has passed.
    ///
    /// For after the first event that the page has seen: before it, it has no cursor to compare.
    pub async fn settled(&self, stage: &Stage) -> Result<(), StageError> {
        let mut counters = stage.front.counters();
        loop {
            edge::until("the answers to all of the page's requests", &mut counters, |counters| {
                counters.awaited() == 0
            })
            .await?;
            let head = stage.control.counters().await?.head(&self.ws).map(str::to_owned);
            let head_in_page = serde_json::Value::from(head.as_deref());
            self.until(
                "a pane that has caught up with the node",
                &format!("s.cursor === {head_in_page} && s.queued === null"),
            )
            .await?;
            self.page.eval::<bool>("a frame", "__e2e.frame()").await?;
            let head_after = stage.control.counters().await?.head(&self.ws).map(str::to_owned);
            let quiet = counters.borrow().awaited() == 0;
            if quiet && head == head_after {
                return Ok(());
            }
        }
    }
}

/// How many rewinds have reached the front.
pub fn rewinds(stage: &Stage) -> u64 {
    stage.front.counters().borrow().of(Class::Rewind).arrived
}
