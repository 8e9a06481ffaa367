//! The kernels for wasm with simd128.
//!
//! The crate is compiled for size, with hardly any inlining and no unrolling, so a hot loop says itself how many rows and
//! accumulators it holds at once. wasm loads need no alignment.
#![allow(unsafe_code)]

mod bits;
mod codes;
mod floats;
#[cfg(feature = "vector-bench")]
mod floor;
mod lanes;

pub(crate) use bits::{at_most, hammings};
#[cfg(any(test, feature = "graph"))]
pub(crate) use codes::dot_codes;
#[cfg(test)]
pub(crate) use codes::dot_i8;
pub(crate) use codes::{at_least, dot_i16, dots_i8, dots_i8_at};
pub(crate) use floats::dot_f32;
#[cfg(feature = "vector-bench")]
pub(crate) use floor::{sum_bytes, sum_bytes_in_order};
pub(super) use lanes::Lanes;

use core::arch::wasm32::{i32x4_add, i32x4_extract_lane, i32x4_shuffle, v128};

fn sum_i32(v: v128) -> i32 {
    let pairs = i32x4_add(v, i32x4_shuffle::<2, 3, 0, 1>(v, v));
    i32x4_extract_lane::<0>(pairs).wrapping_add(i32x4_extract_lane::<1>(pairs))
}

/// The sums of the lanes of each of four vectors.
#[inline(always)]
fn sums_i32([a, b, c, d]: [v128; 4]) -> v128 {
    // Lanes 0 and 1 of `ab` are halves of the sum of `a`, lanes 2 and 3 of that of `b`.
    let ab = i32x4_add(i32x4_shuffle::<0, 1, 4, 5>(a, b), i32x4_shuffle::<2, 3, 6, 7>(a, b));
    let cd = i32x4_add(i32x4_shuffle::<0, 1, 4, 5>(c, d), i32x4_shuffle::<2, 3, 6, 7>(c, d));
    i32x4_add(i32x4_shuffle::<0, 2, 4, 6>(ab, cd), i32x4_shuffle::<1, 3, 5, 7>(ab, cd))
}
