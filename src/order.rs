//! One sort for the whole crate.
//!
//! The standard library's sorts are compiled anew for every type and every comparison, several kilobytes each; behind one
//! dynamic comparison they are compiled once. The core has to stay small, and nothing here sorts in an inner loop.

use core::cmp::Ordering;

/// Sorts by a comparison; equal items keep their order.
pub(crate) fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let order = sorted(items.len(), &|a, b| compare(&items[a as usize], &items[b as usize]));
    arrange(order, &mut |a, b| items.swap(a, b));
}

/// Keeps the `n` least items by a comparison.
pub(crate) fn keep_least<T>(items: &mut Vec<T>, n: usize, compare: impl Fn(&T, &T) -> Ordering) {
    if n < items.len() {
        sort_by(items, compare);
        items.truncate(n);
    }
}

/// The `n` greatest keys of a stream with a number each, of equal keys the least numbers.
pub(crate) struct Greatest {
    n: usize,
    /// No key up to this can still be among them.
    floor: f32,
    /// Key and number in one, so that they compare as one: see [`packed`]. Once there are `n`, a heap with the least at its root.
    kept: Vec<u64>,
}

impl Greatest {
    pub(crate) fn new(n: usize) -> Self {
        Self { n, floor: if n == 0 { f32::INFINITY } else { f32::NEG_INFINITY }, kept: Vec::new() }
    }

    /// The key that an item has to exceed.
    #[inline(always)]
    pub(crate) fn floor(&self) -> f32 {
        self.floor
    }

    /// Takes an item. Of equal keys the first to come stays where there is no room for all.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: f32, number: u32) {
        if key > self.floor {
            self.keep(key, number);
        }
    }

    #[inline(never)]
    fn keep(&mut self, key: f32, number: u32) {
        if self.kept.len() < self.n {
            self.kept.push(packed(key, number));
            if self.kept.len() < self.n {
                return;
            }
            heap(&mut self.kept);
        } else {
            self.kept[0] = packed(key, number);
            sift(&mut self.kept, 0);
        }
        self.floor = key_of(self.kept[0]);
    }

    /// Their numbers, of the greatest key first.
    pub(crate) fn into_numbers(mut self) -> Vec<u32> {
        sort_numbers(&mut self.kept);
        self.kept.iter().rev().map(|&item| !(item as u32)).collect()
    }
}

/// Sorts numbers: faster than [`sort`], which is for anything, and compiled once too.
pub(crate) fn sort_numbers(numbers: &mut [u64]) {
    heap(numbers);
    for end in (1..numbers.len()).rev() {
        numbers.swap(0, end);
        sift(&mut numbers[..end], 0);
    }
    numbers.reverse();
}

/// Makes a heap, the least at its root.
fn heap(numbers: &mut [u64]) {
    (0..numbers.len() / 2).rev().for_each(|at| sift(numbers, at));
}

/// Sinks the number at `at` to its place in the heap below it.
#[inline(never)]
fn sift(heap: &mut [u64], mut at: usize) {
    loop {
        let mut child = 2 * at + 1;
        if child >= heap.len() {
            return;
        }
        child += usize::from(child + 1 < heap.len() && heap[child + 1] < heap[child]);
        if heap[at] <= heap[child] {
            return;
        }
        heap.swap(at, child);
        at = child;
    }
}

/// A number that is greater for a greater key, and among equal keys for a lesser number.
#[inline(always)]
fn packed(key: f32, number: u32) -> u64 {
    let bits = key.to_bits();
    // As in `f32::total_cmp`: the bits of a negative float run the other way.
    let ordered = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
    u64::from(ordered) << 32 | u64::from(!number)
}

fn key_of(item: u64) -> f32 {
    let ordered = (item >> 32) as u32;
    f32::from_bits(if ordered >> 31 == 1 { ordered & !(1 << 31) } else { !ordered })
}

/// Moves every item to its place, one cycle after another.
#[inline(never)]
fn arrange(mut order: Vec<u32>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut at = start;
        while order[at] as usize != start {
            let from = order[at] as usize;
            swap(at, from);
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

/// Numbers below `n` in order: merges longer and longer runs; what is in order already is only looked at. (The standard library's sort is ten times the code.)
#[inline(never)]
fn sorted(n: usize, compare: &dyn Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    let mut merged = order.clone();
    let mut width = 1;
    while width < n {
        for start in (0..n).step_by(2 * width) {
            let (middle, end) = ((start + width).min(n), (start + 2 * width).min(n));
            let (mut left, mut right) = (start, middle);
            if middle == end || compare(order[middle - 1], order[middle]).is_le() {
                continue;
            }
            for place in &mut merged[start..end] {
                let is_left = right == end || (left < middle && compare(order[left], order[right]).is_le());
                let from = if is_left { &mut left } else { &mut right };
                *place = order[*from];
                *from += 1;
            }
            order[start..end].copy_from_slice(&merged[start..end]);
        }
        width *= 2;
    }
    order
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
            let mut all: Vec<(f32, u32)> = keys.iter().map(|&key| f32::from(key) - 4.0).zip(0..).collect();
            all.iter().for_each(|&(key, number)| greatest.push(key, number));
            all.sort_by(|a, b| b.0.total_cmp(&a.0));
            all.truncate(n);
            prop_assert_eq!(greatest.into_numbers(), all.into_iter().map(|(_, number)| number).collect::<Vec<_>>());
        }

        #[test]
        fn numbers_are_sorted(mut numbers in proptest::collection::vec(any::<u64>(), 0..70)) {
            let mut expected = numbers.clone();
            expected.sort();
            sort_numbers(&mut numbers);
            prop_assert_eq!(numbers, expected);
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
