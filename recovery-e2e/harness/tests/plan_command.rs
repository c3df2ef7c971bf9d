//! `plan` and `--shard`, as machines use them: no browser is needed for a plan.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::HashSet;
use std::fs;
use std::process::Command;

use camino::Utf8PathBuf;
use recovery_e2e::record::build::BuildInfo;
use serde_json::Value;
use support::{Harness, Scratch};

/// A repository with timings in it, and folders below it.
fn repository(scratch: &Scratch) -> Vec<Utf8PathBuf> {
    let root = scratch.path().join("repository");
    let folders = ["", "ci", "Zürich/ödland", "a b"].map(|folder| root.join(folder));
    folders.iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
    fs::create_dir(root.join(".git")).unwrap();
    let timings = r#"{"v":1,"comment":"","seconds":{"rewind-window":0.9,"gone":1}}"#;
    fs::write(root.join("ci/timings.json"), timings).unwrap();
    folders.into()
}

fn said(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn fifty_plans_in_other_folders_and_other_locales_have_one_hash() {
    let scratch = Scratch::new();
    let folders = repository(&scratch);
    let locales = ["C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "ar_EG.UTF-8"];
    let mut plans = HashSet::new();
    for n in 0..50 {
        let mut plan = Harness::command(&scratch);
        let locale = locales[n % locales.len()];
        plan.current_dir(&folders[n % folders.len()]).env("LC_ALL", locale).env("LANG", locale);
        let (code, plan, said) = said(plan.args(["plan", "--shards", "3", "--format", "json"]));
        assert_eq!((code, said.as_str()), (Some(0), ""));
        plans.insert(plan);
    }
    assert_eq!(plans.len(), 1, "{plans:?}");
    let plan: Value = serde_json::from_str(plans.iter().next().unwrap()).unwrap();
    assert_eq!(plan["hash"].as_str().unwrap().len(), 64);
    assert_eq!(plan["build"]["digest"], BuildInfo::of_this_program().digest);
    assert_eq!(plan["shards"][0]["cases"][0]["predicted_seconds"], 0.9, "the timings were read");

    let elsewhere = Harness::command(&scratch)
        .args(["plan", "--shards", "3", "--format", "json", "--timings"])
        .arg(folders[1].join("timings.json"))
        .output()
        .unwrap();
    assert!(plans.contains(&String::from_utf8(elsewhere.stdout).unwrap()));
}

#[test]
fn the_matrix_of_a_github_job_names_every_shard() {
    let scratch = Scratch::new();
    let plan = ["plan", "--shards", "4", "--format", "github"];
    let (code, matrix, _) = said(Harness::command(&scratch).args(plan));
    assert_eq!((code, &*matrix), (Some(0), "{\"shard\":[\"1/4\",\"2/4\",\"3/4\",\"4/4\"]}\n"));
}

#[test]
fn what_cannot_be_planned_is_refused_with_a_word_on_what_to_do() {
    let scratch = Scratch::new();
    let variables = ["CI_NODE_INDEX", "CI_NODE_TOTAL", "BUILDKITE_PARALLEL_JOB"]
        .into_iter()
        .chain(["BUILDKITE_PARALLEL_JOB_COUNT", "CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL"]);
    for (args, says) in [
        (&["run", "--shard", "5/4"][..], "there is no shard 5 of 4"),
        (&["run", "--shard", "auto"], "give the shard, such as --shard 2/4"),
        (&["plan", "--shards", "0"], "0 is not in"),
        (&["plan", "--timings", "nowhere.json"], "cannot read the timings nowhere.json"),
        (&["run", "--update-timings", "--shard", "1/2"], "cannot be used with"),
        (&["run", "--update-timings", "-s", "rewind-window"], "cannot be used with"),
    ] {
        let mut command = Harness::command(&scratch);
        for name in variables.clone() {
            command.env_remove(name);
        }
        let (code, _, error) = said(command.args(args));
        assert_eq!(code, Some(2), "{args:?}: {error}");
        assert!(error.contains(says), "{args:?}: {error}");
    }
}
