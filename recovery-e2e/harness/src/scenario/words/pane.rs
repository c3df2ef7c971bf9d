//! A pane, as a scenario sees and moves it.

use std::fmt::Display;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::cursor::has_reached;
use super::{seed_three_turns, told};
use crate::browser::page::Page;
use crate::node::model::Reply;
use crate::node::wire::WsId;
use crate::scenario::stage::{Stage, StageError};

/// What stands in a pane at one moment, as its kind lets it be seen.
pub trait Sight: Display + DeserializeOwned {
    /// The page of the harness that shows such a pane.
    const PAGE: &str;

    /// Holds of the state, `s`, from when a refetch has failed until its retry begins.
    const REFETCH_FAILED: &str;

    /// User rows that are painted.
    fn rows(&self) -> u64;

    /// Whether it has no transport.
    fn is_offline(&self) -> bool;

    /// Whether it is known to be out of date, and is being read again.
    fn is_catching_up(&self) -> bool;

    /// Whether it is known to be out of date, and nothing is under way, nor a turn.
    fn is_stale(&self) -> bool;

    /// Whether nothing is known that it would lack.
    fn is_current(&self) -> bool;
}

/// What stood in an interactive pane at one moment.
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
    /// The id that its next connection will resume from.
    pub cursor: Option<String>,
    /// Rows that are being streamed.
    pub live_refs: u64,
    /// The state of its event source, or none without one.
    pub ready_state: Option<u8>,
    /// Whether it says that there is nothing to show.
    pub empty: bool,
}

impl Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Seen { rows, latch, queued, busy, retry_armed, .. } = self;
        let Seen { cursor, live_refs, ready_state, empty, .. } = self;
        write!(
            f,
            "rows {rows}, latch {latch}, queued {}, busy {busy}, retry armed {retry_armed}, \
             cursor {}, live refs {live_refs}, ready state {}, empty {empty}",
            told::or_none(*queued),
            told::or_none(cursor.as_ref()),
            told::or_none(*ready_state)
        )
    }
}

impl Sight for Seen {
    const PAGE: &str = "/recovery";
    const REFETCH_FAILED: &str = "s.retryArmed";

    fn rows(&self) -> u64 {
        self.rows
    }

    fn is_offline(&self) -> bool {
        self.ready_state.is_none()
    }

    fn is_catching_up(&self) -> bool {
        self.latch && self.queued.is_some()
    }

    fn is_stale(&self) -> bool {
        self.latch && self.queued.is_none() && !self.busy
    }

    fn is_current(&self) -> bool {
        !self.latch
    }
}

/// The calls of tools that have a row.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Tools {
    /// Those that stand in no card of an agent.
    pub top: u64,
    /// Cards with steps in them.
    pub cards: u64,
    /// Those that stand in a card.
    pub nested: u64,
    /// Steps of an agent that stand in no card.
    pub escaped: u64,
}

/// The interactive pane.
pub type Pane = Mounted<Seen>;

/// The pane of one workstream, open in the stage's page.
pub struct Mounted<S> {
    page: Page,
    ws: WsId,
    sight: PhantomData<S>,
}

impl<S: Sight> Mounted<S> {
    /// Opens the pane, and waits until `rows` user rows are painted and its stream has caught up.
    pub async fn open(stage: &mut Stage, ws: WsId, rows: u64) -> Result<Self, StageError> {
        let pane = Self::mount(stage, ws).await?;
        pane.until("the first paint", &format!("s.rows === {rows}")).await?;
        pane.until_frames("replay_complete", 1).await?;
        Ok(pane)
    }

    /// The pane of [`seed_three_turns`], painted, with an open stream and frozen time.
    pub async fn seeded(
        stage: &mut Stage,
        name: &str,
        further: Vec<Reply>,
    ) -> Result<Self, StageError> {
        stage.phase("seed");
        let ws = seed_three_turns(stage, name, further).await?;
        stage.phase("first paint");
        let pane = Self::open(stage, ws, 3).await?;
        stage.screenshot("first-paint").await?;
        pane.freeze().await?;
        Ok(pane)
    }

