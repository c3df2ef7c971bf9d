//! `junit.xml`, in the dialect that the strictest consumers read.

use std::collections::HashSet;
use std::fmt::Write;

use junit_report::{Duration, Report, TestCase, TestResult, TestSuite};

use super::Trouble;
use super::summary::Summary;
use super::text;
use crate::record::journal::{Case, CaseResult, CaseView, RunInfo};
use crate::record::verdict::Outcome;

/// The suite of the scenarios.
const SCENARIOS: &str = "recovery-e2e";

/// The suite of the negative controls.
const CONTROLS: &str = "recovery-e2e controls";

/// The suite of what is wrong with the run itself.
const RUN: &str = "recovery-e2e run";

/// The class of what is no case of a family.
const OWN_CLASS: &str = "recovery-e2e";

/// The longest duration that is written, in seconds: none is near it, and sums of it do not overflow.
const MAX_SECONDS: f64 = 1e9;

/// The report as XML, with exactly one test case for every planned case, and one for everything
/// that is wrong with the run itself: a reader of this file alone sees red when the exit code is 1.
pub fn render(summary: &Summary) -> Result<Vec<u8>, junit_report::Error> {
    let (controls, scenarios): (Vec<_>, Vec<_>) =
        summary.cases.iter().partition(|seen| seen.case.control.is_some());
    let mut report = Report::new();
    for (name, cases) in [(SCENARIOS, scenarios), (CONTROLS, controls)] {
        if !cases.is_empty() {
            let cases = cases.into_iter().map(testcase).collect();
            report.add_testsuite(suite(name, &summary.run, cases));
        }
    }
    let troubles: Vec<_> = summary.troubles().iter().map(trouble).collect();
    if !troubles.is_empty() {
        report.add_testsuite(suite(RUN, &summary.run, troubles));
    }
    let mut xml = Vec::new();
    report.write_xml(&mut xml)?;
    Ok(xml)
}

fn suite(name: &str, run: &RunInfo, cases: Vec<TestCase>) -> TestSuite {
    let mut suite = TestSuite::new(name);
    suite.package = name.to_owned();
    suite.set_timestamp(run.started_at);
    // The crate writes no properties.
    let (browser, build) = (&run.browser, &run.build);
    suite.set_system_out(&text::cdata(&format!(
        "browser: {}\nbrowser program: {}\nbrowser from: {}\nsandbox: {}\n/dev/shm: {}\nisolation: {}\nnode: {}\nharness: {}\nbuild digest: {}\nbuild commit: {}{}\nrun: {}\n",
        browser.version,
        browser.path,
        browser.origin,
        browser.sandbox.label(),
        if browser.small_shm { "too small to be used" } else { "used" },
        run.isolation.label(),
        run.node,
        run.harness_version,
        build.digest,
        build.commit.as_deref().unwrap_or("unknown"),
        if build.dirty { ", dirty" } else { "" },
        run.run_id
    )));
    suite.add_testcases(cases);
    suite
}

fn trouble(Trouble { name: concerned, outcome, reason }: &Trouble) -> TestCase {
    TestCase {
        name: text::line(concerned),
        time: Duration::ZERO,
        result: TestResult::Error {
            type_: outcome.name().to_owned(),
            message: text::line(reason),
            cause: Some(text::cdata(reason)),
        },
        classname: Some(OWN_CLASS.to_owned()),
        filepath: None,
        system_out: None,
        system_err: None,
    }
}

fn testcase(CaseView { case, result, earlier }: &CaseView) -> TestCase {
    TestCase {
        name: text::line(&case.id),
        time: duration(result.seconds),
        result: verdict(result),
        classname: Some(text::line(&case.family)),
        filepath: None,
        system_out: Some(format!(
            "{}{}",
            attachments(result),
            text::cdata(&account(case, result, earlier))
        )),
        system_err: None,
    }
}

/// To the millisecond, so that a reader that knows three decimals knows it all. (The crate prints a
/// few of these with the noise of binary fractions: 31.952 as 31.951999999999998.)
fn duration(seconds: f64) -> Duration {
    let millis = (seconds.clamp(0.0, MAX_SECONDS) * 1000.0).round();
    Duration::milliseconds(millis as i64)
}

fn verdict(result: &CaseResult) -> TestResult {
    let type_ = result.outcome.name().to_owned();
    let reason = result.reason.as_deref();
    let stamp = result.stamp.as_ref().map(ToString::to_string);
    // Some consumers show nothing but the message.
    let says = match (result.outcome, &stamp, reason) {
        (Outcome::Failed, Some(stamp), Some(reason)) => format!("{stamp}: {reason}"),
        (Outcome::Failed, Some(stamp), None) => stamp.clone(),
        _ => reason.unwrap_or("no reason was given").to_owned(),
    };
    let message = text::line(&says);
    let cause = Some(text::cdata(&says));
    match result.outcome {
        Outcome::Ready | Outcome::Flaky => TestResult::Success,
        Outcome::Failed => TestResult::Failure { type_, message, cause },
        Outcome::Inconclusive | Outcome::Error | Outcome::Interrupted => {
            TestResult::Error { type_, message, cause }
        }
        Outcome::Skipped => TestResult::SkippedWithCause { type_, message, cause: None },
    }
}

/// One line for each artifact. A consumer stores them by their base name, so the first of two that
/// share it is attached, and the other is still in the summary.
fn attachments(result: &CaseResult) -> String {
    let mut names = HashSet::new();
    result
        .artifacts
        .iter()
        .filter(|path| names.insert(path.file_name()))
        .filter_map(|path| text::attachment(path.as_str()))
        .collect()
}

/// What a person reads first about a case.
fn account(case: &Case, result: &CaseResult, earlier: &[CaseResult]) -> String {
    let mut account = format!("outcome: {}\n", result.outcome.name());
    // Writing to a string cannot fail.
    for CaseResult { attempt, outcome, stamp, reason, .. } in earlier {
        let stamp = stamp.as_ref().map(ToString::to_string);
        let said: Vec<_> = stamp.iter().chain(reason).map(String::as_str).collect();
        let _ = writeln!(account, "attempt {attempt}: {}: {}", outcome.name(), said.join(": "));
        let dir = case.attempt_dir(*attempt);
        let _ = writeln!(account, "attempt {attempt} is in {dir}");
    }
    if let Some(predicted) = &case.predicted {
        let _ = writeln!(account, "predicted: {predicted}");
    }
    if let Some(stamp) = &result.stamp {
        let _ = writeln!(account, "stamp: {stamp}");
    }
    if let Some(reason) = &result.reason {
        let _ = writeln!(account, "reason: {reason}");
    }
    for phase in &result.phases {
        let _ = writeln!(account, "phase: {}, {:.3} s", phase.name, phase.seconds);
    }
    for evidence in &result.evidence {
        let held = if evidence.held { "held" } else { "did not hold" };
        let _ = writeln!(account, "evidence {held}: {}; saw {}", evidence.what, evidence.saw);
    }
    for receipt in &result.receipts {
        let broken = receipt.broken.as_ref().map(|why| format!("; broke: {why}"));
        let _ = writeln!(
            account,
            "receipt: {}, {} of {}{}",
            receipt.name,
            receipt.redeemed,
            receipt.armed,
            broken.unwrap_or_default()
        );
    }
    account
}

#[cfg(test)]
mod tests;
