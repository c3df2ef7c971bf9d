//! `cargo xtask pin`: prints the nixpkgs that the flake pins, or updates it.

use anyhow::{Context, ensure};
use pico_args::Arguments;
use xshell::{Shell, cmd};

use crate::{build, nix};

/// The only input of the lock file.
#[derive(Debug, PartialEq, Eq)]
struct Pin<'a> {
    branch: &'a str,
    revision: &'a str,
    hash: &'a str,
    /// Seconds since 1970.
    time: &'a str,
}

/// Prints the pin; `--bump` first updates it to the head of its branch, which needs a network.
pub fn run(mut args: Arguments) -> anyhow::Result<()> {
    let bump = args.contains("--bump");
    let rest = args.finish();
    ensure!(rest.is_empty(), "`pin` has no such argument: {rest:?}");
    let sh = build::workspace_shell()?;
    if bump {
        nix::command(&sh, &["flake", "update"])?
            .quiet()
            .run()
            .context("nix flake update failed; flake.lock is unchanged")?;
    }
    show(&sh)?;
    if bump {
        eprintln!("xtask: run `cargo xtask e2e --require-pinned`, then commit flake.lock");
    }
    Ok(())
}

fn show(sh: &Shell) -> anyhow::Result<()> {
    let lock = sh.read_file("flake.lock").context("cannot read flake.lock")?;
    let Pin { branch, revision, hash, time } = pin(&lock).context(
        "flake.lock does not have exactly one pinned input; run `cargo xtask pin --bump`",
    )?;
    let day = cmd!(sh, "date --utc --date=@{time} +%F").quiet().read()?;
    println!("nixpkgs {branch} of {day}\nrevision {revision}\nhash {hash}");
    // The lock file does not contain the browser's version; only Nix has it.
    match nix::chromium(sh) {
        Ok(browser) => {
            let version = cmd!(sh, "{browser} --version").quiet().read()?;
            println!("browser {version}, {browser}");
        }
        Err(error) => println!("browser not available: {error:#}"),
    }
    Ok(())
}

/// Reads the lock file as Nix lays it out; none when it has not exactly one pinned input.
fn pin(lock: &str) -> Option<Pin<'_>> {
    let only = |name: &str| {
        let mut values = lock.lines().filter_map(|line| {
            let (key, value) = line.trim().trim_end_matches(',').split_once(": ")?;
            (key.trim_matches('"') == name).then_some(value.trim_matches('"'))
        });
        values.next().filter(|_| values.next().is_none())
    };
    Some(Pin {
        branch: only("ref")?,
        revision: only("rev")?,
        hash: only("narHash")?,
        time: only("lastModified")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = include_str!("../../flake.lock");

    #[test]
    fn the_lock_file_pins_one_input_on_the_branch_that_the_flake_names() {
        let pin = pin(LOCK).unwrap();
        assert_eq!(pin.revision.len(), 40);
        assert!(pin.hash.starts_with("sha256-"));
        let url = format!("\"github:NixOS/nixpkgs/{}\"", pin.branch);
        assert!(include_str!("../../flake.nix").contains(&url), "{url}");
    }

    #[test]
    fn a_lock_file_with_another_number_of_inputs_is_refused() {
        let twice = LOCK.replace("\"rev\"", "\"rev\": \"0\",\n\"rev\"");
        assert_eq!(pin(&twice), None);
        assert_eq!(pin(&LOCK.replace("narHash", "hash")), None);
        assert_eq!(pin(""), None);
    }
}
