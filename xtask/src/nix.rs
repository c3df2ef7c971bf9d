//! The Nix of this machine, and the browser that the flake pins.

use std::fs;

use anyhow::{Context, bail, ensure};
use camino::Utf8PathBuf;
use xshell::{Cmd, Shell, cmd};

use crate::build;
use crate::install::{find, is_program};

/// The oldest Nix that can read the flake of the pinned nixpkgs.
const OLDEST: Version = Version { major: 2, minor: 18 };

/// Every command that reads a flake needs these, unless the configuration of Nix has them.
const FLAKES: [&str; 2] = ["--extra-experimental-features", "nix-command flakes"];

/// A version of Nix, without its patch level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    major: u32,
    minor: u32,
}

impl Version {
    /// Reads the answer to `nix --version`, such as `nix (Nix) 2.18.1`.
    fn parse(answer: &str) -> Option<Version> {
        let mut parts = answer.split_whitespace().last()?.split('.');
        Some(Version { major: parts.next()?.parse().ok()?, minor: leading(parts.next()?)? })
    }
}

/// The number that a text begins with: a pre-release is `2.32pre20250901`.
fn leading(text: &str) -> Option<u32> {
    text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A command of a Nix that can read the flake.
pub fn command<'a>(sh: &'a Shell, args: &[&str]) -> anyhow::Result<Cmd<'a>> {
    if find("nix").is_none() {
        bail!("nix is not on PATH; install Nix {OLDEST} or newer");
    }
    let answer = cmd!(sh, "nix --version").quiet().read().context("nix --version failed")?;
    let version = Version::parse(&answer)
        .with_context(|| format!("nix --version printed {answer:?}, which is not a version"))?;
    ensure!(version >= OLDEST, "this is Nix {version}; the flake needs {OLDEST} or newer");
    let features = FLAKES;
    Ok(cmd!(sh, "nix {features...} {args...}"))
}

/// The pinned Chromium. While the lock file is unchanged, the earlier result is used without
/// starting Nix; else Nix builds or downloads it.
pub fn chromium(sh: &Shell) -> anyhow::Result<Utf8PathBuf> {
    let folder = build::target_folder()?.join("nix");
    // The link is a root of Nix's garbage collector, which keeps its target.
    let (link, kept) = (folder.join("chromium"), folder.join("flake.lock"));
    let lock = sh.read_file("flake.lock").context("cannot read flake.lock")?;
    let program = || Some(link.read_link_utf8().ok()?.join("bin/chromium"));
    let is_cached = fs::read_to_string(&kept).is_ok_and(|kept| kept == lock);
    if is_cached && let Some(program) = program().filter(|path| is_program(path)) {
        return Ok(program);
    }
    let args = ["build", "--no-update-lock-file", "--out-link", link.as_str(), ".#chromium"];
    let build = command(sh, &args)?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {folder}"))?;
    eprintln!("xtask: Nix builds or downloads the pinned Chromium");
    build.quiet().run().context("Nix cannot build the pinned Chromium")?;
    let program = program().filter(|path| is_program(path));
    let program = program.with_context(|| format!("{link} has no bin/chromium"))?;
    fs::write(&kept, lock).with_context(|| format!("cannot write {kept}"))?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_every_make_are_read_and_compared() {
        for (answer, version) in [
            ("nix (Nix) 2.8.0", Some((2, 8))),
            ("nix (Nix) 2.18.1\n", Some((2, 18))),
            ("nix (Determinate Nix 3.6.2) 2.29.0", Some((2, 29))),
            ("nix (Nix) 2.32pre20250901_ab12", Some((2, 32))),
            ("nix (Lix, like Nix) 2.91.1", Some((2, 91))),
            ("nix (Nix) 3.0", Some((3, 0))),
            ("nix (Nix)", None),
            ("", None),
        ] {
            let version = version.map(|(major, minor)| Version { major, minor });
            assert_eq!(Version::parse(answer), version, "{answer:?}");
        }
        let version = |major, minor| Version { major, minor };
        assert!(version(2, 8) < OLDEST && version(2, 18) >= OLDEST && version(3, 0) > OLDEST);
    }
}
