//! A build without the feature `control` has nothing of it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]
#![cfg(feature = "control")]

use std::path::Path;
use std::process::Command;

const CONTROL: &str = env!("CARGO_BIN_EXE_recovery-node-control");

/// What the control socket and the faults behind it are called.
const TRACES: [&str; 6] = [
    "control-socket",
    "/hold/load",
    "/release/load",
    "/counters",
    "/defect",
    "flight-key-without-generation",
];

fn traces(binary: &Path) -> Vec<&'static str> {
    let bytes = std::fs::read(binary).unwrap();
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    TRACES.into_iter().filter(|text| has(text)).collect()
}

fn help(binary: &Path) -> String {
    let output = Command::new(binary).args(["serve", "--help"]).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Its own binary, since it replaces `recovery-node`: tests beside it would start either.
#[test]
#[ignore = "it builds the node once more; `cargo xtask test` runs it"]
fn a_plain_node_has_no_trace_of_the_control_socket() {
    let profile = Path::new(CONTROL).parent().unwrap();
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--workspace", "--bin", "recovery-node"])
        .arg("--target-dir")
        .arg(profile.parent().unwrap())
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .status();
    assert!(built.unwrap().success());
    let plain = profile.join("recovery-node");
    assert_eq!(traces(&plain), [""; 0]);
    assert!(!help(&plain).contains("control"));
    // The check itself can fail.
    assert_eq!(traces(Path::new(CONTROL)), TRACES);
    assert!(help(Path::new(CONTROL)).contains("control-socket"));
}
