//! H1: the node tells a pane that it has lost touch, and history after history fails.

use super::words::{Held, Mounted, Pane, Sight, arrived, take_turn, workstream};
use super::{Change, Control, Defect, Scenario};
use crate::node::model::Reply;
use crate::proxy::Class;
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "H1",
    name: "handoff-repair-budget",
    family: "handoff",
    proves: "a repair tries four times, then asks the person, opens no stream before it has \
             rendered, and ends with its pane",
    proof: "page time passed the next wait after the fourth attempt and after the person's, over \
            rows that stood, and no stream was opened meanwhile",
    success: "RECOVERY-READY-HANDOFF-auto4-manual1-downgrade1-proof1-teardown0",
    controls: &[
        Control {
            name: "no-budget",
            defect: Defect::Client(NO_BUDGET),
            predicted: "RECOVERY-FAILED-HANDOFF-auto5-manual1-downgrade1-proof1-teardown0",
        },
        Control {
            name: "failed-retry-arms-the-next",
            defect: Defect::Client(RETRY_ARMS_THE_NEXT),
            predicted: "RECOVERY-FAILED-HANDOFF-auto4-manual2-downgrade1-proof1-teardown0",
        },
        Control {
            name: "missing-proof-is-a-failure",
            defect: Defect::Client(MISSING_PROOF_IS_A_FAILURE),
            predicted: "RECOVERY-FAILED-HANDOFF-auto4-manual1-downgrade0-proof0-teardown0",
        },
        Control {
            name: "destroy-leaves-the-attempt-valid",
            defect: Defect::Client(DESTROY_LEAVES_THE_ATTEMPT_VALID),
            predicted: "RECOVERY-FAILED-HANDOFF-auto4-manual1-downgrade1-proof1-teardown1",
        },
    ],
    story: |stage| Box::pin(story(stage)),
};

/// Attempts follow one another without end.
pub(super) const NO_BUDGET: &[Change] = &[Change {
    asset: "/static/recovery/handoff.js",
    find: "this.phase = this.#failures < REPAIR_ATTEMPTS ? 'waiting' : 'exhausted';",
    replace: "this.phase = 'waiting';",
}];

/// An attempt that a person asked for, once failed, is followed by others.
pub(super) const RETRY_ARMS_THE_NEXT: &[Change] = &[Change {
    asset: "/static/recovery/handoff.js",
    find: "this.phase = this.#failures < REPAIR_ATTEMPTS ? 'waiting' : 'exhausted';",
    replace: "this.phase = this.#failures === REPAIR_ATTEMPTS ? 'exhausted' : 'waiting';",
}];

/// A snapshot that has rendered counts as failed when it carries no proof.
pub(super) const MISSING_PROOF_IS_A_FAILURE: &[Change] = &[Change {
    asset: "/static/recovery/core.js",
    find: "attempt: async () => (await this.#history.load()) === 'rendered',",
    replace: "attempt: async () => {
        const rendered = (await this.#history.load()) === 'rendered';
        const proof = this.#token.take();
        this.#token.arm(proof);
        return rendered && proof !== null;
      },",
}];

/// An attempt that ends after its pane was destroyed opens a stream.
pub(super) const DESTROY_LEAVES_THE_ATTEMPT_VALID: &[Change] = &[Change {
    asset: "/static/recovery/core.js",
    find: "  destroy() {\n    this.#history.cancel();\n    this.#repair.cancel();",
    replace: "  destroy() {",
}];

/// The waits between the automatic attempts at their longest, in the client's own terms.
const BUDGET: &str = "t.REPAIR_BACKOFF_MS * (2 ** (t.REPAIR_ATTEMPTS - 1) - 1) \
                      + t.REPAIR_JITTER_MS * (t.REPAIR_ATTEMPTS - 1)";

/// The longest wait after the last of them, were there one more.
const AFTER_BUDGET: &str =
    "t.REPAIR_BACKOFF_MS * 2 ** (t.REPAIR_ATTEMPTS - 1) + t.REPAIR_JITTER_MS";

/// The longest wait after the person's attempt, were there one more.
const AFTER_MANUAL: &str = "t.REPAIR_BACKOFF_MS * 2 ** t.REPAIR_ATTEMPTS + t.REPAIR_JITTER_MS";

/// The longest wait after a first attempt that failed.
const AFTER_FIRST: &str = "t.REPAIR_BACKOFF_MS + t.REPAIR_JITTER_MS";

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane: Pane = open(stage, "handoff-repair-budget").await?;
    Ok(repair(stage, &pane).await?.stamp("HANDOFF"))
}

/// Opens a pane over one finished turn, with an open stream and frozen time.
pub(super) async fn open<S: Sight>(
    stage: &mut Stage,
    name: &str,
) -> Result<Mounted<S>, StageError> {
    stage.phase("seed");
    let ws = workstream(stage, name, vec![Reply::text("Two cables off the mole.")]).await?;
    take_turn(stage, &ws, "Where does she lie?").await?;
    stage.phase("first paint");
    let pane = Mounted::open(stage, ws, 1).await?;
    stage.screenshot("first-paint").await?;
    pane.freeze().await?;
    Ok(pane)
}

