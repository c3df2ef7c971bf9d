//! E4: a refetch and its one retry both fail; only the next idle edge can heal.

use super::words::{Pane, STALE_RETRY, arrived, rewinds};
use super::{Change, Control, Scenario};
use crate::front::Class;
use crate::stage::{Stage, StageError};
use crate::verdict::Stamp;

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
            changes: &[Change {
                asset: "/static/recovery/core.js",
                find: "if (!this.#truncation.idleEdge()) this.#history.idleEdge();",
                replace: "if (!this.#truncation.idleEdge() && this.#history.latch) \
                          void this.#reload();",
            }],
            predicted: "RECOVERY-FAILED-STALEBACKSTOP-heal1-sse1-hist1-gated1-posts2-rows0",
        },
        Control {
            name: "no-backstop",
            changes: &[Change {
                asset: "/static/recovery/core.js",
                find: "if (!this.#truncation.idleEdge()) this.#history.idleEdge();",
                replace: "this.#truncation.idleEdge();",
            }],
            predicted: "RECOVERY-FAILED-STALEBACKSTOP-heal0-sse0-hist0-gated1-posts1-rows3",
        },
    ],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane = Pane::seeded(stage, "stale-backstop", vec![]).await?;

    stage.phase("fault");
    stage.front.fail(Class::History, 2, hyper::StatusCode::INTERNAL_SERVER_ERROR);
    pane.click_rewind(1).await?;
    pane.until("a failed refetch, with a retry to come", "s.retryArmed").await?;
    pane.outlast(stage, STALE_RETRY).await?;
    let seen = pane.click_rewind(0).await?;
    pane.fence(stage).await?;
    let gated = rewinds(stage);
    stage.require(
        "refetch and retry had failed, over three stale rows",
        seen.rows == 3 && seen.latch && seen.queued.is_none() && !seen.retry_armed,
        seen,
    );
    stage.screenshot("fault").await?;

    stage.phase("backstop");
    let (opens, fetches) = (arrived(stage, Class::Events), arrived(stage, Class::History));
    let edges = pane.frames("state_change").await?;
    stage.control.emit_idle_edge(pane.ws()).await?;
    pane.until_frames("state_change", edges + 1).await?;
    pane.quiet(stage).await?;
    let sse = arrived(stage, Class::Events) - opens;
    let hist = arrived(stage, Class::History) - fetches;
    let seen = pane.look().await?;
    let heal = seen.rows == 1 && !seen.latch;
    stage.screenshot("healed").await?;

    stage.phase("reopen");
    if heal {
        pane.click_rewind(0).await?;
        pane.fence(stage).await?;
        pane.until("the cut", "s.rows === 0").await?;
    }
    let rows = pane.look().await?.rows;
    Ok(Backstop { heal, sse, hist, gated, posts: rewinds(stage), rows }.stamp())
}

/// What came of the idle edge.
#[derive(Clone, Copy)]
struct Backstop {
    heal: bool,
    /// Streams that it opened.
    sse: u64,
    /// Histories that it fetched.
    hist: u64,
    /// Rewinds before it.
    gated: u64,
    /// Rewinds in all.
    posts: u64,
    rows: u64,
}

impl Backstop {
    /// One fetch healed, no stream was opened for it, and the gate was shut before and open after.
    fn stamp(self) -> Stamp {
        let Backstop { heal, sse, hist, gated, posts, rows } = self;
        if heal && sse == 0 && hist == 1 && gated == 1 && posts == 2 {
            Stamp::ready("STALEBACKSTOP").field("heal", 1).field("sse", 0)
        } else {
            Stamp::failed("STALEBACKSTOP")
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
        assert_eq!(good.stamp().to_string(), SCENARIO.success);
        let through = Backstop { sse: 1, ..good };
        assert_eq!(through.stamp().to_string(), SCENARIO.controls[0].predicted);
        let none = Backstop { heal: false, sse: 0, hist: 0, gated: 1, posts: 1, rows: 3 };
        assert_eq!(none.stamp().to_string(), SCENARIO.controls[1].predicted);
        for bad in [
            Backstop { hist: 2, ..good },
            Backstop { gated: 2, ..good },
            Backstop { posts: 1, ..good },
        ] {
            assert!(!bad.stamp().is_ready(), "{}", bad.stamp());
        }
    }
}