    /// Opens the pane, whose first load is then under way.
    pub async fn mount(stage: &mut Stage, ws: WsId) -> Result<Self, StageError> {
        let page = stage.open(&format!("{}?ws_id={}", S::PAGE, ws.as_str())).await?;
        page.until("a loaded page", "window.__e2e").await?;
        Ok(Self { page, ws, sight: PhantomData })
    }

    /// Loads the page anew, and waits until its stream has caught up.
    pub async fn reload(&self) -> Result<(), StageError> {
        self.page.reload().await?;
        self.page.until("a loaded page", "window.__e2e").await?;
        self.until_frames("replay_complete", 1).await
    }

    /// Its workstream.
    pub fn ws(&self) -> &WsId {
        &self.ws
    }

    /// What stands in the pane now.
    pub async fn look(&self) -> Result<S, StageError> {
        Ok(self.page.eval("the pane's state", "__e2e.look()").await?)
    }

    /// Waits until a condition on the pane's state, `s`, holds in the page.
    pub async fn until(&self, edge: &str, condition: &str) -> Result<(), StageError> {
        Ok(self.page.until(edge, &format!("((s) => {condition})(__e2e.look())")).await?)
    }

    /// Calls a method of the pane, as the page around it would, and waits for what it promises.
    pub async fn call(&self, method: &str) -> Result<(), StageError> {
        Ok(self.page.tell(method, &format!("__e2e.pane.{method}()")).await?)
    }

    /// Waits until the load that began with the page has come to its end, whichever.
    pub async fn first_load_ended(&self) -> Result<(), StageError> {
        Ok(self.page.tell("the end of the first load", "__e2e.connected").await?)
    }

    /// Clicks the rewind button of a user row, and tells what stood at that very moment.
    pub async fn click_rewind(&self, row: usize) -> Result<S, StageError> {
        let script = format!("__e2e.clickRewind({row})");
        Ok(self.page.act_for("a click on a rewind button", &script).await?)
    }

    /// The same, at the first moment at which a condition on the pane's state, `s`, holds: for a
    /// state that passes by itself.
    pub async fn click_rewind_when(
        &self,
        edge: &str,
        condition: &str,
        row: usize,
    ) -> Result<S, StageError> {
        self.until(edge, &format!("({condition}) && (__e2e.clicked = __e2e.clickRewind({row}))"))
            .await?;
        Ok(self.page.eval("what stood at the click", "__e2e.clicked").await?)
    }

    /// Writes a message and sends it, as a person would.
    pub async fn write(&self, message: &str) -> Result<(), StageError> {
        let message = serde_json::Value::from(message);
        Ok(self.page.act("a message", &format!("__e2e.write({message})")).await?)
    }

    /// How often a text stands in the transcript.
    pub async fn count(&self, text: &str) -> Result<u64, StageError> {
        let text = serde_json::Value::from(text);
        Ok(self.page.eval("a text's occurrences", &format!("__e2e.count({text})")).await?)
    }

    /// Waits until a text stands in the transcript.
    pub async fn until_painted(&self, text: &str) -> Result<(), StageError> {
        let painted = format!("__e2e.count({}) > 0", serde_json::Value::from(text));
        Ok(self.page.until(&format!("the text {text:?}"), &painted).await?)
    }

    /// Waits until the output of a call that runs shows a text.
    pub async fn until_output(&self, call: &str, text: &str) -> Result<(), StageError> {
        let text = serde_json::Value::from(text);
        let shown = format!("__e2e.output('{call}').includes({text})");
        Ok(self.page.until(&format!("the first output of {call}"), &shown).await?)
    }

    /// The calls of tools that have a row.
    pub async fn tools(&self) -> Result<Tools, StageError> {
        Ok(self.page.eval("the rows of tools", "__e2e.tools()").await?)
    }

