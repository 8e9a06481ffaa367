//! Products of floats.

use core::arch::wasm32::{f32x4_add, f32x4_extract_lane, f32x4_mul, f32x4_splat, v128_load};

use super::super::FLOAT_LANES;

/// Sum of products of two float vectors of the same length.
pub(crate) fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    let n = a.len().min(b.len());
    let blocks = n / FLOAT_LANES;
    let (mut low, mut high) = (f32x4_splat(0.0), f32x4_splat(0.0));
    for block in 0..blocks {
        let at = block * FLOAT_LANES;
        // SAFETY: at + FLOAT_LANES <= n, which is within both slices.
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
