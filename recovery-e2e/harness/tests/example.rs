//! The scenario that docs/writing-a-scenario.md shows proves what it says, and can fail.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use support::{Harness, Scratch};

#[test]
#[ignore = "needs a browser: cargo xtask test"]
fn the_documented_example_is_ready_and_its_control_is_noticed() {
    for args in [&["--torture", "-s", "refused-send"][..], &["--torture", "--controls"]] {
        let scratch = Scratch::new();
        let run = Harness::run(&scratch, args).output().unwrap();
        let printed = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{args:?}: {printed}");
        assert!(printed.contains("1 passed, 0 failed"), "{args:?}: {printed}");
    }
}
