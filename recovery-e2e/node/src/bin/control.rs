//! `recovery-node-control`: the node with its control socket.

fn main() -> std::process::ExitCode {
    recovery_node::control::main()
}
