//! The verdicts of one run of the harness: its `summary.json`.

use anyhow::{Context, bail};
use serde::Deserialize;

use super::record::{Bad, Verdict};
use super::suite::Suite;

/// What a run of the harness decided.
#[derive(Debug, Default, PartialEq)]
pub struct Verdicts {
    /// The scenarios that have a verdict. One that was not begun, or was interrupted, has none.
    pub ran: Vec<String>,
    /// Those that are not ready, with the folder of their artifacts.
    pub bad: Vec<(Bad, String)>,
}

impl Verdicts {
    /// Whether a scenario failed: then the mutant is detected.
    pub fn has_failed(&self) -> bool {
        self.bad.iter().any(|(bad, _)| matches!(bad.verdict, Verdict::Failed { .. }))
    }
}

#[derive(Deserialize)]
struct Summary {
    cases: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    case: Case,
    result: Option<Ending>,
}

#[derive(Deserialize)]
struct Case {
    scenario: String,
    dir: String,
}

#[derive(Deserialize)]
struct Ending {
    outcome: String,
    stamp: Option<String>,
    reason: Option<String>,
}

/// Reads the text of a `summary.json`.
pub fn parse(text: &str, suite: &Suite) -> anyhow::Result<Verdicts> {
    let summary: Summary =
        serde_json::from_str(text).context("summary.json is not as this xtask knows it")?;
    let mut verdicts = Verdicts::default();
    for Entry { case: Case { scenario, dir }, result } in summary.cases {
        let Some(Ending { outcome, stamp, reason }) = result else { continue };
        let reason = reason.unwrap_or_else(|| "no reason given".to_owned());
        let verdict = match outcome.as_str() {
            "interrupted" | "skipped" => continue,
            "ready" | "flaky" => None,
            "failed" => {
                let stamp = stamp.with_context(|| format!("{scenario} failed without a stamp"))?;
                let changed = suite.scenario(&scenario).map(|scenario| scenario.changes(&stamp));
                Some(Verdict::Failed { stamp, changed: changed.unwrap_or_default() })
            }
            "inconclusive" => Some(Verdict::Inconclusive { stamp, reason }),
            "error" => Some(Verdict::Error { reason }),
            other => bail!("{scenario} has the outcome {other:?}, which this xtask does not know"),
        };
        verdicts.ran.push(scenario.clone());
        verdicts.bad.extend(verdict.map(|verdict| (Bad { scenario, verdict }, dir)));
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::super::{stamp::Change, suite};
    use super::*;

    fn entry(scenario: &str, result: &str) -> String {
        format!(
            r#"{{"case":{{"scenario":"{scenario}","dir":"/out/{scenario}"}},"result":{result}}}"#
        )
    }

    fn summary(entries: &[String]) -> String {
        format!(r#"{{"cases":[{}]}}"#, entries.join(","))
    }

    #[test]
    fn a_case_that_was_not_begun_has_no_verdict_and_a_failed_one_lists_its_changed_fields() {
        let suite = suite::sample(&[("restart", "interactive")]);
        let text = summary(&[
            entry(
                "storm",
                r#"{"outcome":"ready","stamp":"RECOVERY-READY-X-posts1","reason":null}"#,
            ),
            entry(
                "restart",
                r#"{"outcome":"failed","stamp":"RECOVERY-FAILED-X-posts2-rows1","reason":null}"#,
            ),
            entry("late", r#"{"outcome":"interrupted","stamp":null,"reason":"not begun"}"#),
            entry("never", "null"),
            entry("slow", r#"{"outcome":"inconclusive","stamp":null,"reason":"a wait timed out"}"#),
        ]);
        let verdicts = parse(&text, &suite).unwrap();
        assert_eq!(verdicts.ran, ["storm", "restart", "slow"]);
        assert!(verdicts.has_failed());
        let (restart, dir) = &verdicts.bad[0];
        assert_eq!(dir, "/out/restart");
        let changed = vec![Change {
            field: "posts".to_owned(),
            expected: "1".to_owned(),
            found: "2".to_owned(),
        }];
        let stamp = "RECOVERY-FAILED-X-posts2-rows1".to_owned();
        assert_eq!(restart.verdict, Verdict::Failed { stamp, changed });
        let reason = "a wait timed out".to_owned();
        assert_eq!(verdicts.bad[1].0.verdict, Verdict::Inconclusive { stamp: None, reason });
    }

    #[test]
    fn an_outcome_that_is_not_known_is_an_error_and_never_a_survivor() {
        let text = summary(&[entry("storm", r#"{"outcome":"new","stamp":null,"reason":null}"#)]);
        let error = parse(&text, &suite::sample(&[])).unwrap_err();
        assert!(error.to_string().contains("\"new\""), "{error}");
    }
}
