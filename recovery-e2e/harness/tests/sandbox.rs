//! A browser that cannot have its sandbox on this machine.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use recovery_e2e::os::children::Children;
use recovery_e2e::record::settings::Sandbox;
use recovery_e2e::redact::Redactor;
use recovery_e2e::run::preflight::{PreflightError, Probed, probe};

/// Probes a program that says so and ends where `--no-sandbox` is missing, and otherwise does `then`.
async fn probed(best: Sandbox, then: &str) -> Result<Probed, PreflightError> {
    let folder = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(folder.path()).unwrap();
    let program = folder.join("browser");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--no-sandbox*) {then} ;; esac\necho No usable sandbox >&2\nexit 1\n"
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    probe(&program, best, folder, &Redactor::default(), &Children::new().unwrap()).await
}

fn browser() -> Utf8PathBuf {
    std::env::var("E2E_BROWSER").expect("E2E_BROWSER names a browser").into()
}

#[tokio::test]
#[ignore = "it needs a browser; `cargo xtask test` runs it"]
async fn a_browser_that_is_refused_its_sandbox_runs_without_it_and_that_is_known() {
    let then = format!("exec {} \"$@\"", browser());
    let Probed { version, sandbox } = probed(Sandbox::On, &then).await.unwrap();
    assert_eq!(sandbox, Sandbox::OffForMachine);
    assert!(version.contains("Chrome/"), "{version}");
    assert_eq!(probed(Sandbox::OffForRoot, &then).await.unwrap().sandbox, Sandbox::OffForRoot);
}

#[tokio::test]
async fn what_is_no_browser_either_way_is_told_as_it_was_at_first() {
    let error = probed(Sandbox::On, "echo something else >&2; exit 1").await.unwrap_err();
    assert!(error.to_string().contains("No usable sandbox"), "{error}");
}
