//! The one line that a verdict is known by.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const READY: &str = "RECOVERY-READY-";
const FAILED: &str = "RECOVERY-FAILED-";

/// What a scenario saw, as one line: `RECOVERY-READY-REWINDWIN-posts1`.
///
/// A stamp says whether the scenario's question was answered well, the scenario's code in capital
/// letters, and the numbers that the answer rests on, in the scenario's own order. It renders by
/// [`fmt::Display`] and is read back by [`FromStr`]; what is read renders to the same text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Stamp {
    ready: bool,
    code: String,
    fields: Vec<(String, u64)>,
}

impl Stamp {
    /// A stamp of success for the scenario known by `code` (capital letters).
    pub fn ready(code: &'static str) -> Self {
        Self::new(true, code)
    }

    /// A stamp of failure for the scenario known by `code` (capital letters).
    pub fn failed(code: &'static str) -> Self {
        Self::new(false, code)
    }

    fn new(ready: bool, code: &'static str) -> Self {
        debug_assert!(is_code(code), "{code:?} is not a stamp's code: use capital letters only");
        Self { ready, code: code.to_owned(), fields: Vec::new() }
    }

    /// The same stamp with one more number; `name` is in small letters.
    #[must_use]
    pub fn field(mut self, name: &'static str, value: u64) -> Self {
        debug_assert!(is_name(name), "{name:?} is not a field's name: use small letters only");
        self.fields.push((name.to_owned(), value));
        self
    }

    /// Whether this is a stamp of success.
    pub fn is_ready(&self) -> bool {
        self.ready
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.ready { READY } else { FAILED })?;
        f.write_str(&self.code)?;
        self.fields.iter().try_for_each(|(name, value)| write!(f, "-{name}{value}"))
    }
}

/// A text that is no stamp.
#[derive(Debug, thiserror::Error)]
#[error(
    "{text:?} is not a stamp: expected RECOVERY-READY- or RECOVERY-FAILED-, a code in capital letters, and fields such as -posts1"
)]
pub struct StampError {
    text: String,
}

impl FromStr for Stamp {
    type Err = StampError;

    fn from_str(text: &str) -> Result<Self, StampError> {
        parse(text).ok_or_else(|| StampError { text: text.to_owned() })
    }
}

fn parse(text: &str) -> Option<Stamp> {
    let (ready, rest) = match text.strip_prefix(READY) {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix(FAILED)?),
    };
    let mut parts = rest.split('-');
    let code = parts.next().filter(|code| is_code(code))?.to_owned();
    let fields = parts.map(parse_field).collect::<Option<_>>()?;
    Some(Stamp { ready, code, fields })
}

fn parse_field(part: &str) -> Option<(String, u64)> {
    let (name, digits) = part.split_at(part.find(|c: char| c.is_ascii_digit())?);
    let value: u64 = digits.parse().ok()?;
    // A zero in front would be lost on the way back.
    (is_name(name) && value.to_string() == digits).then(|| (name.to_owned(), value))
}

fn is_code(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

impl From<Stamp> for String {
    fn from(stamp: Stamp) -> Self {
        stamp.to_string()
    }
}

impl TryFrom<String> for Stamp {
    type Error = StampError;

    fn try_from(text: String) -> Result<Self, StampError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_stamp_renders_its_code_and_its_fields_in_order() {
        let ready = Stamp::ready("REWINDWIN").field("posts", 1);
        assert_eq!(ready.to_string(), "RECOVERY-READY-REWINDWIN-posts1");
        let failed = Stamp::failed("REWINDFAIL").field("closed", 2).field("heal", 0);
        assert_eq!(failed.to_string(), "RECOVERY-FAILED-REWINDFAIL-closed2-heal0");
    }

    #[test]
    fn what_is_no_stamp_is_refused() {
        for text in [
            "",
            "RECOVERY-READY-",
            "RECOVERY-READY--posts1",
            "RECOVERY-MAYBE-REWINDWIN-posts1",
            "RECOVERY-READY-rewindwin-posts1",
            "RECOVERY-READY-REWINDWIN-posts",
            "RECOVERY-READY-REWINDWIN-1",
            "RECOVERY-READY-REWINDWIN-posts01",
            "RECOVERY-READY-REWINDWIN-posts1x",
            "RECOVERY-READY-REWINDWIN-posts-1",
            "RECOVERY-READY-REWINDWIN-posts18446744073709551616",
            "RECOVERY-READY-REWINDWIN-posts1-",
            "RECOVERY-READY-REWINDWIN-posts1\n",
        ] {
            assert!(text.parse::<Stamp>().is_err(), "{text:?} was taken for a stamp");
        }
    }

    proptest! {
        #[test]
        fn a_stamp_that_is_rendered_is_read_back_the_same(
            ready: bool,
            code in "[A-Z]{1,12}",
            fields in prop::collection::vec(("[a-z]{1,8}", any::<u64>()), 0..6),
        ) {
            let stamp = Stamp { ready, code, fields };
            prop_assert_eq!(&stamp.to_string().parse::<Stamp>().unwrap(), &stamp);
            let json = serde_json::to_string(&stamp).unwrap();
            prop_assert_eq!(serde_json::from_str::<Stamp>(&json).unwrap(), stamp);
        }

        #[test]
        fn a_text_that_is_read_as_a_stamp_renders_to_itself(
            text in "RECOVERY-(READY|FAILED)-[A-Z]{0,3}(-[a-z]{0,3}[0-9]{0,3}){0,3}",
        ) {
            if let Ok(stamp) = text.parse::<Stamp>() {
                prop_assert_eq!(stamp.to_string(), text);
            }
        }
    }
}
