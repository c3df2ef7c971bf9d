use proptest::prelude::*;

use super::*;
use crate::node::client::PaneKind;
use crate::scenario::{
    Alone, Check, Control, Defect, Field, Read, Scenario, Show, claim, field, need,
};

const NEED: Check = need("the refetch was held");
const CLAIM: Check = claim("the pane was stale");

const SCENARIO: Scenario = Scenario {
    id: "E2",
    name: "rewind-window",
    family: "interactive",
    pane: PaneKind::Interactive,
    proves: "nothing",
    code: "REWINDWIN",
    fields: &[POSTS, field("rows", 1, Read::InStory(0), "rows")],
    ready_shows: &[Show::Field("posts")],
    rests_on: &[NEED, CLAIM],
    controls: &[CONTROL],
    story: |_| Box::pin(async { Ok(()) }),
};

const POSTS: Field = field("posts", 1, Read::InStory(0), "rewinds");

const CONTROL: Control = Control {
    name: "gate-is-busy-alone",
    defect: Defect::Node("none"),
    breaks: &[("posts", 2), ("rows", 0)],
};

const SUCCESS: &str = "RECOVERY-READY-REWINDWIN-posts1";
const PREDICTED: &str = "RECOVERY-FAILED-REWINDWIN-posts2-rows0";

fn evidence(Check { kind, what }: Check, held: bool) -> Evidence {
    Evidence { kind, what: what.into(), held, saw: "state idle".into() }
}

fn receipt(redeemed: u32, armed: u32) -> ReceiptReport {
    ReceiptReport { name: "hold history".into(), redeemed, armed, broken: None }
}

/// A case that saw all that it rests on, with these values.
fn seen(posts: u64, rows: u64) -> Observed {
    Observed {
        readings: vec![("posts", posts), ("rows", rows)],
        evidence: vec![evidence(NEED, true), evidence(CLAIM, true)],
        receipts: vec![receipt(2, 2)],
        starved: false,
    }
}

fn judged(ending: &Ending, observed: &Observed) -> (Outcome, Option<String>, Option<String>) {
    let Verdict { outcome, stamp, reason } = judge(&SCENARIO, SUCCESS, ending, observed);
    (outcome, stamp.map(|stamp| stamp.to_string()), reason)
}

#[test]
fn a_story_that_ended_is_judged_by_its_fields() {
    for (posts, rows, outcome, stamp) in [
        (1, 1, Outcome::Ready, SUCCESS),
        (2, 0, Outcome::Failed, PREDICTED),
        (1, 3, Outcome::Failed, "RECOVERY-FAILED-REWINDWIN-posts1-rows3"),
        (0, 1, Outcome::Failed, "RECOVERY-FAILED-REWINDWIN-posts0-rows1"),
    ] {
        let judged = judged(&Ending::Completed, &seen(posts, rows));
        assert_eq!(judged, (outcome, Some(stamp.to_owned()), None));
    }
}

#[test]
fn a_missed_claim_is_a_failure_with_what_could_be_read_and_names_the_claim() {
    let ending = Ending::ClaimMissed("claim not met: the pane heals".to_owned());
    let reason = Some("claim not met: the pane heals".to_owned());
    let expected_values = judged(&ending, &seen(1, 1));
    let stamp = "RECOVERY-FAILED-REWINDWIN-posts1-rows1".to_owned();
    assert_eq!(expected_values, (Outcome::Failed, Some(stamp), reason.clone()));

    let observed = Observed {
        readings: vec![("posts", 1)],
        // The fault waits for a request that the client never sent.
        receipts: vec![receipt(0, 1)],
        ..Observed::default()
    };
    let stamp = "RECOVERY-FAILED-REWINDWIN-posts1".to_owned();
    assert_eq!(judged(&ending, &observed), (Outcome::Failed, Some(stamp), reason));
}

#[test]
fn a_missed_claim_on_a_starved_machine_proves_nothing_and_keeps_its_stamp() {
    let ending = Ending::ClaimMissed("claim not met: the pane heals".to_owned());
    let (outcome, stamp, reason) = judged(&ending, &Observed { starved: true, ..seen(2, 0) });
    assert_eq!((outcome, stamp.as_deref()), (Outcome::Inconclusive, Some(PREDICTED)));
    assert_eq!(reason.unwrap(), "claim not met: the pane heals");
    let (outcome, ..) = judged(&Ending::Completed, &Observed { starved: true, ..seen(2, 0) });
    assert_eq!(outcome, Outcome::Failed);
}

#[test]
fn a_missed_need_proves_nothing_whatever_else_was_seen() {
    let ending = Ending::NeedMissed("need not met: the node starts".to_owned());
    let (outcome, stamp, reason) = judged(&ending, &seen(1, 1));
    assert_eq!((outcome, stamp), (Outcome::Inconclusive, None));
    assert_eq!(reason.unwrap(), "need not met: the node starts");
    for ending in [Ending::Completed, Ending::ClaimMissed("the pane heals".into())] {
        let mut observed = seen(2, 0);
        observed.evidence.push(evidence(need("the node ended in good order"), false));
        let (outcome, stamp, reason) = judged(&ending, &observed);
        assert_eq!((outcome, stamp.as_deref()), (Outcome::Inconclusive, Some(PREDICTED)));
        assert!(
            reason
                .unwrap()
                .starts_with("need not met: the node ended in good order; saw state idle")
        );
    }
}

