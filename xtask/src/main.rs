//! Repository commands: `cargo xtask e2e` proves recovery in a real browser, `cargo xtask test`
//! runs every check that a change must pass.

mod browser;
mod build;
mod ci;
mod client;
mod e2e;
mod flake_check;
mod install;
mod nix;
mod pin;
mod test;

use std::process::ExitCode;
use std::time::Instant;

use pico_args::Arguments;
use xshell::Cmd;

const HELP: &str = "\
Usage: cargo xtask <COMMAND> [OPTIONS] [ARGS]

Commands:
  e2e    find a browser, build the node and the harness, run the harness with all further ARGS
         (`cargo xtask e2e --help` shows what it takes)
  test   format, clippy, the client's types and tests, the files for CI, unit and wire tests, then
         the e2e suite and its negative controls
  pin    show the nixpkgs that the flake pins; `--bump` takes its branch's newest
  flake-check
         evaluate, build and run the flake without a network, over a stand-in for nixpkgs

Options of `e2e` and `test`:
  --browser nix|system|PATH  the browser to drive (also: E2E_BROWSER); without it the pinned one
                             where Nix brings it, else the first found
  --require-pinned           no browser but the one that the flake pins
  --no-install               never install anything, say how to get it instead

Exit: 0 all as it should be, 1 a check failed, 2 bad arguments or a broken environment.
";

/// Bad arguments or a broken environment, as opposed to a check that failed.
const EXIT_ENVIRONMENT: u8 = 2;

/// A check of this repository failed: the answer is 1, everything else that goes wrong is 2.
#[derive(Debug)]
struct CheckFailed {
    check: &'static str,
}

impl std::fmt::Display for CheckFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} failed: what is wrong stands above", self.check)
    }
}

impl std::error::Error for CheckFailed {}

fn main() -> ExitCode {
    match run(Arguments::from_env()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            match error.downcast_ref::<CheckFailed>() {
                Some(_) => ExitCode::FAILURE,
                None => ExitCode::from(EXIT_ENVIRONMENT),
            }
        }
    }
}

fn run(mut args: Arguments) -> anyhow::Result<()> {
    match args.subcommand()?.as_deref() {
        Some("e2e") => e2e::run(args),
        Some("test") => test::run(args),
        Some("pin") => pin::run(args),
        Some("flake-check") => flake_check::run(args),
        None if args.contains(["-h", "--help"]) => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => anyhow::bail!("no command {other:?}\n\n{HELP}"),
        None => anyhow::bail!("a command is missing\n\n{HELP}"),
    }
}

/// Runs one check, and says before and after it what it was.
fn check(name: &'static str, command: Cmd<'_>) -> anyhow::Result<()> {
    eprintln!("xtask: {name}: {command}");
    let start = Instant::now();
    command.quiet().run().map_err(|_| CheckFailed { check: name })?;
    eprintln!("xtask: {name}: as it should be, {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}
