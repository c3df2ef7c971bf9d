//! Puts into the program which sources it was built from: their digest, and the git commit.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::Command;

#[path = "build/digest.rs"]
mod digest;

/// Variables that name the commit where there is no `.git`, the first that is set.
const COMMIT_VARIABLES: [&str; 2] = ["E2E_COMMIT", "GITHUB_SHA"];

fn main() -> Result<(), Box<dyn Error>> {
    let harness = env::var("CARGO_MANIFEST_DIR")?;
    let root = Path::new(&harness).ancestors().nth(2).ok_or("the harness is in no workspace")?;
    println!("cargo:rustc-env=E2E_BUILD_DIGEST={}", digest::of_sources(root)?);
    let (commit, is_dirty) = of_git(root).or_else(of_variables).unwrap_or_default();
    println!("cargo:rustc-env=E2E_BUILD_COMMIT={commit}");
    println!("cargo:rustc-env=E2E_BUILD_DIRTY={is_dirty}");

    // Not `.git`: a commit that changes none of the sources builds nothing again. The commit in the
    // program is the one at which these sources were built.
    for input in digest::INPUTS {
        println!("cargo:rerun-if-changed={}", root.join(input).display());
    }
    for variable in COMMIT_VARIABLES {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    Ok(())
}

/// The commit of the workspace, and whether the sources differ from it; none outside of git.
fn of_git(root: &Path) -> Option<(String, bool)> {
    // Of this workspace itself: it may have been unpacked within another repository.
    if !root.join(".git").exists() {
        return None;
    }
    let commit = git(root, &["rev-parse", "HEAD"])?;
    let status = ["--no-optional-locks", "status", "--porcelain", "--"];
    let changed = git(root, &[&status[..], &digest::INPUTS[..]].concat())?;
    Some((commit, !changed.is_empty()))
}

fn git(root: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(root).args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn of_variables() -> Option<(String, bool)> {
    let mut values = COMMIT_VARIABLES.iter().filter_map(|name| env::var(name).ok());
    values.find(|value| !value.is_empty()).map(|commit| (commit, false))
}
