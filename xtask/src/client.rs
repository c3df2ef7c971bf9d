//! The checks of the browser client, which is plain ES modules: TypeScript reads its JSDoc types,
//! Node runs the unit tests of its pure parts. Neither is part of what the node serves.

use anyhow::Context;
use xshell::{Shell, cmd};

use crate::check;
use crate::install::{Installer, Missing, find};

const PROGRAMS: [&str; 2] = ["node", "npm"];

/// Debian packages of [`PROGRAMS`].
const PACKAGES: [&str; 2] = ["nodejs", "npm"];

/// Installs Node and npm if they are missing.
pub fn prepare(sh: &Shell, installer: Installer) -> anyhow::Result<()> {
    let missing = || PROGRAMS.into_iter().find(|program| find(program).is_none());
    if let Some(program) = missing() {
        installer.install(
            sh,
            &Missing {
                what: &format!("{program} on PATH; the checks of the browser client need it"),
                packages: &PACKAGES,
                elsewhere: "install Node 18.19 or newer, with npm",
            },
        )?;
    }
    match missing() {
        None => Ok(()),
        Some(program) => {
            anyhow::bail!("apt installed {}, but {program} is not on PATH", PACKAGES.join(" and "))
        }
    }
}

/// Fetches the pinned compiler if it is not in npm's cache, then checks types and runs the tests.
pub fn test(sh: &Shell) -> anyhow::Result<()> {
    let _web = sh.push_dir("recovery-e2e/web");
    fetch(sh, "TypeScript")?;
    check("client types", cmd!(sh, "node_modules/.bin/tsc --noEmit -p jsconfig.json"))?;
    check("client unit tests", cmd!(sh, "node --test --test-reporter=spec"))
}

/// Fetches what the lock file of the current folder pins, if it is not in npm's cache.
pub fn fetch(sh: &Shell, what: &str) -> anyhow::Result<()> {
    cmd!(sh, "npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error")
        .quiet()
        .ignore_stdout()
        .run()
        .with_context(|| {
            format!("npm cannot fetch the pinned {what}; check that its registry is reachable")
        })
}
