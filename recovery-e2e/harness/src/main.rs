//! The `recovery-e2e` command.
fn main() {}
