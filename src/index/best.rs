//! The best of many, without keeping the many.

use core::cmp::Ordering;

use crate::order::sort_by;

/// A row and its cosine with the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Row of the arena.
    pub row: u32,
    /// Cosine, -1 to 1.
    pub cosine: f32,
}

/// Best first, equal ones by row number.
pub(crate) fn better(a: &Neighbour, b: &Neighbour) -> Ordering {
    b.cosine.total_cmp(&a.cosine).then(a.row.cmp(&b.row))
}

/// The `n` best of what is pushed, in whatever order it comes.
#[derive(Debug)]
pub(crate) struct Best {
    n: usize,
    /// A heap: the worst is the first, and each is worse than the two that it has below it.
    rows: Vec<Neighbour>,
    bar: f32,
}

impl Best {
    pub(crate) fn new(n: usize) -> Self {
        Self { n, rows: Vec::new(), bar: if n == 0 { f32::INFINITY } else { f32::NEG_INFINITY } }
    }

    /// What is below this need not be pushed. What is equal may still be better, by its row number.
    pub(crate) fn bar(&self) -> f32 {
        self.bar
    }

    pub(crate) fn push(&mut self, row: u32, cosine: f32) {
        let new = Neighbour { row, cosine };
        if self.rows.len() < self.n {
            self.rows.push(new);
            self.rise();
        } else if cosine >= self.bar && self.rows.first().is_some_and(|worst| better(&new, worst).is_lt()) {
            self.rows[0] = new;
            self.sink();
        }
        if self.rows.len() == self.n {
            self.bar = self.rows.first().map_or(self.bar, |worst| worst.cosine);
        }
    }

    /// Moves the last up to its place.
    fn rise(&mut self) {
        let mut at = self.rows.len() - 1;
        while at > 0 && better(&self.rows[(at - 1) / 2], &self.rows[at]).is_lt() {
            self.rows.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    /// Moves the first down to its place.
    fn sink(&mut self) {
        let mut at = 0;
        while let Some(left) = self.rows.get(2 * at + 1) {
            let right_is_worse = self.rows.get(2 * at + 2).is_some_and(|right| better(left, right).is_lt());
            let below = 2 * at + 1 + usize::from(right_is_worse);
            if better(&self.rows[below], &self.rows[at]).is_lt() {
                break;
            }
            self.rows.swap(at, below);
            at = below;
        }
    }

    /// Takes the worst out.
    pub(crate) fn pop_worst(&mut self) -> Option<Neighbour> {
        if self.rows.is_empty() {
            return None;
        }
        let worst = self.rows.swap_remove(0);
        self.sink();
        Some(worst)
    }

    pub(crate) fn into_sorted(mut self) -> Vec<Neighbour> {
        sort_by(&mut self.rows, better);
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_what_sorting_all_of_them_begins_with(
            values in prop::collection::vec(0u8..40, 0..600),
            n in 0usize..30,
        ) {
            let all: Vec<Neighbour> =
                values.iter().zip(0..).map(|(&v, row)| Neighbour { row: row * 7 % 601, cosine: f32::from(v) - 20.0 }).collect();
            let mut best = Best::new(n);
            all.iter().for_each(|row| best.push(row.row, row.cosine));
            let mut expected = all;
            expected.sort_by(better);
            expected.truncate(n);
            let worst: Vec<Neighbour> = (0..n / 3).filter_map(|_| best.pop_worst()).collect();
            prop_assert!(worst.iter().eq(expected.iter().rev().take(n / 3)));
            expected.truncate(expected.len().saturating_sub(n / 3));
            prop_assert_eq!(best.into_sorted(), expected);
        }
    }
}
