//! The one line that a verdict is known by.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const READY: &str = "RECOVERY-READY-";
const FAILED: &str = "RECOVERY-FAILED-";

/// What a scenario saw, as one line: `RECOVERY-READY-REWINDWIN-posts1`.
///
/// A stamp says whether the scenario's question was answered well, the scenario's code in capital
/// letters (a failure may have a name of its own instead), and the numbers that the answer rests
/// on, in the scenario's own order: `-posts1`, `-nested-2`, `-dead-cursor1` or just `-5`. It renders by
/// [`fmt::Display`] and is read back by [`FromStr`]; what is read renders to the same text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Stamp {
    ready: bool,
    code: String,
    fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    /// In small letters, words with dashes between them; empty for a number without a name.
    name: String,
    /// Whether a dash is between name and number.
    apart: bool,
    value: u64,
}

impl Stamp {
    /// A stamp of success for the scenario known by `code` (capital letters).
    pub fn ready(code: &'static str) -> Self {
        Self::new(true, code)
    }

    /// A stamp of failure for the scenario known by `code` (capital letters), or for a failure that
    /// has a name of its own (small letters).
    pub fn failed(code: &'static str) -> Self {
        Self::new(false, code)
    }

    fn new(ready: bool, code: &'static str) -> Self {
        debug_assert!(
            is_code(code) || (!ready && is_word(code)),
            "{code:?} is not a stamp's code: use capital letters only"
        );
        Self { ready, code: code.to_owned(), fields: Vec::new() }
    }

    /// The same stamp with one more number; `name` is in small letters, and may have dashes.
    #[must_use]
    pub fn field(self, name: &'static str, value: u64) -> Self {
        self.with(name, false, value)
    }

    /// The same, with a dash between the name and the number.
    #[must_use]
    pub fn field_apart(self, name: &'static str, value: u64) -> Self {
        self.with(name, true, value)
    }

    /// The same stamp with one more number, which has no name.
    #[must_use]
    pub fn number(mut self, value: u64) -> Self {
        self.fields.push(Field { name: String::new(), apart: false, value });
        self
    }

    fn with(mut self, name: &'static str, apart: bool, value: u64) -> Self {
        debug_assert!(is_name(name), "{name:?} is not a field's name: use words of small letters");
        self.fields.push(Field { name: name.to_owned(), apart, value });
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
        self.fields.iter().try_for_each(|Field { name, apart, value }| {
            write!(f, "-{name}{}{value}", if *apart { "-" } else { "" })
        })
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
    let code = parts.next().filter(|code| is_code(code) || (!ready && is_word(code)))?.to_owned();
    let mut fields = Vec::new();
    let mut words = Vec::new();
    for part in parts {
        let digits = part.find(|c: char| c.is_ascii_digit());
        let (word, digits) = part.split_at(digits.unwrap_or(part.len()));
        let apart = word.is_empty() && !words.is_empty();
        if !word.is_empty() || digits.is_empty() {
            is_word(word).then(|| words.push(word))?;
        }
        if digits.is_empty() {
            continue;
        }
        let value: u64 = digits.parse().ok()?;
        // A zero in proxy would be lost on the way back.
        let renders = value.to_string() == digits;
        renders.then(|| fields.push(Field { name: words.join("-"), apart, value }))?;
        words.clear();
    }
    words.is_empty().then_some(Stamp { ready, code, fields })
}

fn is_code(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// One word, or several with dashes between them.
fn is_name(text: &str) -> bool {
    text.split('-').all(is_word)
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
        let apart = Stamp::ready("STORM").number(5).field_apart("nested", 2);
        assert_eq!(apart.to_string(), "RECOVERY-READY-STORM-5-nested-2");
        let named = Stamp::failed("escaped").number(2);
        assert_eq!(named.to_string(), "RECOVERY-FAILED-escaped-2");
        let words = Stamp::failed("ROSTER").number(5).field("dead-cursor", 1);
        assert_eq!(words.to_string(), "RECOVERY-FAILED-ROSTER-5-dead-cursor1");
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
            "RECOVERY-READY-escaped-2",
            "RECOVERY-FAILED-Escaped-2",
            "RECOVERY-READY-STORM-nested--2",
            "RECOVERY-READY-STORM-nested-Two2",
            "RECOVERY-READY-STORM-nested--two2",
            "RECOVERY-READY-STORM-05",
            "RECOVERY-READY-REWINDWIN-posts01",
            "RECOVERY-READY-REWINDWIN-posts1x",
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
            fields in prop::collection::vec(("([a-z]{1,8}(-[a-z]{1,8}){0,2})?", any::<bool>(), any::<u64>()), 0..6),
        ) {
            let field = |(name, apart, value): (String, bool, u64)| {
                Field { apart: apart && !name.is_empty(), name, value }
            };
            let fields = fields.into_iter().map(field).collect();
            let stamp = Stamp { ready, code, fields };
            prop_assert_eq!(&stamp.to_string().parse::<Stamp>().unwrap(), &stamp);
            let json = serde_json::to_string(&stamp).unwrap();
            prop_assert_eq!(serde_json::from_str::<Stamp>(&json).unwrap(), stamp);
        }

        #[test]
        fn a_text_that_is_read_as_a_stamp_renders_to_itself(
            text in "RECOVERY-(READY|FAILED)-[A-Z]{0,3}(-[a-z]{0,3}[0-9]{0,3}){0,4}",
        ) {
            if let Ok(stamp) = text.parse::<Stamp>() {
                prop_assert_eq!(stamp.to_string(), text);
            }
        }
    }
}
