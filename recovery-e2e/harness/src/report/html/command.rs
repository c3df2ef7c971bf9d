//! The commands that re-run the run or a case.

use camino::Utf8Path;

use super::super::{VERDICT_FILE, text};
use crate::record::journal::{Case, CaseResult, Part, RunInfo};
use crate::record::settings::Clock;
use crate::record::settings::Isolation;
use crate::report::Summary;

/// In place of a command that does not fit in a line.
const NO_COMMAND: &str = "(its arguments do not fit in a line; the journal has them)";

/// What is typed in a checkout.
const PROGRAM: [&str; 3] = ["cargo", "xtask", "e2e"];

/// The run again, with the same choices, also those that were not made on its command line.
pub fn of_run(run: &RunInfo) -> String {
    let given = run.args.iter().map(String::as_str);
    let given: Vec<_> = given.skip_while(|arg| *arg == "run").collect();
    // A verdict that is repeated brings both.
    if given.first() == Some(&"repeat") {
        return line(given.into_iter());
    }
    let seed = run.seed.to_string();
    let chosen = [("--browser", &*run.browser.path), ("--seed", &*seed)];
    let more = chosen.into_iter().filter(|(name, _)| option(run, name).is_none());
    line(given.into_iter().chain(more.flat_map(|(name, value)| [name, value])))
}

/// An attempt at a case again, with the same choices.
///
/// A verdict has all that it needs. Where there is none, the scenario is named.
pub fn of_attempt(summary: &Summary, case: &Case, result: &CaseResult) -> String {
    let has_verdict = result.artifacts.iter().any(|path| path.file_name() == Some(VERDICT_FILE));
    if has_verdict {
        let dir = case.attempt_dir(result.attempt);
        // Not to be taken for an option.
        let dir = if dir.as_str().starts_with('-') { Utf8Path::new(".").join(dir) } else { dir };
        return line(["repeat", dir.as_str()].into_iter());
    }
    let run = run_of(summary, case);
    let seed = run.seed.wrapping_add(case.repeat.unwrap_or(1).saturating_sub(1)).to_string();
    let mut words = vec!["-s", &*case.scenario, "--browser", &*run.browser.path, "--seed", &seed];
    if case.control.is_some() {
        words.push("--controls");
    }
    if run.clock == Clock::Real {
        words.extend(["--clock", "real"]);
    }
    if run.isolation == Isolation::Context {
        words.extend(["--isolation", "context"]);
    }
    let defect = option(run, "--defect");
    words.extend(defect.into_iter().flat_map(|file| ["--defect", file]));
    line(words.into_iter())
}

/// The run that the case was part of: merged runs have a seed each.
fn run_of<'a>(summary: &'a Summary, case: &Case) -> &'a RunInfo {
    let shards = match &summary.run.part {
        Part::Merged(shards) => shards.as_slice(),
        Part::Shard(_) => &[],
    };
    let of_case = shards.iter().find(|shard| shard.run.part == Part::Shard(case.shard));
    of_case.map_or(&summary.run, |shard| &shard.run)
}

/// The value that the run was given for an option.
fn option<'a>(run: &'a RunInfo, name: &str) -> Option<&'a str> {
    let at = run.args.iter().position(|arg| arg.split('=').next() == Some(name))?;
    match run.args[at].split_once('=') {
        Some((_, value)) => Some(value),
        None => run.args.get(at + 1).map(String::as_str),
    }
}

/// The words as a shell takes them apart again. A command that would not be whole, or not as it
/// was given, is left out: a person may paste what is here.
fn line<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<_> = PROGRAM.into_iter().chain(words).collect();
    let line = words.iter().copied().map(quoted).collect::<Vec<_>>().join(" ");
    let is_whole = words.iter().all(|word| text::line(word) == *word) && text::line(&line) == line;
    if is_whole { line } else { NO_COMMAND.to_owned() }
}

/// `word` as a shell takes it for one word and nothing else.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::summary;
    use super::*;
    use crate::record::journal::ShardRun;
    use crate::record::journal::tests::{case, run_info};
    use crate::record::verdict::Outcome;

    fn run(args: &[&str]) -> RunInfo {
        RunInfo { args: args.iter().map(ToString::to_string).collect(), ..run_info() }
    }

    #[test]
    fn a_run_is_repeated_with_its_arguments_and_the_seed_that_it_had() {
        for (args, expected) in [
            (&[][..], "cargo xtask e2e --browser /opt/chromium --seed 7"),
            (
                &["run", "-s", "rewind-*"],
                "cargo xtask e2e -s 'rewind-*' --browser /opt/chromium --seed 7",
            ),
            (&["--seed", "7", "--browser=/b"], "cargo xtask e2e --seed 7 --browser=/b"),
            (&["repeat", "out/restart"], "cargo xtask e2e repeat out/restart"),
            // What is cleaned or cut behind the quotes could end them.
            (&["-s", "a\u{1b}", "0", "; touch x #"], NO_COMMAND),
            (&["-s", "a\nb"], NO_COMMAND),
            (&["-s", &"x'".repeat(600)], NO_COMMAND),
            (&["--seed=7", "--browser", "it's"], r"cargo xtask e2e --seed=7 --browser 'it'\''s'"),
        ] {
            assert_eq!(of_run(&run(args)), expected);
        }
    }

    #[test]
    fn a_case_is_repeated_by_its_verdict_or_else_by_its_name() {
        let mut summary = summary(&[("a#3", Some("gate"), Outcome::Failed, None)]);
        let seen = &mut summary.cases[0];
        seen.case.repeat = Some(3);
        let (case, mut end) = (seen.case.clone(), seen.result.clone());
        summary.run.args = vec!["--defect=x.json".to_owned()];
        summary.run.isolation = Isolation::Context;
        let by_name = "cargo xtask e2e -s rewind-window --browser /opt/chromium --seed 9 --controls --isolation context \
                       --defect x.json";
        assert_eq!(of_attempt(&summary, &case, &end), by_name);
        end.artifacts.push("target/e2e/scenarios/a#3/verdict.json".into());
        let by_verdict = "cargo xtask e2e repeat 'target/e2e/scenarios/a#3'";
        assert_eq!(of_attempt(&summary, &case, &end), by_verdict);
    }

    #[test]
    fn a_case_of_a_merged_run_has_the_seed_of_its_own_shard() {
        let mut summary = summary(&[("a", None, Outcome::Interrupted, None)]);
        let shard = RunInfo { part: Part::Shard(2), seed: 20, clock: Clock::Real, ..run_info() };
        summary.run.part = Part::Merged(vec![ShardRun { run: shard, finished: None }]);
        let mut case = case("a", None);
        case.shard = 2;
        let end = &summary.cases[0].result;
        let expected =
            "cargo xtask e2e -s rewind-window --browser /opt/chromium --seed 20 --clock real";
        assert_eq!(of_attempt(&summary, &case, end), expected);
    }
}
