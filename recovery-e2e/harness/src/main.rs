//! The `recovery-e2e` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    recovery_e2e::main()
}
