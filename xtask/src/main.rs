//! Repository commands: `cargo xtask e2e` runs the end-to-end suite in a real browser, `cargo xtask
//! test` runs every check that a change must pass.

mod browser;
mod build;
mod ci;
mod client;
mod e2e;
mod flake_check;
mod install;
mod mutants;
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
  e2e          build the node and the harness, find a browser, and run the end-to-end suite;
               all ARGS are passed to the harness (`cargo xtask e2e --help` lists them)
  test         run all checks of a change: format, clippy, types and tests of the client, CI files,
               Rust tests, the end-to-end suite and its negative controls
  mutants      run the end-to-end scenarios on mutants of the client, and report which mutants they
               detect (`cargo xtask mutants --help`)
  pin          print the nixpkgs revision that flake.nix pins; `--bump` updates it to the newest of
               its branch
  flake-check  evaluate, build and run the flake offline, with a replacement for nixpkgs

Options of `e2e`, `test` and `mutants`:
  --browser nix|system|PATH  the browser to run [default: E2E_BROWSER, else the pinned one if Nix
                             is installed, else the first one on PATH]
  --require-pinned           fail unless the browser is the one that flake.nix pins
  --no-install               do not install missing programs with apt; print how to install them

Exit: 0 ok, 1 a check failed, 2 bad arguments or a broken environment.
";

/// Bad arguments or a broken environment, as opposed to a check that failed.
const EXIT_ENVIRONMENT: u8 = 2;

/// A check of this repository failed: the exit code is 1. Every other error exits with 2.
#[derive(Debug)]
struct CheckFailed {
    check: &'static str,
}

impl std::fmt::Display for CheckFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} failed; see the output above", self.check)
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
        Some("mutants") => mutants::run(args),
        Some("pin") => pin::run(args),
        Some("flake-check") => flake_check::run(args),
        None if args.contains(["-h", "--help"]) => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => anyhow::bail!("unknown command {other:?}\n\n{HELP}"),
        None => anyhow::bail!("a command is missing\n\n{HELP}"),
    }
}

/// Runs one check, and prints its name before and after it.
fn check(name: &'static str, command: Cmd<'_>) -> anyhow::Result<()> {
    eprintln!("xtask: {name}: {command}");
    let start = Instant::now();
    command.quiet().run().map_err(|_| CheckFailed { check: name })?;
    eprintln!("xtask: {name}: ok, {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}
