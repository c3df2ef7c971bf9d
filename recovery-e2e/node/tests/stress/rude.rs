//! Peers without manners: nothing they do breaks the node, or the service of others.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use reqwest::StatusCode;
use serde_json::json;

use crate::model::Model;
use crate::node::{Folder, Node};
use crate::pane::Pane;
use crate::peer::Peer;
use crate::{scaled, within};

/// More than any test here makes.
const CONNECTIONS: &str = "12000";

/// Someone who behaves, and is served whatever the others do.
struct Polite {
    node: Node,
    model: Model,
    folder: Folder,
    ws: String,
    pane: Pane,
}

impl Polite {
    async fn start() -> Self {
        let (node, model, folder) = Node::with_model(&["--max-connections", CONNECTIONS]).await;
        let ws = node.create("polite").await;
        let mut pane = node.pane(&ws, "").await;
        pane.past().await;
        Self { node, model, folder, ws, pane }
    }

    /// A whole turn, and its rows.
    async fn is_served(&mut self) {
        self.node.turn(&self.ws, &mut self.model, &mut self.pane, "please").await;
        let texts = self.node.texts(&self.ws).await;
        assert_eq!(texts.last().unwrap(), "re: please");
        assert_eq!(self.node.get("/health").await.0, StatusCode::OK);
    }

    /// Nothing went wrong inside.
    async fn ends_unharmed(mut self) {
        self.is_served().await;
        assert!(self.node.stop().await.success());
        let log = self.folder.log();
        assert!(!log.contains("panicked"), "{log}");
    }
}

/// Values of a strategy, the same in every run.
fn drawn<T>(count: usize, strategy: impl Strategy<Value = T>) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// The status of an answer, if there is one.
fn status(answer: &str) -> Option<u16> {
    answer.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()
}

fn is_server_error(answer: &str) -> bool {
    status(answer).is_some_and(|status| status >= 500)
}

#[tokio::test]
async fn peers_that_never_finish_a_request_hold_up_nobody() {
    let mut polite = Polite::start().await;
    let mut peers = Vec::new();
    for start in ["", "G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: x\r\nX: "] {
        for _ in 0..50 {
            let mut peer = Peer::connect(&polite.node).await;
            peer.write(start.as_bytes()).await;
            peers.push(peer);
        }
    }
    // A body that never comes.
    let mut send = Peer::connect(&polite.node).await;
    let head = format!(
        "POST {}/send HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {}\r\n\
         Content-Length: 1000\r\n\r\n{{",
        polite.ws,
        polite.node.token(),
    );
    send.write(head.as_bytes()).await;
    polite.is_served().await;
    drop((peers, send));
    polite.ends_unharmed().await;
}

#[tokio::test]
async fn a_megabyte_of_headers_is_refused() {
    let polite = Polite::start().await;
    for filler in [
        format!("X: {}\r\n", "x".repeat(1 << 20)),
        "X: x\r\n".repeat((1 << 20) / 6),
        format!("Last-Event-ID: {}\r\n", "5".repeat(1 << 20)),
    ] {
        let peer = Peer::pane(&polite.node, &polite.ws, b"", filler.as_bytes()).await;
        let answer = peer.rest().await;
        assert!(matches!(status(&answer), None | Some(400..500)), "{answer}");
    }
    let query = [b"last_event_id=", "5".repeat(1 << 20).as_bytes()].concat();
    let peer = Peer::pane(&polite.node, &polite.ws, &query, b"").await;
    let answer = peer.rest().await;
    assert!(matches!(status(&answer), None | Some(400..500)), "{answer}");
    polite.ends_unharmed().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_idle_connections_hold_up_nobody_and_are_forgotten_when_they_leave() {
    let mut polite = Polite::start().await;
    let before = open_files(&polite.node);
    let mut peers = Vec::new();
    for _ in 0..scaled(1_000, 10_000) {
        peers.push(Peer::connect(&polite.node).await);
    }
    polite.is_served().await;
    println!("{} idle connections, {} open files", peers.len(), open_files(&polite.node));
    drop(peers);
    let forgotten = async {
        while open_files(&polite.node) > before + 50 {
            polite.is_served().await;
        }
    };
    within("the end of idle connections", forgotten).await;
    polite.ends_unharmed().await;
}

fn open_files(node: &Node) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", node.pid())).unwrap().count()
}

