//! Two panes of one workstream, side by side on one page.

use std::fmt::{self, Display, Formatter};

use serde::Deserialize;
use serde_json::json;

use super::condition::Condition;
use super::driven::{Driven, unmet};
use super::pane::{Held, caught_up};
use crate::node::error::AppError;
use crate::node::wire::WsId;
use crate::proxy::Hold;

/// The transcript of one pane.
#[derive(Debug, Deserialize)]
pub struct Transcript {
    /// The user rows, and the sends that have no row yet.
    pub users: Vec<UserEntry>,
    /// The calls of tools.
    pub calls: Vec<CallEntry>,
}

/// One user row, or a send that has no row yet.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserEntry {
    /// The row that it shows.
    pub row_id: Option<String>,
    /// The send that it shows.
    pub send_id: Option<String>,
    /// Its text.
    pub text: String,
}

/// One call of a tool.
#[derive(Debug, Deserialize)]
pub struct CallEntry {
    /// Its result, or nothing.
    pub output: String,
}

impl Display for UserEntry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let UserEntry { row_id, send_id, text } = self;
        let or_none = |id: &Option<String>| id.clone().unwrap_or_else(|| "none".to_owned());
        write!(f, "{text:?} (row {}, send {})", or_none(row_id), or_none(send_id))
    }
}

/// The panes. The first is the one that is written in. Clones are the same panes.
#[derive(Clone)]
pub struct TwoPanes {
    driven: Driven,
    ws: WsId,
}

impl std::ops::Deref for TwoPanes {
    type Target = Driven;

    fn deref(&self) -> &Driven {
        &self.driven
    }
}

impl TwoPanes {
    /// Both panes of `ws`, which the page shows, when both have caught up.
    ///
    /// # Errors
    /// A claim: the client's modules run, and both panes catch up.
    pub async fn mounted(driven: Driven, ws: WsId) -> Result<TwoPanes, AppError> {
        let runs = driven.tab().eval("the client's modules", "!!window.__e2e?.peer").await?;
        unmet(
            "the client's modules load and mount two panes",
            runs,
            "an exception in console.log",
        )?;
        let panes = TwoPanes { driven, ws };
        panes.claim_of_each("replay_complete", 1).await?;
        Ok(panes)
    }

    /// Their workstream.
    pub fn ws(&self) -> &WsId {
        &self.ws
    }

    /// What each shows.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn look(&self) -> Result<[Transcript; 2], AppError> {
        let shown = "[__e2e.shown(), __e2e.peer.shown()]";
        Ok(self.tab().eval("both transcripts", shown).await?)
    }

    /// How many frames of a type the stream has brought that has brought most of them.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn most_frames(&self, kind: &str) -> Result<u64, AppError> {
        let frames = format!("Math.max(0, ...__counts.framesOfEach({}))", json!(kind));
        Ok(self.tab().eval("the frames of each stream", &frames).await?)
    }

    /// Waits until each of the two streams has brought `count` frames of a type.
    ///
    /// # Errors
    /// A claim when they do not.
    pub async fn claim_of_each(&self, frames: &str, count: u64) -> Result<(), AppError> {
        self.claim(Condition::EachStream { streams: 2, frames, count }).await
    }

    /// Waits until as many requests as `hold` was armed for are in it.
    ///
    /// # Errors
    /// A claim when the client does not send them.
    pub async fn arrival(&self, hold: Hold) -> Result<Held, AppError> {
        Held::arrived(&self.driven, hold).await
    }

    /// Waits until both have seen all that the node has published, at the end of a turn.
    ///
    /// # Errors
    /// A claim when they do not.
    pub async fn caught_up(&self) -> Result<(), AppError> {
        let head = self.control().head(&self.ws).await?;
        self.claim(Condition::InBoth(&caught_up(head.as_deref())?)).await?;
        self.quiet().await
    }
}
