//! Rows of int8 codes, lying together in blocks: what every search scans.
//!
//! A code is `round(x * 127 / clip)` with `clip = max|x|` of the row. A clip for each row costs four bytes, and in return
//! no row is coarser for another's outlier and none is coded again when a new one arrives.

use super::best::{Best, Neighbour};
use super::filter::Filter;
use super::kernel::{self, BLOCK, CODE_LANES};
use crate::error::{Error, ErrorCode, Result};

/// Largest magnitude of a code.
pub(crate) const CODE_MAX: f32 = 127.0;

/// Unit rows of one dimension as codes. A row number is its position; a removed or empty row is a tombstone: its codes are
/// zero and searches skip it.
///
/// Rows are filled up to a multiple of [`CODE_LANES`] codes and stand in whole blocks of [`BLOCK`] rows, so that no kernel
/// meets a remainder.
#[derive(Clone, Debug, Default)]
pub struct Codes {
    dims: usize,
    stride: usize,
    n_rows: usize,
    n_live: usize,
    codes: Vec<i8>,
    clips: Vec<f32>,
    /// A bit a row, a word a block; set where the row holds a vector.
    live: Vec<u64>,
}

/// A query coded against [`Codes`].
#[derive(Clone, Debug)]
pub(crate) struct QueryCodes {
    values: Vec<i16>,
    /// Multiplies code products back to products of floats, before the row's clip.
    scale: f32,
}

impl Codes {
    /// For vectors of `dims` numbers.
    pub fn new(dims: usize) -> Self {
        Self { dims, stride: dims.next_multiple_of(CODE_LANES), ..Self::default() }
    }

    /// Makes room for `n_rows` in all, so that growing does not hold rows twice meanwhile.
    pub fn reserve(&mut self, n_rows: usize) {
        let rows = n_rows.next_multiple_of(BLOCK).saturating_sub(self.clips.len());
        self.codes.reserve_exact(rows * self.stride);
        self.clips.reserve_exact(rows);
        self.live.reserve_exact(rows / BLOCK);
    }

