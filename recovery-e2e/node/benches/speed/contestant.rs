//! The two that are compared: the node, and a plain application of another make.

use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::crowd::MARK;
use crate::emitter::Emitter;
use crate::node::{Folder, Node};
use crate::within;

/// Characters of an event's text.
const OUTPUT: usize = 100;

pub fn output() -> String {
    format!("{}{:x<OUTPUT$}", char::from(MARK), "")
}

/// A server with one stream.
pub enum Contestant {
    Node { node: Node, ws: String, emitter: Emitter, _folder: Folder },
    Peer { child: Child, base: String },
}

impl Contestant {
    pub async fn node() -> Self {
        let folder = Folder::new();
        let socket = folder.file("control");
        let args = [
            "--control-socket",
            socket.to_str().unwrap(),
            // The peer has no bounds either.
            "--max-connections",
            "6000",
            "--listener-events",
            "1000000",
            "--listener-bytes",
            "1073741824",
        ];
        let node =
            Node::run(folder.command(env!("CARGO_BIN_EXE_recovery-node-control"), &args)).await;
        let ws = node.create("speed").await;
        let emitter = Emitter::connect(&socket, &ws, &output()).await;
        Self::Node { node, ws, emitter, _folder: folder }
    }

    /// The application in `peer/`, run by this Python.
    pub async fn peer(python: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/speed/peer");
        let mut child = Command::new(python)
            .args(["-m", "uvicorn", "app:app", "--port", "0", "--no-access-log", "--app-dir"])
            .arg(folder)
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let base = loop {
            let line = within("the peer's address", lines.next_line()).await.unwrap();
            let line = line.expect("the peer ended at once; install benches/speed/peer/requirements.txt into the Python that SPEED_PEER names");
            if let Some((_, rest)) = line.split_once("running on ") {
                break rest.split(' ').next().unwrap().to_owned();
            }
        };
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self::Peer { child, base }
    }

    pub fn address(&self) -> &str {
        let (Self::Node { node: Node { base, .. }, .. } | Self::Peer { base, .. }) = self;
        base.strip_prefix("http://").unwrap()
    }

    /// What a subscriber asks.
    pub fn request(&self) -> String {
        let (path, token) = match self {
            Self::Node { node, ws, .. } => (format!("{ws}/events"), node.token()),
            Self::Peer { .. } => ("/events".to_owned(), ""),
        };
        let host = self.address();
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n")
    }

    pub async fn publish(&mut self, count: usize) {
        match self {
            Self::Node { emitter, .. } => {
                emitter.publish(count).await;
            }
            Self::Peer { base, .. } => {
                let url = format!("{base}/publish?count={count}&output={}", output());
                let request = crate::node::client().post(url).send();
                assert_eq!(within("a publication", request).await.unwrap().status(), 200);
            }
        }
    }

    /// KiB of memory that its process holds.
    pub fn resident(&self) -> u64 {
        crate::resident(match self {
            Self::Node { node, .. } => node.pid(),
            Self::Peer { child, .. } => child.id().unwrap(),
        })
    }
}
