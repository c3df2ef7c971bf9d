//! What `plan` prints.

use std::fmt::Write;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;

use super::Plan;
use crate::record::build::{BuildInfo, short};

/// The version of the JSON format.
const VERSION: u32 = 1;

/// The output format of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person
    Text,
    /// For a program
    Json,
    /// The matrix of a GitHub job
    Github,
}

/// One shard, as it is printed.
#[derive(Serialize)]
struct ListedShard<'a> {
    shard: String,
    predicted_seconds: Option<f64>,
    cases: Vec<ListedCase<'a>>,
}

#[derive(Serialize)]
struct ListedCase<'a> {
    id: &'a str,
    predicted_seconds: Option<f64>,
}

/// The plan that this `build` makes, in the given format, with its last line feed.
pub fn render(plan: &Plan, build: &BuildInfo, format: Format) -> String {
    let shards: Vec<_> = (1..=plan.info.shards).map(|shard| listed(plan, shard)).collect();
    match format {
        Format::Text => text(plan, build, &shards),
        Format::Json => {
            let json = json!({
                "v": VERSION,
                "hash": plan.info.hash,
                "build": build,
                "spread_seconds": spread(&shards).map(|(least, most)| round(most - least)),
                "shards": shards,
            });
            format!("{json}\n")
        }
        Format::Github => {
            let names: Vec<_> = shards.iter().map(|shard| &shard.shard).collect();
            format!("{}\n", json!({"shard": names}))
        }
    }
}

fn listed(plan: &Plan, shard: u32) -> ListedShard<'_> {
    let cases: Vec<_> = plan
        .of_shard(shard)
        .map(|job| ListedCase { id: &job.case.id, predicted_seconds: job.case.predicted_seconds })
        .collect();
    // The sum of no case is a time too, but not where no time is known at all.
    let known = plan.jobs.iter().any(|job| job.case.predicted_seconds.is_some());
    let sum = cases.iter().filter_map(|case| case.predicted_seconds).sum();
    let predicted_seconds = known.then_some(sum).map(round);
    ListedShard { shard: format!("{shard}/{}", plan.info.shards), predicted_seconds, cases }
}

fn text(plan: &Plan, build: &BuildInfo, shards: &[ListedShard<'_>]) -> String {
    let seconds = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |s| format!("{s:.1} s"));
    let width = plan.jobs.iter().map(|job| job.case.id.len()).max().unwrap_or(0);
    let (hash, count) = (short(&plan.info.hash), plan.info.cases);
    let mut text = format!("plan {hash}, cases: {count}\nbuild: {build}\n");
    // Writing to a string cannot fail.
    for ListedShard { shard, predicted_seconds, cases } in shards {
        let (predicted, count) = (seconds(*predicted_seconds), cases.len());
        let _ = writeln!(text, "\nshard {shard}, cases: {count}, predicted: {predicted}");
        for case in cases {
            let predicted = seconds(case.predicted_seconds);
            let _ = writeln!(text, "  {:<width$}  {predicted:>8}", case.id);
        }
    }
    let _ = match spread(shards) {
        Some((least, most)) => writeln!(
            text,
            "\npredicted: {least:.1} s to {most:.1} s a shard, a spread of {:.1} s",
            most - least
        ),
        None => writeln!(text, "\nno timings: every case counts the same"),
    };
    text
}

/// The seconds of the shortest and of the longest shard.
fn spread(shards: &[ListedShard<'_>]) -> Option<(f64, f64)> {
    let seconds = shards.iter().map(|shard| shard.predicted_seconds);
    let seconds: Option<Vec<f64>> = seconds.collect();
    let seconds = seconds?;
    let least = seconds.iter().copied().min_by(f64::total_cmp)?;
    let most = seconds.iter().copied().max_by(f64::total_cmp)?;
    Some((least, most))
}

/// To milliseconds: sums of tenths are no more precise.
fn round(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
