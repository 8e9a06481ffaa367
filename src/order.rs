//! One sort for the whole crate.
//!
//! The standard library's sorts are compiled anew for every type and every comparison, several kilobytes each; behind one
//! dynamic comparison they are compiled once. The core has to stay small, and nothing here sorts in an inner loop.

use core::cmp::Ordering;

/// Sorts by a comparison; equal items keep their order.
pub(crate) fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order: Vec<u32> = (0..items.len() as u32).collect();
    sort_indices(&mut order, &|a, b| compare(&items[a as usize], &items[b as usize]));
    arrange(items, &mut order);
}

/// Keeps the `n` least items by a comparison, in any order.
pub(crate) fn keep_least<T>(items: &mut Vec<T>, n: usize, compare: impl Fn(&T, &T) -> Ordering) {
    if n < items.len() {
        let mut order: Vec<u32> = (0..items.len() as u32).collect();
        select_indices(&mut order, n, &|a, b| compare(&items[a as usize], &items[b as usize]));
        arrange(items, &mut order);
        items.truncate(n);
    }
}

/// The `n` greatest keys of a stream, of equal ones those that came first.
pub(crate) struct Greatest {
    n: usize,
    /// Only greater keys can still be among them.
    floor: f32,
    kept: Vec<(f32, u64)>,
}

impl Greatest {
    pub(crate) fn new(n: usize) -> Self {
        Self { n, floor: if n == 0 { f32::INFINITY } else { f32::NEG_INFINITY }, kept: Vec::new() }
    }

    /// Takes an item by its number; numbers come in ascending order.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: f32, number: u64) {
        if key > self.floor {
            self.keep(key, number);
        }
    }

    #[inline(never)]
    fn keep(&mut self, key: f32, number: u64) {
        self.kept.push((key, number));
        if self.kept.len() >= self.n.saturating_mul(2) {
            keep_least(&mut self.kept, self.n, greater);
            self.floor = self.kept.iter().fold(f32::INFINITY, |least, &(key, _)| least.min(key));
        }
    }

    /// Key and number of each, greatest first.
    pub(crate) fn into_best(mut self) -> Vec<(f32, u64)> {
        sort_by(&mut self.kept, greater);
        self.kept.truncate(self.n);
        self.kept
    }

    /// Their numbers, ascending.
    pub(crate) fn into_numbers(self) -> Vec<u64> {
        let mut numbers: Vec<u64> = self.into_best().into_iter().map(|(_, number)| number).collect();
        sort(&mut numbers);
        numbers
    }
}

fn greater(a: &(f32, u64), b: &(f32, u64)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// Moves every item to its place, one cycle after another.
fn arrange<T>(items: &mut [T], order: &mut [u32]) {
    for start in 0..order.len() {
        let mut at = start;
        while order[at] as usize != start {
            let from = order[at] as usize;
            items.swap(at, from);
            order[at] = at as u32;
            at = from;
        }
        order[at] = at as u32;
    }
}

/// Sorts by a key; equal items keep their order.
pub(crate) fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts by the items' own order.
pub(crate) fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// Sorts and drops repetitions.
pub(crate) fn sort_and_dedup<T: Ord>(items: &mut Vec<T>) {
    sort(items);
    items.dedup();
}

#[inline(never)]
fn sort_indices(order: &mut [u32], compare: &dyn Fn(u32, u32) -> Ordering) {
    order.sort_by(|&a, &b| compare(a, b));
}

#[inline(never)]
fn select_indices(order: &mut [u32], n: usize, compare: &dyn Fn(u32, u32) -> Ordering) {
    order.select_nth_unstable_by(n, |&a, &b| compare(a, b));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_sorts_like_the_standard_library(mut items in proptest::collection::vec((0..9_u8, any::<u16>()), 0..60)) {
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            sort_by_key(&mut items, |item| item.0);
            prop_assert_eq!(items, expected);
        }

        #[test]
        fn the_greatest_of_a_stream_are_the_first_of_all_sorted(keys in proptest::collection::vec(0..9_u8, 0..80), n in 0..30_usize) {
            let mut greatest = Greatest::new(n);
            let mut all: Vec<(f32, u64)> = keys.iter().map(|&key| f32::from(key)).zip(0..).collect();
            all.iter().for_each(|&(key, number)| greatest.push(key, number));
            all.sort_by(|a, b| b.0.total_cmp(&a.0));
            all.truncate(n);
            prop_assert_eq!(greatest.into_best(), all);
        }

        #[test]
        fn it_keeps_the_least(mut items in proptest::collection::vec(any::<u8>(), 0..60), n in 0..70_usize) {
            let mut expected = items.clone();
            expected.sort();
            expected.truncate(n);
            keep_least(&mut items, n, u8::cmp);
            sort(&mut items);
            prop_assert_eq!(items, expected);
        }
    }
}
