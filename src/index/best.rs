//! The best of many, without keeping the many.

use core::cmp::Ordering;

use crate::order::{keep_least, sort_by};

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
    /// Up to twice `n` and some more; thinned out when full.
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
        /// Pushed between two times of thinning out, at least.
        const ROOM: usize = 64;
        if cosine >= self.bar {
            self.rows.push(Neighbour { row, cosine });
            if self.rows.len() >= 2 * self.n + ROOM {
                self.thin_out();
            }
        }
    }

    fn thin_out(&mut self) {
        keep_least(&mut self.rows, self.n, better);
        if self.rows.len() == self.n {
            self.bar = self.rows.iter().fold(f32::INFINITY, |least, row| least.min(row.cosine));
        }
    }

    pub(crate) fn into_sorted(mut self) -> Vec<Neighbour> {
        self.thin_out();
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
            prop_assert_eq!(best.into_sorted(), expected);
        }
    }
}
