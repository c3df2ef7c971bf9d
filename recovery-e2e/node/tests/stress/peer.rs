//! A peer that writes what it likes, and reads as much as it likes.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::node::Node;
use crate::within;

pub struct Peer {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Peer {
    pub async fn connect(node: &Node) -> Self {
        let address = node.base.strip_prefix("http://").unwrap();
        let stream = within("a connection", TcpStream::connect(address)).await.unwrap();
        Self { stream, read: Vec::new() }
    }

    /// A stream of a workstream, asked for with these header lines.
    pub async fn pane(node: &Node, ws: &str, query: &[u8], headers: &[u8]) -> Self {
        let mut peer = Self::connect(node).await;
        let host = node.base.strip_prefix("http://").unwrap();
        let rest =
            format!(" HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n", node.token());
        let path = format!("GET {ws}/events?");
        peer.write(&[path.as_bytes(), query, rest.as_bytes(), headers, b"\r\n"].concat()).await;
        peer
    }

    /// Writes as far as the node takes it: it may have had enough.
    pub async fn write(&mut self, bytes: &[u8]) {
        let _ = within("a write", self.stream.write_all(bytes)).await;
    }

    /// Says that no more will be written.
    pub async fn fall_silent(&mut self) {
        let _ = within("a half close", self.stream.shutdown()).await;
    }

    /// All that was read until `text` had come; none if the connection ended first.
    pub async fn until(&mut self, text: &str) -> Option<String> {
        let reading = async {
            let mut from = 0;
            while !contains(&self.read[from..], text) {
                from = self.read.len().saturating_sub(text.len());
                if !self.more().await {
                    return None;
                }
            }
            Some(self.text())
        };
        within(text, reading).await
    }

    /// All that can be read.
    pub async fn rest(mut self) -> String {
        within("the end of a connection", async { while self.more().await {} }).await;
        self.text()
    }

    async fn more(&mut self) -> bool {
        let mut chunk = [0; 1 << 16];
        // A reset is an end, too.
        let count = self.stream.read(&mut chunk).await.unwrap_or(0);
        self.read.extend(&chunk[..count]);
        count > 0
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.read).into_owned()
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
