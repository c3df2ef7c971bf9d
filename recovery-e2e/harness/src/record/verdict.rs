//! What a case comes to, and how that is concluded from what was seen.

use serde::{Deserialize, Serialize};

pub use super::stamp::{Stamp, StampError};

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The application recovered. Of a control: the predicted failure was seen.
    Ready,
    /// Ready, after an earlier attempt that was not. No single attempt ends so.
    Flaky,
    /// The application did not recover. Of a control: something else than predicted was seen.
    Failed,
    /// The ground that a verdict stands on did not hold, so nothing was proven.
    Inconclusive,
    /// The stage broke.
    Error,
    /// The run ended before the case did.
    Interrupted,
    /// The target does not offer what the scenario needs.
    Skipped,
}

impl Outcome {
    /// Its name in every report.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ready => "ready",
            Outcome::Flaky => "flaky",
            Outcome::Failed => "failed",
            Outcome::Inconclusive => "inconclusive",
            Outcome::Error => "error",
            Outcome::Interrupted => "interrupted",
            Outcome::Skipped => "skipped",
        }
    }

    /// Whether it fails the run.
    pub fn is_bad(self) -> bool {
        match self {
            Outcome::Ready | Outcome::Flaky | Outcome::Skipped => false,
            Outcome::Failed | Outcome::Inconclusive | Outcome::Error | Outcome::Interrupted => true,
        }
    }
}

/// An observation that a verdict rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// What must have been so.
    pub what: String,
    /// Whether it was.
    pub held: bool,
    /// What was seen.
    pub saw: String,
}

/// What became of an armed fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptReport {
    /// The fault's name.
    pub name: String,
    /// The arrivals that it served.
    pub redeemed: u32,
    /// The arrivals that it was to serve.
    pub armed: u32,
    /// Why it could not do what it was armed for, if so.
    pub broken: Option<String>,
}

/// Whether an armed fault has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiptState {
    /// It has not happened as often as it was armed for.
    Armed {
        /// How often it has happened so far.
        times: u32,
    },
    /// It has happened as often as it was armed for, or more.
    Redeemed {
        /// How often it has happened.
        times: u32,
    },
    /// It could not do what it was armed for.
    Broken {
        /// The first reason.
        reason: String,
    },
}

impl ReceiptReport {
    /// Whether the fault has happened. One that was armed for nothing never has.
    pub fn state(&self) -> ReceiptState {
        let times = self.redeemed;
        match &self.broken {
            Some(reason) => ReceiptState::Broken { reason: reason.clone() },
            None if times == 0 || times < self.armed => ReceiptState::Armed { times },
            None => ReceiptState::Redeemed { times },
        }
    }

    /// Why the fault does not count as having happened; `None` when it does.
    fn lack(&self) -> Option<String> {
        let Self { name, armed, .. } = self;
        match self.state() {
            ReceiptState::Broken { reason } => Some(format!("the fault {name} broke: {reason}")),
            ReceiptState::Armed { times } => {
                Some(format!("the fault {name} served {times} of {armed} requests"))
            }
            ReceiptState::Redeemed { .. } => None,
        }
    }
}

/// The end of a case: its outcome, its stamp if it came to one, and the reason if one is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How the case ended.
    pub outcome: Outcome,
    /// The stamp that was reached. Beside [`Outcome::Inconclusive`] it is only what it would have
    /// been.
    pub stamp: Option<Stamp>,
    /// Why the outcome is not what the stamp alone says, or why there is no stamp.
    pub reason: Option<String>,
}

impl Verdict {
    /// The verdict of a case that came to no stamp.
    pub fn without_stamp(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self { outcome, stamp: None, reason: Some(reason.into()) }
    }
}

/// The verdict of a case that reached `stamp`.
///
/// It is inconclusive as soon as one piece of evidence did not hold or one receipt is not redeemed
/// in full, and the reason names each; a failure on such ground proves as little as a success.
pub fn conclude(stamp: Stamp, evidence: &[Evidence], receipts: &[ReceiptReport]) -> Verdict {
    let lacks: Vec<String> = evidence
        .iter()
        .filter(|evidence| !evidence.held)
        .map(|Evidence { what, saw, .. }| format!("did not hold: {what}; saw {saw}"))
        .chain(receipts.iter().filter_map(ReceiptReport::lack))
        .collect();
    let (outcome, reason) = match (lacks.is_empty(), stamp.is_ready()) {
        (true, true) => (Outcome::Ready, None),
        (true, false) => (Outcome::Failed, None),
        (false, _) => (Outcome::Inconclusive, Some(lacks.join("\n"))),
    };
    Verdict { outcome, stamp: Some(stamp), reason }
}

