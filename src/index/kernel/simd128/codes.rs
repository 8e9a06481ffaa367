//! Products of codes: eight an instruction with `i32x4_dot_i16x8`.

use core::arch::wasm32::{
    f32x4_convert_i32x4, f32x4_ge, f32x4_mul, f32x4_splat, i16x8_load_extend_i8x8, i32x4_add, i32x4_bitmask,
    i32x4_dot_i16x8, i32x4_extract_lane, i32x4_splat, v128, v128_load, v128_store, v128_xor,
};

use super::super::{BLOCK, CODE_LANES, scalar};
use super::{sum_i32, sums_i32};

/// Codes multiplied by one instruction.
const HALF: usize = CODE_LANES / 2;

/// Sum of products of query codes and row codes; both slices have the same length, a multiple of [`CODE_LANES`].
pub(crate) fn dot_i8(query: &[i16], row: &[i8]) -> i32 {
    assert!(query.len() == row.len() && row.len().is_multiple_of(CODE_LANES));
    let mut sum = i32x4_splat(0);
    for at in (0..query.len()).step_by(CODE_LANES) {
        // SAFETY: at + CODE_LANES is within both slices.
        unsafe {
            let q = query.as_ptr().add(at);
            sum = add_products(sum, v128_load(q.cast()), v128_load(q.add(HALF).cast()), row.as_ptr().add(at));
        }
    }
    sum_i32(sum)
}

/// Sum of products of two rows of codes; both have the same length, a multiple of [`CODE_LANES`].
#[cfg(any(test, feature = "graph"))]
pub(crate) fn dot_codes(a: &[i8], b: &[i8]) -> i32 {
    assert!(a.len() == b.len() && b.len().is_multiple_of(CODE_LANES));
    let mut sum = i32x4_splat(0);
    for at in (0..a.len()).step_by(CODE_LANES) {
        // SAFETY: at + CODE_LANES is within both slices.
        unsafe {
            let a = a.as_ptr().add(at);
            let (low, high) = (i16x8_load_extend_i8x8(a), i16x8_load_extend_i8x8(a.add(HALF)));
            sum = add_products(sum, low, high, b.as_ptr().add(at));
        }
    }
    sum_i32(sum)
}

/// Sum of products of two rows of codes, both widened.
pub(crate) fn dot_i16(a: &[i16], b: &[i16]) -> i32 {
    let n = a.len().min(b.len());
    let blocks = n / CODE_LANES;
    let (mut even, mut odd) = (i32x4_splat(0), i32x4_splat(0));
    for block in 0..blocks {
        let at = block * CODE_LANES;
        // SAFETY: at + CODE_LANES <= n, which is within both slices.
        let (a0, a1, b0, b1) = unsafe {
            (
                v128_load(a.as_ptr().add(at).cast()),
                v128_load(a.as_ptr().add(at + HALF).cast()),
                v128_load(b.as_ptr().add(at).cast()),
                v128_load(b.as_ptr().add(at + HALF).cast()),
            )
        };
        even = i32x4_add(even, i32x4_dot_i16x8(a0, b0));
        odd = i32x4_add(odd, i32x4_dot_i16x8(a1, b1));
    }
    let rest = blocks * CODE_LANES;
    sum_i32(i32x4_add(even, odd)) + scalar::dot_i16(&a[rest..n], &b[rest..n])
}

/// [`dot_i8`] with every row of four blocks of [`BLOCK`] rows each.
///
/// The blocks are read side by side, a row of each at a time. Where they lie far apart, the processor sees four long
/// streams and has their bytes ready; four rows that follow one another are four streams that end after a few cache lines,
/// and take half as long again to read.
pub(crate) fn dots_i8(query: &[i16], blocks: [&[i8]; 4], out: &mut [[i32; BLOCK]; 4]) {
    let dims = query.len();
    assert!(dims.is_multiple_of(CODE_LANES) && blocks.iter().all(|block| block.len() == dims * BLOCK));
    let [a, b, c, d] = blocks;
    let mut at = 0;
    for n in 0..BLOCK {
        // SAFETY: this is done once for each of the BLOCK rows of `dims` codes that each block has.
        let sums =
            unsafe { four_rows(query, a.as_ptr().add(at), b.as_ptr().add(at), c.as_ptr().add(at), d.as_ptr().add(at)) };
        out[0][n] = i32x4_extract_lane::<0>(sums);
        out[1][n] = i32x4_extract_lane::<1>(sums);
        out[2][n] = i32x4_extract_lane::<2>(sums);
        out[3][n] = i32x4_extract_lane::<3>(sums);
        at += dims;
    }
}

