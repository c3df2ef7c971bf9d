//! `cargo xtask e2e`: finds the browser, builds, then replaces itself with the harness.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;
use pico_args::Arguments;

use crate::browser::Request;
use crate::build;
use crate::install::Installer;

/// What `cargo xtask e2e --help` prints before the help of the harness.
const HELP: &str = "\
Usage: cargo xtask e2e [XTASK OPTIONS] [HARNESS COMMAND] [HARNESS OPTIONS]

Builds the node and the harness, finds a browser, and starts the harness, which runs the end-to-end
suite. Without a command the harness runs all scenarios.

Options of xtask:
  --browser nix|system|PATH  the browser to run: the one that flake.nix pins, the first one on PATH,
                             or this program [default: E2E_BROWSER, else nix if Nix is installed,
                             else system]
  --require-pinned           fail unless the browser is the one that flake.nix pins [default: off]
  --no-install               do not install missing programs with apt; print how to install them
                             [default: off; only root on Debian installs anything]

Examples:
  cargo xtask e2e                                           # all scenarios
  cargo xtask e2e list                                      # print the scenarios and their controls
  cargo xtask e2e -s rewind-window                          # one scenario
  cargo xtask e2e -s 'rewind-*' --repeat-each 20            # several scenarios, 20 times each
  cargo xtask e2e --controls                                # the negative controls
  cargo xtask e2e --last-failed                             # only what was bad in the last run
  cargo xtask e2e --seed 7                                  # the random choices of an earlier run
  cargo xtask e2e repeat target/e2e/scenarios/restart       # re-run one case as it was
  cargo xtask e2e -s restart --pause-on-failure             # keep a bad case open
  cargo xtask e2e -s restart --defect defect.json           # with a defect in the client
  cargo xtask e2e --shard 2/4 --out shard-2                 # one part of four
  cargo xtask e2e merge shard-* --out whole                 # join the parts
  cargo xtask e2e --browser /usr/bin/chromium --no-install  # this browser, and install nothing

The options of the harness (xtask takes --browser, and sets --browser and --node of the harness):

";

/// Subcommands of the harness that read files only.
const WITHOUT_BROWSER: [&str; 4] = ["list", "plan", "merge", "report"];

/// Replaces this process by the harness, so that the harness gets the signals and its exit code is
/// the exit code of the command.
pub fn run(mut args: Arguments) -> anyhow::Result<()> {
    let browser = Request::take(&mut args)?;
    let installer = Installer::take(&mut args);
    let args = args.finish();
    if asks_for_help(&args) {
        print!("{HELP}");
        std::io::stdout().flush()?;
    }
    let sh = build::workspace_shell()?;
    let browser = if needs_browser(&args) { Some(browser.resolve(&sh, installer)?) } else { None };
    let built = build::node_and_harness(&sh)?;
    let mut harness = Command::new(&built.harness);
    harness.args(args).env("E2E_NODE", &built.node);
    if let Some(browser) = browser {
        harness.env("E2E_BROWSER", &browser.path).env("E2E_BROWSER_ORIGIN", browser.origin);
    }
    Err(harness.exec()).with_context(|| format!("{} cannot be started", built.harness))
}

fn asks_for_help(args: &[OsString]) -> bool {
    args.first().is_some_and(|first| first == "help")
        || args.iter().any(|arg| arg == "-h" || arg == "--help")
}

fn needs_browser(args: &[OsString]) -> bool {
    let version = args.iter().any(|arg| arg == "--version" || arg == "-V");
    let reads_files_only =
        args.first().is_some_and(|first| WITHOUT_BROWSER.iter().any(|name| first == name));
    !asks_for_help(args) && !version && !reads_files_only
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_a_version_and_commands_that_read_files_need_no_browser() {
        for (args, needed) in [
            (&[][..], true),
            (&["run", "-s", "list"], true),
            (&["serve"], true),
            (&["list", "--format", "json"], false),
            (&["merge", "a", "b"], false),
            (&["run", "--help"], false),
            (&["help", "run"], false),
            (&["-V"], false),
        ] {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            assert_eq!(needs_browser(&args), needed, "{args:?}");
        }
    }
}