    /// Numbers a vector has.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Rows, removed and empty ones counted.
    pub fn len(&self) -> usize {
        self.n_rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    /// Rows that hold a vector.
    pub fn n_live(&self) -> usize {
        self.n_live
    }

    /// Whether `row` holds a vector.
    pub fn is_live(&self, row: usize) -> bool {
        self.live.get(row / BLOCK).is_some_and(|word| word >> (row % BLOCK) & 1 == 1)
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
        let row = self.n_rows;
        self.n_rows += 1;
        let blocks = self.n_rows.div_ceil(BLOCK);
        self.codes.resize(blocks * BLOCK * self.stride, 0);
        self.clips.resize(blocks * BLOCK, 0.0);
        self.live.resize(blocks, 0);
        row
    }

    /// Appends `vector` and returns its row.
    ///
    /// # Errors
    /// Those of [`Codes::unit`]; nothing is appended then.
    pub fn push(&mut self, vector: &[f32]) -> Result<usize> {
        let unit = self.unit(vector)?;
        let row = self.push_empty();
        self.write(row, &unit);
        Ok(row)
    }

    /// Puts a unit vector into an existing row, whatever was there.
    pub(crate) fn write(&mut self, row: usize, unit: &[f32]) {
        let clip = unit.iter().fold(0f32, |most, x| most.max(x.abs()));
        let at = row * self.stride;
        for (code, x) in self.codes[at..at + self.dims].iter_mut().zip(unit) {
            *code = (x * (CODE_MAX / clip)).round() as i8;
        }
        self.clips[row] = clip;
        self.n_live += usize::from(!self.is_live(row));
        self.live[row / BLOCK] |= 1 << (row % BLOCK);
    }

    /// Empties `row`; `false` when it held nothing.
    pub fn remove(&mut self, row: usize) -> bool {
        let was_live = self.is_live(row);
        if was_live {
            self.codes[row * self.stride..(row + 1) * self.stride].fill(0);
            self.clips[row] = 0.0;
            self.live[row / BLOCK] &= !(1 << (row % BLOCK));
            self.n_live -= 1;
        }
        was_live
    }

    /// Keeps the rows of `kept`, in that order, renumbered from 0.
    pub(crate) fn retain(&mut self, kept: &[u32]) {
        let mut next = Self::new(self.dims);
        for &old in kept {
            let (old, new) = (old as usize, next.push_empty());
            if self.is_live(old) {
                let stride = self.stride;
                next.codes[new * stride..(new + 1) * stride].copy_from_slice(&self.codes[old * stride..][..stride]);
                next.clips[new] = self.clips[old];
                next.live[new / BLOCK] |= 1 << (new % BLOCK);
                next.n_live += 1;
            }
        }
        *self = next;
    }

    /// Codes a unit query as finely as i32 sums allow, so that only the rows' coding costs precision.
    pub(crate) fn query(&self, unit: &[f32]) -> QueryCodes {
        let clip = unit.iter().fold(0f32, |most, x| most.max(x.abs()));
        let limit = f32::from(kernel::query_code_limit(self.dims));
        let factor = if clip > 0.0 { limit / clip } else { 0.0 };
        let mut values: Vec<i16> = unit.iter().map(|x| (x * factor).round() as i16).collect();
        values.resize(self.stride, 0);
        QueryCodes { values, scale: if factor > 0.0 { 1.0 / (factor * CODE_MAX) } else { 0.0 } }
    }

    /// Cosines of a coded query with all rows, by codes; 0 for an empty row.
    pub(crate) fn dots(&self, query: &QueryCodes, out: &mut [f32]) {
        let blocks: Vec<u32> = (0..self.live.len() as u32).collect();
        self.scan(query, &blocks, &mut |block, sums| {
            let at = block * BLOCK;
            let rows = self.n_rows.min(at + BLOCK);
            for ((&sum, &clip), out) in sums.iter().zip(&self.clips[at..rows]).zip(&mut out[at..rows]) {
                *out = sum as f32 * (query.scale * clip);
            }
        });
    }

    /// Sums of code products of all rows of the listed blocks, a block at a time, not in the order of the list: four
    /// blocks far apart are read side by side.
    fn scan(&self, query: &QueryCodes, blocks: &[u32], visit: &mut dyn FnMut(usize, &[i32; BLOCK])) {
        let quarter = blocks.len().div_ceil(4);
        let mut sums = [[0i32; BLOCK]; 4];
        for first in 0..quarter {
            // Where the last quarter is shorter, its last block is read again and not looked at.
            let at = [0, 1, 2, 3].map(|n| first + n * quarter);
            let rows = at.map(|at| {
                let block = blocks[at.min(blocks.len() - 1)] as usize;
                &self.codes[block * BLOCK * self.stride..][..BLOCK * self.stride]
            });
            kernel::dots_i8(&query.values, rows, &mut sums);
            for (at, sums) in at.into_iter().zip(&sums) {
                if let Some(&block) = blocks.get(at) {
                    visit(block as usize, sums);
                }
            }
        }
    }

    /// Rows of a block that hold a vector and that the filter's zones let through, a bit each.
    pub(super) fn mask(&self, block: usize, filter: &Filter<'_>) -> u64 {
        filter.mask(block, self.live[block])
    }

    /// Blocks of [`BLOCK`] rows.
    pub(super) fn n_blocks(&self) -> usize {
        self.live.len()
    }
}

// Searches, which no binding of the core reaches yet.
impl Codes {
    /// The `n` rows nearest to a query by code, best first, with their cosines. Blocks in which the filter leaves nothing are
    /// not read.
    pub(crate) fn nearest(&self, query: &QueryCodes, n: usize, filter: &Filter<'_>) -> Vec<Neighbour> {
        self.nearest_from(0, query, n, filter)
    }

    /// [`Codes::nearest`] among rows from `first` on.
    pub(crate) fn nearest_from(
        &self,
        first: usize,
        query: &QueryCodes,
        n: usize,
        filter: &Filter<'_>,
    ) -> Vec<Neighbour> {
        let mask = |block: usize| {
            let before = first.saturating_sub(block * BLOCK);
            if before < BLOCK { self.mask(block, filter) & (u64::MAX << before) } else { 0 }
        };
        let blocks: Vec<u32> =
            (first / BLOCK..self.n_blocks()).filter(|&block| mask(block) != 0).map(|block| block as u32).collect();
        let mut best = Best::new(n);
        self.scan(query, &blocks, &mut |block, sums| {
            let Ok(clips) = <&[f32; BLOCK]>::try_from(&self.clips[block * BLOCK..][..BLOCK]) else { return };
            let mut over = kernel::at_least(sums, clips, best.bar());
            if over == 0 {
                return;
            }
            over &= mask(block);
            while over != 0 {
                let n = over.trailing_zeros() as usize;
                over &= over - 1;
                let row = (block * BLOCK + n) as u32;
                if filter.admits(row) {
                    best.push(row, sums[n] as f32 * clips[n]);
                }
            }
        });
        self.scaled(query, best)
    }

