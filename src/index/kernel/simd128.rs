//! The kernels for wasm with simd128: eight codes an instruction with `i32x4_dot_i16x8`.
#![allow(unsafe_code)]

use core::arch::wasm32::{
    f32x4_add, f32x4_extract_lane, f32x4_mul, f32x4_splat, i16x8_load_extend_i8x8, i32x4_add, i32x4_dot_i16x8,
    i32x4_extract_lane, i32x4_splat, v128, v128_load,
};

use super::{FLOAT_LANES, scalar};

/// Codes multiplied by one instruction.
const CODE_LANES: usize = 8;

fn sum_i32(v: v128) -> i32 {
    (i32x4_extract_lane::<0>(v) + i32x4_extract_lane::<2>(v))
        + (i32x4_extract_lane::<1>(v) + i32x4_extract_lane::<3>(v))
}

/// Sum of products of query codes and row codes; both slices have the same length.
pub(crate) fn dot_i8(query: &[i16], row: &[i8]) -> i32 {
    let n = query.len().min(row.len());
    let blocks = n / (2 * CODE_LANES);
    let (mut even, mut odd) = (i32x4_splat(0), i32x4_splat(0));
    for block in 0..blocks {
        let at = block * 2 * CODE_LANES;
        // SAFETY: at + 2 * CODE_LANES <= n, which is within both slices, so the four loads read initialised elements of
        // them; wasm loads need no alignment.
        let (q0, q1, r0, r1) = unsafe {
            (
                v128_load(query.as_ptr().add(at).cast()),
                v128_load(query.as_ptr().add(at + CODE_LANES).cast()),
                i16x8_load_extend_i8x8(row.as_ptr().add(at)),
                i16x8_load_extend_i8x8(row.as_ptr().add(at + CODE_LANES)),
            )
        };
        even = i32x4_add(even, i32x4_dot_i16x8(q0, r0));
        odd = i32x4_add(odd, i32x4_dot_i16x8(q1, r1));
    }
    let rest = blocks * 2 * CODE_LANES;
    sum_i32(i32x4_add(even, odd)) + scalar::dot_i8(&query[rest..n], &row[rest..n])
}

/// Sum of products of two rows of codes, both widened.
pub(crate) fn dot_i16(a: &[i16], b: &[i16]) -> i32 {
    let n = a.len().min(b.len());
    let blocks = n / (2 * CODE_LANES);
    let (mut even, mut odd) = (i32x4_splat(0), i32x4_splat(0));
    for block in 0..blocks {
        let at = block * 2 * CODE_LANES;
        // SAFETY: at + 2 * CODE_LANES <= n, which is within both slices; wasm loads need no alignment.
        let (a0, a1, b0, b1) = unsafe {
            (
                v128_load(a.as_ptr().add(at).cast()),
                v128_load(a.as_ptr().add(at + CODE_LANES).cast()),
                v128_load(b.as_ptr().add(at).cast()),
                v128_load(b.as_ptr().add(at + CODE_LANES).cast()),
            )
        };
        even = i32x4_add(even, i32x4_dot_i16x8(a0, b0));
        odd = i32x4_add(odd, i32x4_dot_i16x8(a1, b1));
    }
    let rest = blocks * 2 * CODE_LANES;
    sum_i32(i32x4_add(even, odd)) + scalar::dot_i16(&a[rest..n], &b[rest..n])
}

/// [`dot_i8`] with every row of a contiguous block of `out.len()` rows.
pub(crate) fn dots_i8(query: &[i16], rows: &[i8], out: &mut [i32]) {
    for (row, dot) in rows.chunks_exact(query.len().max(1)).zip(out) {
        *dot = dot_i8(query, row);
    }
}

/// Sum of products of two float vectors of the same length.
pub(crate) fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    let n = a.len().min(b.len());
    let blocks = n / FLOAT_LANES;
    let (mut low, mut high) = (f32x4_splat(0.0), f32x4_splat(0.0));
    for block in 0..blocks {
        let at = block * FLOAT_LANES;
        // SAFETY: at + FLOAT_LANES <= n, which is within both slices; wasm loads need no alignment.
        let (a0, a1, b0, b1) = unsafe {
            (
                v128_load(a.as_ptr().add(at).cast()),
                v128_load(a.as_ptr().add(at + 4).cast()),
                v128_load(b.as_ptr().add(at).cast()),
                v128_load(b.as_ptr().add(at + 4).cast()),
            )
        };
        low = f32x4_add(low, f32x4_mul(a0, b0));
        high = f32x4_add(high, f32x4_mul(a1, b1));
    }
    let at = blocks * FLOAT_LANES;
    let rest: f32 = a[at..n].iter().zip(&b[at..n]).map(|(x, y)| x * y).sum();
    let sum = f32x4_add(low, high);
    let (s0, s1) = (f32x4_extract_lane::<0>(sum), f32x4_extract_lane::<1>(sum));
    let (s2, s3) = (f32x4_extract_lane::<2>(sum), f32x4_extract_lane::<3>(sum));
    (s0 + s2) + (s1 + s3) + rest
}
