//! `recovery-node`: the node as people run it.
fn main() {}
