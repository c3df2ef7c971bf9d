//! How long to wait before a model that was busy is asked again.

use std::time::Duration;

/// The waits between the tries of one call.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// Before the second try; it doubles with every further one.
    pub first: Duration,
    /// No wait is longer.
    pub cap: Duration,
}

impl Backoff {
    /// The wait after `failed` tries, from 1. What the model asked for holds, up to the cap; else
    /// `random` spreads it over the upper half, so that nodes do not all come back at once.
    pub fn wait(&self, failed: u32, asked: Option<Duration>, random: u32) -> Duration {
        if let Some(asked) = asked {
            return asked.min(self.cap);
        }
        let doublings = failed.saturating_sub(1);
        let full = self.first.saturating_mul(2_u32.saturating_pow(doublings)).min(self.cap);
        let half = full / 2;
        half + half.mul_f64(f64::from(random) / f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn waits_double_up_to_the_cap() {
        let backoff = Backoff { first: ms(100), cap: ms(1000) };
        let waits: Vec<_> = (1..=6).map(|failed| backoff.wait(failed, None, u32::MAX)).collect();
        assert_eq!(waits, [100, 200, 400, 800, 1000, 1000].map(ms));
        assert_eq!(backoff.wait(1, None, 0), ms(50));
    }

    proptest! {
        #[test]
        fn no_wait_is_over_the_cap_and_what_was_asked_holds_below_it(
            first in 0..10_000u64, cap in 0..10_000u64, failed: u32, random: u32,
            asked in prop::option::of(0..20_000u64),
        ) {
            let backoff = Backoff { first: ms(first), cap: ms(cap) };
            let wait = backoff.wait(failed, asked.map(ms), random);
            prop_assert!(wait <= ms(cap));
            match asked {
                Some(asked) => prop_assert_eq!(wait, ms(asked.min(cap))),
                None => prop_assert!(wait >= ms(first.min(cap)) / 2),
            }
        }
    }
}
