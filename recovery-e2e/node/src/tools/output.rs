//! What a call has written: decoded, kept up to a limit, and published while it arrives.

use std::time::Instant;

use crate::lane::{Batch, Event, Lane};
use crate::record::RowId;

/// Where the events of a call belong.
#[derive(Clone, Copy, Debug)]
pub struct Address<'a> {
    /// The call.
    pub call_id: &'a str,
    /// The tool row of the call, or of its agent.
    pub row_id: &'a RowId,
    /// The agent's call, if an agent made it.
    pub parent_call_id: Option<&'a str>,
}

/// The output of one call while it runs. The published chunks, joined, are what
/// [`Output::finish`] gives.
pub struct Output<'a> {
    lane: &'a Lane,
    address: Address<'a>,
    kept: Kept,
    batch: Batch,
}

impl<'a> Output<'a> {
    /// An empty one that keeps `limit` bytes.
    pub fn new(lane: &'a Lane, address: Address<'a>, limit: usize) -> Self {
        Self { lane, address, kept: Kept::new(limit), batch: Batch::default() }
    }

    /// Takes what the process wrote.
    pub fn push(&mut self, bytes: &[u8]) {
        let text = self.kept.take(bytes);
        if !text.is_empty()
            && let Some(due) = self.batch.push(&text, Instant::now())
        {
            self.publish(&due);
        }
    }

    /// When pending text is due.
    pub fn due(&self) -> Option<Instant> {
        self.batch.due()
    }

    /// Publishes what is pending.
    pub fn flush(&mut self) {
        if let Some(text) = self.batch.flush(Instant::now()) {
            self.publish(&text);
        }
    }

    /// Ends it with what the node has to say of it, and gives all of it.
    pub fn finish(mut self, note: Option<&str>) -> String {
        let text = self.kept.end(note);
        self.batch.push(&text, Instant::now()).into_iter().for_each(|due| self.publish(&due));
        self.flush();
        self.kept.text
    }

    fn publish(&self, chunk: &str) {
        let Address { call_id, row_id, parent_call_id } = self.address;
        self.lane.publish(&Event::ToolOutputChunk { call_id, chunk, row_id, parent_call_id });
    }
}

/// Bytes as text, up to a limit.
#[derive(Debug)]
struct Kept {
    text: String,
    limit: usize,
    /// The begin of a character whose rest has not come.
    partial: Vec<u8>,
    /// Bytes of text over the limit.
    dropped: usize,
}

impl Kept {
    fn new(limit: usize) -> Self {
        Self { text: String::new(), limit, partial: Vec::new(), dropped: 0 }
    }

    /// Takes bytes, wherever they are cut; gives what of them is kept.
    fn take(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.partial);
        all.extend_from_slice(bytes);
        let mut text = String::new();
        let mut rest = all.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    break;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    let Some(broken) = error.error_len() else {
                        self.partial = after.to_vec();
                        break;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = &after[broken..];
                }
            }
        }
        self.keep(text)
    }

    fn keep(&mut self, mut text: String) -> String {
        let room = if self.dropped > 0 { 0 } else { self.limit - self.text.len() };
        let fits = text.floor_char_boundary(room);
        self.dropped += text.len() - fits;
        text.truncate(fits);
        self.text.push_str(&text);
        text
    }

    /// Ends the text: a half character, how much was dropped, and a note. They are kept in any
    /// case; gives what was added.
    fn end(&mut self, note: Option<&str>) -> String {
        let mut added = String::new();
        if !self.partial.is_empty() {
            added = self.keep(char::REPLACEMENT_CHARACTER.to_string());
        }
        let dropped =
            (self.dropped > 0).then(|| format!("{} bytes more were not kept", self.dropped));
        for note in dropped.iter().map(String::as_str).chain(note) {
            let line = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { "\n" };
            let note = format!("{line}[{note}]\n");
            self.text.push_str(&note);
            added.push_str(&note);
        }
        added
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_over_the_limit_is_counted_and_said() {
        let mut kept = Kept::new(4);
        assert_eq!(kept.take(b"abc"), "abc");
        assert_eq!(kept.take("ää".as_bytes()), "");
        // A gap in the middle would pass for the whole.
        assert_eq!(kept.take(b"d"), "");
        assert_eq!(
            kept.end(Some("exit status 1")),
            "\n[5 bytes more were not kept]\n[exit status 1]\n"
        );
        assert_eq!(kept.text, "abc\n[5 bytes more were not kept]\n[exit status 1]\n");
    }

    #[test]
    fn a_note_on_nothing_stands_alone() {
        let mut kept = Kept::new(4);
        assert_eq!(kept.end(None), "");
        assert_eq!(kept.end(Some("x")), "[x]\n");
    }

    proptest! {
        #[test]
        fn wherever_the_bytes_are_cut_the_longest_prefix_within_the_limit_is_kept(
            bytes in prop::collection::vec(
                prop_oneof![Just(0xc3), Just(0xa4), Just(0xf0), Just(0x9f), Just(b'a')], 0..40),
            cuts in prop::collection::vec(0..40usize, 0..6), limit in 0..60usize,
        ) {
            let mut kept = Kept::new(limit);
            let mut cuts: Vec<_> = cuts.iter().map(|cut| (*cut).min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut published = String::new();
            for cut in cuts.windows(2) {
                published += &kept.take(&bytes[cut[0]..cut[1]]);
            }
            published += &kept.end(None);
            prop_assert_eq!(&published, &kept.text);
            let whole = String::from_utf8_lossy(&bytes).into_owned();
            let prefix = &whole[..whole.floor_char_boundary(limit)];
            prop_assert_eq!(kept.dropped, whole.len() - prefix.len());
            if kept.dropped == 0 {
                prop_assert_eq!(published, prefix);
            } else {
                prop_assert!(published.starts_with(prefix));
            }
        }
    }
}
