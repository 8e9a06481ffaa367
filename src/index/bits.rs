//! One bit a number, the sign after centring: a scan of an eighth of the bytes that says which rows to look at by code.
//!
//! Rows of one embedding model share a direction, by which all signs would be alike; the mean is taken off first. The
//! query is not centred: what its share of the mean adds to a cosine is the same for every row.

use super::codes::Codes;
use super::filter::Filter;
use super::kernel::{self, BIT_BYTES, BLOCK};

/// Rows whose mean is taken for that of all.
const SAMPLE: usize = 16_384;

/// Signs of the rows of [`Codes`].
#[derive(Clone, Debug)]
pub struct Bits {
    centre: Vec<f32>,
    /// Bytes of a row, whole vectors of [`BIT_BYTES`].
    stride: usize,
    n_rows: usize,
    rows: Vec<u8>,
}

impl Bits {
    /// Of all rows of `codes`, centred on their mean.
    pub fn of(codes: &Codes) -> Self {
        let mut centre = vec![0f32; codes.dims()];
        let step = codes.len().div_ceil(SAMPLE).max(1);
        let sample = (0..codes.len()).step_by(step).filter(|&row| codes.is_live(row));
        let mut n = 0f32;
        for row in sample {
            codes.for_each_number(row, &mut |at, x| centre[at] += x);
            n += 1.0;
        }
        centre.iter_mut().for_each(|x| *x /= n.max(1.0));
        let stride = codes.dims().div_ceil(8).next_multiple_of(BIT_BYTES);
        let mut bits = Self { centre, stride, n_rows: 0, rows: Vec::new() };
        bits.extend(codes);
        bits
    }

    /// Rows that are known here.
    pub fn len(&self) -> usize {
        self.n_rows
    }

    /// Whether no row is known here.
    pub fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    /// Takes in the rows that `codes` has gained, on the same centre.
    pub fn extend(&mut self, codes: &Codes) {
        self.rows.resize(codes.n_blocks() * BLOCK * self.stride, 0);
        let new = self.n_rows..codes.len();
        self.n_rows = codes.len();
        new.for_each(|row| self.set(codes, row));
    }

    /// Takes in a row that has changed.
    ///
    /// # Panics
    /// For a row that is not known here.
    pub fn set(&mut self, codes: &Codes, row: usize) {
        let bits = &mut self.rows[row * self.stride..(row + 1) * self.stride];
        bits.fill(0);
        codes.for_each_number(row, &mut |at, x| bits[at / 8] |= u8::from(x > self.centre[at]) << (at % 8));
    }

    /// The signs of a query.
    pub(crate) fn query(&self, unit: &[f32]) -> Vec<u8> {
        let mut query = vec![0u8; self.stride];
        for (at, &x) in unit.iter().enumerate() {
            query[at / 8] |= u8::from(x > 0.0) << (at % 8);
        }
        query
    }

    /// The `n` rows, or so many as there are, whose signs differ least from the query's; equal ones by row number.
    pub(crate) fn nearest(&self, codes: &Codes, query: &[u8], n: usize, filter: &Filter<'_>) -> Near {
        let mut least = Least::new(n, codes.dims());
        let mut counts = [0; BLOCK];
        for (block, rows) in self.rows.chunks_exact((BLOCK * self.stride).max(1)).enumerate() {
            let mask = codes.mask(block, filter);
            if mask == 0 {
                continue;
            }
            kernel::hammings(query, rows, &mut counts);
            let Some(bar) = least.bar else { break };
            let mut near = kernel::at_most(&counts, bar) & mask;
            while near != 0 {
                let n = near.trailing_zeros() as usize;
                near &= near - 1;
                let row = (block * BLOCK + n) as u32;
                if filter.admits(row) {
                    least.push(row, counts[n]);
                }
            }
        }
        least.into_near()
    }

    /// Bits in which a row differs from a query.
    pub(crate) fn distance(&self, query: &[u8], row: u32) -> u32 {
        let row = &self.rows[row as usize * self.stride..][..self.stride];
        row.iter().zip(query).map(|(x, y)| (x ^ y).count_ones()).sum()
    }
}

/// Rows near a query by their signs.
#[derive(Debug)]
pub(crate) struct Near {
    /// In order of their numbers, which is the order to read them in.
    pub rows: Vec<u32>,
    /// The distance that half of them do not exceed.
    pub middle: u32,
}

/// The `n` rows of least distance among rows that come in the order of their numbers. Distances are small whole numbers,
/// so they are counted, not sorted.
struct Least {
    n: usize,
    rows: Vec<(u32, u32)>,
    /// By distance, how many rows were taken.
    counts: Vec<usize>,
    /// The largest distance that is still taken; `None` when none is.
    bar: Option<u32>,
    /// Rows taken whose distance is at most the bar.
    n_within: usize,
}

