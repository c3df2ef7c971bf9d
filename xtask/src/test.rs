//! `cargo xtask test`: every check that a change must pass, the cheapest first.

use pico_args::Arguments;
use xshell::cmd;

use crate::browser::Request;
use crate::install::Installer;
use crate::{build, check, ci, client};

pub fn run(mut args: Arguments) -> anyhow::Result<()> {
    let browser = Request::take(&mut args)?;
    let installer = Installer::take(&mut args);
    let rest = args.finish();
    anyhow::ensure!(rest.is_empty(), "`test` has no such argument: {rest:?}");

    let sh = build::workspace_shell()?;
    let cargo = build::cargo();
    let features = build::FEATURES;
    client::prepare(&sh, installer)?;
    let browser = browser.resolve(&sh, installer)?;
    check("format", cmd!(sh, "{cargo} fmt --all --check"))?;
    check(
        "clippy",
        cmd!(
            sh,
            "{cargo} clippy --locked --workspace --all-targets {features...} -- --deny warnings"
        ),
    )?;
    client::test(&sh)?;
    ci::test(&sh)?;
    let built = build::node_and_harness(&sh)?;
    let _node = sh.push_env("E2E_NODE", &built.node);
    let _browser = sh.push_env("E2E_BROWSER", &browser.path);
    let _origin = sh.push_env("E2E_BROWSER_ORIGIN", browser.origin);
    // The tests that plain `cargo test` ignores need the browser and the node.
    check(
        "Rust tests",
        cmd!(
            sh,
            "{cargo} test --locked --no-fail-fast --workspace {features...} -- --include-ignored"
        ),
    )?;
    let harness = &built.harness;
    check("e2e suite", cmd!(sh, "{harness} run --out target/e2e"))?;
    check("negative controls", cmd!(sh, "{harness} run --controls --out target/e2e-controls"))
}
