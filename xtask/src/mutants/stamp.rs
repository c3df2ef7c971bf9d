//! The fields of a stamp.

use serde::{Deserialize, Serialize};

/// A field of a stamp that differs from what its scenario expects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub field: String,
    pub expected: String,
    pub found: String,
}

/// The fields of a stamp with their values: `posts2` and `nested-2` both are a name and a number.
pub fn fields(stamp: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    let mut parts = stamp.split('-').peekable();
    while let Some(part) = parts.next() {
        let name = part.trim_end_matches(|c: char| c.is_ascii_digit());
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
            continue;
        }
        let value = match &part[name.len()..] {
            "" => parts.next_if(|next| is_number(next)),
            digits => Some(digits),
        };
        fields.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    }
    fields
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_a_name_with_its_number_or_a_name_before_its_number() {
        for (stamp, expected) in [
            ("RECOVERY-READY-REWINDWIN-posts1", vec![("posts", "1")]),
            ("RECOVERY-FAILED-RESTART-rows10-busy0", vec![("rows", "10"), ("busy", "0")]),
            ("RECOVERY-READY-STORM-5-nested-2", vec![("nested", "2")]),
            ("RECOVERY-FAILED-escaped-2", vec![("escaped", "2")]),
            ("RECOVERY-FAILED-ROSTERNATIVE-dead-cursor-represented-cursor1", vec![("cursor", "1")]),
            ("", vec![]),
        ] {
            let found = fields(stamp);
            let found: Vec<_> = found.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            assert_eq!(found, expected, "{stamp}");
        }
    }
}
