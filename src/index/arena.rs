//! Vectors of one dimension: int8 codes to scan, f32 to rescore.

use core::ops::Deref;

use super::codes::{Codes, QueryCodes};
use super::kernel;
use crate::error::{Error, Result};

/// Unit rows of one dimension, as [`Codes`] and exact. A row number is its position; a removed or empty row is zero and is
/// skipped by searches.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    codes: Codes,
    exact: Vec<f32>,
}

impl Deref for Arena {
    type Target = Codes;

    fn deref(&self) -> &Codes {
        &self.codes
    }
}

impl Arena {
    /// An arena for vectors of `dims` numbers.
    pub fn new(dims: usize) -> Self {
        Self { codes: Codes::new(dims), exact: Vec::new() }
    }

    /// Appends a row without a vector and returns its number.
    pub fn push_empty(&mut self) -> usize {
        self.exact.resize(self.exact.len() + self.codes.dims(), 0.0);
        self.codes.push_empty()
    }

    /// Appends `vector` and returns its row.
    ///
    /// # Errors
    /// Those of [`Codes::unit`]; nothing is appended then.
    pub fn push(&mut self, vector: &[f32]) -> Result<usize> {
        let vector = self.unit(vector)?;
        let row = self.push_empty();
        self.write(row, &vector);
        Ok(row)
    }

    /// Puts `vector` into `row`, whatever was there.
    ///
    /// # Errors
    /// Those of [`Codes::unit`], and `INVALID_ARGUMENT` for a row that does not exist; the row is unchanged then.
    pub fn replace(&mut self, row: usize, vector: &[f32]) -> Result<()> {
        if row >= self.len() {
            return Err(Error::invalid(format!("row {row} of {}", self.len())));
        }
        let vector = self.unit(vector)?;
        self.write(row, &vector);
        Ok(())
    }

    /// Empties `row`; `false` when it held nothing.
    pub fn remove(&mut self, row: usize) -> bool {
        let was_live = self.codes.remove(row);
        if was_live {
            let span = self.span(row);
            self.exact[span].fill(0.0);
        }
        was_live
    }

    /// The unit vector in `row`; zeros when it is empty.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.exact[self.span(row)]
    }

    /// Exact cosine of a unit query with `row`.
    pub(crate) fn exact_dot(&self, query: &[f32], row: usize) -> f32 {
        kernel::dot_f32(query, self.row(row))
    }

    /// Cosines of a coded query with all rows, by codes.
    pub(crate) fn code_dots(&self, query: &QueryCodes, out: &mut [f32]) {
        self.codes.dots(query, out);
    }

    /// Keeps the rows of `kept`, in that order, renumbered from 0.
    pub(crate) fn retain(&mut self, kept: &[u32]) {
        self.exact = kept.iter().flat_map(|&old| self.row(old as usize)).copied().collect();
        self.codes.retain(kept);
    }

    fn span(&self, row: usize) -> core::ops::Range<usize> {
        row * self.codes.dims()..(row + 1) * self.codes.dims()
    }

    fn write(&mut self, row: usize, unit: &[f32]) {
        let span = self.span(row);
        self.exact[span].copy_from_slice(unit);
        self.codes.write(row, unit);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;

    #[test]
    fn unusable_vectors_are_refused_and_change_nothing() {
        let mut arena = Arena::new(3);
        assert_eq!(arena.push(&[0.0, 3.0, 4.0]), Ok(0));
        assert_eq!(arena.row(0), &[0.0, 0.6, 0.8]);
        for bad in [[f32::NAN, 0.0, 1.0], [f32::INFINITY, 0.0, 1.0], [0.0; 3]] {
            assert_eq!(arena.push(&bad).map_err(|e| e.code()), Err(ErrorCode::InvalidArgument), "{bad:?}");
            assert_eq!(arena.replace(0, &bad).map_err(|e| e.code()), Err(ErrorCode::InvalidArgument));
        }
        assert_eq!(arena.push(&[1.0]).map_err(|e| e.code()), Err(ErrorCode::DimensionMismatch));
        assert_eq!((arena.len(), arena.n_live()), (1, 1));
        assert_eq!(arena.row(0), &[0.0, 0.6, 0.8]);
    }

    #[test]
    fn extreme_magnitudes_keep_their_direction() {
        let mut arena = Arena::new(2);
        for scale in [f32::MAX, 1.0, f32::MIN_POSITIVE, 1e-44] {
            let row = arena.push(&[scale, 0.0]).unwrap();
            assert_eq!(arena.row(row), &[1.0, 0.0], "{scale:e}");
        }
    }

    #[test]
    fn codes_come_close_to_exact_dots() {
        let mut arena = Arena::new(128);
        let wave = |k: usize| (0..128).map(|i| ((i * (k + 3)) as f32 * 0.37).sin()).collect::<Vec<_>>();
        for k in 0..50 {
            arena.push(&wave(k)).unwrap();
        }
        let query = arena.unit(&wave(77)).unwrap();
        let codes = arena.query(&query);
        let mut all = vec![0.0; 50];
        arena.code_dots(&codes, &mut all);
        for (row, &dot) in all.iter().enumerate() {
            assert!((dot - arena.exact_dot(&query, row)).abs() < 5e-3);
        }
    }

    #[test]
    fn removed_rows_are_zero_and_retain_renumbers() {
        let mut arena = Arena::new(2);
        for x in [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]] {
            arena.push(&x).unwrap();
        }
        assert!(arena.remove(1) && !arena.remove(1) && !arena.remove(9));
        assert_eq!((arena.n_live(), arena.row(1)), (2, &[0.0, 0.0][..]));
        arena.retain(&[2, 1]);
        assert_eq!((arena.len(), arena.n_live(), arena.row(0)), (2, 1, &[-1.0, 0.0][..]));
    }
}
