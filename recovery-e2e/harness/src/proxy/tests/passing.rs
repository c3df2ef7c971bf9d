//! What passes through unchanged, what breaks, and what is written of it.

use std::collections::HashSet;

use super::super::Class;
use super::*;
use crate::record::event::Event;
use crate::record::verdict::ReceiptState;

const STREAM_HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

/// An event stream open through the proxy: the browser's end and the upstream's.
async fn open_stream(rig: &Rig) -> (Peer, Peer) {
    let mut browser = rig.request(EVENTS).await;
    let (mut upstream, _) = rig.forwarded().await;
    upstream.write(STREAM_HEAD).await;
    browser.head().await;
    (browser, upstream)
}

// It would fail of ports that are chosen here, or shared: the kernel gives each once.
#[tokio::test]
async fn proxies_that_start_at_once_have_a_port_each_and_none_that_is_taken() {
    let listener = || std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken: Vec<_> = (0..50).map(|_| listener()).collect();
    let rigs = futures_util::future::join_all((0..100).map(|_| Rig::new())).await;
    let taken = taken.iter().map(|taken| taken.local_addr().unwrap());
    let upstreams = rigs.iter().map(|rig| rig.upstream.local_addr().unwrap());
    let all: HashSet<_> = rigs.iter().map(Rig::address).chain(upstreams).chain(taken).collect();
    assert_eq!(all.len(), 100 + 100 + 50);
}

