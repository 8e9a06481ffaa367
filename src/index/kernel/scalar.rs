//! The portable kernels, written so that the compiler can vectorise them.

use super::{BLOCK, FLOAT_LANES};

/// Sum of products of query codes and row codes; both slices have the same length, a multiple of [`CODE_LANES`].
pub(crate) fn dot_i8(query: &[i16], row: &[i8]) -> i32 {
    debug_assert_eq!(query.len(), row.len());
    query.iter().zip(row).map(|(&q, &r)| i32::from(q) * i32::from(r)).sum()
}

/// Sum of products of two rows of codes; both have the same length, a multiple of [`CODE_LANES`](super::CODE_LANES).
#[cfg(any(test, feature = "graph"))]
pub(crate) fn dot_codes(a: &[i8], b: &[i8]) -> i32 {
    debug_assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum()
}

/// Sum of products of two rows of codes, both widened.
pub(crate) fn dot_i16(a: &[i16], b: &[i16]) -> i32 {
    debug_assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum()
}

/// [`dot_i8`] with every row of four blocks of [`BLOCK`] rows each.
pub(crate) fn dots_i8(query: &[i16], blocks: [&[i8]; 4], out: &mut [[i32; BLOCK]; 4]) {
    for (block, out) in blocks.iter().zip(out) {
        debug_assert_eq!(query.len() * BLOCK, block.len());
        for (row, dot) in block.chunks_exact(query.len().max(1)).zip(out) {
            *dot = dot_i8(query, row);
        }
    }
}

/// [`dot_i8`] with the rows numbered `at` among `rows`.
pub(crate) fn dots_i8_at(query: &[i16], rows: &[i8], at: &[u32], out: &mut [i32]) {
    debug_assert_eq!(at.len(), out.len());
    for (&at, dot) in at.iter().zip(out) {
        *dot = dot_i8(query, &rows[at as usize * query.len()..][..query.len()]);
    }
}

/// Bit `n` is set where `sums[n] * scales[n]` is at least `bar`.
pub(crate) fn at_least(sums: &[i32; BLOCK], scales: &[f32; BLOCK], bar: f32) -> u64 {
    mask(sums.iter().zip(scales).map(|(&sum, scale)| sum as f32 * scale >= bar))
}

/// Bits in which the query differs from each row of a block. A row has as many bytes as the query, a multiple of
/// [`BIT_BYTES`](super::BIT_BYTES).
pub(crate) fn hammings(query: &[u8], rows: &[u8], out: &mut [u32; BLOCK]) {
    debug_assert_eq!(query.len() * BLOCK, rows.len());
    for (row, out) in rows.chunks_exact(query.len().max(1)).zip(out) {
        *out = query.iter().zip(row).map(|(q, r)| (q ^ r).count_ones()).sum();
    }
}

/// Bit `n` is set where `numbers[n]` is at most `bar`.
pub(crate) fn at_most(numbers: &[u32; BLOCK], bar: u32) -> u64 {
    mask(numbers.iter().map(|&number| number <= bar))
}

fn mask(bits: impl Iterator<Item = bool>) -> u64 {
    bits.enumerate().fold(0, |mask, (n, bit)| mask | u64::from(bit) << n)
}

/// All bytes added up in order, four at a time, modulo 2^32. There are a multiple of 128 of them.
#[cfg(feature = "vector-bench")]
pub(crate) fn sum_bytes_in_order(bytes: &[i8]) -> i32 {
    let four = |bytes: &[i8; 4]| i32::from_le_bytes(bytes.map(|byte| byte as u8));
    bytes.as_chunks::<4>().0.iter().fold(0, |sum, bytes| sum.wrapping_add(four(bytes)))
}

/// The same for the bytes of four slices of one length, a multiple of 32, read side by side.
#[cfg(feature = "vector-bench")]
pub(crate) fn sum_bytes(streams: [&[i8]; 4]) -> i32 {
    streams.into_iter().fold(0, |sum, stream| sum.wrapping_add(sum_bytes_in_order(stream)))
}

/// Sum of products of two float vectors of the same length.
pub(crate) fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    debug_assert_eq!(a.len(), b.len());
    let mut lanes = [0f32; FLOAT_LANES];
    let (a_blocks, b_blocks) = (a.chunks_exact(FLOAT_LANES), b.chunks_exact(FLOAT_LANES));
    let rest: f32 = a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_blocks.zip(b_blocks) {
        for lane in 0..FLOAT_LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let [l0, l1, l2, l3, l4, l5, l6, l7] = lanes;
    ((l0 + l4) + (l2 + l6)) + ((l1 + l5) + (l3 + l7)) + rest
}
