//! The innermost loops of every search: dot products, and passes over columns.
//!
//! Dot products have one scalar version, always compiled and the oracle of the tests, and a simd128 twin for wasm. Integer results of both are equal; float results are equal too, because both
//! add in the same lanes and the same order.

pub(crate) mod column;
mod lanes;
// On wasm the oracle is compiled for the tests that hold the twin against it, and for nothing else.
#[cfg_attr(all(target_arch = "wasm32", target_feature = "simd128"), allow(dead_code))]
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(crate) use scalar::{dot_f32, dot_i16, dots_i8};
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use simd128::{dot_f32, dot_i16, dots_i8};

/// Lanes in which a float dot product is accumulated, in both versions.
const FLOAT_LANES: usize = 8;

/// The largest query code for rows of `dims` codes such that no sum of products leaves i32.
pub(crate) fn query_code_limit(dims: usize) -> i16 {
    let limit = i32::MAX as usize / (128 * dims.max(1));
    limit.min(i16::MAX as usize) as i16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    use super::scalar::dot_i8;
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    use super::simd128::dot_i8;
    use super::*;

    fn naive_i8(query: &[i16], row: &[i8]) -> i32 {
        query.iter().zip(row).map(|(&q, &r)| i32::from(q) * i32::from(r)).sum()
    }

    #[test]
    fn the_largest_codes_do_not_overflow() {
        for dims in [1, 7, 8, 128, 384, 1536, 4096] {
            let limit = query_code_limit(dims);
            let query = vec![limit; dims];
            for code in [i8::MIN, i8::MAX] {
                let row = vec![code; dims];
                let wide: i64 = i64::from(limit) * i64::from(code) * dims as i64;
                assert_eq!(i64::from(dot_i8(&query, &row)), wide, "{dims} dimensions");
            }
        }
    }

    #[cfg(target_arch = "wasm32")]
    wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

    /// Around the width of a block, and the dimensions of common models.
    const LENGTHS: [usize; 9] = [0, 1, 15, 16, 17, 127, 128, 384, 1000];

    /// Runs natively and in a browser, where the twins differ.
    #[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
    #[cfg_attr(not(target_arch = "wasm32"), test)]
    fn random_rows_of_awkward_lengths_equal_the_oracle_and_the_naive_sum() {
        for seed in 1u64..=20 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as i32
            };
            for len in LENGTHS {
                let which = format!("seed {seed}, {len} codes");
                let limit = i32::from(query_code_limit(len)).min(2000) + 1;
                let query: Vec<i16> = (0..len).map(|_| (next() % limit) as i16).collect();
                let rows: Vec<i8> = (0..len * 3).map(|_| next() as i8).collect();
                for row in rows.chunks_exact(len.max(1)) {
                    let expected = naive_i8(&query, row);
                    assert_eq!((dot_i8(&query, row), scalar::dot_i8(&query, row)), (expected, expected), "{which}");
                    let wide: Vec<i16> = row.iter().map(|&code| i16::from(code)).collect();
                    assert_eq!(
                        (dot_i16(&query, &wide), scalar::dot_i16(&query, &wide)),
                        (expected, expected),
                        "{which}"
                    );
                }
                let (mut dots, mut oracle) = ([0; 3], [0; 3]);
                dots_i8(&query, &rows, &mut dots);
                scalar::dots_i8(&query, &rows, &mut oracle);
                assert_eq!(dots, oracle, "{which}");

                let mut floats = || (0..len).map(|_| next() as f32 / i32::MAX as f32).collect::<Vec<f32>>();
                let (a, b) = (floats(), floats());
                let wide: f64 = a.iter().zip(&b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
                assert_eq!(dot_f32(&a, &b).to_bits(), scalar::dot_f32(&a, &b).to_bits(), "{which}");
                assert!((f64::from(dot_f32(&a, &b)) - wide).abs() < 1e-3, "{which}");
            }
            assert_eq!((dot_i8(&[], &[]), dot_i16(&[], &[]), dot_f32(&[], &[])), (0, 0, 0.0));
        }
    }

    #[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
    #[cfg_attr(not(target_arch = "wasm32"), test)]
    fn slices_need_no_alignment() {
        let query: Vec<i16> = (0..200).map(|i| i * 7 - 700).collect();
        let row: Vec<i8> = (0..200).map(|i| (i * 3) as u8 as i8).collect();
        for start in 0..17 {
            let (query, row) = (&query[start..], &row[start..]);
            assert_eq!(dot_i8(query, row), naive_i8(query, row), "from {start}");
        }
    }

    proptest! {
        #[test]
        fn integer_dots_equal_the_naive_sum(pairs in prop::collection::vec((-2000i16..2000, any::<i8>()), 0..300)) {
            let (query, row): (Vec<i16>, Vec<i8>) = pairs.into_iter().unzip();
            let expected = naive_i8(&query, &row);
            prop_assert_eq!(scalar::dot_i8(&query, &row), expected);
            prop_assert_eq!(dot_i8(&query, &row), expected);
            let wide: Vec<i16> = row.iter().map(|&code| i16::from(code)).collect();
            prop_assert_eq!(scalar::dot_i16(&query, &wide), expected);
            prop_assert_eq!(dot_i16(&query, &wide), expected);
        }

        #[test]
        fn a_block_of_rows_equals_row_by_row(dims in 1usize..70, n in 0usize..9, seed in any::<u64>()) {
            let mut state = seed | 1;
            let mut next = || { state ^= state << 13; state ^= state >> 7; state ^= state << 17; state as i8 };
            let query: Vec<i16> = (0..dims).map(|_| i16::from(next()) * 9).collect();
            let rows: Vec<i8> = (0..dims * n).map(|_| next()).collect();
            let mut out = vec![0; n];
            dots_i8(&query, &rows, &mut out);
            let expected: Vec<i32> = rows.chunks(dims).map(|row| naive_i8(&query, row)).collect();
            prop_assert_eq!(out, expected);
        }

        #[test]
        fn float_dots_equal_the_oracle_and_a_wide_sum(
            pairs in prop::collection::vec((-1f32..1.0, -1f32..1.0), 0..300),
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let wide: f64 = a.iter().zip(&b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
            prop_assert_eq!(dot_f32(&a, &b).to_bits(), scalar::dot_f32(&a, &b).to_bits());
            prop_assert!((f64::from(dot_f32(&a, &b)) - wide).abs() < 1e-4);
        }
    }
}
