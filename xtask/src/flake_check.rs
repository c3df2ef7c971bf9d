//! `cargo xtask flake-check`: evaluates, builds and runs the flake with a replacement for
//! nixpkgs, without a network, without a daemon, and with any version of Nix.
//!
//! It checks the outputs of the flake. The download, the pinned hash and the packages of nixpkgs
//! need a network: the CI workflow checks them with the unchanged flake.

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use pico_args::Arguments;
use xshell::{Cmd, Shell, TempDir, cmd};

use crate::browser::Request;
use crate::install::{Installer, Missing, find};
use crate::{CheckFailed, build, check};

/// Deadline of one command of Nix, builds included, in seconds.
const LIMIT: &str = "3600";

/// Nix 2.8 has no flakes by default, and the builds share one target folder.
const NIX_CONF: &str = "\
experimental-features = nix-command flakes
sandbox = false
build-users-group =
substituters =
max-jobs = 1
";

pub fn run(mut args: Arguments) -> anyhow::Result<()> {
    let installer = Installer::take(&mut args);
    let rest = args.finish();
    anyhow::ensure!(rest.is_empty(), "`flake-check` has no such argument: {rest:?}");
    let sh = build::workspace_shell()?;
    if find("nix").is_none() {
        installer.install(
            &sh,
            &Missing { what: "nix on PATH", packages: &["nix-bin"], elsewhere: "install Nix" },
        )?;
    }
    let browser = Request::System.resolve(&sh, installer)?.path;
    // The offline builds of the flake use the target folder, which may be empty.
    build::node_and_harness(&sh)?;
    let unseen = cmd!(sh, "git ls-files --others --exclude-standard").quiet().read()?;
    if !unseen.is_empty() {
        eprintln!("xtask: the flake does not contain these untracked files:\n{unseen}");
    }

    let world = World::create(&sh, &browser)?;
    check("flake.nix parses", cmd!(sh, "nix-instantiate --parse flake.nix").ignore_stdout())?;
    check(
        "the lock file matches the flake",
        world.nix(&["flake", "metadata", "--offline", "--no-update-lock-file"]).ignore_stdout(),
    )?;
    check("outputs", world.flake(&["flake", "show"]))?;
    check(
        "the shell of a system without a browser",
        world.flake(&["eval", ".#devShells.aarch64-darwin.default.drvPath"]),
    )?;
    check("checks", world.flake(&["flake", "check", "--print-build-logs"]))?;
    check("package", world.flake(&["build", "--no-link", ".#e2e"]))?;

    let out = world.folder.join("out");
    let one = ["run", "--out", out.as_str(), "-s", "rewind-window"];
    check("nix run: list", world.e2e(&["list"]))?;
    check("nix run: a scenario", world.e2e(&one))?;
    check("nix run: its controls", world.e2e(&[&one[..], &["--controls"]].concat()))?;
    let defect = world.folder.join("defect.json");
    sh.write_file(&defect, DEFECT)?;
    ends_with(
        1,
        "nix run: a scenario under a defect",
        world.e2e(&[&one[..], &["--defect", defect.as_str()]].concat()),
    )?;
    ends_with(2, "nix run: no such scenario", world.e2e(&["run", "-s", "no-such-scenario"]))?;
    check("the lock file is unchanged", cmd!(sh, "git diff --exit-code flake.lock"))
}

/// The defect of a control of `rewind-window`, under which it fails.
const DEFECT: &str = r#"[{"asset": "/static/recovery/gate.js",
    "find": "return state.busy || state.latch;", "replace": "return state.busy;"}]"#;

/// As [`check`], for a command that has to exit with this code.
fn ends_with(code: i32, name: &'static str, command: Cmd<'_>) -> anyhow::Result<()> {
    eprintln!("xtask: {name}: {command}");
    let status = command.quiet().ignore_status().output()?.status;
    if status.code() != Some(code) {
        eprintln!("xtask: {name}: expected exit code {code}, got {status}");
        return Err(CheckFailed { check: name }.into());
    }
    eprintln!("xtask: {name}: ok, exit code {code}");
    Ok(())
}

/// A separate Nix: its store and its configuration are in a temporary folder.
struct World<'a> {
    sh: &'a Shell,
    folder: Utf8PathBuf,
    environment: Vec<(&'static str, String)>,
    /// The flags that replace the pinned nixpkgs.
    flags: Vec<String>,
    _temp: TempDir,
}

impl<'a> World<'a> {
    fn create(sh: &'a Shell, browser: &Utf8Path) -> anyhow::Result<World<'a>> {
        let temp = sh
            .create_temp_dir()
            .context("cannot create a temporary folder; check that TMPDIR is writable")?;
        let folder = Utf8PathBuf::try_from(temp.path().to_owned())?;
        let below = |name: &str| folder.join(name).into_string();
        sh.write_file(below("conf/nix.conf"), NIX_CONF)?;
        let home = std::env::var("HOME").context("HOME is not set")?;
        let of_home = |name: &str, folder: &str| {
            std::env::var(name).unwrap_or_else(|_| format!("{home}/{folder}"))
        };
        let environment = vec![
            ("NIX_STORE_DIR", below("store")),
            ("NIX_STATE_DIR", below("state")),
            ("NIX_LOG_DIR", below("log")),
            ("NIX_CONF_DIR", below("conf")),
            ("NIX_REMOTE", String::new()),
            ("XDG_CACHE_HOME", below("cache")),
            // The builds of the replacement use nothing else of this machine.
            ("FLAKE_CHECK_PATH", std::env::var("PATH").context("PATH is not set")?),
            ("FLAKE_CHECK_CARGO_HOME", of_home("CARGO_HOME", ".cargo")),
            ("FLAKE_CHECK_RUSTUP_HOME", of_home("RUSTUP_HOME", ".rustup")),
            ("FLAKE_CHECK_TARGET", build::target_folder()?.into_string()),
            ("FLAKE_CHECK_BROWSER", browser.to_string()),
        ];
        let root = sh.current_dir();
        let stand_in = format!("path:{}/ci/nixpkgs-offline", root.display());
        let flags = ["--offline", "--impure", "--no-write-lock-file"];
        let flags = flags.into_iter().chain(["--override-input", "nixpkgs", &stand_in]);
        let flags = flags.map(str::to_owned).collect();
        Ok(World { sh, folder, environment, flags, _temp: temp })
    }

    /// A command of Nix that reads the flake.
    fn flake(&self, args: &[&str]) -> Cmd<'a> {
        self.nix(args).args(&self.flags)
    }

    /// `nix run .#e2e -- ARGS`.
    fn e2e(&self, args: &[&str]) -> Cmd<'a> {
        self.flake(&["run", ".#e2e"]).arg("--").args(args)
    }

    fn nix(&self, args: &[&str]) -> Cmd<'a> {
        let environment = self.environment.iter().map(|(name, value)| (name, value));
        cmd!(self.sh, "timeout --kill-after=10 {LIMIT} nix {args...}").envs(environment)
    }
}

impl Drop for World<'_> {
    fn drop(&mut self) {
        // Nix makes its store read-only, and a read-only folder cannot be removed.
        let folder = &self.folder;
        if let Err(error) = cmd!(self.sh, "chmod -R u+w {folder}").quiet().run() {
            eprintln!("xtask: cannot remove {folder}: {error}");
        }
    }
}
