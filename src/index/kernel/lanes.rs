//! Four floats that are worked on together: a vector register on wasm, an array elsewhere. What is written with them is
//! written once, and gives the same sums on both.

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) use wasm::Lanes;

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(super) use portable::Lanes;

/// Floats in [`Lanes`].
pub(super) const WIDTH: usize = 4;

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod portable {
    use super::WIDTH;

    #[derive(Clone, Copy)]
    pub(in crate::index::kernel) struct Lanes([f32; WIDTH]);

    impl Lanes {
        pub(in crate::index::kernel) fn splat(value: f32) -> Self {
            Self([value; WIDTH])
        }

        /// The floats from `at`.
        pub(in crate::index::kernel) fn load(values: &[f32], at: usize) -> Self {
            Self(core::array::from_fn(|lane| values[at + lane]))
        }

        pub(in crate::index::kernel) fn store(self, values: &mut [f32], at: usize) {
            values[at..at + WIDTH].copy_from_slice(&self.0);
        }

        pub(in crate::index::kernel) fn add(self, other: Self) -> Self {
            self.with(other, |x, y| x + y)
        }

        pub(in crate::index::kernel) fn sub(self, other: Self) -> Self {
            self.with(other, |x, y| x - y)
        }

        pub(in crate::index::kernel) fn mul(self, other: Self) -> Self {
            self.with(other, |x, y| x * y)
        }

        pub(in crate::index::kernel) fn div(self, other: Self) -> Self {
            self.with(other, |x, y| x / y)
        }

        /// The lesser of each; `self` where they do not compare.
        pub(in crate::index::kernel) fn min(self, other: Self) -> Self {
            self.with(other, |x, y| if y < x { y } else { x })
        }

        /// The greater of each; `self` where they do not compare.
        pub(in crate::index::kernel) fn max(self, other: Self) -> Self {
            self.with(other, |x, y| if x < y { y } else { x })
        }

        pub(in crate::index::kernel) fn to_array(self) -> [f32; WIDTH] {
            self.0
        }

        fn with(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
            Self(core::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm {
    #![allow(unsafe_code)]

    use core::arch::wasm32::{
        f32x4_add, f32x4_div, f32x4_extract_lane, f32x4_mul, f32x4_pmax, f32x4_pmin, f32x4_splat, f32x4_sub, v128,
        v128_load, v128_store,
    };

    use super::WIDTH;

    #[derive(Clone, Copy)]
    pub(in crate::index::kernel) struct Lanes(v128);

    // Always inlined, at whatever level the crate is optimised: each is one instruction.
    impl Lanes {
        #[inline(always)]
        pub(in crate::index::kernel) fn splat(value: f32) -> Self {
            Self(f32x4_splat(value))
        }

        #[inline(always)]
        pub(in crate::index::kernel) fn load(values: &[f32], at: usize) -> Self {
            assert!(at + WIDTH <= values.len());
            // SAFETY: the four floats from `at` lie within the slice; wasm loads need no alignment.
            Self(unsafe { v128_load(values.as_ptr().add(at).cast()) })
        }

        #[inline(always)]
        pub(in crate::index::kernel) fn store(self, values: &mut [f32], at: usize) {
            assert!(at + WIDTH <= values.len());
            // SAFETY: the four floats from `at` lie within the slice; wasm stores need no alignment.
            unsafe { v128_store(values.as_mut_ptr().add(at).cast(), self.0) }
        }

        #[inline(always)]
        pub(in crate::index::kernel) fn add(self, other: Self) -> Self {
            Self(f32x4_add(self.0, other.0))
        }

        #[inline(always)]
        pub(in crate::index::kernel) fn sub(self, other: Self) -> Self {
            Self(f32x4_sub(self.0, other.0))
        }

        #[inline(always)]
        pub(in crate::index::kernel) fn mul(self, other: Self) -> Self {
            Self(f32x4_mul(self.0, other.0))
        }

        #[inline(always)]
        pub(in crate::index::kernel) fn div(self, other: Self) -> Self {
            Self(f32x4_div(self.0, other.0))
        }

        #[inline(always)]
        pub(in crate::index::kernel) fn min(self, other: Self) -> Self {
            Self(f32x4_pmin(self.0, other.0))
        }

        #[inline(always)]
        pub(in crate::index::kernel) fn max(self, other: Self) -> Self {
            Self(f32x4_pmax(self.0, other.0))
        }

        #[inline(always)]
        pub(in crate::index::kernel) fn to_array(self) -> [f32; WIDTH] {
            [
                f32x4_extract_lane::<0>(self.0),
                f32x4_extract_lane::<1>(self.0),
                f32x4_extract_lane::<2>(self.0),
                f32x4_extract_lane::<3>(self.0),
            ]
        }
    }
}