#[tokio::test]
async fn each_event_passes_before_the_next_one_is_sent() {
    let rig = Rig::new().await;
    let (mut browser, mut upstream) = open_stream(&rig).await;
    for seq in 1..=3 {
        let event = format!("id: a-{seq}\ndata: {seq}\n\n");
        upstream.write(&chunk(&event)).await;
        assert!(browser.read_until("\n\n").await.ends_with(&event));
        assert_eq!(rig.proxy.records()[0].last_event_id, Some(format!("a-{seq}")));
    }
    let counts = rig.proxy.counters().borrow().of(Class::EVENTS);
    assert_eq!((counts.ok, counts.in_flight, counts.answered), (1, 1, 0));

    upstream.write("0\r\n\r\n").await;
    assert!(browser.rest().await.ends_with("0\r\n\r\n"));
    rig.until("end", |counters| counters.of(Class::EVENTS).answered == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_an_upstream_sent_just_before_it_died_still_reaches_the_browser() {
    let rig = Rig::new().await;
    for _ in 0..200 {
        let (mut browser, mut upstream) = open_stream(&rig).await;
        upstream.write(&chunk("data: last words\n\n")).await;
        drop(upstream);
        let seen = browser.rest().await;
        assert!(seen.contains("data: last words\n\n"), "{seen}");
    }
}

#[tokio::test]
async fn an_upstream_that_dies_in_a_stream_breaks_the_browsers_connection() {
    let rig = Rig::new().await;
    let (mut browser, mut upstream) = open_stream(&rig).await;
    upstream.write(&chunk("data: 1\n\n")).await;
    drop(upstream);
    let seen = browser.rest().await;
    assert!(!seen.ends_with("0\r\n\r\n"), "the end looks clean: {seen}");
    let counts = rig.until("break", |counters| counters.of(Class::EVENTS).failed == 1).await;
    assert_eq!((counts.of(Class::EVENTS).aborted, counts.of(Class::EVENTS).answered), (0, 0));
    let broken = rig.proxy.records()[0].broken.clone().unwrap();
    assert!(broken.contains("in the middle of the answer"), "{broken}");
}

#[tokio::test]
async fn an_upstream_that_dies_before_its_answer_breaks_the_browsers_connection_without_a_byte() {
    let rig = Rig::new().await;
    let mut browser = rig.request(HISTORY).await;
    drop(rig.forwarded().await);
    assert_eq!(browser.rest().await, "");
    let record = rig.proxy.records().remove(0);
    assert!(record.broken.unwrap().contains("before an answer"));
    assert_eq!((record.status, record.aborted_ms), (None, None));
}

#[tokio::test]
async fn a_port_without_a_listener_breaks_the_browsers_connection_until_the_proxy_is_pointed_elsewhere()
 {
    let rig = Rig::new().await;
    let restarted = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let Rig { proxy, upstream, redactor, folder } = rig;
    drop(upstream);
    let rig = Rig { proxy, upstream: restarted, redactor, folder };
    assert_eq!(rig.request(HISTORY).await.rest().await, "");
    let record = rig.proxy.records().remove(0);
    assert!(record.broken.unwrap().contains("does not accept"));
    assert_eq!(record.upstream, None);

    rig.proxy.point_at(rig.upstream.local_addr().unwrap());
    let mut browser = rig.request(HISTORY).await;
    rig.answer("", "rows").await;
    assert!(browser.rest().await.ends_with("rows"));
}

#[tokio::test]
async fn a_record_has_the_start_of_the_upstream_that_it_was_forwarded_to() {
    let rig = Rig::new().await;
    for start in 1..=3 {
        let mut browser = rig.request(HISTORY).await;
        rig.answer("", "rows").await;
        assert!(browser.rest().await.ends_with("rows"));
        assert_eq!(rig.proxy.records().last().unwrap().upstream, Some(start));
        rig.proxy.point_at(rig.upstream.local_addr().unwrap());
    }
    let hold = rig.proxy.hold(Class::HISTORY, 1);
    let _held = rig.request(HISTORY).await;
    hold.arrived().await.unwrap();
    assert_eq!(rig.proxy.records().last().unwrap().upstream, None);
}

#[tokio::test]
async fn a_browser_that_leaves_a_stream_ends_its_upstream_connection() {
    let rig = Rig::new().await;
    let (browser, mut upstream) = open_stream(&rig).await;
    drop(browser);
    assert_eq!(upstream.rest().await, "");
    let counts = rig.until("abort", |counters| counters.of(Class::EVENTS).aborted == 1).await;
    assert_eq!(counts.of(Class::EVENTS).in_flight, 0);
}

#[tokio::test]
async fn a_browser_that_leaves_before_the_answer_ends_its_upstream_connection() {
    let rig = Rig::new().await;
    let browser = rig.request(HISTORY).await;
    let (mut upstream, _) = rig.forwarded().await;
    drop(browser);
    assert_eq!(upstream.rest().await, "");
    let counts = rig.until("abort", |counters| counters.of(Class::HISTORY).aborted == 1).await;
    assert_eq!(counts.of(Class::HISTORY).answered, 0);
}

#[tokio::test]
async fn every_answer_closes_its_connection_so_that_no_request_is_sent_twice() {
    let rig = Rig::new().await;
    for line in [HISTORY, REWIND, ASSET, "GET /", "GET /other"] {
        let mut browser = rig.request_with(line, "connection: keep-alive\r\n", "").await;
        rig.answer("connection: keep-alive\r\n", "x").await;
        let answer = browser.rest().await;
        assert!(answer.contains("connection: close\r\n"), "{line}: {answer}");
        assert!(!answer.contains("keep-alive"), "{line}: {answer}");
    }
}

#[tokio::test]
async fn host_origin_and_cookie_pass_and_what_belongs_to_the_connection_does_not() {
    let rig = Rig::new().await;
    let headers = "origin: http://me\r\ncookie: a=b\r\nconnection: x-mine\r\nx-mine: 1\r\n";
    let _browser = rig.request_with(&format!("{HISTORY}?limit=5"), headers, "").await;
    let (_upstream, head) = rig.forwarded().await;
    assert!(head.starts_with("GET /v1/api/workstreams/w1/history?limit=5 HTTP/1.1\r\n"), "{head}");
    let host = rig.address();
    for passed in [&format!("host: {host}\r\n"), "origin: http://me\r\n", "cookie: a=b\r\n"] {
        assert!(head.contains(passed), "{head}");
    }
    assert!(!head.contains("x-mine"), "{head}");
}

#[tokio::test]
async fn an_answer_without_a_body_ends_its_record() {
    let rig = Rig::new().await;
    for (line, answer) in [
        (ASSET, "HTTP/1.1 304 Not Modified\r\n\r\n"),
        (REWIND, "HTTP/1.1 204 No Content\r\n\r\n"),
        ("HEAD /static/gate.js", "HTTP/1.1 200 OK\r\ncontent-length: 30\r\n\r\n"),
    ] {
        let mut browser = rig.request(line).await;
        rig.forwarded().await.0.write(answer).await;
        assert!(browser.rest().await.ends_with("\r\n\r\n"));
        let record = rig.proxy.records().pop().unwrap();
        assert!(record.answered() && record.aborted_ms.is_none(), "{record:?}");
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused_by_the_proxy() {
    let rig = Rig::new().await;
    let body = "x".repeat((2 << 20) + 1);
    let length = format!("content-length: {}\r\n", body.len());
    let mut browser = rig.request_with(REWIND, &length, &body).await;
    assert!(browser.head().await.starts_with("HTTP/1.1 413 "));
}

#[tokio::test]
async fn a_local_page_is_answered_by_the_proxy_whatever_its_query() {
    let rig = Rig::new().await;
    let page = rig.request("GET /recovery?ws_id=w1").await.rest().await;
    assert!(page.contains("content-type: text/html\r\n"), "{page}");
    assert!(page.ends_with("\r\n\r\n<title>mine</title>"), "{page}");
    assert_eq!(rig.proxy.records()[0].class, Class::PAGE);
}

#[tokio::test]
async fn no_secret_of_a_request_is_ever_written() {
    let rig = Rig::new().await;
    rig.redactor.learn("secret-in-a-path");
    let headers = "cookie: session=secret-cookie\r\nauthorization: Bearer secret-bearer\r\n";
    for line in [
        "GET /login?token=secret-login",
        "GET /v1/api/workstreams/w1/events?history_token=secret-handoff&last_event_id=a-1",
        "GET /secret-in-a-path",
    ] {
        let mut browser = rig.request_with(line, headers, "").await;
        rig.answer("set-cookie: session=secret-cookie\r\n", "x").await;
        assert!(browser.rest().await.contains("set-cookie"));
    }
    let (records, text) = rig.requests_file().await;
    assert_eq!(records.len(), 3);
    assert!(!text.contains("secret"), "{text}");
    assert!(records[1].handoff_token);
    assert_eq!(records[1].cursor_query.as_deref(), Some("a-1"));
}

#[tokio::test]
async fn a_request_that_is_open_at_the_end_is_in_the_log_and_not_blamed_on_the_browser() {
    let rig = Rig::new().await;
    let _hold = rig.proxy.hold(Class::HISTORY, 1);
    let (_browser, _upstream) = open_stream(&rig).await;
    let _held = rig.request(HISTORY).await;
    rig.until("hold", |counters| counters.of(Class::HISTORY).held == 1).await;
    let (records, _) = rig.requests_file().await;
    assert_eq!(records.len(), 2);
    for record in records {
        assert_eq!(record.broken.as_deref(), Some("the proxy was shut down"), "{record:?}");
        assert_eq!(record.aborted_ms, None, "{record:?}");
    }
}

#[tokio::test]
async fn every_event_of_a_request_is_in_the_file_in_its_order() {
    let rig = Rig::new().await;
    let mut browser = rig.request(REWIND).await;
    rig.answer("", "ok").await;
    browser.rest().await;
    let (events, _) = rig.events();
    let [arrived, rest @ ..] = &*events else { panic!("no event") };
    assert!(matches!(&arrived.event, Event::Arrived(arrival) if arrival.class == Class::REWIND));
    let rest: Vec<&Event> = rest.iter().map(|line| &line.event).collect();
    let expected = [
        Event::Forwarded { upstream: 1 },
        Event::Headed { status: 200, streams: false },
        Event::Passed { bytes: 2, last_event_id: None },
        Event::Ended,
    ];
    assert_eq!(rest, expected.iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn chunks_of_a_stream_are_one_event_for_each_new_id() {
    let rig = Rig::new().await;
    let (mut browser, mut upstream) = open_stream(&rig).await;
    for text in ["data: 1\n\n", "id: a-1\ndata: 2\n\n", ": ping\n\n"] {
        upstream.write(&chunk(text)).await;
        browser.read_until(text).await;
    }
    upstream.write("0\r\n\r\n").await;
    browser.rest().await;
    let (events, _) = rig.events();
    let passed: Vec<(u64, Option<&str>)> = events
        .iter()
        .filter_map(|line| match &line.event {
            Event::Passed { bytes, last_event_id } => Some((*bytes, last_event_id.as_deref())),
            _ => None,
        })
        .collect();
    assert_eq!(passed, [(26, Some("a-1")), (8, Some("a-1"))]);
}

#[tokio::test]
async fn a_severed_stream_breaks_on_both_sides_and_the_next_one_stays_open() {
    let rig = Rig::new().await;
    let (mut browser, mut upstream) = open_stream(&rig).await;
    upstream.write(&chunk("data: 1\n\n")).await;
    browser.read_until("data: 1\n\n\r\n").await;
    let receipt = rig.proxy.sever(Class::EVENTS);
    let seen = browser.rest().await;
    assert!(!seen.ends_with("0\r\n\r\n"), "the end looks clean: {seen}");
    assert_eq!(upstream.rest().await, "");
    assert_eq!(receipt.state(), ReceiptState::Redeemed { times: 1 });
    let record = rig.proxy.records().remove(0);
    assert_eq!(faults(&record), ["sever events"]);
    assert_eq!(record.broken.as_deref(), Some("severed (a fault of the proxy)"));

    let (mut browser, mut upstream) = open_stream(&rig).await;
    upstream.write(&chunk("data: 2\n\n")).await;
    browser.read_until("data: 2\n\n\r\n").await;
    assert_eq!(receipt.state(), ReceiptState::Redeemed { times: 1 });
}

#[tokio::test]
async fn severing_the_streams_of_another_class_or_none_at_all_redeems_nothing() {
    let rig = Rig::new().await;
    let early = rig.proxy.sever(Class::EVENTS);
    let (mut browser, mut upstream) = open_stream(&rig).await;
    let other = rig.proxy.sever(Class::GLOBAL_EVENTS);
    upstream.write(&chunk("data: 1\n\n")).await;
    browser.read_until("data: 1\n\n\r\n").await;
    for receipt in [early, other] {
        assert_eq!(receipt.state(), ReceiptState::Armed { times: 0 }, "{receipt:?}");
    }
}