/// Takes a pane with one user row, an open stream and frozen time through a repair of each kind,
/// as far as each heals. It is judged by what it shows and by what reaches the proxy.
pub(super) async fn repair<S: Sight>(
    stage: &mut Stage,
    pane: &Mounted<S>,
) -> Result<Repair, StageError> {
    let mut seen = Repair::default();

    stage.phase("budget");
    let failing = stage.proxy.fail_until(Class::HISTORY);
    let (opens, fetches) = (arrived(stage, Class::EVENTS), arrived(stage, Class::HISTORY));
    resync(stage, pane).await?;
    pane.outlast(stage, BUDGET).await?;
    pane.outlast(stage, AFTER_BUDGET).await?;
    seen.auto = arrived(stage, Class::HISTORY) - fetches;
    let asked = pane.asks().await?;
    stage.screenshot("fault").await?;

    stage.phase("person");
    pane.click_retry().await?;
    pane.quiet(stage).await?;
    pane.outlast(stage, AFTER_MANUAL).await?;
    seen.manual = arrived(stage, Class::HISTORY) - fetches - seen.auto;
    let rows = pane.rows().await?;
    let opened = proofs_since(stage, opens);
    stage.require(
        "the person was asked, the row stood, and no stream was opened",
        asked && rows == 1 && opened.is_empty(),
        format!("asked {asked}, rows {rows}, opened {}", opened.len()),
    );

    stage.phase("downgrade");
    failing.lift();
    stage.proxy.tokenless(Class::HISTORY, 1);
    pane.click_retry().await?;
    pane.quiet(stage).await?;
    seen.downgrade = proofs_since(stage, opens) == [false] && !pane.asks().await?;
    if !seen.downgrade {
        return Ok(seen);
    }
    // The node has the page read the history once more, as nothing proves the one on screen.
    pane.until_frames("replay_complete", 2).await?;
    pane.quiet(stage).await?;

    stage.phase("proof");
    resync(stage, pane).await?;
    seen.proof = proofs_since(stage, opens + 1) == [true] && !pane.asks().await?;
    if !seen.proof {
        return Ok(seen);
    }
    pane.until_frames("replay_complete", 3).await?;

    stage.phase("teardown");
    let attempt = stage.proxy.hold(Class::HISTORY, 1);
    resync(stage, pane).await?;
    let attempt = Held::arrived(attempt).await?;
    let before = arrived(stage, Class::EVENTS) + arrived(stage, Class::HISTORY);
    pane.call("destroy").await?;
    attempt.release();
    attempt.answered(stage).await?;
    pane.quiet(stage).await?;
    pane.outlast(stage, AFTER_FIRST).await?;
    seen.teardown = arrived(stage, Class::EVENTS) + arrived(stage, Class::HISTORY) - before;
    Ok(seen)
}

/// Tells the pane that it has lost touch with the rows, and returns when what it does about it at
/// once is done.
async fn resync<S: Sight>(stage: &Stage, pane: &Mounted<S>) -> Result<(), StageError> {
    let told = pane.frames("history_resync").await?;
    stage.control.emit_history_resync(pane.ws()).await?;
    pane.until_frames("history_resync", told + 1).await?;
    pane.quiet(stage).await
}

/// Of each stream that was opened after `opens` others: whether it carried a proof.
fn proofs_since(stage: &Stage, opens: u64) -> Vec<bool> {
    let records = stage.proxy.records().into_iter();
    let streams = records.filter(|record| record.class == Class::EVENTS);
    let late = streams.zip(1..).filter(|(_, number)| *number > opens);
    late.map(|(record, _)| record.handoff_token).collect()
}

/// What came of the repairs.
#[derive(Clone, Copy, Default)]
pub(super) struct Repair {
    /// Attempts that the pane made by itself.
    pub auto: u64,
    /// Attempts that a click of the person led to.
    pub manual: u64,
    /// A snapshot without a proof healed, with one stream that claimed none.
    pub downgrade: bool,
    /// One with a proof healed, with one stream that carried it.
    pub proof: bool,
    /// Requests after the pane was destroyed in the middle of an attempt.
    pub teardown: u64,
}

impl Repair {
    /// Four attempts and one, both ways to heal, and silence after the end.
    pub(super) fn stamp(self, code: &'static str) -> Stamp {
        let Repair { auto, manual, downgrade, proof, teardown } = self;
        let good = auto == 4 && manual == 1 && downgrade && proof && teardown == 0;
        let stamp = if good { Stamp::ready } else { Stamp::failed };
        stamp(code)
            .field("auto", auto)
            .field("manual", manual)
            .field("downgrade", downgrade.into())
            .field("proof", proof.into())
            .field("teardown", teardown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bounded_repair_that_heals_both_ways_and_ends_with_its_pane_is_ready() {
        let good = Repair { auto: 4, manual: 1, downgrade: true, proof: true, teardown: 0 };
        assert_eq!(good.stamp("HANDOFF").to_string(), SCENARIO.success);
        let bad = [
            Repair { auto: 5, ..good },
            Repair { manual: 2, ..good },
            Repair { downgrade: false, proof: false, ..good },
            Repair { teardown: 1, ..good },
        ];
        for (bad, control) in bad.into_iter().zip(SCENARIO.controls) {
            assert_eq!(bad.stamp("HANDOFF").to_string(), control.predicted);
        }
        for bad in [Repair { auto: 3, ..good }, Repair { proof: false, ..good }] {
            assert!(!bad.stamp("HANDOFF").is_ready());
        }
    }
}
