//! The dashboard, as a scenario sees and moves it.

use serde::Deserialize;

use super::{take_turn, told, workstream};
use crate::browser::page::Page;
use crate::node::model::Reply;
use crate::node::wire::WsId;
use crate::proxy::{Class, Record};
use crate::scenario::stage::{Stage, StageError};

/// The workstream that is opened again after a restart.
const KEEPER: &str = "keeper";

/// The workstream that is not.
const GHOST: &str = "ghost";

/// The node's own dashboard over two workstreams, open in the stage's page.
pub struct Dashboard {
    page: Page,
    keeper: WsId,
    ghost: WsId,
    /// Where the page's first stream stands among all that the proxy has seen.
    first: usize,
    cursor: Option<String>,
}

/// What the dashboard shows as loaded.
#[derive(Deserialize)]
struct Shown {
    /// Ids.
    model: Vec<String>,
    /// What the rows of the rail begin with.
    rail: Vec<String>,
}

/// Which of the two workstreams the dashboard shows as loaded.
#[derive(Clone, Copy, Debug)]
pub struct Loaded {
    /// The ghost, be it in the model or in the rail.
    pub ghost: bool,
    /// The keeper, in both.
    pub keeper: bool,
}

impl Shown {
    fn places(&self, ws: &WsId, name: &str) -> [bool; 2] {
        let Shown { model, rail } = self;
        [model.iter().any(|id| id == ws.as_str()), rail.iter().any(|row| row.starts_with(name))]
    }
}

impl Dashboard {
    /// Opens the dashboard and waits until it shows both workstreams and has a live cursor; its
    /// time is frozen then.
    pub async fn open(stage: &mut Stage) -> Result<Dashboard, StageError> {
        stage.phase("first paint");
        let keeper = workstream(stage, KEEPER, vec![]).await?;
        let ghost = workstream(stage, GHOST, vec![Reply::text("Aye.")]).await?;
        let page = stage.open("/").await?;
        page.tell("the words for a dashboard", "import('/dashboard.js')").await?;
        let both = "((s) => s.model.length === 2 && s.rail.length === 2)(__e2e.look())";
        page.until("the rows of both workstreams", both).await?;
        page.freeze().await?;
        // Whatever the ghost does, the lane tells; its creation was before the page.
        take_turn(stage, &ghost, "Anyone there?").await?;
        page.until("news of the ghost", "__counts.frames('ws_state') >= 2").await?;
        stage.quiet(&page).await?;
        stage.screenshot("first-paint").await?;

        let streams = streams(stage);
        let cursor = streams.last().and_then(|stream| stream.last_event_id.clone());
        let first = streams.len().saturating_sub(1);
        let dashboard = Dashboard { page, keeper, ghost, first, cursor };
        let (truncated, presented) =
            (dashboard.frames("replay_truncated").await?, dashboard.presented(stage));
        stage.require(
            "the cursor was live, and neither truncated nor presented",
            dashboard.cursor.is_some() && truncated == 0 && presented == 0,
            format!(
                "{}, truncated {truncated}, presented {presented}",
                told::or_none(dashboard.cursor())
            ),
        );
        Ok(dashboard)
    }

    /// The cursor of the page when it was opened, as the proxy saw it.
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// Starts the node again, with the keeper loaded and the ghost not.
    pub async fn start_node_with_keeper(&self, stage: &mut Stage) -> Result<(), StageError> {
        stage.start_node().await?;
        Ok(stage.wire.open(&self.keeper).await?)
    }

    /// The streams that the page has asked for since its first.
    pub fn redials(&self, stage: &Stage) -> Vec<Record> {
        streams(stage).into_iter().skip(self.first + 1).collect()
    }

    /// How many streams of the page had a cursor in their address.
    pub fn presented(&self, stage: &Stage) -> u64 {
        let own = streams(stage).into_iter().skip(self.first);
        own.filter(|stream| stream.cursor_query.is_some()).count() as u64
    }

    /// How many event sources the page has made.
    pub async fn opens(&self) -> Result<u64, StageError> {
        Ok(self.page.eval("its event sources", "__counts.streams()").await?)
    }

    /// How many frames of a type its streams have brought.
    pub async fn frames(&self, kind: &str) -> Result<u64, StageError> {
        Ok(self.page.eval("the frames so far", &format!("__counts.frames('{kind}')")).await?)
    }

    /// Waits until so many connections in all have caught up, and what that has caused is done.
    pub async fn caught_up(&self, stage: &Stage, connections: u64) -> Result<(), StageError> {
        let ends = format!("__counts.frames('replay_complete') >= {connections}");
        self.page.until(&format!("the end of replay {connections}"), &ends).await?;
        stage.quiet(&self.page).await
    }

    /// Waits until the browser has given the stream up.
    pub async fn given_up(&self) -> Result<(), StageError> {
        let closed = "__counts.readyState() === EventSource.CLOSED";
        Ok(self.page.until("a stream that the browser has given up", closed).await?)
    }

    /// Hides the page, or shows it.
    pub async fn set_hidden(&self, hidden: bool) -> Result<(), StageError> {
        let set = format!("__e2e.setHidden({hidden})");
        Ok(self.page.act("a changed visibility", &set).await?)
    }

    /// Has the page hear that it has the focus.
    pub async fn focus(&self) -> Result<(), StageError> {
        Ok(self.page.act("the focus", "window.dispatchEvent(new Event('focus'))").await?)
    }

    /// Which of the two workstreams it shows as loaded.
    pub async fn loaded(&self) -> Result<Loaded, StageError> {
        let shown: Shown = self.page.eval("the roster", "__e2e.look()").await?;
        Ok(Loaded {
            ghost: shown.places(&self.ghost, GHOST).contains(&true),
            keeper: shown.places(&self.keeper, KEEPER) == [true; 2],
        })
    }
}

fn streams(stage: &Stage) -> Vec<Record> {
    let records = stage.proxy.records().into_iter();
    records.filter(|record| record.class == Class::GLOBAL_EVENTS).collect()
}
