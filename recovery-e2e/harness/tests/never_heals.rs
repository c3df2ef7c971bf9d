//! A client that never recovers has failed: it is not "nothing is proven".

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use recovery_e2e::record::journal::{self, CaseResult};
use recovery_e2e::record::verdict::Outcome;
use support::{Harness, Scratch};

/// Runs scenarios over a client with one text of a module taken out.
fn without(asset: &str, text: &str, scenarios: &[&str]) -> Vec<CaseResult> {
    let scratch = Scratch::new();
    let defect = scratch.path().join("defect.json");
    let edit = serde_json::json!([{"asset": asset, "find": text, "replace": ""}]);
    std::fs::write(&defect, edit.to_string()).unwrap();
    let mut args = vec!["--isolation", "context", "--defect", defect.as_str()];
    args.extend(scenarios.iter().flat_map(|name| ["-s", name]));
    let run = Harness::run(&scratch, &args).output().unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stdout));
    let run = journal::read(&scratch.out().join(journal::FILE_NAME)).unwrap();
    run.cases.into_iter().map(|case| case.result).collect()
}

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn a_client_without_a_way_to_heal_fails_with_a_stamp_and_names_the_claim() {
    let core = "/static/recovery/core.js";
    for (lost, scenarios) in [
        ("        this.#resync();\n", ["handoff-repair-budget", "coord-handoff-repair-budget"]),
        ("        this.#history.invalidate();\n", ["rewind-window", "coord-stale-backstop"]),
        ("        this.#truncation.envelope(this.#stream.cursor);\n", ["restart", "coord-restart"]),
    ] {
        for result in without(core, lost, &scenarios) {
            let reason = result.reason.unwrap_or_default();
            let case = format!("{} without {}: {reason}", result.case, lost.trim());
            assert_eq!(result.outcome, Outcome::Failed, "{case}");
            assert!(!result.stamp.unwrap().is_ready(), "{case}");
            assert!(reason.contains("claim not met: "), "{case}");
            // Nothing could bring it any more: the deadline was not waited for.
            assert!(!reason.contains("not within"), "{case}");
        }
    }
}
