//! The last events of a lane, bounded by count and by bytes.

use std::collections::VecDeque;

use bytes::Bytes;

/// How much a queue of frames may hold.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Frames.
    pub events: usize,
    /// Bytes of all frames together, as sent on the wire.
    pub bytes: usize,
}

/// The retained frames of a lane, numbered without a gap up to the last published.
#[derive(Debug)]
pub struct Ring {
    frames: VecDeque<Bytes>,
    bytes: usize,
    bounds: Bounds,
    head: u64,
}

impl Ring {
    /// An empty ring; the first event will be number 1.
    pub fn new(bounds: Bounds) -> Self {
        Self { frames: VecDeque::new(), bytes: 0, bounds, head: 0 }
    }

    /// The number that the next event gets.
    pub fn next_seq(&self) -> u64 {
        self.head + 1
    }

    /// The number of the last published event; 0 before the first.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The number of the oldest retained event; [`Ring::next_seq`] when none is retained.
    pub fn first(&self) -> u64 {
        self.next_seq() - self.len() as u64
    }

    /// Bytes of all retained frames together.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Frames that are retained.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Appends the frame numbered [`Ring::next_seq`], and drops the oldest that are over the bounds.
    ///
    /// A frame that alone is over them is counted as published and not retained.
    pub fn push(&mut self, frame: Bytes) {
        self.head += 1;
        self.bytes += frame.len();
        self.frames.push_back(frame);
        while self.frames.len() > self.bounds.events || self.bytes > self.bounds.bytes {
            let Some(oldest) = self.frames.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }

    /// The retained frames with numbers above `seq`, in order.
    pub fn after(&self, seq: u64) -> impl Iterator<Item = &Bytes> {
        let skip = seq.saturating_sub(self.first() - 1);
        self.frames.iter().skip(usize::try_from(skip).unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_ring_keeps_the_longest_tail_within_its_bounds(
            sizes in prop::collection::vec(0..40usize, 0..60),
            events in 0..20usize,
            bytes in 0..200usize,
        ) {
            let mut ring = Ring::new(Bounds { events, bytes });
            for (n, size) in sizes.iter().enumerate() {
                prop_assert_eq!(ring.next_seq(), n as u64 + 1);
                ring.push(Bytes::from(vec![n as u8; *size]));
            }
            prop_assert_eq!(ring.head(), sizes.len() as u64);
            let kept: Vec<_> = ring.after(0).cloned().collect();
            let from = sizes.len() - kept.len();
            let fits = |tail: &[usize]| tail.len() <= events && tail.iter().sum::<usize>() <= bytes;
            prop_assert_eq!(ring.first(), from as u64 + 1);
            prop_assert!(fits(&sizes[from..]));
            prop_assert!(from == 0 || !fits(&sizes[from - 1..]));
            for (frame, n) in kept.iter().zip(from..) {
                prop_assert_eq!(frame, &Bytes::from(vec![n as u8; sizes[n]]));
            }
        }

        #[test]
        fn what_follows_a_number_is_everything_above_it(
            count in 0..30u64,
            events in 1..30usize,
            seq in 0..40u64,
        ) {
            let mut ring = Ring::new(Bounds { events, bytes: usize::MAX });
            for n in 1..=count {
                ring.push(Bytes::from(n.to_string()));
            }
            let expected: Vec<_> = (ring.first().max(seq + 1)..=count)
                .map(|n| Bytes::from(n.to_string()))
                .collect();
            prop_assert_eq!(ring.after(seq).cloned().collect::<Vec<_>>(), expected);
        }
    }
}