/// [`dot_i8`] with the rows numbered `at` among `rows`.
///
/// The rows lie anywhere, so most of the time goes by waiting for their bytes. Eight rows are touched before any is computed
/// with: then the processor fetches all of them at once.
pub(crate) fn dots_i8_at(query: &[i16], rows: &[i8], at: &[u32], out: &mut [i32]) {
    const AHEAD: usize = 8;
    let dims = query.len();
    assert!(at.len() == out.len() && dims.is_multiple_of(CODE_LANES));
    let last = at.iter().fold(0, |last, &row| last.max(row as usize));
    assert!(at.is_empty() || (last + 1) * dims <= rows.len());
    let mut touched = i32x4_splat(0);
    for (at, out) in at.chunks(AHEAD).zip(out.chunks_mut(AHEAD)) {
        for &row in at {
            // SAFETY: no number exceeds `last`, whose row of `dims` codes is within `rows`.
            touched = v128_xor(touched, unsafe { touch(rows.as_ptr().add(row as usize * dims), dims) });
        }
        let (fours, rest) = at.as_chunks::<4>();
        let (out_fours, out_rest) = out.as_chunks_mut::<4>();
        for (&[a, b, c, d], out) in fours.iter().zip(out_fours) {
            let rows = rows.as_ptr();
            // SAFETY: as above; `out` has room for four sums.
            unsafe {
                let sums = four_rows(
                    query,
                    rows.add(a as usize * dims),
                    rows.add(b as usize * dims),
                    rows.add(c as usize * dims),
                    rows.add(d as usize * dims),
                );
                v128_store(out.as_mut_ptr().cast(), sums);
            }
        }
        for (&row, out) in rest.iter().zip(out_rest) {
            *out = dot_i8(query, &rows[row as usize * dims..][..dims]);
        }
    }
    core::hint::black_box(touched);
}

/// Reads something of every cache line of a row.
///
/// # Safety
/// `row` points to `len` codes, a multiple of [`CODE_LANES`].
#[inline(always)]
unsafe fn touch(row: *const i8, len: usize) -> v128 {
    const LINE: usize = 64;
    let mut touched = i32x4_splat(0);
    let mut at = 0;
    while at < len {
        // SAFETY: at + CODE_LANES <= len, both being multiples of it.
        touched = v128_xor(touched, unsafe { v128_load(row.add(at).cast()) });
        at += LINE;
    }
    touched
}

/// Bit `n` is set where `sums[n] * scales[n]` is at least `bar`.
pub(crate) fn at_least(sums: &[i32; BLOCK], scales: &[f32; BLOCK], bar: f32) -> u64 {
    let bar = f32x4_splat(bar);
    let mut mask = 0;
    for at in (0..BLOCK).step_by(4) {
        // SAFETY: at + 4 <= BLOCK.
        let (sum, scale) =
            unsafe { (v128_load(sums.as_ptr().add(at).cast()), v128_load(scales.as_ptr().add(at).cast())) };
        let over = f32x4_ge(f32x4_mul(f32x4_convert_i32x4(sum), scale), bar);
        mask |= u64::from(i32x4_bitmask(over)) << at;
    }
    mask
}

/// Sums of products of the query with four rows, for which a query code is read once. Ten vectors are loaded a round: with
/// more the engines that compile wasm no longer have a register for each.
///
/// # Safety
/// Each of the rows has as many codes as `query`, a multiple of [`CODE_LANES`].
#[inline(always)]
unsafe fn four_rows(query: &[i16], a: *const i8, b: *const i8, c: *const i8, d: *const i8) -> v128 {
    let [mut sum_a, mut sum_b, mut sum_c, mut sum_d] = [i32x4_splat(0); 4];
    let mut at = 0;
    while at < query.len() {
        // SAFETY: at + CODE_LANES <= query.len(), and by the caller's word each row is as long.
        unsafe {
            let q = query.as_ptr().add(at);
            let (low, high) = (v128_load(q.cast()), v128_load(q.add(HALF).cast()));
            sum_a = add_products(sum_a, low, high, a.add(at));
            sum_b = add_products(sum_b, low, high, b.add(at));
            sum_c = add_products(sum_c, low, high, c.add(at));
            sum_d = add_products(sum_d, low, high, d.add(at));
        }
        at += CODE_LANES;
    }
    sums_i32([sum_a, sum_b, sum_c, sum_d])
}

/// # Safety
/// [`CODE_LANES`] codes can be read from `row`.
#[inline(always)]
unsafe fn add_products(sum: v128, low: v128, high: v128, row: *const i8) -> v128 {
    // SAFETY: by the caller's word.
    let (row_low, row_high) = unsafe { (i16x8_load_extend_i8x8(row), i16x8_load_extend_i8x8(row.add(HALF))) };
    i32x4_add(i32x4_add(sum, i32x4_dot_i16x8(low, row_low)), i32x4_dot_i16x8(high, row_high))
}
