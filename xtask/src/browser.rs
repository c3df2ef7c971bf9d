//! Finding a browser: the first hit wins, and how it was found is told.

use std::env;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, bail};
use camino::{Utf8Path, Utf8PathBuf};
use pico_args::Arguments;
use xshell::{Shell, cmd};

/// Programs on PATH that speak the DevTools protocol, the cheapest to start first.
const ON_PATH: [&str; 6] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// Debian's packages: the shell is the smallest browser there, and without a font text is boxes.
const PACKAGES: [&str; 2] = ["chromium-headless-shell", "fonts-dejavu-core"];

/// What the caller asked for.
pub struct Request {
    wanted: Wanted,
    may_install: bool,
}

enum Wanted {
    /// Whatever is found first.
    Any,
    /// A browser of this machine, even where a pinned one could be had.
    System,
    /// This program.
    At { path: Utf8PathBuf, origin: &'static str },
}

/// A browser, and how it was found.
pub struct Browser {
    pub path: Utf8PathBuf,
    pub origin: &'static str,
}

impl Request {
    /// Takes `--browser` and `--no-install` out of the arguments; `E2E_BROWSER` stands in for an
    /// absent `--browser`.
    pub fn take(args: &mut Arguments) -> anyhow::Result<Request> {
        let flag: Option<String> = args.opt_value_from_str("--browser")?;
        let variable = env::var("E2E_BROWSER").ok().filter(|value| !value.is_empty());
        let wanted = match (flag, variable) {
            (Some(value), _) => Wanted::parse(value, "--browser")?,
            (None, Some(value)) => Wanted::parse(value, "E2E_BROWSER")?,
            (None, None) => Wanted::Any,
        };
        Ok(Request { wanted, may_install: !args.contains("--no-install") })
    }

    /// The browser to use.
    pub fn resolve(self, sh: &Shell) -> anyhow::Result<Browser> {
        match self.wanted {
            Wanted::At { path, origin } => {
                if !is_program(&path) {
                    bail!(
                        "{origin} names {path}, which is no program that can be run; give the path of a Chromium"
                    );
                }
                Ok(Browser { path, origin })
            }
            Wanted::Any | Wanted::System => match on_path() {
                Some(path) => Ok(Browser { path, origin: "PATH" }),
                None => self.install(sh),
            },
        }
    }

    fn install(self, sh: &Shell) -> anyhow::Result<Browser> {
        let packages = PACKAGES;
        let by_hand = format!(
            "apt-get update && apt-get install -y --no-install-recommends {}",
            packages.join(" ")
        );
        let looked_for = ON_PATH.join(", ");
        if !self.may_install || !is_root() || find("apt-get").is_none() {
            bail!(
                "no browser: none of {looked_for} is on PATH.\n\
                 On Debian, as root: {by_hand}\n\
                 Elsewhere: install Chromium or Chrome, or name one with --browser PATH or E2E_BROWSER"
            );
        }
        eprintln!(
            "xtask: no browser on PATH, so installing Debian's {} by apt (--no-install refuses)",
            packages.join(" and ")
        );
        let quiet = sh.push_env("DEBIAN_FRONTEND", "noninteractive");
        cmd!(sh, "apt-get update -qq")
            .run()
            .and_then(|()| {
                cmd!(sh, "apt-get install -y -qq --no-install-recommends {packages...}")
                    .ignore_stdout()
                    .run()
            })
            .with_context(|| format!("no browser could be installed; try by hand: {by_hand}"))?;
        drop(quiet);
        let path = on_path().with_context(|| {
            format!("apt installed {}, yet none of {looked_for} is on PATH", packages.join(" "))
        })?;
        Ok(Browser { path, origin: "apt" })
    }
}

impl Wanted {
    fn parse(value: String, origin: &'static str) -> anyhow::Result<Wanted> {
        match value.as_str() {
            "system" => Ok(Wanted::System),
            "nix" => bail!(
                "{origin} asks for the browser pinned by Nix, which this checkout does not offer yet; \
                 use `system` or the path of a Chromium"
            ),
            _ => Ok(Wanted::At { path: value.into(), origin }),
        }
    }
}

fn on_path() -> Option<Utf8PathBuf> {
    ON_PATH.into_iter().find_map(find)
}

fn find(program: &str) -> Option<Utf8PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .filter_map(|folder| Utf8PathBuf::from_path_buf(folder.join(program)).ok())
        .find(|path| is_program(path))
}

fn is_program(path: &Utf8Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The owner of a process's own folder in /proc is the user it runs as.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}
