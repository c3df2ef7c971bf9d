//! The dashboard, as a scenario sees and moves it.

use serde::Deserialize;

use super::condition::{Condition, Flag, Quantity};
use super::driven::Driven;
use crate::node::error::AppError;
use crate::node::wire::WsId;
use crate::proxy::{Class, Record};

/// The node's own dashboard. Clones are the same dashboard.
#[derive(Clone)]
pub struct Dashboard {
    driven: Driven,
    /// The workstreams that it may show, by name.
    workstreams: Vec<(&'static str, WsId)>,
    /// The number of the page's first stream among all that the proxy has seen.
    first: usize,
    cursor: Option<String>,
}

/// What the dashboard shows as loaded.
#[derive(Deserialize)]
struct Roster {
    /// Ids.
    model: Vec<String>,
    /// The beginnings of the rows of the rail.
    rail: Vec<String>,
}

/// Whether the dashboard shows a workstream as loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// Neither in the model nor in the rail.
    Nowhere,
    /// In one of them.
    InPart,
    /// In both.
    Everywhere,
}

impl std::ops::Deref for Dashboard {
    type Target = Driven;

    fn deref(&self) -> &Driven {
        &self.driven
    }
}

impl Dashboard {
    /// The dashboard that the page shows, when it shows all of `workstreams`; time is frozen then.
    ///
    /// # Errors
    /// A claim when it does not show them.
    pub async fn opened(
        driven: Driven,
        workstreams: Vec<(&'static str, WsId)>,
    ) -> Result<Dashboard, AppError> {
        driven.tab().page().run("the page driver", "import('/dashboard.js')").await?;
        let all = workstreams.len() as u64;
        let shown = [
            Condition::Equals(Quantity::RosterModel, all),
            Condition::Equals(Quantity::RosterRail, all),
        ];
        driven.claim(Condition::All(&shown)).await?;
        driven.freeze().await?;
        Ok(Dashboard { driven, workstreams, first: 0, cursor: None })
    }

    /// The same, and from here on its first stream is the one that is open now, with its cursor.
    #[must_use]
    pub fn counting_from_now(self) -> Dashboard {
        let streams = streams(&self.driven);
        let cursor = streams.last().and_then(|stream| stream.last_event_id.clone());
        Dashboard { first: streams.len().saturating_sub(1), cursor, ..self }
    }

    /// The cursor of the page at [`Dashboard::counting_from_now`], as the proxy saw it.
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// The streams that the page has requested since its first.
    pub fn redials(&self) -> Vec<Record> {
        streams(&self.driven).into_iter().skip(self.first + 1).collect()
    }

    /// How many streams of the page had a cursor in their address.
    pub fn presented(&self) -> u64 {
        let own = streams(&self.driven).into_iter().skip(self.first);
        own.filter(|stream| stream.cursor_query.is_some()).count() as u64
    }

    /// Waits until so many connections in all have caught up, and what that has caused is done.
    ///
    /// # Errors
    /// A claim when they do not.
    pub async fn caught_up(&self, connections: u64) -> Result<(), AppError> {
        self.claim(Condition::frames("replay_complete", connections)).await?;
        self.quiet().await
    }

    /// Waits until the browser has given the stream up.
    ///
    /// # Errors
    /// A claim when it has not.
    pub async fn given_up(&self) -> Result<(), AppError> {
        self.claim(Condition::Is(Flag::GivenUp)).await
    }

    /// Gives the page the focus.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn focus(&self) -> Result<(), AppError> {
        self.act_only("the focus", "window.dispatchEvent(new Event('focus'))").await
    }

    /// Whether it shows the workstream of this name as loaded.
    ///
    /// # Errors
    /// When the page does not answer.
    pub async fn loaded(&self, name: &str) -> Result<Loaded, AppError> {
        let roster: Roster = self.tab().eval("the roster", "__e2e.look()").await?;
        let mut own = self.workstreams.iter().filter(|(own, _)| *own == name);
        let in_model = own.any(|(_, ws)| roster.model.iter().any(|id| id == ws.as_str()));
        let in_rail = roster.rail.iter().any(|row| row.starts_with(name));
        Ok(match (in_model, in_rail) {
            (false, false) => Loaded::Nowhere,
            (true, true) => Loaded::Everywhere,
            _ => Loaded::InPart,
        })
    }
}

fn streams(driven: &Driven) -> Vec<Record> {
    let records = driven.tab().proxy().records().into_iter();
    records.filter(|record| record.class == Class::GLOBAL_EVENTS).collect()
}
