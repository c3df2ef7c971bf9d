//! The door: who is let in, who waits, and who is turned away.

use futures_util::FutureExt;

use super::*;
use crate::record::verdict::ReceiptState;

const REDEEMED: ReceiptState = ReceiptState::Redeemed { times: 1 };

#[tokio::test]
async fn a_parked_request_is_not_counted_and_reaches_the_upstream_when_it_is_let_in() {
    let rig = Rig::new().await;
    let parked = rig.proxy.park();
    assert_eq!(parked.receipt().state(), ReceiptState::Armed { times: 0 });
    let mut browser = rig.request(EVENTS).await;
    parked.arrived(1).await.unwrap();
    assert_eq!(parked.receipt().state(), REDEEMED);
    assert!(rig.proxy.records().is_empty());
    assert!(parked.arrived(2).now_or_never().is_none());

    rig.proxy.accept();
    rig.answer("", "events").await;
    assert!(browser.rest().await.ends_with("events"));
    assert_eq!(rig.proxy.records().len(), 1);
    let mut next = rig.request(HISTORY).await;
    rig.answer("", "rows").await;
    assert!(next.rest().await.ends_with("rows"));
    assert_eq!(parked.receipt().state(), REDEEMED, "what comes later does not wait");
}

#[tokio::test]
async fn a_parked_connection_that_asks_for_nothing_or_is_given_up_proves_nothing() {
    let rig = Rig::new().await;
    let parked = rig.proxy.park();
    let _silent = TcpStream::connect(rig.address()).await.unwrap();
    drop(TcpStream::connect(rig.address()).await.unwrap());
    let _asking = rig.request(EVENTS).await;
    parked.arrived(1).await.unwrap();
    assert_eq!(parked.receipt().state(), REDEEMED);
}

#[tokio::test]
async fn a_refused_connection_is_reset_before_a_byte_until_the_door_is_open_again() {
    let rig = Rig::new().await;
    let receipt = rig.proxy.refuse();
    assert_eq!(receipt.state(), ReceiptState::Armed { times: 0 });
    for times in 1..=2 {
        let mut browser = TcpStream::connect(rig.address()).await.unwrap();
        let end = within("a reset", browser.read_u8(), String::new).await.unwrap();
        assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
        assert_eq!(receipt.state(), ReceiptState::Redeemed { times });
    }
    assert!(rig.proxy.records().is_empty());

    rig.proxy.accept();
    let mut next = rig.request(HISTORY).await;
    rig.answer("", "rows").await;
    assert!(next.rest().await.ends_with("rows"));
    assert_eq!(receipt.state(), ReceiptState::Redeemed { times: 2 });
}

#[tokio::test]
async fn a_parked_connection_is_turned_away_when_the_door_is_shut_in_its_place() {
    let rig = Rig::new().await;
    let parked = rig.proxy.park();
    let mut browser = rig.request(EVENTS).await;
    parked.arrived(1).await.unwrap();
    let receipt = rig.proxy.refuse();
    assert_eq!(browser.rest().await, "");
    assert_eq!(receipt.state(), REDEEMED);
}

#[tokio::test]
async fn a_stream_that_is_open_already_goes_on_behind_a_shut_door() {
    let rig = Rig::new().await;
    let mut browser = rig.request(EVENTS).await;
    let (mut upstream, _) = rig.forwarded().await;
    upstream.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\n").await;
    browser.read_until("data: 1\n\n").await;
    rig.proxy.refuse();
    upstream.write("data: 2\n\n").await;
    browser.read_until("data: 2\n\n").await;
}
