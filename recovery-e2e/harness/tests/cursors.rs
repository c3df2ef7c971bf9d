//! When a page has seen what the node has published.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use recovery_e2e::record::settings::{Clock, PageSettings};
use recovery_e2e::scenario::words::cursor::has_reached;
use support::stand::Stand;

#[tokio::test]
#[ignore = "needs a browser: cargo xtask test"]
async fn a_page_has_caught_up_when_its_cursor_is_at_the_head_or_past_it_in_the_same_epoch() {
    let stand = Stand::new(PageSettings::new(Clock::Real, 1)).await;
    for (cursor, head, expected) in [
        ("'00ab-4'", Some("00ab-4"), true),
        ("'00ab-5'", Some("00ab-4"), true),
        ("'00ab-10'", Some("00ab-9"), true),
        ("'00ab-3'", Some("00ab-4"), false),
        ("'00cd-9'", Some("00ab-4"), false),
        ("null", Some("00ab-4"), false),
        ("undefined", Some("00ab-4"), false),
        ("'other'", Some("other"), true),
        ("'another'", Some("other"), false),
        ("null", None, true),
        ("'00ab-4'", None, true),
    ] {
        let reached: bool = stand.eval(&has_reached(cursor, head)).await;
        assert_eq!(reached, expected, "{cursor} beside {head:?}");
    }
}