    /// [`Codes::nearest`] among `rows` alone, which hold vectors and are let through.
    pub(crate) fn nearest_of(&self, query: &QueryCodes, rows: &[u32], n: usize) -> Vec<Neighbour> {
        let mut best = Best::new(n);
        self.products(query, rows, &mut |row, product| best.push(row, product));
        self.scaled(query, best)
    }

    /// Products of a query with rows, which are cosines but for the query's scale.
    pub(super) fn products(&self, query: &QueryCodes, rows: &[u32], visit: &mut dyn FnMut(u32, f32)) {
        let mut sums = [0; BLOCK];
        for rows in rows.chunks(BLOCK) {
            kernel::dots_i8_at(&query.values, &self.codes, rows, &mut sums[..rows.len()]);
            rows.iter().zip(&sums).for_each(|(&row, &sum)| visit(row, sum as f32 * self.clips[row as usize]));
        }
    }

    /// Whether `row` holds a vector and a filter lets it through.
    pub(super) fn lets(&self, row: u32, filter: &Filter<'_>) -> bool {
        let (block, n) = (row as usize / BLOCK, row as usize % BLOCK);
        self.mask(block, filter) >> n & 1 == 1 && filter.admits(row)
    }

    fn scaled(&self, query: &QueryCodes, best: Best) -> Vec<Neighbour> {
        let mut found = best.into_sorted();
        self.scale(query, &mut found);
        found
    }

    /// Makes products cosines.
    pub(super) fn scale(&self, query: &QueryCodes, found: &mut [Neighbour]) {
        found.iter_mut().for_each(|neighbour| neighbour.cosine *= query.scale);
    }

    /// The codes of a row and its clip, which is 0 when it is empty.
    pub(super) fn row(&self, row: usize) -> (&[i8], f32) {
        (&self.codes[row * self.stride..][..self.dims], self.clips[row])
    }

    /// Puts what [`Codes::row`] gave into an existing empty row.
    pub(super) fn put_row(&mut self, row: usize, codes: impl Iterator<Item = i8>, clip: f32) {
        if clip > 0.0 {
            self.codes[row * self.stride..][..self.dims].iter_mut().zip(codes).for_each(|(to, code)| *to = code);
            self.clips[row] = clip;
            self.n_live += 1;
            self.live[row / BLOCK] |= 1 << (row % BLOCK);
        }
    }

    /// Cosine of two rows by code.
    #[cfg(any(test, feature = "graph"))]
    pub(super) fn cosine(&self, a: usize, b: usize) -> f32 {
        let codes = |row: usize| &self.codes[row * self.stride..][..self.stride];
        let product = kernel::dot_codes(codes(a), codes(b)) as f32;
        product * (self.clips[a] / CODE_MAX) * (self.clips[b] / CODE_MAX)
    }

    /// What a row's codes stand for, to add up or to take signs of.
    pub(crate) fn for_each_number(&self, row: usize, visit: &mut dyn FnMut(usize, f32)) {
        let (codes, clip) = self.row(row);
        let scale = clip / CODE_MAX;
        codes.iter().enumerate().for_each(|(at, &code)| visit(at, f32::from(code) * scale));
    }

    /// The sum of all code bytes, modulo 2^32: what it costs to read them, in one stream or in four side by side.
    #[cfg(feature = "vector-bench")]
    pub fn sum_bytes(&self, four_streams: bool) -> i32 {
        let quarter = self.codes.len() / 4 / 32 * 32;
        let stream = |n: usize| &self.codes[n * quarter..][..quarter];
        if four_streams {
            kernel::sum_bytes([stream(0), stream(1), stream(2), stream(3)])
        } else {
            kernel::sum_bytes_in_order(&self.codes)
        }
    }
}
