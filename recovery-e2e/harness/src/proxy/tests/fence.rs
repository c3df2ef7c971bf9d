//! Fences: what has been counted once both markers are through.

use futures_util::FutureExt;

use super::super::Class;
use super::*;

async fn round_trip(rig: &Rig, id: &str) {
    let answer = rig.request(&format!("GET /__fence/{id}")).await.rest().await;
    assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");
}

#[tokio::test]
async fn a_fence_has_arrived_after_two_round_trips_of_its_id_and_not_before() {
    let rig = Rig::new().await;
    round_trip(&rig, "a").await;
    round_trip(&rig, "b").await;
    assert!(rig.proxy.fence_arrived("a").now_or_never().is_none());
    round_trip(&rig, "a").await;
    rig.proxy.fence_arrived("a").await.unwrap();
    assert!(rig.proxy.fence_arrived("b").now_or_never().is_none());
    assert_eq!(rig.proxy.counters().borrow().of(Class::FENCE).arrived, 3);
}

/// The proxy's half of the promise, without the second round trip that the browser's half needs.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_written_before_a_marker_is_counted_when_the_marker_is_answered() {
    let rig = Rig::new().await;
    for round in 1..=200 {
        // Opened in advance, as browsers do, so that only the bytes race; and one stays silent.
        let _silent = Peer(TcpStream::connect(rig.address()).await.unwrap());
        let mut rewind = Peer(TcpStream::connect(rig.address()).await.unwrap());
        let mut marker = Peer(TcpStream::connect(rig.address()).await.unwrap());
        rewind.write(&format!("{REWIND} HTTP/1.1\r\nhost: me\r\n\r\n")).await;
        marker.write("GET /__fence/a HTTP/1.1\r\nhost: me\r\n\r\n").await;
        assert!(marker.head().await.starts_with("HTTP/1.1 204 "));
        assert_eq!(rig.proxy.counters().borrow().of(Class::REWIND).arrived, round);
    }
}
