//! Every kernel against brute force and against its twin. All but the properties run natively and in a browser, where the
//! twins differ.

use proptest::prelude::*;

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
use super::scalar::dot_i8;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use super::simd128::dot_i8;
use super::*;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Around the width of a block, and the dimensions of common models up to the largest.
const LENGTHS: [usize; 11] = [0, 1, 15, 16, 17, 64, 127, 128, 384, 1000, 4096];

/// xorshift: a seed that fails can be run again.
struct Draw(u64);

impl Draw {
    fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> i32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as i32
    }

    fn queries(&mut self, n: usize) -> Vec<i16> {
        let limit = i32::from(query_code_limit(n)) + 1;
        (0..n).map(|_| (self.next() % limit) as i16).collect()
    }

    fn codes(&mut self, n: usize) -> Vec<i8> {
        (0..n).map(|_| self.next() as i8).collect()
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }

    fn floats(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.next() as f32 / i32::MAX as f32).collect()
    }
}

fn naive(query: &[i16], row: &[i8]) -> i32 {
    query.iter().zip(row).map(|(&q, &r)| i32::from(q) * i32::from(r)).sum()
}

#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
#[cfg_attr(not(target_arch = "wasm32"), test)]
fn the_largest_codes_do_not_overflow() {
    for dims in [16, 128, 384, 1536, 4096] {
        let limit = query_code_limit(dims);
        let query = vec![limit; dims];
        for code in [i8::MIN, i8::MAX] {
            let block = vec![code; dims * BLOCK];
            let wide: i64 = i64::from(limit) * i64::from(code) * dims as i64;
            assert_eq!(i64::from(dot_i8(&query, &block[..dims])), wide, "{dims} dimensions");
            let mut sums = [[0; BLOCK]; 4];
            dots_i8(&query, [&block; 4], &mut sums);
            assert!(sums.iter().flatten().all(|&sum| i64::from(sum) == wide), "{dims} dimensions");
        }
    }
}

#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
#[cfg_attr(not(target_arch = "wasm32"), test)]
fn products_of_codes_equal_the_naive_sum() {
    for seed in 1u64..=8 {
        let mut draw = Draw::of(seed);
        for len in LENGTHS {
            let which = format!("seed {seed}, {len} codes");
            let (query, row) = (draw.queries(len), draw.codes(len));
            let wide: Vec<i16> = row.iter().map(|&code| i16::from(code)).collect();
            let expected = naive(&query, &row);
            assert_eq!((dot_i16(&query, &wide), scalar::dot_i16(&query, &wide)), (expected, expected), "{which}");

            // As rows are stored.
            let len = len.next_multiple_of(CODE_LANES);
            let (query, blocks) = (draw.queries(len), [(); 4].map(|()| draw.codes(len * BLOCK)));
            let expected: Vec<i32> =
                blocks.iter().flat_map(|block| block.chunks(len.max(1))).map(|row| naive(&query, row)).collect();
            let (mut sums, mut oracle) = ([[0; BLOCK]; 4], [[0; BLOCK]; 4]);
            dots_i8(&query, blocks.each_ref().map(|block| &block[..]), &mut sums);
            scalar::dots_i8(&query, blocks.each_ref().map(|block| &block[..]), &mut oracle);
            assert_eq!(sums, oracle, "{which}");
            if len > 0 {
                assert_eq!(sums.concat(), expected, "{which}");
                let row = &blocks[0][..len];
                assert_eq!((dot_i8(&query, row), scalar::dot_i8(&query, row)), (expected[0], expected[0]), "{which}");
                let other = &blocks[1][..len];
                let product = row.iter().zip(other).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum::<i32>();
                assert_eq!((dot_codes(row, other), scalar::dot_codes(row, other)), (product, product), "{which}");
            }

            let all = blocks.concat();
            for n in [0, 1, 3, 4, 5, 11] {
                let at: Vec<u32> = (0..n).map(|_| draw.next() as u32 % (4 * BLOCK) as u32).collect();
                let (mut sums, mut oracle) = (vec![0; n], vec![0; n]);
                dots_i8_at(&query, &all, &at, &mut sums);
                scalar::dots_i8_at(&query, &all, &at, &mut oracle);
                let expected: Vec<i32> =
                    at.iter().map(|&row| expected.get(row as usize).copied().unwrap_or(0)).collect();
                assert_eq!((&sums, &oracle), (&expected, &expected), "{which}, rows {at:?}");
            }
        }
        assert_eq!((dot_i8(&[], &[]), dot_i16(&[], &[]), dot_f32(&[], &[])), (0, 0, 0.0));
    }
}

