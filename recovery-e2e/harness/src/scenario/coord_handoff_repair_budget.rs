//! H2: as H1, over the coordinator pane: it has lost touch, and history after history fails.

use super::handoff_repair_budget::{
    DESTROY_LEAVES_THE_ATTEMPT_VALID, MISSING_PROOF_IS_A_FAILURE, NO_BUDGET, RETRY_ARMS_THE_NEXT,
    open, repair,
};
use super::words::Coord;
use super::{Control, Defect, Scenario};
use crate::record::stamp::Stamp;
use crate::scenario::stage::{Stage, StageError};

/// See the module.
pub const SCENARIO: Scenario = Scenario {
    id: "H2",
    name: "coord-handoff-repair-budget",
    family: "handoff",
    proves: "a coordinator's repair tries four times, then asks the person, opens no stream before \
             it has rendered, and ends with its pane",
    proof: "page time passed the next wait after the fourth attempt and after the person's, over \
            rows that stood, and no stream was opened meanwhile",
    success: "RECOVERY-READY-COORDHANDOFF-auto4-manual1-downgrade1-proof1-teardown0",
    controls: &[
        Control {
            name: "no-budget",
            defect: Defect::Client(NO_BUDGET),
            predicted: "RECOVERY-FAILED-COORDHANDOFF-auto5-manual1-downgrade1-proof1-teardown0",
        },
        Control {
            name: "failed-retry-arms-the-next",
            defect: Defect::Client(RETRY_ARMS_THE_NEXT),
            predicted: "RECOVERY-FAILED-COORDHANDOFF-auto4-manual2-downgrade1-proof1-teardown0",
        },
        Control {
            name: "missing-proof-is-a-failure",
            defect: Defect::Client(MISSING_PROOF_IS_A_FAILURE),
            predicted: "RECOVERY-FAILED-COORDHANDOFF-auto4-manual1-downgrade0-proof0-teardown0",
        },
        Control {
            name: "destroy-leaves-the-attempt-valid",
            defect: Defect::Client(DESTROY_LEAVES_THE_ATTEMPT_VALID),
            predicted: "RECOVERY-FAILED-COORDHANDOFF-auto4-manual1-downgrade1-proof1-teardown1",
        },
    ],
    story: |stage| Box::pin(story(stage)),
};

async fn story(stage: &mut Stage) -> Result<Stamp, StageError> {
    let pane: Coord = open(stage, "coord-handoff-repair-budget").await?;
    Ok(repair(stage, &pane).await?.stamp("COORDHANDOFF"))
}

#[cfg(test)]
mod tests {
    use super::super::handoff_repair_budget::Repair;
    use super::*;

    #[test]
    fn it_is_judged_as_the_interactive_pane_is() {
        let good = Repair { auto: 4, manual: 1, downgrade: true, proof: true, teardown: 0 };
        assert_eq!(good.stamp("COORDHANDOFF").to_string(), SCENARIO.success);
        let bad = [
            Repair { auto: 5, ..good },
            Repair { manual: 2, ..good },
            Repair { downgrade: false, proof: false, ..good },
            Repair { teardown: 1, ..good },
        ];
        for (bad, control) in bad.into_iter().zip(SCENARIO.controls) {
            assert_eq!(bad.stamp("COORDHANDOFF").to_string(), control.predicted);
        }
    }
}
