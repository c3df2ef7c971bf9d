//! How a case is judged: a pure function of what its scenario declares and what was seen.

use super::{Scenario, declaration};
use crate::record::stamp::Stamp;
use crate::record::verdict::{Evidence, Outcome, ReceiptReport, ReceiptState, Verdict};
use crate::wait::Kind;

/// How a story ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It came to its end.
    Completed,
    /// The client did not do what it claims to.
    ClaimMissed(String),
    /// Harness, node, model or machine did not bring what the proof needs.
    NeedMissed(String),
    /// The stage broke.
    Broke(String),
}

/// What was seen of a case.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The fields that were read.
    pub readings: Vec<(&'static str, u64)>,
    /// The observations.
    pub evidence: Vec<Evidence>,
    /// What became of the faults.
    pub receipts: Vec<ReceiptReport>,
    /// Whether the machine was short of something, so that the client may have had no chance.
    pub starved: bool,
}

/// The verdict of a case of `scenario`.
///
/// - A stage that broke, a fault that could not be applied, and a story that does not do what its
///   scenario declares are an error.
/// - A need that was not met, and at the end of the story a fault that did not fire, prove nothing:
///   inconclusive.
/// - A claim that was not met is a failure, with the stamp of what could be read; on a starved
///   machine it proves nothing.
/// - A story that ended is ready when each field is as declared, and failed otherwise; one that is
///   ready with another stamp than `expected` is an error.
pub fn judge(scenario: &Scenario, expected: &str, ending: &Ending, observed: &Observed) -> Verdict {
    let Observed { readings, evidence, receipts, starved } = observed;
    if let Some(misfit) = receipts.iter().find_map(misfit) {
        return Verdict::without_stamp(Outcome::Error, misfit);
    }
    let values: Vec<_> = scenario
        .fields
        .iter()
        .filter_map(|field| {
            let (_, value) = readings.iter().find(|(name, _)| *name == field.name)?;
            Some((field, *value))
        })
        .collect();
    let failed = || declaration::failed(scenario, &values);
    let unmet: Vec<_> =
        evidence.iter().filter(|evidence| evidence.kind == Kind::Need && !evidence.held).collect();
    match ending {
        Ending::Broke(reason) => Verdict::without_stamp(Outcome::Error, reason),
        Ending::NeedMissed(reason) => {
            Verdict::without_stamp(Outcome::Inconclusive, below(&unmet, reason))
        }
        Ending::ClaimMissed(reason) => {
            let proven = unmet.is_empty() && !starved;
            let outcome = if proven { Outcome::Failed } else { Outcome::Inconclusive };
            Verdict { outcome, stamp: Some(failed()), reason: Some(below(&unmet, reason)) }
        }
        Ending::Completed => {
            if let Some(broken) = undeclared(scenario, values.len(), evidence) {
                return Verdict::without_stamp(Outcome::Error, broken);
            }
            let is_ready = values.iter().all(|(field, value)| *value == field.expected);
            let stamp = if is_ready { declaration::ready(scenario, &values) } else { failed() };
            let unmet: Vec<_> = unmet.into_iter().map(unmet_line).collect();
            let lacks = lines(&unmet, receipts.iter().filter_map(unfired));
            if !lacks.is_empty() {
                let (outcome, reason) = (Outcome::Inconclusive, Some(lacks));
                return Verdict { outcome, stamp: Some(stamp), reason };
            }
            if is_ready && stamp.to_string() != expected {
                let reason = format!(
                    "the stamp of a success is not the planned one: planned {expected}, seen \
                     {stamp}; run it with the harness that made the plan"
                );
                return Verdict {
                    outcome: Outcome::Error,
                    stamp: Some(stamp),
                    reason: Some(reason),
                };
            }
            let outcome = if is_ready { Outcome::Ready } else { Outcome::Failed };
            Verdict { outcome, stamp: Some(stamp), reason: None }
        }
    }
}

/// Why a fault could not be applied, if so.
fn misfit(receipt: &ReceiptReport) -> Option<String> {
    match receipt.state() {
        ReceiptState::Broken { reason } => {
            Some(format!("{} does not apply: {reason}", receipt.name))
        }
        ReceiptState::Armed { .. } | ReceiptState::Redeemed { .. } => None,
    }
}

/// Why a fault has not happened, if so.
fn unfired(receipt: &ReceiptReport) -> Option<String> {
    let ReceiptReport { name, armed, .. } = receipt;
    match receipt.state() {
        ReceiptState::Armed { times } => {
            Some(format!("the fault {name} served {times} of {armed} requests"))
        }
        ReceiptState::Broken { .. } | ReceiptState::Redeemed { .. } => None,
    }
}

/// What a story that ended has not done of what its scenario declares.
fn undeclared(scenario: &Scenario, read: usize, evidence: &[Evidence]) -> Option<String> {
    if read < scenario.fields.len() {
        return Some(format!("{read} of {} fields were read", scenario.fields.len()));
    }
    let unchecked = scenario
        .rests_on
        .iter()
        .find(|check| evidence.iter().all(|evidence| evidence.what != check.what))?;
    Some(format!("the story never checked what it rests on: {}", unchecked.what))
}

/// The reason of a story's end, below the needs that it does not name itself.
fn below(unmet: &[&Evidence], reason: &str) -> String {
    let others = unmet.iter().filter(|evidence| !reason.contains(&evidence.what));
    let others: Vec<_> = others.map(|evidence| unmet_line(evidence)).collect();
    lines(&others, [reason.to_owned()])
}

fn unmet_line(Evidence { what, saw, .. }: &Evidence) -> String {
    format!("need not met: {what}; saw {saw}")
}

fn lines(first: &[String], then: impl IntoIterator<Item = String>) -> String {
    let all: Vec<_> = first.iter().cloned().chain(then).collect();
    all.join("\n")
}

/// The verdict of a negative control whose scenario, with the defect put in, came to `verdict`.
///
/// Ready only when the scenario failed with exactly the `predicted` stamp, at the end of its story.
/// A verdict that proves nothing about the defect stays what it is.
pub fn judge_control(predicted: &str, verdict: Verdict) -> Verdict {
    let seen = verdict.stamp.as_ref().map_or_else(|| "no stamp".to_owned(), Stamp::to_string);
    let but = match verdict.outcome {
        // A reason beside a failure is a claim that was missed before the end.
        Outcome::Failed if seen == predicted && verdict.reason.is_none() => {
            return Verdict { outcome: Outcome::Ready, ..verdict };
        }
        Outcome::Failed => "the scenario failed in another way than predicted",
        Outcome::Ready | Outcome::Flaky => "the scenario did not notice the defect",
        Outcome::Inconclusive | Outcome::Error | Outcome::Interrupted | Outcome::Skipped => {
            return verdict;
        }
    };
    let mut reason = format!("{but}\npredicted {predicted}\nseen      {seen}");
    if let Some(missed) = &verdict.reason {
        reason = format!("{reason}\n{missed}");
    }
    Verdict { outcome: Outcome::Failed, reason: Some(reason), ..verdict }
}

#[cfg(test)]
mod tests;