/// The verdict of a negative control whose scenario, with the defect put in, came to `verdict`.
///
/// Ready only when the scenario failed with exactly the `predicted` stamp. A verdict that proves
/// nothing about the defect stays what it is.
pub fn judge_control(predicted: &str, verdict: Verdict) -> Verdict {
    let seen = verdict.stamp.as_ref().map_or_else(|| "no stamp".to_owned(), Stamp::to_string);
    let but = match verdict.outcome {
        Outcome::Failed if seen == predicted => {
            return Verdict { outcome: Outcome::Ready, reason: None, ..verdict };
        }
        Outcome::Failed => "the scenario failed in another way than predicted",
        Outcome::Ready | Outcome::Flaky => "the scenario did not notice the defect",
        Outcome::Inconclusive | Outcome::Error | Outcome::Interrupted | Outcome::Skipped => {
            return verdict;
        }
    };
    let reason = format!("{but}\npredicted {predicted}\nseen      {seen}");
    Verdict { outcome: Outcome::Failed, reason: Some(reason), ..verdict }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ready() -> Stamp {
        Stamp::ready("REWINDWIN").field("posts", 1)
    }

    fn failed() -> Stamp {
        Stamp::failed("REWINDWIN").field("posts", 2).field("rows", 0)
    }

    fn evidence(held: bool) -> Evidence {
        Evidence { what: "the refetch was held".into(), held, saw: "state idle".into() }
    }

    fn receipt(redeemed: u32, armed: u32) -> ReceiptReport {
        ReceiptReport { name: "hold history".into(), redeemed, armed, broken: None }
    }

    #[test]
    fn a_stamp_on_ground_that_holds_decides() {
        for (stamp, outcome) in [(ready(), Outcome::Ready), (failed(), Outcome::Failed)] {
            let verdict = conclude(stamp.clone(), &[evidence(true)], &[receipt(2, 2)]);
            assert_eq!(verdict, Verdict { outcome, stamp: Some(stamp), reason: None });
        }
    }

    #[test]
    fn an_inconclusive_verdict_names_everything_that_did_not_hold() {
        let broken = ReceiptReport { broken: Some("no such text".into()), ..receipt(1, 1) };
        let verdict =
            conclude(failed(), &[evidence(true), evidence(false)], &[receipt(1, 2), broken]);
        assert_eq!(verdict.outcome, Outcome::Inconclusive);
        assert_eq!(
            verdict.reason.unwrap(),
            "did not hold: the refetch was held; saw state idle\n\
             the fault hold history served 1 of 2 requests\n\
             the fault hold history broke: no such text"
        );
    }

    #[test]
    fn a_fault_that_never_fired_is_not_redeemed_whatever_it_was_armed_for() {
        for armed in [0, 1] {
            let verdict = conclude(ready(), &[], &[receipt(0, armed)]);
            assert_eq!(verdict.outcome, Outcome::Inconclusive, "armed for {armed}");
        }
    }

    #[test]
    fn a_control_is_seen_only_when_its_scenario_fails_as_predicted_in_full() {
        let predicted = "RECOVERY-FAILED-REWINDWIN-posts2-rows0";
        let seen = judge_control(predicted, conclude(failed(), &[], &[]));
        assert_eq!(seen, Verdict { outcome: Outcome::Ready, stamp: Some(failed()), reason: None });

        let longer = failed().field("heal", 0);
        for (stamp, said) in [(ready(), "did not notice"), (longer, "in another way")] {
            let missed = judge_control(predicted, conclude(stamp.clone(), &[], &[]));
            assert_eq!(missed.outcome, Outcome::Failed);
            let reason = missed.reason.unwrap();
            for part in [said, predicted, &stamp.to_string()] {
                assert!(reason.contains(part), "{reason:?} does not say {part:?}");
            }
        }
    }

    #[test]
    fn a_control_that_proves_nothing_stays_what_it_is() {
        let predicted = failed().to_string();
        let shaky = conclude(failed(), &[evidence(false)], &[]);
        assert_eq!(judge_control(&predicted, shaky.clone()), shaky);
        for outcome in [Outcome::Error, Outcome::Interrupted, Outcome::Skipped] {
            let verdict = Verdict::without_stamp(outcome, "the node died");
            assert_eq!(judge_control(&predicted, verdict.clone()), verdict);
        }
    }

    proptest! {
        #[test]
        fn no_verdict_is_reached_unless_all_its_ground_holds(
            is_ready: bool,
            held in prop::collection::vec(any::<bool>(), 0..5),
            counts in prop::collection::vec((0u32..3, 0u32..3, any::<bool>()), 0..5),
        ) {
            let evidence: Vec<_> = held.iter().map(|held| evidence(*held)).collect();
            let receipts: Vec<_> = counts
                .iter()
                .map(|(redeemed, armed, broken)| ReceiptReport {
                    broken: broken.then(|| "cut".into()),
                    ..receipt(*redeemed, *armed)
                })
                .collect();
            let holds = held.iter().all(|held| *held)
                && counts.iter().all(|(redeemed, armed, broken)| {
                    !broken && *redeemed >= 1 && redeemed >= armed
                });
            let stamp = if is_ready { ready() } else { failed() };
            let verdict = conclude(stamp, &evidence, &receipts);
            let expected = match (holds, is_ready) {
                (false, _) => Outcome::Inconclusive,
                (true, true) => Outcome::Ready,
                (true, false) => Outcome::Failed,
            };
            prop_assert_eq!(verdict.outcome, expected);
            prop_assert_eq!(verdict.reason.is_some(), !holds);
        }
    }
}
