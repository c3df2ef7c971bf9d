//! The one place where text that anybody may have written becomes fit for a report.
//!
//! Pages, tools and systems write what they like: escape sequences, characters that XML forbids,
//! the end of a CDATA section, the marks of a consumer, megabytes.

use std::iter::Peekable;
use std::str::Chars;

/// The longest block, in bytes: some consumers refuse a whole report for one that is larger.
const MAX_BLOCK: usize = 64 * 1024;

/// The longest line, in bytes: it is a headline, and the whole text is in a block.
const MAX_LINE: usize = 1024;

/// What Jenkins and GitLab take for the begin of an attachment's path.
const ATTACHMENT: &str = "[[ATTACHMENT|";

/// `text` as lines that any terminal and any XML reader takes as text, head and tail if it is long.
pub fn block(text: &str) -> String {
    capped(text, MAX_BLOCK)
}

/// [`block`], with a bound of its own.
pub fn capped(text: &str, max: usize) -> String {
    cap(&plain(text), max)
}

/// `text` on one line, for an attribute or a headline.
pub fn line(text: &str) -> String {
    cap(&plain(text), MAX_LINE).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A line that no CI takes for a command: they look for one at its begin, behind blanks too.
pub fn no_command(line: &str) -> String {
    // `##[` is an older spelling of the same, and is looked for anywhere.
    let line = line.replace("##[", "# #[");
    match line.trim_start().strip_prefix("::") {
        Some(rest) => format!(": :{rest}"),
        None => line,
    }
}

/// `text` as a block for a CDATA section, with nothing in it that attaches a file: what a page
/// prints must not choose which files are published.
pub fn cdata(text: &str) -> String {
    block(text).replace(ATTACHMENT, "[ [ATTACHMENT|").replace("]]>", "]]]]><![CDATA[>")
}

/// The line that attaches the file at `path`; `None` when such a line cannot hold that path.
pub fn attachment(path: &str) -> Option<String> {
    let ends_once = !path.contains("]]") && !path.ends_with(']');
    let fits = ends_once && plain(path) == path && !path.contains(['\n', '\t']);
    fits.then(|| format!("{ATTACHMENT}{path}]]\n"))
}

/// `text` without escape sequences, without control characters but tab and line feed, and without
/// the two characters beyond those that XML 1.0 forbids.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\r' => {
                chars.next_if_eq(&'\n');
                plain.push('\n');
            }
            '\t' | '\n' => plain.push(c),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if c.is_control() => {}
            _ => plain.push(c),
        }
    }
    plain
}

/// Skips what follows an escape character, as ECMA-48 has it.
fn skip_escape(chars: &mut Peekable<Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_control_sequence(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => skip_control_string(chars),
        _ => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next_if(|c| ('0'..='~').contains(c));
        }
    }
}

fn skip_control_sequence(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
    chars.next_if(|c| ('@'..='~').contains(c));
}

/// Skips to the bell or the terminator, but never over the end of a line: a string without
/// an end must not hide the rest of the text.
fn skip_control_string(chars: &mut Peekable<Chars<'_>>) {
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

/// `text`, or its head and its tail with a word on what is missing, when it is over `max` bytes.
fn cap(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(max / 2);
    let tail = text.ceil_char_boundary(text.len() - max / 2);
    format!("{}\n[... {} bytes left out ...]\n{}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escape_sequences_and_forbidden_characters_are_removed_and_the_rest_is_kept() {
        for (text, expected) in [
            ("plain \u{e9}\u{1f600}\ttab\nline", "plain \u{e9}\u{1f600}\ttab\nline"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]never ended\nkept", "\nkept"),
            ("\u{1b}(Bascii\u{1b}7\u{1b}", "ascii"),
            ("\u{1b}[31\u{1b}[0mx", "x"),
            ("a\u{0}\u{8}\u{b}\u{1f}\u{7f}\u{85}b", "ab"),
            ("a\u{fffe}\u{ffff}\u{fffd}b", "a\u{fffd}b"),
            ("a\r\nb\rc", "a\nb\nc"),
        ] {
            assert_eq!(block(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_long_text_keeps_its_head_and_its_tail_and_says_what_is_missing() {
        let long = format!("head {} tail", "\u{1f600}".repeat(MAX_BLOCK));
        let capped = block(&long);
        assert!(capped.starts_with("head ") && capped.ends_with(" tail"));
        assert!(capped.len() < MAX_BLOCK + 64, "{}", capped.len());
        assert!(capped.contains("bytes left out"));
        assert_eq!(block(&"x".repeat(MAX_BLOCK)).len(), MAX_BLOCK);
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(line("did not hold:\n\tthe gate\r\n"), "did not hold: the gate");
        let long = line(&"word\n".repeat(MAX_LINE));
        assert!(!long.contains('\n') && long.len() < MAX_LINE + 64);
    }

    #[test]
    fn what_a_page_prints_attaches_no_file() {
        for text in ["[[ATTACHMENT|/etc/passwd]]", "[\u{1b}[0m[ATTACH\u{0}MENT|/etc/passwd]]"] {
            assert_eq!(cdata(text), "[ [ATTACHMENT|/etc/passwd]]");
        }
    }

    #[test]
    fn what_a_page_prints_commands_no_ci() {
        for (line, expected) in [
            ("::error title=x::y", ": :error title=x::y"),
            ("  ::stop-commands::x", ": :stop-commands::x"),
            ("x ##[add-path]y", "x # #[add-path]y"),
            ("at journal::read", "at journal::read"),
        ] {
            assert_eq!(no_command(line), expected);
        }
    }

    #[test]
    fn only_a_path_that_stays_one_path_is_attached() {
        assert_eq!(attachment("a/end.png").unwrap(), "[[ATTACHMENT|a/end.png]]\n");
        for path in ["a]].png", "a]", "a\n[[ATTACHMENT|b]]", "a\u{1b}[0m.png"] {
            assert_eq!(attachment(path), None, "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_gets_a_control_character_past_this_place(text: String) {
            let block = block(&text);
            prop_assert!(block.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
            prop_assert!(!line(&text).contains(char::is_control));
        }

        #[test]
        fn a_text_without_anything_forbidden_is_left_alone(text in "[ -~\n\t\u{a0}-\u{d7ff}]*") {
            prop_assert_eq!(block(&text), text);
        }
    }
}
