//! Fences: what has been counted once both markers are through.

use futures_util::FutureExt;

use super::super::Class;
use super::*;

async fn round_trip(stand: &Stand, id: &str) {
    let answer = stand.request(&format!("GET /__fence/{id}")).await.rest().await;
    assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");
}

#[tokio::test]
async fn a_fence_has_arrived_after_two_round_trips_of_its_id_and_not_before() {
    let stand = Stand::new().await;
    round_trip(&stand, "a").await;
    round_trip(&stand, "b").await;
    assert!(stand.front.fence_arrived("a").now_or_never().is_none());
    round_trip(&stand, "a").await;
    stand.front.fence_arrived("a").await.unwrap();
    assert!(stand.front.fence_arrived("b").now_or_never().is_none());
    assert_eq!(stand.front.counters().borrow().of(Class::Fence).arrived, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_written_before_the_markers_is_counted_when_the_fence_has_arrived() {
    let stand = Stand::new().await;
    let mut browsers = Vec::new();
    for round in 1..=100 {
        // One connection that stays silent, as browsers open them in advance.
        browsers.push(Peer(TcpStream::connect(stand.address()).await.unwrap()));
        browsers.push(stand.request(REWIND).await);
        let id = format!("f{round}");
        round_trip(&stand, &id).await;
        round_trip(&stand, &id).await;
        stand.front.fence_arrived(&id).await.unwrap();
        assert_eq!(stand.front.counters().borrow().of(Class::Rewind).arrived, round);
    }
}
