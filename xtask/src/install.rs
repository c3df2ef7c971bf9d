//! Programs that a command needs: found on PATH, or installed with apt if possible and allowed.

use std::env;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use pico_args::Arguments;
use xshell::{Shell, cmd};

/// Whether a missing program may be installed.
#[derive(Clone, Copy)]
pub struct Installer {
    allowed: bool,
}

/// A program that is missing, and how to get it.
pub struct Missing<'a> {
    /// What was looked for, as the end of "no …".
    pub what: &'a str,
    /// Debian packages that contain it.
    pub packages: &'a [&'a str],
    /// What to do without apt.
    pub elsewhere: &'a str,
}

impl Installer {
    /// Takes `--no-install` out of the arguments.
    pub fn take(args: &mut Arguments) -> Installer {
        Installer { allowed: !args.contains("--no-install") }
    }

    /// Installs what is missing, and prints that it does; if it may or can not, the error
    /// says how to.
    pub fn install(self, sh: &Shell, missing: &Missing<'_>) -> anyhow::Result<()> {
        let &Missing { what, packages, elsewhere } = missing;
        let by_hand = format!(
            "apt-get update && apt-get install -y --no-install-recommends {}",
            packages.join(" ")
        );
        if !self.allowed || !is_root() || find("apt-get").is_none() {
            bail!("no {what}.\nOn Debian, as root: {by_hand}\nElsewhere: {elsewhere}");
        }
        eprintln!(
            "xtask: no {what}; installing {} with apt (--no-install prevents this)",
            packages.join(" and ")
        );
        let _quiet = sh.push_env("DEBIAN_FRONTEND", "noninteractive");
        cmd!(sh, "apt-get update -qq")
            .run()
            .and_then(|()| {
                cmd!(sh, "apt-get install -y -qq --no-install-recommends {packages...}")
                    .ignore_stdout()
                    .run()
            })
            .with_context(|| format!("apt failed; try it by hand: {by_hand}"))
    }
}

/// The program of this name on PATH.
pub fn find(program: &str) -> Option<Utf8PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .filter_map(|folder| Utf8PathBuf::from_path_buf(folder.join(program)).ok())
        .find(|path| is_program(path))
}

/// Whether this is an executable file.
pub fn is_program(path: &Utf8Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The owner of a process's own folder in /proc is the user it runs as.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}
