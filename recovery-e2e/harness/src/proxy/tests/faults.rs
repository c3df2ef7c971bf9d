//! Faults: that they fire, on which requests, and what their receipts say.

use hyper::StatusCode;

use super::super::{Class, Edit, Patch};
use super::*;
use crate::record::verdict::ReceiptState;

const REDEEMED: ReceiptState = ReceiptState::Redeemed { times: 1 };

#[tokio::test]
async fn a_failed_request_never_reaches_the_upstream_and_the_next_one_does() {
    let rig = Rig::new().await;
    let receipt = rig.proxy.fail(Class::HISTORY, 1, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(receipt.name(), "fail history x1 with 500");
    assert_eq!(receipt.state(), ReceiptState::Armed { times: 0 });

    let refused = rig.request(HISTORY).await.rest().await;
    assert!(refused.starts_with("HTTP/1.1 500 "), "{refused}");
    assert_eq!(receipt.state(), REDEEMED);

    let mut next = rig.request(HISTORY).await;
    rig.answer("", "rows").await;
    assert!(next.rest().await.ends_with("\r\n\r\nrows"));
    let records = rig.proxy.records();
    assert_eq!(faults(&records[0]), ["fail history x1 with 500"]);
    assert_eq!(records[0].forwarded_ms, None);
    assert!(records[1].faults.is_empty() && records[1].forwarded_ms.is_some());
    let counts = rig.proxy.counters().borrow().of(Class::HISTORY);
    assert_eq!((counts.arrived, counts.answered, counts.ok, counts.failed), (2, 2, 1, 1));
}

#[tokio::test]
async fn faults_of_a_class_fire_in_the_order_of_arming_and_other_classes_pass() {
    let rig = Rig::new().await;
    let first = rig.proxy.fail(Class::HISTORY, 1, StatusCode::INTERNAL_SERVER_ERROR);
    let second = rig.proxy.hold(Class::HISTORY, 1);
    let third = rig.proxy.fail(Class::HISTORY, 1, StatusCode::SERVICE_UNAVAILABLE);

    let mut rewind = rig.request(REWIND).await;
    rig.answer("", "ok").await;
    assert!(rewind.rest().await.ends_with("ok"));

    assert!(rig.request(HISTORY).await.rest().await.starts_with("HTTP/1.1 500 "));
    let mut held = rig.request(HISTORY).await;
    assert_eq!(second.arrived().await.unwrap(), [3]);
    assert!(rig.request(HISTORY).await.rest().await.starts_with("HTTP/1.1 503 "));
    second.release();
    rig.answer("", "rows").await;
    assert!(held.rest().await.ends_with("rows"));

    let receipts = rig.proxy.receipts();
    let names: Vec<&str> = receipts.iter().map(|receipt| receipt.name()).collect();
    assert_eq!(names, ["fail history x1 with 500", "hold history x1", "fail history x1 with 503"]);
    for receipt in [&first, second.receipt(), &third] {
        assert_eq!(receipt.state(), REDEEMED, "{}", receipt.name());
    }
}

#[tokio::test]
async fn a_held_request_is_counted_at_once_and_forwarded_with_its_body_when_released() {
    let rig = Rig::new().await;
    let hold = rig.proxy.hold(Class::REWIND, 1);
    let mut browser = rig.request_with(REWIND, "content-length: 11\r\n", "{\"turns\":1}").await;
    hold.arrived().await.unwrap();
    let counts = rig.proxy.counters().borrow().of(Class::REWIND);
    assert_eq!((counts.arrived, counts.held, counts.in_flight), (1, 1, 1));
    assert_eq!(rig.proxy.records()[0].forwarded_ms, None);

    hold.release();
    let (mut upstream, _) = rig.forwarded().await;
    assert_eq!(upstream.read_until("}").await, "{\"turns\":1}");
    assert_eq!(rig.proxy.counters().borrow().of(Class::REWIND).held, 0);
    upstream.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    assert!(browser.rest().await.ends_with("ok"));
}

#[tokio::test]
async fn a_held_request_outlives_a_browser_that_aborts() {
    let rig = Rig::new().await;
    let hold = rig.proxy.hold(Class::REWIND, 1);
    let browser = rig.request(REWIND).await;
    hold.arrived().await.unwrap();
    drop(browser);
    let gone = rig.until("abort", |counters| counters.of(Class::REWIND).aborted == 1).await;
    assert_eq!((gone.of(Class::REWIND).held, gone.of(Class::REWIND).in_flight), (1, 0));

    hold.release();
    rig.answer("", "{\"status\":\"ok\"}").await;
    rig.until("answer", |counters| counters.of(Class::REWIND).answered == 1).await;
    let (records, _) = rig.requests_file().await;
    let [record] = &*records else { panic!("{records:?}") };
    let times = [record.held_ms, record.aborted_ms, record.forwarded_ms, record.first_byte_ms];
    let times: Vec<f64> = times.into_iter().chain([record.ended_ms]).map(Option::unwrap).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!((record.status, record.bytes), (Some(200), 15));
}

fn gate_patch(find: &str) -> Patch {
    let edit = Edit { find: find.to_owned(), replace: "busy".to_owned() };
    Patch { asset: "/static/gate.js".to_owned(), edits: vec![edit] }
}

const GATE: &str = "return busy || latch; // latch";

#[tokio::test]
async fn a_patched_asset_is_served_changed_every_time_and_never_from_a_cache() {
    let rig = Rig::new().await;
    let receipt = rig.proxy.patch(gate_patch("busy || latch"));
    for times in 1..=2 {
        let headers = "if-none-match: \"v1\"\r\naccept-encoding: gzip\r\n";
        let mut browser = rig.request_with(ASSET, headers, "").await;
        let validators = "etag: \"v1\"\r\ncache-control: max-age=600\r\n";
        let forwarded = rig.answer(validators, GATE).await.to_lowercase();
        assert!(!forwarded.contains("if-none-match"), "{forwarded}");
        assert!(forwarded.contains("accept-encoding: identity"), "{forwarded}");

        let served = browser.rest().await.to_lowercase();
        assert!(served.ends_with("\r\n\r\nreturn busy; // latch"), "{served}");
        assert!(served.contains("content-length: 21\r\n"), "{served}");
        assert!(served.contains("cache-control: no-store\r\n"), "{served}");
        assert!(!served.contains("etag"), "{served}");
        assert_eq!(receipt.state(), ReceiptState::Redeemed { times });
    }
    assert_eq!(faults(&rig.proxy.records()[1]), ["patch /static/gate.js"]);
}

#[tokio::test]
async fn a_patch_that_is_not_found_once_is_a_500_and_a_broken_receipt() {
    for (find, times) in [("quiesce", "0 times"), ("latch", "2 times")] {
        let rig = Rig::new().await;
        let receipt = rig.proxy.patch(gate_patch(find));
        let mut browser = rig.request(ASSET).await;
        rig.answer("", GATE).await;
        let served = browser.rest().await;
        assert!(served.starts_with("HTTP/1.1 500 ") && served.contains(times), "{served}");
        let ReceiptState::Broken { reason } = receipt.state() else { panic!("{receipt:?}") };
        assert!(reason.contains(times), "{reason}");
    }
}

#[tokio::test]
async fn a_patched_asset_that_is_not_there_is_a_broken_receipt_too() {
    let rig = Rig::new().await;
    let receipt = rig.proxy.patch(gate_patch("latch"));
    let mut browser = rig.request(ASSET).await;
    let (mut upstream, _) = rig.forwarded().await;
    upstream.write("HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\n\r\nlatch").await;
    assert!(browser.rest().await.starts_with("HTTP/1.1 500 "));
    assert!(matches!(receipt.state(), ReceiptState::Broken { .. }), "{receipt:?}");
}

#[tokio::test]
async fn an_asset_without_a_patch_passes_as_it_is() {
    let rig = Rig::new().await;
    let receipt = rig.proxy.patch(gate_patch("latch"));
    let mut browser = rig.request("GET /static/other.js").await;
    rig.answer("etag: \"v1\"\r\n", GATE).await;
    let served = browser.rest().await;
    assert!(served.contains("etag: \"v1\"") && served.ends_with(GATE), "{served}");
    assert_eq!(receipt.state(), ReceiptState::Armed { times: 0 });
}

#[tokio::test]
async fn a_standing_fault_fails_every_request_of_its_class_until_it_is_lifted() {
    let rig = Rig::new().await;
    let standing = rig.proxy.fail_until(Class::HISTORY);
    assert_eq!(standing.receipt().state(), ReceiptState::Armed { times: 0 });
    for times in 1..=3 {
        assert!(rig.request(HISTORY).await.rest().await.starts_with("HTTP/1.1 500 "));
        assert_eq!(standing.receipt().state(), ReceiptState::Redeemed { times });
    }
    standing.lift();
    let mut next = rig.request(HISTORY).await;
    rig.answer("", "rows").await;
    assert!(next.rest().await.ends_with("rows"));
    let counts: Vec<_> = rig.proxy.records().iter().map(|record| record.faults.len()).collect();
    assert_eq!(counts, [1, 1, 1, 0]);
    assert_eq!(faults(&rig.proxy.records()[0]), ["fail history with 500 until lifted"]);
}

const TOKEN: &str = r#"{"cursor":null,"handoff_token":"t1","messages":[]}"#;

#[tokio::test]
async fn a_tokenless_history_is_the_upstreams_answer_without_its_token() {
    let rig = Rig::new().await;
    let receipt = rig.proxy.tokenless(Class::HISTORY, 1);
    let mut browser = rig.request_with(HISTORY, "accept-encoding: gzip\r\n", "").await;
    let forwarded = rig.answer("", TOKEN).await.to_lowercase();
    assert!(forwarded.contains("accept-encoding: identity"), "{forwarded}");
    let served = browser.rest().await;
    assert!(served.ends_with(r#"{"cursor":null,"handoff_token":null,"messages":[]}"#), "{served}");
    assert_eq!(receipt.state(), REDEEMED);

    let mut next = rig.request(HISTORY).await;
    rig.answer("", TOKEN).await;
    assert!(next.rest().await.ends_with(TOKEN));
}

#[tokio::test]
async fn a_history_that_has_no_token_to_lose_is_a_500_and_a_broken_receipt() {
    let rig = Rig::new().await;
    let receipt = rig.proxy.tokenless(Class::HISTORY, 1);
    let mut browser = rig.request(HISTORY).await;
    rig.answer("", "{}").await;
    assert!(browser.rest().await.starts_with("HTTP/1.1 500 "));
    let ReceiptState::Broken { reason } = receipt.state() else { panic!("{receipt:?}") };
    assert!(reason.contains("no history with a handoff token"), "{reason}");
}
