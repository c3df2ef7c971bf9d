//! Finding a browser: the first hit wins, and how it was found is told.

use std::env;

use anyhow::{Context, bail};
use camino::Utf8PathBuf;
use pico_args::Arguments;
use xshell::Shell;

use crate::install::{Installer, Missing, find, is_program};

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
pub enum Request {
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
    /// Takes `--browser` out of the arguments; `E2E_BROWSER` stands in for its absence.
    pub fn take(args: &mut Arguments) -> anyhow::Result<Request> {
        let flag: Option<String> = args.opt_value_from_str("--browser")?;
        let variable = env::var("E2E_BROWSER").ok().filter(|value| !value.is_empty());
        match (flag, variable) {
            (Some(value), _) => Request::parse(value, "--browser"),
            (None, Some(value)) => Request::parse(value, "E2E_BROWSER"),
            (None, None) => Ok(Request::Any),
        }
    }

    /// The browser to use.
    pub fn resolve(self, sh: &Shell, installer: Installer) -> anyhow::Result<Browser> {
        match self {
            Request::At { path, origin } => {
                if !is_program(&path) {
                    bail!(
                        "{origin} names {path}, which is no program that can be run; give the path of a Chromium"
                    );
                }
                Ok(Browser { path, origin })
            }
            Request::Any | Request::System => match on_path() {
                Some(path) => Ok(Browser { path, origin: "PATH" }),
                None => install(sh, installer),
            },
        }
    }

    fn parse(value: String, origin: &'static str) -> anyhow::Result<Request> {
        match value.as_str() {
            "system" => Ok(Request::System),
            "nix" => bail!(
                "{origin} asks for the browser pinned by Nix, which this checkout does not offer yet; \
                 use `system` or the path of a Chromium"
            ),
            _ => Ok(Request::At { path: value.into(), origin }),
        }
    }
}

fn install(sh: &Shell, installer: Installer) -> anyhow::Result<Browser> {
    let looked_for = ON_PATH.join(", ");
    installer.install(
        sh,
        &Missing {
            what: &format!("browser on PATH (looked for {looked_for})"),
            packages: &PACKAGES,
            elsewhere: "install Chromium or Chrome, or name one with --browser PATH or E2E_BROWSER",
        },
    )?;
    let path = on_path().with_context(|| {
        format!("apt installed {}, yet none of {looked_for} is on PATH", PACKAGES.join(" and "))
    })?;
    Ok(Browser { path, origin: "apt" })
}

fn on_path() -> Option<Utf8PathBuf> {
    ON_PATH.into_iter().find_map(find)
}
