//! Dealing cases out to shards, so that all take about the same time.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The shard of each item, counted from 0: the heaviest first, each onto the shard with the least
/// load so far.
///
/// Items are distinguished by their keys, and only the keys break ties, so that the order in which the
/// items come decides nothing. No shard is empty while there are items: of shards with equal load
/// the one with the fewest items comes first, then the one with the lowest number.
pub fn deal<K: Ord>(items: &[(K, u64)], shards: u32) -> Vec<u32> {
    let mut heaviest_first: Vec<usize> = (0..items.len()).collect();
    heaviest_first.sort_by_key(|&item| (Reverse(items[item].1), &items[item].0));
    // By load, then by count, then by number: the least comes first.
    let mut loads: BTreeSet<(u64, usize, u32)> = (0..shards).map(|shard| (0, 0, shard)).collect();
    let mut dealt = vec![0; items.len()];
    for item in heaviest_first {
        let Some((load, count, shard)) = loads.pop_first() else { break };
        loads.insert((load.saturating_add(items[item].1), count + 1, shard));
        dealt[item] = shard;
    }
    dealt
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_heaviest_go_first_onto_the_least_loaded_shard_and_names_break_ties() {
        for (items, shards, expected) in [
            (&[("a", 5), ("b", 4), ("c", 3), ("d", 3), ("e", 3)][..], 2, &[0, 1, 1, 0, 1][..]),
            (&[("d", 1), ("c", 1), ("b", 1), ("a", 1)], 3, &[0, 2, 1, 0]),
            (&[("a", 100), ("b", 0), ("c", 0)], 3, &[0, 1, 2]),
            (&[("a", 0), ("b", 0)], 4, &[0, 1]),
            (&[("a", 7)], 1, &[0]),
            (&[], 2, &[]),
        ] {
            assert_eq!(deal(items, shards), expected, "{items:?} on {shards}");
        }
    }

    /// The load and the count of each shard.
    fn loads(items: &[(usize, u64)], shards: u32) -> Vec<(u64, usize)> {
        let mut loads = vec![(0, 0); shards as usize];
        for ((_, weight), shard) in items.iter().zip(deal(items, shards)) {
            loads[shard as usize].0 += weight;
            loads[shard as usize].1 += 1;
        }
        loads
    }

    proptest! {
        #[test]
        fn no_shard_is_empty_while_items_last_and_none_is_heavier_by_more_than_the_heaviest_item(
            weights in prop::collection::vec(0u64..1000, 0..40),
            shards in 1u32..9,
        ) {
            let items: Vec<_> = weights.into_iter().enumerate().collect();
            let loads = loads(&items, shards);
            let used = loads.iter().filter(|(_, count)| *count > 0).count();
            prop_assert_eq!(used, items.len().min(shards as usize));
            let heaviest = items.iter().map(|(_, weight)| *weight).max().unwrap_or(0);
            let (least, most) = (loads.iter().min().unwrap().0, loads.iter().max().unwrap().0);
            prop_assert!(most - least <= heaviest, "{loads:?}");
        }

        #[test]
        fn the_order_of_the_items_decides_nothing(
            (ordered, shuffled) in prop::collection::vec(0u64..5, 1..30)
                .prop_map(|weights| weights.into_iter().enumerate().collect::<Vec<_>>())
                .prop_flat_map(|items| (Just(items.clone()), Just(items).prop_shuffle())),
            shards in 1u32..6,
        ) {
            let by_key = |items: &[(usize, u64)]| {
                let keys = items.iter().map(|(key, _)| *key);
                let mut dealt: Vec<_> = keys.zip(deal(items, shards)).collect();
                dealt.sort_unstable();
                dealt
            };
            prop_assert_eq!(by_key(&ordered), by_key(&shuffled));
        }
    }
}
