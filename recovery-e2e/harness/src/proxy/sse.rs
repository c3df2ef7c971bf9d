//! Which event id a browser holds after the bytes that have passed.

/// Follows the ids of an event stream while its bytes pass, wherever the chunks are cut.
///
/// As in a browser: an id counts once the block that carries it has ended, an empty one clears
/// it, and one with a NUL is ignored.
#[derive(Debug, Default)]
pub(super) struct IdScanner {
    /// The line so far, kept only as long as it may be an `id` field: data is of any length.
    line: Vec<u8>,
    kind: LineKind,
    after_cr: bool,
    pending: Option<String>,
    last: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LineKind {
    #[default]
    Empty,
    MaybeId,
    Uninteresting,
}

impl IdScanner {
    /// Reads on, and returns the id that the browser holds now.
    pub(super) fn feed(&mut self, chunk: &[u8]) -> Option<&str> {
        for &byte in chunk {
            match byte {
                b'\n' if self.after_cr => {}
                b'\n' | b'\r' => self.end_line(),
                _ => self.extend_line(byte),
            }
            self.after_cr = byte == b'\r';
        }
        self.last.as_deref()
    }

    fn extend_line(&mut self, byte: u8) {
        if self.kind == LineKind::Uninteresting {
            return;
        }
        self.line.push(byte);
        let maybe_id = b"id:".starts_with(&self.line) || self.line.starts_with(b"id:");
        self.kind = if maybe_id { LineKind::MaybeId } else { LineKind::Uninteresting };
    }

    fn end_line(&mut self) {
        match self.kind {
            LineKind::Empty => {
                if let Some(id) = self.pending.take() {
                    self.last = (!id.is_empty()).then_some(id);
                }
            }
            LineKind::MaybeId => self.read_id(),
            LineKind::Uninteresting => {}
        }
        self.line.clear();
        self.kind = LineKind::Empty;
    }

    fn read_id(&mut self) {
        let value = match self.line.strip_prefix(b"id:") {
            Some(value) => value.strip_prefix(b" ").unwrap_or(value),
            None if self.line == b"id" => b"",
            None => return,
        };
        if !value.contains(&0) {
            self.pending = Some(String::from_utf8_lossy(value).into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn last_id(text: &str) -> Option<String> {
        IdScanner::default().feed(text.as_bytes()).map(str::to_owned)
    }

    #[test]
    fn an_id_counts_as_in_a_browser() {
        let table = [
            ("id: a-1\ndata: x\n\n", Some("a-1")),
            ("id:a-1\ndata: x\n\n", Some("a-1")),
            ("id:  a-1\n\n", Some(" a-1")),
            ("id: a-1\r\ndata: x\r\n\r\n", Some("a-1")),
            ("id: a-1\rdata: x\r\r", Some("a-1")),
            ("id: a-1\ndata: x\n", None),
            ("id: a-1\n\nid: a-2\ndata: unterminated\n", Some("a-1")),
            ("id: a-1\n\ndata: without an id\n\n", Some("a-1")),
            ("id: a-1\n\nid:\n\n", None),
            ("id: a-1\n\nid\n\n", None),
            ("id: a-1\n\nid: b\0ad\n\n", Some("a-1")),
            ("id: a-1\nid: a-2\n\n", Some("a-2")),
            ("data: id: a-1\n\n", None),
            ("idle: a-1\n\n", None),
            (": id: a-1\n\n", None),
            ("retry: 300\n\nid: a-1\n\n: ping\n\n", Some("a-1")),
        ];
        for (text, id) in table {
            assert_eq!(last_id(text).as_deref(), id, "{text:?}");
        }
    }

    #[test]
    fn a_long_data_line_is_not_kept() {
        let mut scanner = IdScanner::default();
        scanner.feed(b"data: ");
        scanner.feed(&vec![b'x'; 1 << 20]);
        assert!(scanner.line.len() < 8);
    }

    proptest! {
        #[test]
        fn the_place_of_a_cut_between_chunks_never_matters(
            text in "(id|data|id:|id: a-[0-9]|data: x|:|\r\n|\r|\n|\n\n){0,24}",
            cuts in proptest::collection::vec(0usize..200, 0..6),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let mut scanner = IdScanner::default();
            for pair in cuts.windows(2) {
                scanner.feed(&text.as_bytes()[pair[0]..pair[1]]);
            }
            prop_assert_eq!(scanner.last, last_id(&text));
        }
    }
}
