//! The inner process's tie to the outer one: a pipe on standard input.

use std::io::{ErrorKind, Read};
use std::thread;

/// Calls `cut` on a thread of its own when the outer process is gone, however it went, and `enter`
/// whenever it forwards that a person has pressed Enter.
///
/// # Errors
/// When the thread cannot be started.
pub fn watch(
    enter: impl Fn() + Send + 'static,
    cut: impl FnOnce() + Send + 'static,
) -> std::io::Result<()> {
    thread::Builder::new().name("lifeline".to_owned()).spawn(move || {
        let mut byte = [0];
        loop {
            match std::io::stdin().read(&mut byte) {
                Ok(0) => break,
                Ok(_) => enter(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        cut();
    })?;
    Ok(())
}
