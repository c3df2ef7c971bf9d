//! Two panes of one workstream, side by side on one page.

use std::fmt::{self, Display, Formatter};

use serde::Deserialize;

use super::cursor::has_reached;
use super::{arrived, told};
use crate::browser::page::Page;
use crate::node::wire::WsId;
use crate::proxy::{Class, Record};
use crate::scenario::stage::{Stage, StageError};

/// What stands in the transcript of one pane.
#[derive(Debug, Deserialize)]
pub struct Shown {
    /// The user rows, and the sends that have no row yet.
    pub users: Vec<ShownUser>,
    /// The calls of tools.
    pub calls: Vec<ShownCall>,
}

/// One user row, or a send that has no row yet.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownUser {
    /// The row that it shows.
    pub row_id: Option<String>,
    /// The send that it shows.
    pub send_id: Option<String>,
    /// What it says.
    pub text: String,
}

/// One call of a tool.
#[derive(Debug, Deserialize)]
pub struct ShownCall {
    /// Its id, which another call may have too.
    pub id: String,
    /// Its result, or nothing.
    pub output: String,
}

impl Display for ShownUser {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ShownUser { row_id, send_id, text } = self;
        let (row, send) = (told::or_none(row_id.as_ref()), told::or_none(send_id.as_ref()));
        write!(f, "{text:?} (row {row}, send {send})")
    }
}

impl Display for ShownCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ShownCall { id, output } = self;
        write!(f, "{id} with {output:?}")
    }
}

/// What the page has asked of the node.
#[derive(Clone, Copy)]
pub struct Traffic {
    /// Histories.
    pub history: u64,
    /// Streams.
    pub streams: u64,
}

impl Traffic {
    /// What it is by now.
    pub fn so_far(stage: &Stage) -> Traffic {
        let (history, streams) = (arrived(stage, Class::HISTORY), arrived(stage, Class::EVENTS));
        Traffic { history, streams }
    }

    /// What has been added to it.
    pub fn since(self, stage: &Stage) -> Traffic {
        let now = Traffic::so_far(stage);
        Traffic { history: now.history - self.history, streams: now.streams - self.streams }
    }
}

/// The panes. The first is the one that is written in.
pub struct TwoPanes {
    page: Page,
    ws: WsId,
}

impl TwoPanes {
    /// Opens both, and waits until both have caught up; the page's time is frozen then.
    pub async fn open(stage: &mut Stage, ws: WsId) -> Result<TwoPanes, StageError> {
        let page = stage.open(&format!("/recovery?ws_id={}&peer", ws.as_str())).await?;
        page.until("two panes", "window.__e2e?.peer").await?;
        let panes = TwoPanes { page, ws };
        panes.until_each_brought("replay_complete", 1).await?;
        stage.quiet(&panes.page).await?;
        stage.screenshot("first-paint").await?;
        panes.page.freeze().await?;
        Ok(panes)
    }

    /// Their workstream.
    pub fn ws(&self) -> &WsId {
        &self.ws
    }

    /// What stands in each.
    pub async fn look(&self) -> Result<[Shown; 2], StageError> {
        Ok(self.page.eval("both transcripts", "[__e2e.shown(), __e2e.peer.shown()]").await?)
    }

    /// Writes a message in the first, and sends it.
    pub async fn write(&self, message: &str) -> Result<(), StageError> {
        let message = serde_json::Value::from(message);
        Ok(self.page.act("a message", &format!("__e2e.write({message})")).await?)
    }

    /// How many frames of a type each of the page's streams has brought.
    pub async fn frames_of_each(&self, kind: &str) -> Result<Vec<u64>, StageError> {
        let frames = format!("__counts.framesOfEach('{kind}')");
        Ok(self.page.eval("the frames of each stream", &frames).await?)
    }

    /// Waits until each of two streams has brought `n` frames of a type.
    pub async fn until_each_brought(&self, kind: &str, n: u64) -> Result<(), StageError> {
        let brought = format!(
            "((each) => each.length === 2 && each.every((n) => n >= {n}))\
             (__counts.framesOfEach('{kind}'))"
        );
        Ok(self.page.until(&format!("{n} frames {kind} in both panes"), &brought).await?)
    }

    /// Returns when nothing that the page has asked for is under way, but what a hold keeps.
    pub async fn quiet(&self, stage: &Stage) -> Result<(), StageError> {
        stage.quiet(&self.page).await
    }

    /// Waits until both have seen all that the node has published, at the end of a turn.
    pub async fn caught_up(&self, stage: &Stage) -> Result<(), StageError> {
        let head = stage.control.head(&self.ws).await?;
        let reached = has_reached("pane.state().cursor", head.as_deref());
        let at_head = format!("[__e2e, __e2e.peer].every(({{ pane }}) => {reached})");
        self.page.until("two panes that have caught up with the node", &at_head).await?;
        self.quiet(stage).await
    }
}

/// Whether each stream that the page has opened had what `asked` looks for in its query.
pub fn each_stream_asked(stage: &Stage, asked: fn(&Record) -> bool) -> Vec<bool> {
    let records = stage.proxy.records().into_iter();
    records.filter(|record| record.class == Class::EVENTS).map(|record| asked(&record)).collect()
}