    /// The texts of the assistant's bubbles, from the top.
    pub async fn bubbles(&self) -> Result<Vec<String>, StageError> {
        Ok(self.page.eval("the assistant's bubbles", "__e2e.bubbles()").await?)
    }

    /// How many events with an id its streams have brought.
    pub async fn cursor_moves(&self) -> Result<u64, StageError> {
        Ok(self.page.eval("the events so far", "__counts.moves()").await?)
    }

    /// How many frames of a type its streams have brought.
    pub async fn frames(&self, kind: &str) -> Result<u64, StageError> {
        Ok(self.page.eval("the frames so far", &format!("__counts.frames('{kind}')")).await?)
    }

    /// Waits until its streams have brought `n` frames of a type.
    pub async fn until_frames(&self, kind: &str, n: u64) -> Result<(), StageError> {
        let brought = format!("__counts.frames('{kind}') >= {n}");
        Ok(self.page.until(&format!("{n} frames {kind}"), &brought).await?)
    }

    /// Hides the page, and makes sure that the pane has dropped its transport; tells what stood
    /// right after.
    pub async fn hide(&self, stage: &mut Stage) -> Result<S, StageError> {
        let seen: S = self.page.act_for("a hidden page", "__e2e.setHidden(true)").await?;
        stage.require("hidden, the pane has no transport", seen.is_offline(), &seen);
        Ok(seen)
    }

    /// Shows the page again, and waits until the pane's stream is open and its replay has ended.
    pub async fn show(&self) -> Result<(), StageError> {
        let before = self.frames("replay_complete").await?;
        self.page.act("a shown page", "__e2e.setHidden(false)").await?;
        self.until_frames("replay_complete", before + 1).await
    }

    /// Hides the page and shows it again, whatever the pane makes of it.
    pub async fn blink(&self) -> Result<(), StageError> {
        for hidden in [true, false] {
            let set = format!("__e2e.setHidden({hidden})");
            self.page.act("a changed visibility", &set).await?;
        }
        Ok(())
    }

    /// How many user rows are painted.
    pub async fn rows(&self) -> Result<u64, StageError> {
        Ok(self.page.eval("its user rows", "__e2e.look().rows").await?)
    }

    /// Whether the pane asks the person what to do, since it will not become true by itself.
    pub async fn asks(&self) -> Result<bool, StageError> {
        Ok(self.page.eval("the offer of a repair", "__e2e.asks()").await?)
    }

    /// Has it make the one attempt that a person may ask for, as their click would.
    pub async fn click_retry(&self) -> Result<(), StageError> {
        Ok(self.page.act("a click on the retry button", "__e2e.clickRetry()").await?)
    }

    /// Whether the pane stands in the document.
    pub async fn is_attached(&self) -> Result<bool, StageError> {
        Ok(self.page.eval("the pane's place", "__e2e.pane.el.isConnected").await?)
    }

    /// Returns when everything that the page has asked for so far is counted at the proxy.
    pub async fn fence(&self, stage: &Stage) -> Result<(), StageError> {
        stage.fence(&self.page).await
    }

    /// Returns when nothing that the page has asked for is under way, but what a hold keeps.
    pub async fn quiet(&self, stage: &Stage) -> Result<(), StageError> {
        stage.quiet(&self.page).await
    }

    /// Stops the page's time: no timer fires before [`Pane::outlast`].
    pub async fn freeze(&self) -> Result<(), StageError> {
        Ok(self.page.freeze().await?)
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
        loop {
            self.quiet(stage).await?;
            let head = stage.control.head(&self.ws).await?;
            let reached = has_reached("s.cursor", head.as_deref());
            self.until(
                "a pane that has caught up with the node",
                &format!("{reached} && s.queued === null"),
            )
            .await?;
            self.quiet(stage).await?;
            if stage.control.head(&self.ws).await? == head {
                return Ok(());
            }
        }
    }
}
