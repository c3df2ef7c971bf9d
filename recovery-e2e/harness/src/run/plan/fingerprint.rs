//! The hash by which two machines know that they follow the same plan.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::{Job, Selection};
use crate::scenario::Scenario;

/// SHA-256, in hexadecimal digits, over all that a plan is made of: the harness, every scenario
/// and control that it has, how often each is run, which cases were selected, what each is
/// predicted to take, and the shard that each was dealt to.
pub fn fingerprint(
    registry: &[&Scenario],
    selection: &Selection,
    jobs: &[Job],
    shards: u32,
) -> String {
    let mut text = format!("recovery-e2e {}\n", env!("CARGO_PKG_VERSION"));
    let mut known: Vec<_> =
        registry.iter().map(|scenario| (scenario.name, scenario.controls)).collect();
    known.sort_by_key(|(name, _)| *name);
    // Writing to a string cannot fail.
    for (name, controls) in known {
        let mut controls: Vec<_> = controls.iter().map(|control| control.name).collect();
        controls.sort_unstable();
        let _ = writeln!(text, "scenario {name} {}", controls.join(" "));
    }
    let _ = writeln!(text, "repeat {}\nshards {shards}", selection.repeat_each.max(1));
    let mut lines: Vec<_> = jobs.iter().map(line).collect();
    lines.sort_unstable();
    text.push_str(&lines.concat());
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn line(Job { case, .. }: &Job) -> String {
    let predicted = match case.predicted_seconds {
        Some(seconds) => format!("{seconds:.3}"),
        None => "-".to_owned(),
    };
    format!("case {} {predicted} {}\n", case.id, case.shard)
}
