//! Building the node and the harness, always with the same features, so that nothing is
//! compiled twice.

use std::env;

use anyhow::Context;
use camino::Utf8PathBuf;
use xshell::{Shell, cmd};

/// What `e2e` starts.
pub struct Built {
    pub node: Utf8PathBuf,
    pub harness: Utf8PathBuf,
}

/// The features that every build, check and test of the workspace has in common.
pub const FEATURES: [&str; 2] = ["--features", "recovery-node/control"];

/// The cargo that runs this command.
pub fn cargo() -> String {
    env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// A shell at the root of the workspace.
pub fn workspace_shell() -> anyhow::Result<Shell> {
    let sh = Shell::new()?;
    let manifest = Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    sh.change_dir(manifest.parent().context("the manifest folder of xtask has no parent")?);
    Ok(sh)
}

/// Builds the node with its control socket, and the harness.
pub fn node_and_harness(sh: &Shell) -> anyhow::Result<Built> {
    let cargo = cargo();
    let features = FEATURES;
    cmd!(
        sh,
        "{cargo} build --locked --workspace --bin recovery-node-control --bin recovery-e2e {features...}"
    )
    .quiet()
    .run()
    .context("the build of the node and the harness failed")?;
    let folder = own_folder()?;
    Ok(Built { node: folder.join("recovery-node-control"), harness: folder.join("recovery-e2e") })
}

/// Cargo's target folder.
pub fn target_folder() -> anyhow::Result<Utf8PathBuf> {
    Ok(own_folder()?.parent().context("the folder of the xtask binary has no parent")?.to_owned())
}

/// The folder of the xtask binary, and of all that is built with the same profile.
fn own_folder() -> anyhow::Result<Utf8PathBuf> {
    let own = Utf8PathBuf::try_from(
        env::current_exe().context("the path of the xtask binary is unknown")?,
    )?;
    Ok(own.parent().context("the xtask binary has no parent folder")?.to_owned())
}
