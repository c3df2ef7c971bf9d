//! `cargo xtask e2e`: browser, build, then the harness in this command's own place.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;
use pico_args::Arguments;

use crate::browser::Request;
use crate::build;
use crate::install::Installer;

/// Subcommands of the harness that read files only.
const WITHOUT_BROWSER: [&str; 4] = ["list", "plan", "merge", "report"];

/// Replaces this process by the harness, so that signals and the exit code need no middleman.
pub fn run(mut args: Arguments) -> anyhow::Result<()> {
    let browser = Request::take(&mut args)?;
    let installer = Installer::take(&mut args);
    let args = args.finish();
    let sh = build::workspace_shell()?;
    let browser = if needs_browser(&args) { Some(browser.resolve(&sh, installer)?) } else { None };
    let built = build::node_and_harness(&sh)?;
    let mut harness = Command::new(&built.harness);
    harness.args(args).env("E2E_NODE", &built.node);
    if let Some(browser) = browser {
        harness.env("E2E_BROWSER", &browser.path).env("E2E_BROWSER_ORIGIN", browser.origin);
    }
    Err(harness.exec()).with_context(|| format!("{} does not start", built.harness))
}

fn needs_browser(args: &[OsString]) -> bool {
    let help = args.iter().any(|arg| arg == "-h" || arg == "--help" || arg == "--version");
    let reads_files_only =
        args.first().is_some_and(|first| WITHOUT_BROWSER.iter().any(|name| first == name));
    !help && !reads_files_only
}
