//! What a connecting pane is answered: a pure function of what it presents and what the lane has.

use serde::Serialize;

use crate::record::{Cursor, Epoch, EventId};

/// What a connection presents.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// The `Last-Event-ID` header, which a browser sends when it redials by itself.
    pub header: Cursor,
    /// The `last_event_id` of the query, which a page sends with a new connection.
    pub query: Cursor,
    /// The handoff token of the query.
    pub token: Proof,
}

/// What the presented handoff token is worth at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// None was presented.
    Absent,
    /// The pane's snapshot holds exactly the rows of this lane.
    True,
    /// It does not, or not any more.
    Stale,
}

/// What the ring of a lane still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The lane object.
    pub epoch: Epoch,
    /// The first retained counter; one past `head` when nothing is retained.
    pub first: u64,
    /// The last published counter; 0 before the first.
    pub head: u64,
}

impl Span {
    /// The id of the last published event.
    #[cfg(any(test, feature = "control"))]
    pub fn head_id(&self) -> Option<EventId> {
        (self.head > 0).then_some(EventId { epoch: self.epoch, seq: self.head })
    }

    /// The id of the oldest event that can still be replayed.
    pub fn first_id(&self) -> Option<EventId> {
        (self.first <= self.head).then_some(EventId { epoch: self.epoch, seq: self.first })
    }
}

/// The shape of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The lane's present state, without a past.
    Fresh {
        /// No snapshot is proven, so the pane must start from an empty one.
        bootstrap: bool,
    },
    /// Every event after this counter, then live.
    Replay {
        /// The counter of the last event that the pane saw.
        after: u64,
    },
    /// The pane's past cannot be continued; it must read the history again.
    Truncated {
        /// Why.
        reason: Reason,
        /// How many events are lost, where that is known.
        lost: Option<u64>,
    },
    /// The pane's snapshot is not of this lane; nothing is streamed.
    Refused,
}

/// Why a cursor cannot be continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is of another boot of the node, or of an earlier lane object.
    BootEpoch,
    /// The ring has dropped events after it.
    RingEvicted,
    /// It is of this lane, which has not published that far.
    FutureCursor,
    /// No node gave it out.
    MalformedCursor,
}

/// Decides the shape. Total: every combination has exactly one answer.
///
/// A header settles it alone, since a browser that redials by itself repeats the token of its
/// first connection.
pub fn decide(ask: &Ask, span: &Span) -> Shape {
    match (ask.header, ask.query, ask.token) {
        (Cursor::Absent, _, Proof::Stale) => Shape::Refused,
        (Cursor::Absent, Cursor::Absent, token) => {
            Shape::Fresh { bootstrap: token == Proof::Absent }
        }
        (Cursor::Absent, cursor, _) | (cursor, _, _) => resume(cursor, span),
    }
}

