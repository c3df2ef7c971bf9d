//! The headline of a case, the same in every report.

use crate::record::journal::{Case, CaseResult};
use crate::record::verdict::Outcome;

/// The stamp of a case; of a control, that it was seen. One that does not count is not
/// shown: it would read like one that does.
pub fn stamp(case: &Case, result: &CaseResult) -> Option<String> {
    let counts = |_: &&_| result.outcome != Outcome::Inconclusive;
    let seen = if case.control.is_some() { "seen " } else { "" };
    result.stamp.as_ref().filter(counts).map(|stamp| format!("{seen}{stamp}"))
}

/// How long a case took, where that is known: not of one that did not end.
pub fn took(result: &CaseResult) -> Option<String> {
    let has_ended = !matches!(result.outcome, Outcome::Skipped | Outcome::Interrupted);
    has_ended.then(|| seconds(result.seconds))
}

/// A time, to a tenth of a second.
pub fn seconds(seconds: f64) -> String {
    format!("{seconds:.1} s")
}
