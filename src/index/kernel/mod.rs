//! The innermost loops of every search: dot products, and passes over columns.
//!
//! Dot products have one scalar version, always compiled and the oracle of the tests, and a simd128 twin for wasm. Integer
//! results of both are equal; float results are equal too, because both add in the same lanes and the same order. Passes
//! over columns are written once, over [`lanes`].

pub(crate) mod column;
mod lanes;
// On wasm the oracle is compiled for the tests that hold the twin against it, and for nothing else.
#[cfg_attr(all(target_arch = "wasm32", target_feature = "simd128"), allow(dead_code))]
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(crate) use scalar::*;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use simd128::*;

/// Codes a row is made of a multiple of; a shorter row is filled up with zeros.
pub(crate) const CODE_LANES: usize = 16;

/// Bytes a row of bits is made of a multiple of.
pub(crate) const BIT_BYTES: usize = 16;

/// Rows that are looked at together: one bit each in a u64, and small enough at common dimensions for the first-level cache.
pub(crate) const BLOCK: usize = 64;

/// Lanes in which a float dot product is accumulated, in both versions.
const FLOAT_LANES: usize = 8;

/// The largest query code for rows of `dims` codes such that no sum of products leaves i32.
pub(crate) fn query_code_limit(dims: usize) -> i16 {
    let limit = i32::MAX as usize / (128 * dims.max(1));
    limit.min(i16::MAX as usize) as i16
}

#[cfg(test)]
mod test;
