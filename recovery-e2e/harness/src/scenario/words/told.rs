//! What was seen, in words for whoever reads a verdict.

use std::fmt::Display;

/// A value, or `none`.
pub fn or_none(value: Option<impl Display>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

/// Values in their order, or `none`.
pub fn listed<T: Display>(values: impl IntoIterator<Item = T>) -> String {
    let told: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    or_none((!told.is_empty()).then(|| told.join(", ")))
}

/// The same, of values that may be missing.
pub fn each_or_none<T: Display>(values: impl IntoIterator<Item = Option<T>>) -> String {
    listed(values.into_iter().map(or_none))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_reads_as_words() {
        assert_eq!(or_none(Some(7)), "7");
        assert_eq!(or_none(None::<u8>), "none");
        assert_eq!(each_or_none([Some(200), None]), "200, none");
        assert_eq!(listed([0; 0]), "none");
    }
}
