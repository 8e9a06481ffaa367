//! Vectors of one dimension, lying together: int8 codes to scan, f32 to rescore.
//!
//! A code is `round(x * 127 / clip)` with `clip = max|x|` of the row. A clip for each row costs four bytes, and in return
//! no row is coarser for another's outlier and none is coded again when a new one arrives.

use super::kernel;
use crate::error::{Error, ErrorCode, Result};

/// Largest magnitude of a code.
const CODE_MAX: f32 = 127.0;

/// Unit rows of one dimension. A row number is its position; a removed or empty row is zero and is skipped by searches.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    dims: usize,
    codes: Vec<i8>,
    clips: Vec<f32>,
    exact: Vec<f32>,
    live: Vec<bool>,
    n_live: usize,
}

/// A query coded for [`Arena::code_dots`].
#[derive(Clone, Debug)]
pub(crate) struct QueryCodes {
    values: Vec<i16>,
    /// Multiplies code products back to products of floats, before the row's clip.
    scale: f32,
}

impl Arena {
    /// An arena for vectors of `dims` numbers.
    pub fn new(dims: usize) -> Self {
        Self { dims, ..Self::default() }
    }

    /// Numbers a vector has.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Rows, removed and empty ones counted.
    pub fn len(&self) -> usize {
        self.clips.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.clips.is_empty()
    }

    /// Rows that hold a vector.
    pub fn n_live(&self) -> usize {
        self.n_live
    }

    /// Whether `row` holds a vector.
    pub fn is_live(&self, row: usize) -> bool {
        self.live.get(row).copied().unwrap_or(false)
    }

    /// `vector` at unit length.
    ///
    /// # Errors
    /// `DIMENSION_MISMATCH` for another length; `INVALID_ARGUMENT` for a vector that is zero or not finite.
    pub fn unit(&self, vector: &[f32]) -> Result<Vec<f32>> {
        if vector.len() != self.dims {
            let message = format!("a vector of {} numbers in a space of {}", vector.len(), self.dims);
            return Err(Error::new(ErrorCode::DimensionMismatch, message));
        }
        if let Some(at) = vector.iter().position(|x| !x.is_finite()) {
            return Err(Error::invalid(format!("number {at} of the vector is {}", vector[at])));
        }
        // In f64 neither the square of the largest f32 overflows nor that of the smallest vanishes.
        let norm = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        if norm == 0.0 {
            return Err(Error::invalid("a vector of zeros has no direction"));
        }
        Ok(vector.iter().map(|&x| (f64::from(x) / norm) as f32).collect())
    }

    /// Appends a row without a vector and returns its number.
    pub fn push_empty(&mut self) -> usize {
        let row = self.len();
        self.codes.resize(self.codes.len() + self.dims, 0);
        self.exact.resize(self.exact.len() + self.dims, 0.0);
        self.clips.push(0.0);
        self.live.push(false);
        row
    }

    /// Appends `vector` and returns its row.
    ///
    /// # Errors
    /// Those of [`Arena::unit`]; nothing is appended then.
    pub fn push(&mut self, vector: &[f32]) -> Result<usize> {
        let vector = self.unit(vector)?;
        let row = self.push_empty();
        self.write(row, &vector);
        Ok(row)
    }

    /// Puts `vector` into `row`, whatever was there.
    ///
    /// # Errors
    /// Those of [`Arena::unit`], and `INVALID_ARGUMENT` for a row that does not exist; the row is unchanged then.
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
        let was_live = self.is_live(row);
        if was_live {
            let span = self.span(row);
            self.codes[span.clone()].fill(0);
            self.exact[span].fill(0.0);
            self.clips[row] = 0.0;
            self.live[row] = false;
            self.n_live -= 1;
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

    /// Codes `query` as finely as i32 sums allow, so that only the rows' coding costs precision.
    pub(crate) fn query_codes(&self, query: &[f32]) -> QueryCodes {
        let clip = query.iter().fold(0f32, |most, x| most.max(x.abs()));
        let limit = f32::from(kernel::query_code_limit(self.dims));
        let factor = if clip > 0.0 { limit / clip } else { 0.0 };
        QueryCodes {
            values: query.iter().map(|x| (x * factor).round() as i16).collect(),
            scale: if factor > 0.0 { 1.0 / (factor * CODE_MAX) } else { 0.0 },
        }
    }

    /// Cosines of a coded query with all rows, by codes.
    pub(crate) fn code_dots(&self, query: &QueryCodes, out: &mut [f32]) {
        /// Rows whose integer sums are held at once; their codes stay within the first-level cache.
        const BLOCK: usize = 64;
        let mut sums = [0i32; BLOCK];
        let codes = self.codes.chunks(BLOCK * self.dims.max(1));
        for ((codes, clips), out) in codes.zip(self.clips.chunks(BLOCK)).zip(out.chunks_mut(BLOCK)) {
            kernel::dots_i8(&query.values, codes, &mut sums[..clips.len()]);
            for ((&sum, &clip), out) in sums.iter().zip(clips).zip(out) {
                *out = sum as f32 * (query.scale * clip);
            }
        }
    }

    /// Keeps the rows of `kept`, in that order, renumbered from 0.
    pub(crate) fn retain(&mut self, kept: &[u32]) {
        let mut next = Self::new(self.dims);
        for &old in kept {
            let (old, new) = (old as usize, next.push_empty());
            if self.is_live(old) {
                let (from, to) = (self.span(old), next.span(new));
                next.codes[to.clone()].copy_from_slice(&self.codes[from.clone()]);
                next.exact[to].copy_from_slice(&self.exact[from]);
                next.clips[new] = self.clips[old];
                next.live[new] = true;
                next.n_live += 1;
            }
        }
        *self = next;
    }

    fn span(&self, row: usize) -> core::ops::Range<usize> {
        row * self.dims..(row + 1) * self.dims
    }

    fn write(&mut self, row: usize, unit: &[f32]) {
        let span = self.span(row);
        let clip = unit.iter().fold(0f32, |most, x| most.max(x.abs()));
        for (code, x) in self.codes[span.clone()].iter_mut().zip(unit) {
            *code = (x * (CODE_MAX / clip)).round() as i8;
        }
        self.exact[span].copy_from_slice(unit);
        self.clips[row] = clip;
        self.n_live += usize::from(!self.live[row]);
        self.live[row] = true;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

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
        let codes = arena.query_codes(&query);
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