#[tokio::test]
async fn a_malformed_cursor_of_any_kind_is_truncated_and_never_an_error() {
    let polite = Polite::start().await;
    // What a header's value may hold at all; it is read without blanks around it.
    let bytes = prop_oneof![Just(b'-'), b'0'..=b'9', b'a'..=b'f', 0x20..=0x7eu8, 0x80..=0xffu8];
    for cursor in drawn(scaled(150, 1_000), vec(bytes, 1..60)) {
        let header = [b"Last-Event-ID: ", &cursor[..], b"\r\n"].concat();
        let mut pane = Peer::pane(&polite.node, &polite.ws, b"", &header).await;
        let is_blank = cursor.iter().all(|byte| *byte == b' ');
        assert_truncated(&mut pane, &cursor, is_blank).await;
    }
    for cursor in drawn(scaled(150, 1_000), vec(any::<u8>(), 1..60)) {
        let escaped: String = cursor.iter().map(|byte| format!("%{byte:02x}")).collect();
        let query = format!("last_event_id={escaped}");
        let mut pane = Peer::pane(&polite.node, &polite.ws, query.as_bytes(), b"").await;
        assert_truncated(&mut pane, &cursor, false).await;
    }
    polite.ends_unharmed().await;
}

async fn assert_truncated(pane: &mut Peer, cursor: &[u8], is_blank: bool) {
    let text = pane.until("replay_complete").await.expect("the connection ended");
    assert_eq!(status(&text), Some(200), "{cursor:?}: {text}");
    let is_truncated = text.contains("\"reason\":\"malformed_cursor\"");
    assert_eq!(is_truncated, !is_blank, "{cursor:?}: {text}");
}

#[tokio::test]
async fn garbage_is_answered_with_a_refusal_or_an_end() {
    let mut polite = Polite::start().await;
    let piece = prop_oneof![
        2 => vec(any::<u8>(), 0..30),
        1 => prop::sample::select(PIECES.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
    ];
    for pieces in drawn(scaled(200, 2_000), vec(piece, 0..8)) {
        let bytes = pieces.concat();
        let mut peer = Peer::connect(&polite.node).await;
        peer.write(&bytes).await;
        peer.fall_silent().await;
        let answer = peer.rest().await;
        assert!(!is_server_error(&answer), "{bytes:?}: {answer}");
    }
    polite.is_served().await;
    let host = format!("Host: {}\r\n", polite.node.base.strip_prefix("http://").unwrap());
    for body in drawn(scaled(100, 1_000), vec(any::<u8>(), 0..80)) {
        for route in ["/send", "/rewind", ""] {
            let head = format!(
                "POST {}{route} HTTP/1.1\r\n{host}Authorization: Bearer {}\r\n\
                 Connection: close\r\nContent-Length: {}\r\n\r\n",
                if route.is_empty() { "/v1/api/workstreams" } else { &polite.ws },
                polite.node.token(),
                body.len(),
            );
            let mut peer = Peer::connect(&polite.node).await;
            peer.write(&[head.as_bytes(), &body[..]].concat()).await;
            let answer = peer.rest().await;
            assert_eq!(status(&answer), Some(400), "{body:?}: {answer}");
        }
    }
    let empty = json!({ "workstreams": [{
        "ws_id": polite.ws.rsplit('/').next().unwrap(), "name": "polite", "state": "idle",
        "kind": "interactive", "parent_ws_id": null,
    }] });
    assert_eq!(polite.node.get("/v1/api/workstreams").await, (StatusCode::OK, empty));
    polite.ends_unharmed().await;
}

/// What makes garbage look like a request.
const PIECES: &[&str] = &[
    "GET / HTTP/1.1\r\n",
    "GET /health HTTP/1.1\r\n",
    "POST /v1/api/workstreams HTTP/1.1\r\n",
    "GET /static/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n",
    "OPTIONS * HTTP/1.1\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "Host: 127.0.0.1\r\n",
    "Host:\r\n",
    "Last-Event-ID: \u{1}\r\n",
    "Content-Length: 99999999999999999999\r\n",
    "Content-Length: -1\r\n",
    "Content-Length: 3\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
    "Expect: 100-continue\r\n",
    "Upgrade: websocket\r\nConnection: Upgrade\r\n",
    "\r\n",
    "\r\n\r\n",
    "\n\n",
    "{}",
];
