//! Where tools of the node stop until a scenario lets them go on.

use std::net::Ipv4Addr;

use tokio::net::{TcpListener, TcpStream};

use crate::wait::{self, WaitTimeout};

/// A gate in the way of shell commands.
#[derive(Debug)]
pub struct ToolGate {
    listener: TcpListener,
    port: u16,
}

/// Commands that a gate holds at the same time. Dropped, they go on.
#[derive(Debug)]
#[must_use = "commands in a gate go on as soon as this is dropped"]
pub struct InGate(Vec<TcpStream>);

/// No gate, or no command that reached it.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// No port on the loopback interface, or none of its connections.
    #[error("a gate for tools: {0}; check that the loopback interface is up")]
    Socket(#[from] std::io::Error),
    /// Too few tools came.
    #[error("a gate for tools: {0}")]
    Wait(#[from] WaitTimeout),
}

impl ToolGate {
    /// A gate that holds any number of commands.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn new() -> Result<ToolGate, GateError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        Ok(ToolGate { listener, port })
    }

    /// A command of bash that ends when it is let go.
    pub fn command(&self) -> String {
        format!("exec 3<>/dev/tcp/127.0.0.1/{} && {{ read -r -u 3 || :; }}", self.port)
    }

    /// Waits until it holds `n` commands at the same time.
    ///
    /// # Errors
    /// When they do not come.
    pub async fn arrived(&self, n: usize) -> Result<InGate, GateError> {
        let mut standing = Vec::new();
        while standing.len() < n {
            let saw = format!("{} of them", standing.len());
            let next = self.listener.accept();
            let (stream, _) = wait::within(&format!("{n} tools in a gate"), next, || saw).await??;
            standing.push(stream);
        }
        Ok(InGate(standing))
    }
}

impl InGate {
    /// Lets them go on.
    pub fn release(self) {
        drop(self.0);
    }
}

#[cfg(test)]
mod tests {
    use tokio::process::Command;

    use super::*;

    #[tokio::test]
    async fn commands_stand_in_a_gate_together_until_they_are_let_go() {
        let gate = ToolGate::new().await.unwrap();
        let script = format!("{} && echo on", gate.command());
        let start = || Command::new("bash").args(["-c", &script]).output();
        let (first, second) = (tokio::spawn(start()), tokio::spawn(start()));
        let standing = gate.arrived(2).await.unwrap();
        assert!(!first.is_finished() && !second.is_finished());
        standing.release();
        for ended in [first, second] {
            assert_eq!(ended.await.unwrap().unwrap().stdout, b"on\n");
        }
    }
}
