//! All mutants with their outcomes, and what is wrong with them.

use super::accepted::{self, Accepted};
use super::mutant::Mutant;
use super::record::{Outcome, Record};

/// The share of mutants that the suite has to detect, in percent.
pub const LEAST_FAILED: usize = 90;

/// A mutant, its result if there is one, and the reason if it need not fail.
pub struct Line<'a> {
    pub mutant: &'a Mutant,
    pub record: Option<&'a Record>,
    pub reason: Option<&'a str>,
}

/// The mutants that were meant, in the order of the client's modules.
pub struct Report<'a> {
    pub lines: Vec<Line<'a>>,
    /// Whether these are all mutants of the client, and not a choice or a shard.
    pub is_whole: bool,
    accepted: &'a [Accepted],
}

impl<'a> Report<'a> {
    pub fn new(
        mutants: &[&'a Mutant],
        records: &'a [Record],
        accepted: &'a [Accepted],
        is_whole: bool,
    ) -> Report<'a> {
        let line = |mutant: &&'a Mutant| Line {
            mutant,
            record: records.iter().find(|record| record.id == mutant.id),
            reason: accepted.iter().find(|it| it.is_of(mutant)).map(|it| it.reason.as_str()),
        };
        Report { lines: mutants.iter().map(line).collect(), is_whole, accepted }
    }

    /// How many mutants have this outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.lines.iter().filter(|line| line.outcome() == Some(outcome)).count()
    }

    /// How many mutants have no result.
    pub fn missing(&self) -> usize {
        self.lines.iter().filter(|line| line.record.is_none()).count()
    }

    /// The share of the mutants that failed, in percent of all; without a mutant there is none.
    pub fn percent_failed(&self) -> f64 {
        percent(self.count(Outcome::Failed), self.lines.len())
    }

    /// The mutants that did not fail, and that no reason explains.
    pub fn unexplained(&self) -> impl Iterator<Item = &Line<'a>> {
        self.lines.iter().filter(|line| {
            line.reason.is_none() && line.outcome().is_some_and(|it| it != Outcome::Failed)
        })
    }

    /// What is wrong; nothing, when the command may exit with 0.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let unexplained = self.unexplained().count();
        if unexplained > 0 {
            problems.push(format!(
                "{unexplained} mutants did not fail and have no reason in {}; add a scenario, or a \
                 reason",
                accepted::PATH
            ));
        }
        if self.missing() > 0 {
            problems.push(format!(
                "{} mutants have no result for this client; run `cargo xtask mutants` again",
                self.missing()
            ));
        }
        if self.is_whole {
            problems.extend(self.stale().map(|Accepted { file, within, text, .. }| {
                format!("{}: no mutant matches {file}, {within}: {text}", accepted::PATH)
            }));
            if self.count(Outcome::Failed) * 100 < LEAST_FAILED * self.lines.len() {
                problems.push(format!(
                    "{:.1} % of the mutants failed; the least is {LEAST_FAILED} %",
                    self.percent_failed()
                ));
            }
        }
        problems
    }

    /// Reasons that are not needed: the mutant failed.
    pub fn unneeded(&self) -> usize {
        let is_unneeded =
            |line: &&Line| line.reason.is_some() && line.outcome() == Some(Outcome::Failed);
        self.lines.iter().filter(is_unneeded).count()
    }

    fn stale(&self) -> impl Iterator<Item = &'a Accepted> {
        let is_stale = |it: &&Accepted| !self.lines.iter().any(|line| it.is_of(line.mutant));
        self.accepted.iter().filter(is_stale)
    }
}

impl Line<'_> {
    pub fn outcome(&self) -> Option<Outcome> {
        self.record.map(Record::outcome)
    }
}

/// A share in percent.
pub fn percent(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::super::mutant;
    use super::super::record::{self, Verdict};
    use super::*;

    fn failed() -> Verdict {
        Verdict::Failed { stamp: "RECOVERY-FAILED-X-posts2".to_owned(), changed: Vec::new() }
    }

    /// Problems of a whole run over ten mutants, of which the last `survivors` survived.
    fn problems(survivors: u32, accepted: &[Accepted], is_whole: bool) -> Vec<String> {
        let mutants: Vec<_> =
            (0..10).map(|line| mutant::sample("gate.js", line, &format!("a{line}"))).collect();
        let records: Vec<_> = mutants
            .iter()
            .map(|mutant| match mutant.line < 10 - survivors {
                true => record::sample(mutant, &[("restart", failed())]),
                false => record::sample(mutant, &[]),
            })
            .collect();
        let mutants: Vec<&Mutant> = mutants.iter().collect();
        Report::new(&mutants, &records, accepted, is_whole).problems()
    }

    fn reason(line: u32) -> Accepted {
        Accepted::of(&mutant::sample("gate.js", line, &format!("a{line}")), "it is equivalent")
    }

    #[test]
    fn a_survivor_needs_a_reason_and_nine_of_ten_have_to_fail_whatever_the_reasons() {
        assert_eq!(problems(0, &[], true), [] as [&str; 0]);
        assert!(problems(1, &[], true)[0].contains("1 mutants did not fail"));
        assert_eq!(problems(1, &[reason(9)], true), [] as [&str; 0]);
        let problems = problems(2, &[reason(8), reason(9)], true);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("80.0 % of the mutants failed"), "{problems:?}");
    }

    #[test]
    fn a_reason_that_matches_no_mutant_is_stale_in_a_whole_run_only() {
        assert!(problems(0, &[reason(70)], true)[0].contains("no mutant matches"));
        assert_eq!(problems(0, &[reason(70)], false), [] as [&str; 0]);
    }

    #[test]
    fn a_mutant_without_a_result_is_a_problem() {
        let mutant = mutant::sample("gate.js", 1, "a");
        let report = Report::new(&[&mutant], &[], &[], false);
        assert!(report.problems()[0].contains("1 mutants have no result"));
        assert_eq!(report.unexplained().count(), 0);
    }
}