impl Least {
    fn new(n: usize, most: usize) -> Self {
        let bar = if n == 0 { None } else { Some(most as u32) };
        Self { n, rows: Vec::new(), counts: vec![0; most + 1], bar, n_within: 0 }
    }

    fn push(&mut self, row: u32, distance: u32) {
        if self.bar.is_none_or(|bar| distance > bar) {
            return;
        }
        self.rows.push((row, distance));
        self.counts[distance as usize] += 1;
        self.n_within += 1;
        // A later row as far as the bar loses against the `n` that are there.
        while let Some(bar) = self.bar
            && self.n_within >= self.n
        {
            self.n_within -= self.counts[bar as usize];
            self.bar = bar.checked_sub(1);
        }
    }

    fn into_near(self) -> Near {
        let half = self.n.min(self.rows.len()).div_ceil(2);
        let mut n = 0;
        let mut nearer = |count: usize| {
            n += count;
            n < half
        };
        let middle = self.counts.iter().take_while(|&&count| nearer(count)).count() as u32;
        // All that are nearer than `edge`, and of those at it the first ones.
        let edge = self.bar.map_or(0, |bar| bar + 1);
        let mut room = self.n.saturating_sub(self.n_within);
        let mut keep = |distance: u32| {
            let fits = distance < edge || (distance == edge && room > 0);
            room -= usize::from(fits && distance == edge);
            fits
        };
        Near {
            rows: self.rows.into_iter().filter(|&(_, distance)| keep(distance)).map(|(row, _)| row).collect(),
            middle,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_least_are_those_that_sorting_puts_first(
            distances in prop::collection::vec(0u32..20, 0..400),
            n in 0usize..60,
        ) {
            let mut least = Least::new(n, 20);
            distances.iter().zip(0..).for_each(|(&distance, row)| least.push(row, distance));
            let mut expected: Vec<u32> = (0..distances.len() as u32).collect();
            expected.sort_by_key(|&row| (distances[row as usize], row));
            expected.truncate(n);
            let near = least.into_near();
            if let Some(&middle) = expected.get((expected.len().div_ceil(2)).saturating_sub(1)) {
                prop_assert_eq!(near.middle, distances[middle as usize]);
            }
            expected.sort_unstable();
            prop_assert_eq!(near.rows, expected);
        }

        #[test]
        fn rows_come_by_differing_signs(
            rows in prop::collection::vec(prop::collection::vec(-1f32..1.0, 20), 1..200),
            query in prop::collection::vec(-1f32..1.0, 20),
            n in 1usize..20,
            modulus in 1usize..4,
        ) {
            let mut codes = Codes::new(20);
            let (first, later) = rows.split_at(rows.len() / 2);
            first.iter().for_each(|row| { let _ = codes.push(row); });
            let mut bits = Bits::of(&codes);
            later.iter().for_each(|row| { let _ = codes.push(row); });
            bits.extend(&codes);
            (0..codes.len()).step_by(3).for_each(|row| { codes.remove(row); });
            let differing = |row: u32| {
                let mut n = 0;
                codes.for_each_number(row as usize, &mut |at, x| n += u32::from((x > bits.centre[at]) != (query[at] > 0.0)));
                n
            };
            let keep = |row: u32| (row as usize).is_multiple_of(modulus);
            let mut expected: Vec<u32> =
                (0..codes.len() as u32).filter(|&row| codes.is_live(row as usize) && keep(row)).collect();
            expected.sort_by_key(|&row| (differing(row), row));
            expected.truncate(n);
            expected.sort_unstable();
            let query = bits.query(&query);
            let near = bits.nearest(&codes, &query, n, &Filter::keeping(&keep));
            prop_assert!(near.rows.iter().all(|&row| bits.distance(&query, row) == differing(row)));
            prop_assert_eq!(near.rows, expected);
        }
    }

    #[test]
    fn no_rows_and_identical_rows() {
        let mut codes = Codes::new(8);
        let nearest = |codes: &Codes, n| {
            let bits = Bits::of(codes);
            bits.nearest(codes, &bits.query(&[1.0; 8]), n, &Filter::NONE).rows
        };
        assert_eq!(nearest(&codes, 3), [0u32; 0]);
        (0..300).for_each(|_| assert!(codes.push(&[1.0; 8]).is_ok()));
        assert_eq!(nearest(&codes, 3), [0, 1, 2]);
        assert_eq!(nearest(&codes, 999).len(), 300);
        assert_eq!(nearest(&codes, 0), [0u32; 0]);
    }
}
