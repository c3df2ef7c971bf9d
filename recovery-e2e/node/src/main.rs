//! `recovery-node`: the node as people run it.

fn main() -> std::process::ExitCode {
    recovery_node::cli::main()
}
