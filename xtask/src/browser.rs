//! Finding a browser: the first match is used, and its origin is passed on to the report.

use std::env;

use anyhow::{Context, bail};
use camino::Utf8PathBuf;
use pico_args::Arguments;
use xshell::Shell;

use crate::install::{Installer, Missing, find, is_program};
use crate::nix;

/// Programs on PATH that have the DevTools protocol, the fastest to start first.
const ON_PATH: [&str; 6] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
];

/// Debian packages: the headless shell is the smallest browser; without a font no text is drawn.
const PACKAGES: [&str; 2] = ["chromium-headless-shell", "fonts-dejavu-core"];

/// Which browser the caller wants.
#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    /// The pinned one if Nix is installed, else one of this machine.
    Any,
    /// Only the one that the flake pins.
    Pinned,
    /// A browser of this machine, even if Nix is installed.
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
    /// Takes `--browser` and `--require-pinned` out of the arguments; without the first,
    /// `E2E_BROWSER` is used.
    pub fn take(args: &mut Arguments) -> anyhow::Result<Request> {
        let flag: Option<String> = args.opt_value_from_str("--browser")?;
        let variable = env::var("E2E_BROWSER").ok().filter(|value| !value.is_empty());
        Request::of(flag, variable, args.contains("--require-pinned"))
    }

    fn of(
        flag: Option<String>,
        variable: Option<String>,
        require_pinned: bool,
    ) -> anyhow::Result<Request> {
        let request = match (flag, variable) {
            (Some(value), _) => Request::parse(value, "--browser"),
            (None, Some(value)) => Request::parse(value, "E2E_BROWSER"),
            (None, None) => Request::Any,
        };
        match request {
            Request::Any if require_pinned => Ok(Request::Pinned),
            Request::System | Request::At { .. } if require_pinned => bail!(
                "--require-pinned needs the browser that flake.nix pins, but --browser or E2E_BROWSER \
                 is set to another; leave one of them out"
            ),
            request => Ok(request),
        }
    }

    /// The browser to use.
    pub fn resolve(self, sh: &Shell, installer: Installer) -> anyhow::Result<Browser> {
        match self {
            Request::At { path, origin } => {
                if !is_program(&path) {
                    bail!(
                        "{origin} is {path}, which is not an executable file; give the path of a Chromium"
                    );
                }
                Ok(Browser { path, origin })
            }
            Request::Pinned => pinned(sh),
            Request::Any if find("nix").is_some() => pinned(sh).or_else(|error| {
                eprintln!("xtask: {error:#}; using a browser of this machine instead");
                system(sh, installer)
            }),
            Request::Any | Request::System => system(sh, installer),
        }
    }

    fn parse(value: String, origin: &'static str) -> Request {
        match value.as_str() {
            "system" => Request::System,
            "nix" => Request::Pinned,
            _ => Request::At { path: value.into(), origin },
        }
    }
}

fn pinned(sh: &Shell) -> anyhow::Result<Browser> {
    let path = nix::chromium(sh).context("the pinned browser is not available")?;
    Ok(Browser { path, origin: "nix" })
}

fn system(sh: &Shell, installer: Installer) -> anyhow::Result<Browser> {
    match on_path() {
        Some(path) => Ok(Browser { path, origin: "PATH" }),
        None => install(sh, installer),
    }
}

fn install(sh: &Shell, installer: Installer) -> anyhow::Result<Browser> {
    let looked_for = ON_PATH.join(", ");
    installer.install(
        sh,
        &Missing {
            what: &format!("browser on PATH (looked for {looked_for})"),
            packages: &PACKAGES,
            elsewhere: "install Chromium or Chrome, or give its path with --browser or E2E_BROWSER",
        },
    )?;
    let path = on_path().with_context(|| {
        format!("apt installed {}, but none of {looked_for} is on PATH", PACKAGES.join(" and "))
    })?;
    Ok(Browser { path, origin: "apt" })
}

fn on_path() -> Option<Utf8PathBuf> {
    ON_PATH.into_iter().find_map(find)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_beats_the_variable_and_only_the_pinned_browser_can_be_required() {
        let at = |path: &str, origin| Some(Request::At { path: path.into(), origin });
        for (flag, variable, required, request) in [
            (None, None, false, Some(Request::Any)),
            (None, None, true, Some(Request::Pinned)),
            (Some("nix"), Some("/b"), true, Some(Request::Pinned)),
            (Some("system"), Some("nix"), false, Some(Request::System)),
            (Some("/a"), Some("/b"), false, at("/a", "--browser")),
            (None, Some("/b"), false, at("/b", "E2E_BROWSER")),
            (None, Some("nix"), false, Some(Request::Pinned)),
            (Some("system"), None, true, None),
            (None, Some("/b"), true, None),
        ] {
            let own = |text: Option<&str>| text.map(str::to_owned);
            let found = Request::of(own(flag), own(variable), required).ok();
            assert_eq!(found, request, "{flag:?} {variable:?} {required}");
        }
    }
}