#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
#[cfg_attr(not(target_arch = "wasm32"), test)]
fn products_of_floats_equal_the_oracle_and_a_wide_sum() {
    for seed in 1u64..=20 {
        let mut draw = Draw::of(seed);
        for len in LENGTHS {
            let (a, b) = (draw.floats(len), draw.floats(len));
            let wide: f64 = a.iter().zip(&b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
            assert_eq!(dot_f32(&a, &b).to_bits(), scalar::dot_f32(&a, &b).to_bits(), "seed {seed}, {len} floats");
            assert!((f64::from(dot_f32(&a, &b)) - wide).abs() < 1e-3, "seed {seed}, {len} floats");
        }
    }
}

#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
#[cfg_attr(not(target_arch = "wasm32"), test)]
fn distances_of_bits_are_counted_bit_by_bit() {
    for seed in 1u64..=8 {
        let mut draw = Draw::of(seed);
        // 62 times 16 bytes and more overflow what a byte can count.
        for len in [0, 16, 32, 48, 128, 496, 512, 1008] {
            let (query, mut rows) = (draw.bytes(len), draw.bytes(len * BLOCK));
            if seed == 1 {
                // Every bit differs.
                rows.chunks_mut(len.max(1)).for_each(|row| row.iter_mut().zip(&query).for_each(|(r, q)| *r = !q));
            }
            let bits = |x: u8, y: u8| (0..8).filter(|bit| (x >> bit & 1) != (y >> bit & 1)).count() as u32;
            let expected: Vec<u32> =
                rows.chunks(len.max(1)).map(|row| row.iter().zip(&query).map(|(&r, &q)| bits(r, q)).sum()).collect();
            let (mut counts, mut oracle) = ([0; BLOCK], [0; BLOCK]);
            hammings(&query, &rows, &mut counts);
            scalar::hammings(&query, &rows, &mut oracle);
            assert_eq!(counts, oracle, "seed {seed}, {len} bytes");
            assert!(len == 0 || counts[..] == expected, "seed {seed}, {len} bytes");
        }
    }
}

#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
#[cfg_attr(not(target_arch = "wasm32"), test)]
fn masks_have_a_bit_for_every_number_within_the_bar() {
    for seed in 1u64..=20 {
        let mut draw = Draw::of(seed);
        let sums: [i32; BLOCK] = core::array::from_fn(|_| draw.next());
        let numbers: [u32; BLOCK] = core::array::from_fn(|_| draw.next() as u32 % 100);
        let scales: [f32; BLOCK] = core::array::from_fn(|n| if n % 7 == 0 { 0.0 } else { draw.next() as f32 / 1e9 });
        for n in 0..BLOCK {
            let bar = sums[n] as f32 * scales[n];
            for bar in [bar, 0.0, f32::NEG_INFINITY, f32::INFINITY] {
                let mask = at_least(&sums, &scales, bar);
                assert_eq!(mask, scalar::at_least(&sums, &scales, bar), "seed {seed}, bar {bar}");
                for (n, (&sum, scale)) in sums.iter().zip(&scales).enumerate() {
                    assert_eq!(mask >> n & 1 == 1, sum as f32 * scale >= bar, "seed {seed}, bar {bar}, number {n}");
                }
            }
            let mask = at_most(&numbers, numbers[n]);
            assert_eq!(mask, scalar::at_most(&numbers, numbers[n]), "seed {seed}");
            assert!(numbers.iter().enumerate().all(|(m, &x)| (mask >> m & 1 == 1) == (x <= numbers[n])), "seed {seed}");
        }
    }
}

#[cfg(feature = "vector-bench")]
#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
#[cfg_attr(not(target_arch = "wasm32"), test)]
fn the_floor_reads_every_byte() {
    let codes = Draw::of(3).codes(512);
    let four = |bytes: &[i8]| i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]].map(|byte| byte as u8));
    let expected = codes.chunks(4).fold(0i32, |sum, bytes| sum.wrapping_add(four(bytes)));
    let stream = |n: usize| &codes[n * 128..][..128];
    assert_eq!(sum_bytes_in_order(&codes), expected);
    assert_eq!(sum_bytes([stream(0), stream(1), stream(2), stream(3)]), expected);
}

#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
#[cfg_attr(not(target_arch = "wasm32"), test)]
fn slices_need_no_alignment() {
    let query: Vec<i16> = (0..200).map(|i| i * 7 - 700).collect();
    let row: Vec<i8> = (0..200).map(|i| (i * 3) as u8 as i8).collect();
    for start in 0..17 {
        let (query, row) = (&query[start..][..176], &row[start..][..176]);
        assert_eq!(dot_i8(query, row), naive(query, row), "from {start}");
    }
}

proptest! {
    #[test]
    fn integer_dots_equal_the_naive_sum(pairs in prop::collection::vec((-2000i16..2000, any::<i8>()), 0..300)) {
        let (query, row): (Vec<i16>, Vec<i8>) = pairs.into_iter().unzip();
        let expected = naive(&query, &row);
        let wide: Vec<i16> = row.iter().map(|&code| i16::from(code)).collect();
        prop_assert_eq!(scalar::dot_i16(&query, &wide), expected);
        prop_assert_eq!(dot_i16(&query, &wide), expected);
        let n = query.len() / CODE_LANES * CODE_LANES;
        prop_assert_eq!(dot_i8(&query[..n], &row[..n]), naive(&query[..n], &row[..n]));
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
