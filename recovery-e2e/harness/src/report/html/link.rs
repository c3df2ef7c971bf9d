//! What the page leads to: files below the out folder, and its own cases.

use std::fmt::Write;

use camino::{Utf8Component, Utf8Path};

/// The path from the out folder at `place` to a file of the report, unless it leads out of it.
pub fn below<'a>(place: &Utf8Path, path: &'a Utf8Path) -> Option<&'a Utf8Path> {
    let below = path.strip_prefix(place).ok()?;
    let stays = below.components().all(|part| matches!(part, Utf8Component::Normal(_)));
    (stays && !below.as_str().is_empty()).then_some(below)
}

/// A link from the page to what lies at `below`, a path from the out folder.
pub fn href(below: &Utf8Path) -> String {
    let parts: Vec<_> = below.components().map(|part| encoded(part.as_str(), '%')).collect();
    parts.join("/")
}

/// The name in the page of the case `id`; no two ids have the same.
pub fn anchor(id: &str) -> String {
    let parts: Vec<_> = id.split('/').map(|part| encoded(part, '_')).collect();
    format!("case-{}", parts.join("/"))
}

/// `text` with every byte that means something in a link, and `mark` itself, in hexadecimal digits
/// behind `mark`.
fn encoded(text: &str, mark: char) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => encoded.push(byte.into()),
            // Writing to a string cannot fail.
            _ => drop(write!(encoded, "{mark}{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_starts_at_the_out_folder_and_never_leads_out_of_it() {
        for (place, path, expected) in [
            ("target/e2e", "target/e2e/scenarios/a/end.png", Some("scenarios/a/end.png")),
            ("", "scenarios/a#2/end.png", Some("scenarios/a%232/end.png")),
            ("/out", "/out/javascript:x/\u{e9} ?.png", Some("javascript%3Ax/%C3%A9%20%3F.png")),
            ("/out", "/out/../etc/passwd", None),
            ("/out", "/etc/passwd", None),
            ("/out", "/out", None),
        ] {
            let link = below(place.into(), path.into()).map(href);
            assert_eq!(link.as_deref(), expected, "{path} in {place}");
        }
    }

    #[test]
    fn the_name_of_a_case_can_be_typed_and_is_its_own() {
        assert_eq!(anchor("rewind-window"), "case-rewind-window");
        assert_eq!(anchor("rewind-window/gate"), "case-rewind-window/gate");
        assert_eq!(anchor("rewind-window#2"), "case-rewind-window_232");
        assert_ne!(anchor("a_23"), anchor("a#"));
    }
}
