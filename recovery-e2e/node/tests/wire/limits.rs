use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::node::{Folder, Node, answer, client};
use crate::within;

/// Whatever the node sends until it ends the connection.
async fn until_ended(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    // A reset is an end too.
    let _ = within("the end of a connection", stream.read_to_end(&mut text)).await;
    String::from_utf8_lossy(&text).into_owned()
}

/// Waits until a metric has this value.
async fn reaches(node: &Node, name: &str, value: u64) {
    let reached = async { while node.metric(name).await != value {} };
    within(&format!("{name} reaching {value}"), reached).await;
}

#[tokio::test]
async fn a_reader_that_takes_nothing_is_ended_and_never_delays_another() {
    // Without a model, each turn ends at once.
    let node = Folder::new()
        .start(&[
            "--write-deadline",
            "1s",
            "--listener-bytes",
            "1GiB",
            "--listener-events",
            "100000",
        ])
        .await;
    let ws = node.create("a").await;
    let mut healthy = node.pane(&ws, "").await;
    healthy.past().await;
    // A small window, so that little is under way in the kernel.
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let address = node.base.strip_prefix("http://").unwrap().parse().unwrap();
    let mut stuck = socket.connect(address).await.unwrap();
    let token = node.token();
    let request = format!(
        "GET {ws}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    stuck.write_all(request.as_bytes()).await.unwrap();
    reaches(&node, "listeners{lane=\"pane\"}", 2).await;
    for _ in 0..8 {
        let text = "x".repeat(1 << 20);
        node.send(&ws, &text).await;
        let seen = healthy.until_idle().await;
        assert_eq!(seen[0].data["content"].as_str().unwrap().len(), text.len());
    }
    reaches(&node, "listeners{lane=\"pane\"}", 1).await;
    assert_eq!(node.metric("write_deadlines_total").await, 1);
    assert_eq!(node.metric("overflows_total{lane=\"pane\"}").await, 0);
    drop(stuck);
    assert_eq!(node.metric("turns_total{outcome=\"incomplete\"}").await, 8);
}

#[tokio::test]
async fn a_peer_that_never_finishes_its_request_is_ended() {
    let node = Folder::new().start(&["--request-deadline", "200ms"]).await;
    let ws = node.create("a").await;
    for begun in ["", "G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: localhost\r\nX"] {
        let mut stream = node.connect().await;
        stream.write_all(begun.as_bytes()).await.unwrap();
        let said = until_ended(stream).await;
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408 "), "{begun:?}: {said}");
    }
    let mut stream = node.connect().await;
    let token = node.token();
    let request = format!(
        "POST {ws}/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: 100\r\n\r\n{{\"message\":"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let said = until_ended(stream).await;
    assert!(said.starts_with("HTTP/1.1 400 "), "{said}");
    assert_eq!(node.history(&ws).await["messages"], json!([]));
}

#[tokio::test]
async fn a_connection_over_the_limit_is_told_so_and_a_place_that_is_left_is_free() {
    let node = Folder::new().start(&["--max-connections", "2"]).await;
    let places = [node.connect().await, node.connect().await];
    // Connections are let in in their order.
    let (status, body) = answer(node.bare(Method::GET, "/health")).await;
    assert_eq!((status, &body["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("full")));
    drop(places);
    let free = async {
        let health = || client().get(format!("{}/health", node.base)).send();
        while health().await.unwrap().status() != StatusCode::OK {}
    };
    within("a free place", free).await;
    assert!(node.metric("connections_refused_total").await >= 1);
}

#[tokio::test]
async fn rude_bytes_are_refused_without_an_error_of_the_node() {
    let folder = Folder::new();
    let node = folder.start(&[]).await;
    let huge = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: y\r\n".repeat(1000));
    for bytes in [
        "\r\n\r\n\r\n",
        "garbage\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        "GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nA b: c\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{0}\u{1} a client of TLS",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "POST /v1/api/workstreams HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET http://evil.test/v1/api/workstreams HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "CONNECT evil.test:80 HTTP/1.1\r\nHost: evil.test:80\r\n\r\n",
        &huge,
        &many,
    ] {
        let mut stream = node.connect().await;
        // The node may hang up on the first bytes.
        let _ = stream.write_all(bytes.as_bytes()).await;
        let _ = stream.shutdown().await;
        let said = until_ended(stream).await;
        let status = said.split(' ').nth(1).unwrap_or_default();
        assert!(status.is_empty() || status.starts_with('4'), "{bytes:.60?}: {said}");
    }
    assert_eq!(answer(node.bare(Method::GET, "/health")).await.0, StatusCode::OK);
    assert!(!folder.log().contains("panic"), "{}", folder.log());
}
