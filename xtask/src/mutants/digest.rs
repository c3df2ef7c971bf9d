//! Digests of what a result depends on.

use anyhow::Context;
use camino::Utf8Path;
use xshell::{Shell, cmd};

use super::record::Build;

/// Hexadecimal digits of a digest that are kept.
const DIGITS: usize = 16;

/// The digests of the client that is served, and of the harness.
pub fn build(sh: &Shell, harness: &Utf8Path) -> anyhow::Result<Build> {
    Ok(Build { client: client(sh)?, harness: file(sh, harness)? })
}

/// The names and contents of all files below `static`, in one digest.
fn client(sh: &Shell) -> anyhow::Result<String> {
    let _web = sh.push_dir("recovery-e2e/web");
    let files = cmd!(sh, "find static -type f").quiet().read().context("find failed")?;
    let mut files: Vec<&str> = files.lines().collect();
    files.sort_unstable();
    let sums = cmd!(sh, "sha256sum {files...}").quiet().read().context("sha256sum failed")?;
    first(&cmd!(sh, "sha256sum").stdin(sums).quiet().read()?)
}

fn file(sh: &Shell, path: &Utf8Path) -> anyhow::Result<String> {
    first(&cmd!(sh, "sha256sum {path}").quiet().read().context("sha256sum failed")?)
}

fn first(sum: &str) -> anyhow::Result<String> {
    Ok(sum.get(..DIGITS).context("sha256sum printed no digest")?.to_owned())
}
