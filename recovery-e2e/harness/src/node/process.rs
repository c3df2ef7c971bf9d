//! The node under test: its process, its data folder, and its wire.

use std::net::SocketAddr;
use std::process::ExitStatus;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::os::children::Children;
use crate::os::log::{LogError, LogFile};
use crate::os::process::Process;
use crate::redact::Redactor;
use crate::wait::{self, WaitTimeout};

/// The time between the numbers that a node publishes on the global lane by itself: longer than any
/// scenario, since each would give a dashboard a cursor at a moment of no scenario's choice.
const AGGREGATE: &str = "--aggregate=1h";

/// How long a node may take to end after SIGTERM.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// A node that does not do what a node does.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The program could not be started at all.
    #[error("{program} does not start: {source}; build it, or name another with --node")]
    Start {
        /// The program.
        program: Utf8PathBuf,
        /// What the kernel says.
        source: std::io::Error,
    },
    /// It ended, or closed its standard output, before it printed its address.
    #[error(
        "{program} is not a node: it ended before it printed its address, and said {said:?}; \
         name a recovery-node-control with --node"
    )]
    NoAddress {
        /// The program.
        program: Utf8PathBuf,
        /// The last lines that it printed.
        said: String,
    },
    /// A condition of the node that was not met.
    #[error("the node: {0}")]
    Wait(#[from] WaitTimeout),
    /// Its log could not be written.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// What a node prints when it listens.
#[derive(Debug, Deserialize)]
struct Listening {
    address: SocketAddr,
    login_url: String,
}

/// How a node is started, the first time and every time after.
pub struct NodeConfig {
    /// The program, a `recovery-node-control`.
    pub program: Utf8PathBuf,
    /// A folder of this node's own, for its data and its control socket.
    pub folder: Utf8PathBuf,
    /// The origin by which the browser knows it.
    pub public_origin: String,
    /// The range of the retry that it sends to event sources, in milliseconds; none for its own.
    pub retry_ms: Option<&'static str>,
    /// Where its log goes, one start after the other.
    pub log: LogFile,
    /// Learns the node's token.
    pub redactor: Redactor,
    /// What it is a child of.
    pub children: Children,
}

/// A running node. Dropping it kills all of its processes.
pub struct Node {
    process: Process,
    address: SocketAddr,
    login: LoginUrl,
    control_socket: Utf8PathBuf,
    log: LogFile,
}

impl Node {
    /// Starts a node on a port of the kernel's choice, and waits until it listens.
    ///
    /// # Errors
    /// When it cannot be started or is no node.
    pub async fn start(config: &NodeConfig) -> Result<Node, NodeError> {
        let control_socket = config.folder.join("control.sock");
        let mut command = Command::new(&config.program);
        command
            .arg("serve")
            .args(["--data-dir", config.folder.join("data").as_str()])
            .args(["--listen", "127.0.0.1:0"])
            .args(["--public-origin", &config.public_origin])
            .args(["--control-socket", control_socket.as_str()])
            .arg(AGGREGATE)
            .args(config.retry_ms.map(|range| format!("--retry-ms={range}")));
        let mut process = Process::start("node", command, &config.children)
            .map_err(|source| NodeError::Start { program: config.program.clone(), source })?;

        config.log.follow(process.take_stderr(), |_| None::<()>);
        let heard = hear(&mut process, config).await;
        if !matches!(heard, Ok(Some(_))) {
            // Why it ends it may have yet to say.
            config.log.drained().await;
            process.kill().await;
        }
        let (address, login) = heard?.ok_or_else(|| NodeError::NoAddress {
            program: config.program.clone(),
            said: config.log.last_lines(),
        })?;
        let log = config.log.clone();
        Ok(Node { process, address, login, control_socket, log })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How a browser and the harness itself prove who they are.
    pub fn login(&self) -> &LoginUrl {
        &self.login
    }

    /// Its control socket.
    pub fn control_socket(&self) -> &Utf8Path {
        &self.control_socket
    }

    /// Its process's id; none after its end.
    pub fn pid(&self) -> Option<u32> {
        self.process.id()
    }

    /// Asks it to end, and returns its status, or none when it had to be killed.
    pub async fn stop(mut self) -> Option<ExitStatus> {
        let status = self.process.stop(STOP_PATIENCE).await;
        self.log.drained().await;
        status
    }

    /// Kills it, and then what it left.
    pub async fn kill(mut self) {
        self.process.kill().await;
        self.log.drained().await;
    }
}

/// What a node prints when it listens; none when it prints something else, or nothing.
async fn hear(
    process: &mut Process,
    config: &NodeConfig,
) -> Result<Option<(SocketAddr, LoginUrl)>, WaitTimeout> {
    let Some(output) = process.take_stdout() else { return Ok(None) };
    let (mut output, mut line) = (BufReader::new(output), String::new());
    let line_read =
        wait::within("its address", output.read_line(&mut line), || config.log.last_lines());
    let listening = line_read.await?.ok().and_then(|_| serde_json::from_str(&line).ok());
    let Some(Listening { address, login_url }) = listening else { return Ok(None) };
    let login = LoginUrl::new(login_url, &config.redactor);
    // Only now: before this the log would have kept the token.
    config.log.follow(Some(output), |_| None::<()>);
    Ok(login.map(|login| (address, login)))
}

/// The URL that logs a browser in. It is a secret, so it has no `Debug`.
pub struct LoginUrl {
    url: String,
    token: String,
}

impl LoginUrl {
    fn new(url: String, redactor: &Redactor) -> Option<LoginUrl> {
        let (_, token) = url.split_once("?token=")?;
        let token = token.to_owned();
        redactor.learn(&token);
        Some(LoginUrl { url, token })
    }

    /// The URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The bearer token in it.
    pub fn token(&self) -> &str {
        &self.token
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::os::descendants;
    use crate::test_dir::test_dir;

    #[tokio::test]
    async fn what_a_node_says_before_it_ends_at_once_is_told() {
        descendants::adopt_orphans().unwrap();
        let (_dir, folder) = test_dir();
        let program = folder.join("node");
        let script = "#!/bin/sh\nexec >&-\necho the port is taken >&2\nexit 3\n";
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let redactor = Redactor::default();
        let config = NodeConfig {
            program,
            folder: folder.clone(),
            public_origin: "http://127.0.0.1:1".to_owned(),
            retry_ms: None,
            log: LogFile::create(&folder.join("node.log"), redactor.clone()).unwrap(),
            redactor,
            children: Children::new().unwrap(),
        };
        let error = Node::start(&config).await.err().unwrap().to_string();
        assert!(error.contains("the port is taken"), "{error}");
    }
}
