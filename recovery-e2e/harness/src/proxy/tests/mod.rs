//! The proxy over real sockets, between a browser and an upstream that a test plays by hand.

mod door;
mod faults;
mod fence;
mod passing;

use std::net::SocketAddr;

use camino::Utf8PathBuf;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::Class;
use super::server::{LocalPage, Proxy, ProxyConfig};
use crate::record::counters::Counters;
use crate::record::event::{Header, Line, VERSION};
use crate::record::request::Record;
use crate::record::requests::Requests;
use crate::record::trace::Trace;
use crate::redact::Redactor;
use crate::wait::{until, within};

const REWIND: &str = "POST /v1/api/workstreams/w1/rewind";
const HISTORY: &str = "GET /v1/api/workstreams/w1/history";
const EVENTS: &str = "GET /v1/api/workstreams/w1/events";
const ASSET: &str = "GET /static/gate.js";

/// A proxy, the upstream behind it, and the folder of its files.
struct Rig {
    proxy: Proxy,
    upstream: TcpListener,
    redactor: Redactor,
    folder: tempfile::TempDir,
}

impl Rig {
    async fn new() -> Rig {
        let folder = tempfile::tempdir().unwrap();
        let redactor = Redactor::default();
        let upstream = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let path = |name| Utf8PathBuf::from_path_buf(folder.path().join(name)).unwrap();
        let proxy = Proxy::start(ProxyConfig {
            port: 0,
            upstream: Some(upstream.local_addr().unwrap()),
            routes: ROUTES,
            pages: vec![LocalPage {
                path: "/recovery".to_owned(),
                content_type: "text/html".to_owned(),
                body: "<title>mine</title>".into(),
            }],
            trace: Trace::create(&path("requests.jsonl"), redactor.clone()).unwrap(),
        })
        .await
        .unwrap();
        Rig { proxy, upstream, redactor, folder }
    }

    fn address(&self) -> SocketAddr {
        self.proxy.origin().strip_prefix("http://").unwrap().parse().unwrap()
    }

    /// Sends a request without a body on a connection of its own.
    async fn request(&self, line: &str) -> Peer {
        self.request_with(line, "content-length: 0\r\n", "").await
    }

    async fn request_with(&self, line: &str, headers: &str, body: &str) -> Peer {
        let mut browser = Peer(TcpStream::connect(self.address()).await.unwrap());
        let host = self.address();
        browser.write(&format!("{line} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n{body}")).await;
        browser
    }

    /// The next connection to the upstream, and the head that came over it.
    async fn forwarded(&self) -> (Peer, String) {
        let (stream, _) = within("forwarded request", self.upstream.accept(), String::new)
            .await
            .unwrap()
            .unwrap();
        let mut peer = Peer(stream);
        let head = peer.head().await;
        (peer, head)
    }

    /// Answers the next request to the upstream with `text`.
    async fn answer(&self, headers: &str, text: &str) -> String {
        let (mut peer, head) = self.forwarded().await;
        let length = text.len();
        peer.write(&format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n{headers}\r\n{text}"))
            .await;
        head
    }

    async fn until(&self, condition: &str, holds: impl Fn(&Counters) -> bool) -> Counters {
        until(condition, &mut self.proxy.counters(), holds).await.unwrap()
    }

    /// The events that are written so far, and the text of their file.
    fn events(&self) -> (Vec<Line>, String) {
        let text = std::fs::read_to_string(self.folder.path().join("requests.jsonl")).unwrap();
        let mut lines = text.lines();
        let header: Header = serde_json::from_str(lines.next().unwrap()).unwrap();
        assert_eq!(header.v, VERSION);
        (lines.map(|line| serde_json::from_str(line).unwrap()).collect(), text)
    }

    /// Ends the proxy, and returns the records that the file of events has, and its text.
    async fn requests_file(self) -> (Vec<Record>, String) {
        self.proxy.shutdown().await.unwrap();
        let (events, text) = self.events();
        let requests: Requests = events.iter().collect();
        assert_eq!(requests.counters(), &*self.proxy.counters().borrow());
        (requests.records().cloned().collect(), text)
    }
}

/// The names of the faults that acted on a request.
fn faults(record: &Record) -> Vec<&str> {
    record.faults.iter().map(|fault| fault.name.as_str()).collect()
}

/// One end of a connection, read and written by hand.
struct Peer(TcpStream);

impl Peer {
    async fn write(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads to the end of a head, and no further.
    async fn head(&mut self) -> String {
        self.read_until("\r\n\r\n").await
    }

    /// Reads until what was read ends with `end`.
    async fn read_until(&mut self, end: &str) -> String {
        let mut text = Vec::new();
        let reading = async {
            while !text.ends_with(end.as_bytes()) {
                text.push(self.0.read_u8().await.unwrap());
            }
        };
        within(end, reading, String::new).await.unwrap();
        String::from_utf8(text).unwrap()
    }

    /// Reads until the other side closes, however it does.
    async fn rest(&mut self) -> String {
        let mut text = Vec::new();
        let reading = self.0.read_to_end(&mut text);
        // A reset is a close here: both break the connection.
        let _ = within("close", reading, String::new).await.unwrap();
        String::from_utf8(text).unwrap()
    }
}

/// The routes of the application behind the tested proxy.
const ROUTES: &[super::Route] = &[
    route("/v1/api/workstreams/{id}/history", Class::HISTORY),
    route("/v1/api/workstreams/{id}/events", Class::EVENTS),
    route("/v1/api/events/global", Class::GLOBAL_EVENTS),
    route("/v1/api/workstreams/{id}/rewind", Class::REWIND),
    route("/v1/api/workstreams/{id}/send", Class::SEND),
    route("/static/{*path}", Class::ASSET),
    route("/", Class::PAGE),
];

const fn route(path: &'static str, class: Class) -> super::Route {
    super::Route { methods: &[], path, class }
}
