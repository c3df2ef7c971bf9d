//! E4: a refetch and its one retry both fail; only the next idle edge can heal.

use super::words::{Mounted, Pane, STALE_RETRY, Sight, arrived, rewinds};
use super::{Change, Control, Defect, Scenario};
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "E4",
    name: "stale-backstop",
    family: "interactive",
    proves: "after two failed refetches the next idle edge heals, without a new connection",
    proof: "refetch and retry had both failed over three stale rows before the idle edge came",
    success: "RECOVERY-READY-STALEBACKSTOP-heal1-sse0",
    controls: &[
        Control {
            name: "backstop-goes-through-the-transport",
            defect: Defect::Client(&[Change {
                asset: "/static/recovery/core.js",
                find: "if (!this.#truncation.idleEdge()) this.#history.idleEdge();",
                replace: "if (!this.#truncation.idleEdge() && this.#history.latch) \
                          void this.#reload();",
            }]),
            predicted: "RECOVERY-FAILED-STALEBACKSTOP-heal1-sse1-hist1-gated1-posts2-rows0",
        },
        Control {
            name: "no-backstop",
            defect: Defect::Client(&[Change {
                asset: "/static/recovery/core.js",
                find: "if (!this.#truncation.idleEdge()) this.#history.idleEdge();",
                replace: "this.#truncation.idleEdge();",
            }]),
            predicted: "RECOVERY-FAILED-STALEBACKSTOP-heal0-sse0-hist0-gated1-posts1-rows3",
        },
    ],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Pane::seeded(stage, "stale-backstop", vec![]).await?;
    fail_twice(stage, &pane).await?;
    Ok(heal_at_rest(stage, &pane).await?.stamp("STALEBACKSTOP"))
}

/// Rewinds two of three turns, and fails the refetch and its retry.
pub(super) async fn fail_twice<S: Sight>(
    stage: &mut Stage,
    pane: &Mounted<S>,
) -> Result<(), StageError> {
    stage.phase("fault");
    stage.proxy.fail(Class::HISTORY, 2, hyper::StatusCode::INTERNAL_SERVER_ERROR);
    pane.click_rewind(1).await?;
    pane.until("a failed refetch, with a retry to come", S::REFETCH_FAILED).await?;
    pane.outlast(stage, STALE_RETRY).await?;
    let seen = pane.look().await?;
    let fetches = arrived(stage, Class::HISTORY);
    stage.require(
        "refetch and retry had failed, over three stale rows",
        seen.rows() == 3 && seen.is_stale() && fetches == 3,
        format!("{seen}, {fetches} histories"),
    );
    stage.screenshot("fault").await
}

/// Has the node come to rest over a pane that nothing else will heal: clicks before and after.
pub(super) async fn heal_at_rest<S: Sight>(
    stage: &mut Stage,
    pane: &Mounted<S>,
) -> Result<Backstop, StageError> {
    stage.phase("backstop");
    pane.click_rewind(0).await?;
    pane.fence(stage).await?;
    let gated = rewinds(stage);
    let (opens, fetches) = (arrived(stage, Class::EVENTS), arrived(stage, Class::HISTORY));
    rest(stage, pane).await?;
    pane.quiet(stage).await?;
    let sse = arrived(stage, Class::EVENTS) - opens;
    let hist = arrived(stage, Class::HISTORY) - fetches;
    let seen = pane.look().await?;
    let heal = seen.rows() == 1 && seen.is_current();
    stage.screenshot("healed").await?;

    stage.phase("reopen");
    if heal {
        pane.click_rewind(0).await?;
        pane.fence(stage).await?;
        pane.until("the cut", "s.rows === 0").await?;
    }
    let rows = pane.rows().await?;
    Ok(Backstop { heal, sse, hist, gated, posts: rewinds(stage), rows })
}

/// Has the node publish an idle edge, and waits until the page has it.
pub(super) async fn rest<S: Sight>(stage: &Stage, pane: &Mounted<S>) -> Result<(), StageError> {
    let edges = pane.frames("state_change").await?;
    stage.control.emit_idle_edge(pane.ws()).await?;
    pane.until_frames("state_change", edges + 1).await
}

/// What came of the idle edge.
#[derive(Clone, Copy)]
pub(super) struct Backstop {
    pub heal: bool,
    /// Streams that it opened.
    pub sse: u64,
    /// Histories that it fetched.
    pub hist: u64,
    /// Rewinds before it.
    pub gated: u64,
    /// Rewinds in all.
    pub posts: u64,
    pub rows: u64,
}

impl Backstop {
    /// One fetch healed, no stream was opened for it, and the gate was shut before and open after.
    pub(super) fn stamp(self, code: &'static str) -> Stamp {
        let Backstop { heal, sse, hist, gated, posts, rows } = self;
        if heal && sse == 0 && hist == 1 && gated == 1 && posts == 2 {
            Stamp::ready(code).field("heal", 1).field("sse", 0)
        } else {
            Stamp::failed(code)
                .field("heal", heal.into())
                .field("sse", sse)
                .field("hist", hist)
                .field("gated", gated)
                .field("posts", posts)
                .field("rows", rows)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_fetch_without_a_connection_behind_a_shut_gate_is_ready() {
        let good = Backstop { heal: true, sse: 0, hist: 1, gated: 1, posts: 2, rows: 0 };
        assert_eq!(good.stamp("STALEBACKSTOP").to_string(), SCENARIO.success);
        let through = Backstop { sse: 1, ..good };
        assert_eq!(through.stamp("STALEBACKSTOP").to_string(), SCENARIO.controls[0].predicted);
        let none = Backstop { heal: false, sse: 0, hist: 0, gated: 1, posts: 1, rows: 3 };
        assert_eq!(none.stamp("STALEBACKSTOP").to_string(), SCENARIO.controls[1].predicted);
        for bad in [
            Backstop { hist: 2, ..good },
            Backstop { gated: 2, ..good },
            Backstop { posts: 1, ..good },
        ] {
            assert!(!bad.stamp("STALEBACKSTOP").is_ready(), "{}", bad.stamp("STALEBACKSTOP"));
        }
    }
}
