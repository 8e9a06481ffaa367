//! Four floats that are worked on together: a vector register on wasm, an array elsewhere. What is written with them is
//! written once, and gives the same sums on both.

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) use super::simd128::Lanes;
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
