//! The outcome of a case, its evidence and its receipts.

use serde::{Deserialize, Serialize};

use crate::wait::Kind;

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
    /// Something that the proof rests on did not hold, so nothing was proven.
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
    /// Who had to bring it.
    #[serde(default)]
    pub kind: Kind,
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
