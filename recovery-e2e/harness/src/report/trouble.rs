//! What is wrong with a run itself, whatever the outcomes of its cases are.

use super::summary::Summary;
use crate::record::journal::{Part, RunFinished, ShardRun, Stop};
use crate::record::verdict::Outcome;

/// Something that is wrong with the run itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What is concerned.
    pub name: String,
    /// [`Outcome::Interrupted`] or [`Outcome::Error`].
    pub outcome: Outcome,
    /// What is wrong with it.
    pub reason: String,
}

impl Trouble {
    fn error(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { name: name.into(), outcome: Outcome::Error, reason: reason.into() }
    }
}

impl Summary {
    /// All that is wrong with the run itself: it, or a shard of it, did not end by itself or
    /// is missing, or left something behind; it had nothing to prove; or it was not to be
    /// flaky, and was.
    pub fn troubles(&self) -> Vec<Trouble> {
        let mut troubles = of_end("run", self.finished.as_ref());
        let shards = self.run.plan.shards;
        if let Part::Merged(runs) = &self.run.part {
            for shard in 1..=shards {
                let name = format!("shard {shard}/{shards}");
                let of_shard = |run: &&ShardRun| run.run.part == Part::Shard(shard);
                match runs.iter().find(of_shard) {
                    Some(run) => troubles.extend(of_end(&name, run.finished.as_ref())),
                    None => {
                        troubles.push(Trouble::error(name, "no run of this shard was merged"));
                    }
                }
            }
        }
        // A shard may be empty, as long as its plan is not.
        if self.run.plan.cases == 0 {
            troubles.push(Trouble::error("run", "the plan had no case"));
        }
        if self.run.fail_on_flaky && self.counts.flaky > 0 {
            let reason = format!("cases that were flaky: {} (--fail-on-flaky)", self.counts.flaky);
            troubles.push(Trouble::error("flaky", reason));
        }
        troubles
    }
}

fn of_end(name: &str, finished: Option<&RunFinished>) -> Vec<Trouble> {
    let leaks = finished.map_or(&[][..], |finished| &finished.leaks);
    let leaked =
        (!leaks.is_empty()).then(|| Trouble::error(format!("{name} leak"), leaks.join("; ")));
    not_whole(name, finished).into_iter().chain(leaked).collect()
}

fn not_whole(name: &str, finished: Option<&RunFinished>) -> Option<Trouble> {
    let reason = match finished {
        Some(RunFinished { stopped: None, .. }) => return None,
        None => "it was cut off before its end".to_owned(),
        Some(RunFinished { stopped: Some(Stop::Signal), .. }) => {
            "it was interrupted before its end".to_owned()
        }
        Some(RunFinished { stopped: Some(Stop::FailFast(bad)), .. }) => {
            format!("it stopped at {bad} (--fail-fast)")
        }
    };
    Some(Trouble { name: name.to_owned(), outcome: Outcome::Interrupted, reason })
}
