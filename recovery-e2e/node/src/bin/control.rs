//! `recovery-node-control`: the node with its control socket.
fn main() {}