#[test]
fn a_fault_that_did_not_fire_in_full_proves_nothing_at_the_end_of_a_story() {
    for (redeemed, armed) in [(0, 0), (0, 1), (1, 2)] {
        let observed = Observed { receipts: vec![receipt(redeemed, armed)], ..seen(1, 1) };
        let (outcome, _, reason) = judged(&Ending::Completed, &observed);
        assert_eq!(outcome, Outcome::Inconclusive);
        let lack = format!("the fault hold history served {redeemed} of {armed} requests");
        assert_eq!(reason.unwrap(), lack);
    }
}

#[test]
fn what_the_harness_did_wrong_is_an_error() {
    let broken = ReceiptReport { broken: Some("found twice".into()), ..receipt(1, 1) };
    for (ending, observed, reason) in [
        (Ending::Broke("the node died".into()), seen(1, 1), "the node died"),
        (
            Ending::ClaimMissed("first paint".into()),
            Observed { receipts: vec![broken], ..seen(1, 1) },
            "hold history does not apply: found twice",
        ),
        (
            Ending::Completed,
            Observed { readings: vec![("posts", 1)], ..seen(1, 1) },
            "1 of 2 fields were read",
        ),
        (
            Ending::Completed,
            Observed { evidence: vec![evidence(NEED, true)], ..seen(1, 1) },
            "the story never checked what it rests on: the pane was stale",
        ),
    ] {
        let judged = judged(&ending, &observed);
        assert_eq!(judged, (Outcome::Error, None, Some(reason.to_owned())));
    }
}

#[test]
fn a_success_with_another_stamp_than_planned_is_an_error_that_names_both() {
    let verdict =
        judge(&SCENARIO, "RECOVERY-READY-REWINDWIN-posts2", &Ending::Completed, &seen(1, 1));
    assert_eq!(verdict.outcome, Outcome::Error);
    let reason = verdict.reason.unwrap();
    assert!(reason.contains("posts2") && reason.contains(SUCCESS), "{reason}");
}

#[test]
fn a_field_that_decides_alone_is_the_whole_stamp() {
    for (alone, stamp) in [
        (Alone::Code("escaped"), "RECOVERY-FAILED-escaped-2"),
        (Alone::Name("dead-cursor"), "RECOVERY-FAILED-REWINDWIN-dead-cursor2"),
    ] {
        let fields: &'static [Field] = vec![POSTS.alone(alone), SCENARIO.fields[1]].leak();
        let scenario = Scenario { fields, ..SCENARIO };
        let verdict = judge(&scenario, SUCCESS, &Ending::Completed, &seen(2, 0));
        assert_eq!(verdict.stamp.unwrap().to_string(), stamp);
        let verdict = judge(&scenario, SUCCESS, &Ending::Completed, &seen(1, 0));
        let others = "RECOVERY-FAILED-REWINDWIN-posts1-rows0";
        assert_eq!(verdict.stamp.unwrap().to_string(), others);
    }
}

#[test]
fn a_control_is_seen_only_when_its_scenario_fails_as_predicted_in_full() {
    let judge = |ending: &Ending, observed: &Observed| judge(&SCENARIO, SUCCESS, ending, observed);
    let detected = judge_control(PREDICTED, judge(&Ending::Completed, &seen(2, 0)));
    assert_eq!((detected.outcome, detected.reason), (Outcome::Ready, None));
    let missed = Ending::ClaimMissed("the pane heals".into());
    for (ending, observed, said) in [
        (&Ending::Completed, seen(1, 1), "did not notice"),
        (&Ending::Completed, seen(2, 1), "in another way"),
        // The predicted stamp, but before the end of the story.
        (&missed, seen(2, 0), "in another way"),
    ] {
        let verdict = judge_control(PREDICTED, judge(ending, &observed));
        assert_eq!(verdict.outcome, Outcome::Failed);
        let reason = verdict.reason.unwrap();
        assert!(reason.contains(said) && reason.contains(PREDICTED), "{reason}");
    }
}

#[test]
fn a_control_that_proves_nothing_keeps_its_outcome() {
    for outcome in [Outcome::Inconclusive, Outcome::Error, Outcome::Interrupted, Outcome::Skipped] {
        let verdict = Verdict::without_stamp(outcome, "the node died");
        assert_eq!(judge_control(PREDICTED, verdict.clone()), verdict);
    }
}

proptest! {
    #[test]
    fn no_case_is_ready_or_failed_unless_every_need_was_met(
        completed: bool,
        posts in 0u64..3,
        needs in prop::collection::vec(any::<bool>(), 0..4),
        counts in prop::collection::vec((0u32..3, 0u32..3), 0..4),
    ) {
        let mut observed = seen(posts, 1);
        observed.evidence.extend(needs.iter().map(|held| evidence(NEED, *held)));
        observed.receipts = counts.iter().map(|(fired, armed)| receipt(*fired, *armed)).collect();
        let ending = match completed {
            true => Ending::Completed,
            false => Ending::ClaimMissed("first paint".into()),
        };
        let (outcome, stamp, reason) = judged(&ending, &observed);
        let met = needs.iter().all(|held| *held);
        let fired = counts.iter().all(|(fired, armed)| *fired > 0 && fired >= armed);
        let expected = match (completed, met && (fired || !completed), posts) {
            (_, false, _) => Outcome::Inconclusive,
            (true, true, 1) => Outcome::Ready,
            (_, true, _) => Outcome::Failed,
        };
        prop_assert_eq!(outcome, expected);
        prop_assert!(stamp.is_some());
        prop_assert_eq!(reason.is_some(), !completed || expected == Outcome::Inconclusive);
    }
}
