//! The order in which cases start.

use clap::ValueEnum;

use super::Job;

/// The order in which the cases of a run start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// The longest first, so that no long case runs alone at the end
    Longest,
    /// Shuffled by the seed, so that no case depends on another
    Random,
}

impl Order {
    /// Puts jobs, which are in the order of the plan, in this order.
    pub fn arrange(self, jobs: &mut [Job], seed: u32) {
        if self == Order::Random {
            shuffle(jobs, u64::from(seed));
        }
    }
}

/// Fisher and Yates' shuffle, with the generator SplitMix64.
fn shuffle<T>(items: &mut [T], mut state: u64) {
    for last in (1..items.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // The modulo bias is below 1e-9 for any realistic number of cases.
        items.swap(last, (mixed % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn shuffled(seed: u64) -> Vec<u32> {
        let mut items: Vec<_> = (0..6).collect();
        shuffle(&mut items, seed);
        items
    }

    #[test]
    fn a_seed_decides_the_order_and_another_seed_gives_another_order() {
        let orders: HashSet<_> = (0..100).map(shuffled).collect();
        assert!(orders.len() > 80, "{}", orders.len());
        for seed in 0..100 {
            assert_eq!(shuffled(seed), shuffled(seed));
            let mut sorted = shuffled(seed);
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
        }
        let firsts: HashSet<_> = (0..100).map(|seed| shuffled(seed)[0]).collect();
        assert_eq!(firsts.len(), 6, "each comes first under some seed");
    }
}
