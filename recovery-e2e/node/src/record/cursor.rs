//! The names of things on a lane: epochs, event ids, row ids and handoff tokens.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// One lane object of one boot of the node.
///
/// Random, so that no counter of an earlier process can pass for one of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch(u64);

impl Epoch {
    /// An epoch that was never used before.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn fresh() -> Result<Self, getrandom::Error> {
        getrandom::u64().map(Self)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The id of a ring event: `<16 hex digits>-<counter from 1>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventId {
    /// The lane object that published the event.
    pub epoch: Epoch,
    /// Its place in that lane, from 1.
    pub seq: u64,
}

impl EventId {
    /// Reads exactly what [`fmt::Display`] writes; anything else is nothing that a node gave out.
    pub fn parse(text: &str) -> Option<Self> {
        let (epoch, seq) = text.split_once('-')?;
        let id = Self {
            epoch: Epoch(u64::from_str_radix(epoch, 16).ok()?),
            seq: seq.parse().ok().filter(|seq| *seq > 0)?,
        };
        // Signs, capitals, leading zeros and short epochs all parse as numbers.
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.epoch, self.seq)
    }
}

/// What a connection presents as the last event it saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// It presents none.
    Absent,
    /// It presents a text that no node gave out.
    Malformed,
    /// It presents a well-formed id, of whatever lane.
    Of(EventId),
}

impl Cursor {
    /// Reads a presented text. An empty one is none: that is how SSE clears an id.
    pub fn read(text: Option<&str>) -> Self {
        match text {
            None | Some("") => Self::Absent,
            Some(text) => EventId::parse(text).map_or(Self::Malformed, Self::Of),
        }
    }
}

/// Names a row, in its workstream and for ever: `<epoch>.<counter from 1>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RowId(Arc<str>);

impl RowId {
    /// The `n`th row name of a lane object.
    pub fn new(epoch: Epoch, n: u64) -> Self {
        Self(format!("{epoch}.{n}").into())
    }

    /// A name that was stored with its row.
    pub fn stored(text: String) -> Self {
        Self(text.into())
    }

    /// The text on the wire and in the store.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Says which rows of which lane object a history snapshot holds.
///
/// It is true as long as the same lane object has neither admitted, cut nor lost a row since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandoffToken {
    /// The lane object.
    pub epoch: Epoch,
    /// How many admissions, truncations and losses it had seen.
    pub revision: u64,
}

impl HandoffToken {
    /// Whether a presented text is this token.
    pub fn is(&self, presented: &str) -> bool {
        self.to_string() == presented
    }
}

impl fmt::Display for HandoffToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.revision)
    }
}

#[cfg(test)]
pub mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An epoch of a known number, for the tests of other modules.
    pub fn epoch(n: u64) -> Epoch {
        Epoch(n)
    }

    #[test]
    fn a_text_that_only_resembles_an_event_id_is_malformed() {
        for text in [
            "5",
            "-",
            "-5",
            "00000000000000aa-",
            "00000000000000aa-0",
            "00000000000000aa-05",
            "00000000000000aa-+5",
            "00000000000000aa--5",
            "00000000000000aa-5 ",
            " 00000000000000aa-5",
            "00000000000000AA-5",
            "aa-5",
            "+0000000000000aa-5",
            "00000000000000aa-18446744073709551616",
            "00000000000000aa-5-5",
            "garbage",
            "\u{0}",
        ] {
            assert_eq!(Cursor::read(Some(text)), Cursor::Malformed, "{text:?}");
        }
    }

    #[test]
    fn an_empty_cursor_is_no_cursor() {
        assert_eq!(Cursor::read(Some("")), Cursor::Absent);
        assert_eq!(Cursor::read(None), Cursor::Absent);
    }

    proptest! {
        #[test]
        fn an_event_id_is_read_back_as_it_was_written(e: u64, seq in 1..=u64::MAX) {
            let id = EventId { epoch: Epoch(e), seq };
            prop_assert_eq!(EventId::parse(&id.to_string()), Some(id));
        }

        #[test]
        fn whatever_is_read_as_an_id_is_written_the_same(text in "\\PC*") {
            if let Some(id) = EventId::parse(&text) {
                prop_assert_eq!(id.to_string(), text);
            }
        }

        #[test]
        fn a_token_is_true_for_its_own_lane_and_revision_only(
            a in 0..3u64, b in 0..3u64, r in 0..3u64, s in 0..3u64,
        ) {
            let one = HandoffToken { epoch: Epoch(a), revision: r };
            let other = HandoffToken { epoch: Epoch(b), revision: s };
            prop_assert_eq!(one.is(&other.to_string()), a == b && r == s);
        }
    }
}
