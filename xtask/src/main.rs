//! Repository commands: `cargo xtask e2e` and `cargo xtask test`.
fn main() {}