fn resume(cursor: Cursor, span: &Span) -> Shape {
    let lost = |reason, lost| Shape::Truncated { reason, lost };
    let Cursor::Of(id) = cursor else {
        return lost(Reason::MalformedCursor, None);
    };
    if id.epoch != span.epoch {
        return lost(Reason::BootEpoch, None);
    }
    if id.seq > span.head {
        return lost(Reason::FutureCursor, None);
    }
    match span.first - 1 {
        last_evicted if id.seq < last_evicted => {
            lost(Reason::RingEvicted, Some(last_evicted - id.seq))
        }
        _ => Shape::Replay { after: id.seq },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::tests::epoch;

    const HERE: u64 = 0xaa;
    /// The ring holds 5 to 9; 1 to 4 are evicted.
    fn span() -> Span {
        Span { epoch: epoch(HERE), first: 5, head: 9 }
    }

    fn at(e: u64, seq: u64) -> Cursor {
        Cursor::Of(EventId { epoch: epoch(e), seq })
    }

    fn truncated(reason: Reason, lost: Option<u64>) -> Shape {
        Shape::Truncated { reason, lost }
    }

    /// Every kind of unusable cursor with its answer.
    fn unusable() -> [(Cursor, Shape); 4] {
        [
            (at(0xbb, 7), truncated(Reason::BootEpoch, None)),
            (at(HERE, 3), truncated(Reason::RingEvicted, Some(1))),
            (at(HERE, 10), truncated(Reason::FutureCursor, None)),
            (Cursor::Malformed, truncated(Reason::MalformedCursor, None)),
        ]
    }

    const CURSORS: [fn() -> Cursor; 6] = [
        || Cursor::Absent,
        || Cursor::Malformed,
        || at(HERE, 7),
        || at(HERE, 1),
        || at(HERE, 99),
        || at(0xbb, 7),
    ];
    const PROOFS: [Proof; 3] = [Proof::Absent, Proof::True, Proof::Stale];

    fn answer(header: Cursor, query: Cursor, token: Proof) -> Shape {
        decide(&Ask { header, query, token }, &span())
    }

    #[test]
    fn row_1_a_header_in_the_ring_replays_whatever_else_is_presented() {
        for query in CURSORS {
            for token in PROOFS {
                assert_eq!(answer(at(HERE, 7), query(), token), Shape::Replay { after: 7 });
            }
        }
    }

    #[test]
    fn row_2_an_unusable_header_truncates_whatever_else_is_presented() {
        for (header, shape) in unusable() {
            for query in CURSORS {
                for token in PROOFS {
                    assert_eq!(answer(header, query(), token), shape);
                }
            }
        }
    }

    #[test]
    fn row_3_a_query_in_the_ring_replays_unless_the_token_is_stale() {
        for token in [Proof::Absent, Proof::True] {
            assert_eq!(answer(Cursor::Absent, at(HERE, 7), token), Shape::Replay { after: 7 });
        }
    }

    #[test]
    fn row_4_an_unusable_query_truncates_unless_the_token_is_stale() {
        for (query, shape) in unusable() {
            for token in [Proof::Absent, Proof::True] {
                assert_eq!(answer(Cursor::Absent, query, token), shape);
            }
        }
    }

    #[test]
    fn row_5_a_true_token_alone_starts_fresh_without_a_bootstrap() {
        let shape = answer(Cursor::Absent, Cursor::Absent, Proof::True);
        assert_eq!(shape, Shape::Fresh { bootstrap: false });
    }

    #[test]
    fn row_6_nothing_presented_starts_fresh_with_a_bootstrap() {
        let shape = answer(Cursor::Absent, Cursor::Absent, Proof::Absent);
        assert_eq!(shape, Shape::Fresh { bootstrap: true });
    }

    #[test]
    fn row_7_a_stale_token_without_a_header_is_refused() {
        for query in CURSORS {
            assert_eq!(answer(Cursor::Absent, query(), Proof::Stale), Shape::Refused);
        }
    }

    #[test]
    fn the_edges_of_the_ring_are_exact() {
        let at_bound = |seq| answer(at(HERE, seq), Cursor::Absent, Proof::Absent);
        assert_eq!(at_bound(3), truncated(Reason::RingEvicted, Some(1)));
        assert_eq!(at_bound(4), Shape::Replay { after: 4 });
        assert_eq!(at_bound(9), Shape::Replay { after: 9 });
        assert_eq!(at_bound(10), truncated(Reason::FutureCursor, None));
    }

    #[test]
    fn a_lane_that_never_published_knows_every_cursor_of_its_epoch_as_future() {
        let span = Span { epoch: epoch(HERE), first: 1, head: 0 };
        let ask = Ask { header: at(HERE, 1), query: Cursor::Absent, token: Proof::Absent };
        assert_eq!(decide(&ask, &span), truncated(Reason::FutureCursor, None));
    }

    fn cursor() -> impl Strategy<Value = Cursor> {
        prop_oneof![
            Just(Cursor::Absent),
            Just(Cursor::Malformed),
            (0..3u64, prop_oneof![1..20u64, Just(u64::MAX)]).prop_map(|(e, seq)| at(e, seq)),
        ]
    }

    proptest! {
        #[test]
        fn only_a_cursor_of_this_epoch_within_the_ring_is_ever_continued(
            header in cursor(),
            query in cursor(),
            token in prop::sample::select(PROOFS.as_slice()),
            e in 0..3u64,
            first in 1..20u64,
            kept in 0..20u64,
        ) {
            let span = Span { epoch: epoch(e), first, head: first - 1 + kept };
            let ask = Ask { header, query, token };
            let effective = if header == Cursor::Absent { query } else { header };
            match decide(&ask, &span) {
                Shape::Replay { after } => {
                    prop_assert_eq!(effective, at(e, after));
                    prop_assert!((span.first - 1..=span.head).contains(&after));
                }
                Shape::Truncated { reason: Reason::RingEvicted, lost } => {
                    let Cursor::Of(id) = effective else {
                        return Err(TestCaseError::fail("evicted without a cursor"));
                    };
                    prop_assert_eq!(lost, Some(span.first - 1 - id.seq));
                }
                Shape::Truncated { lost, .. } => {
                    prop_assert_ne!(effective, Cursor::Absent);
                    prop_assert_eq!(lost, None);
                }
                Shape::Fresh { bootstrap } => {
                    prop_assert_eq!(effective, Cursor::Absent);
                    prop_assert_eq!(bootstrap, token == Proof::Absent);
                }
                Shape::Refused => {
                    prop_assert_eq!(header, Cursor::Absent);
                    prop_assert_eq!(token, Proof::Stale);
                }
            }
        }
    }
}
