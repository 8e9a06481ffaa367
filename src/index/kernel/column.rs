//! Passes over whole columns of floats: what a search does to every turn and every atom.
//!
//! Loops by index: iterators are left as calls where the compiler optimises for size.

use super::lanes::{Lanes, WIDTH};

/// The least and the greatest; infinities the wrong way round for none. What is not a number is passed over.
pub(crate) fn min_max(values: &[f32]) -> (f32, f32) {
    let (mut least, mut most) = (Lanes::splat(f32::INFINITY), Lanes::splat(f32::NEG_INFINITY));
    let mut at = 0;
    while at + WIDTH <= values.len() {
        let value = Lanes::load(values, at);
        (least, most) = (least.min(value), most.max(value));
        at += WIDTH;
    }
    let (mut lows, mut highs) = (least.to_array(), most.to_array());
    let mut lane = 1;
    while lane < WIDTH {
        lows[0] = if lows[lane] < lows[0] { lows[lane] } else { lows[0] };
        highs[0] = if highs[0] < highs[lane] { highs[lane] } else { highs[0] };
        lane += 1;
    }
    while at < values.len() {
        let value = values[at];
        lows[0] = if value < lows[0] { value } else { lows[0] };
        highs[0] = if highs[0] < value { value } else { highs[0] };
        at += 1;
    }
    (lows[0], highs[0])
}

/// `sums += (values - least) * factor`; both columns have the same length.
pub(crate) fn add_scaled(sums: &mut [f32], values: &[f32], least: f32, factor: f32) {
    debug_assert_eq!(sums.len(), values.len());
    let n = sums.len().min(values.len());
    let (leasts, factors) = (Lanes::splat(least), Lanes::splat(factor));
    let mut at = 0;
    while at + WIDTH <= n {
        let value = Lanes::load(values, at).sub(leasts).mul(factors);
        Lanes::load(sums, at).add(value).store(sums, at);
        at += WIDTH;
    }
    while at < n {
        sums[at] += (values[at] - least) * factor;
        at += 1;
    }
}

/// `sums += a * b`, as far as all three reach.
pub(crate) fn add_product(sums: &mut [f32], a: &[f32], b: &[f32]) {
    let n = sums.len().min(a.len()).min(b.len());
    let mut at = 0;
    while at + WIDTH <= n {
        let product = Lanes::load(a, at).mul(Lanes::load(b, at));
        Lanes::load(sums, at).add(product).store(sums, at);
        at += WIDTH;
    }
    while at < n {
        sums[at] += a[at] * b[at];
        at += 1;
    }
}

/// `scores += gain * tf / (tf + base + slope * length)` where `tf` is above 0: a term of BM25 over all documents.
pub(crate) fn add_bm25(scores: &mut [f32], tf: &[f32], lengths: &[f32], gain: f32, base: f32, slope: f32) {
    debug_assert_eq!(scores.len(), tf.len());
    let n = scores.len().min(tf.len()).min(lengths.len());
    let (gains, bases, slopes) = (Lanes::splat(gain), Lanes::splat(base), Lanes::splat(slope));
    let mut at = 0;
    while at + WIDTH <= n {
        let tf = Lanes::load(tf, at);
        let saturation = Lanes::load(lengths, at).mul(slopes).add(bases);
        Lanes::load(scores, at).add(gains.mul(tf).div(tf.add(saturation))).store(scores, at);
        at += WIDTH;
    }
    while at < n {
        scores[at] += gain * tf[at] / (tf[at] + (lengths[at] * slope + base));
        at += 1;
    }
}

/// How many of `counts`, whole numbers, are above 0.
pub(crate) fn n_positive(counts: &[f32]) -> usize {
    let one = Lanes::splat(1.0);
    let mut sums = Lanes::splat(0.0);
    let mut at = 0;
    while at + WIDTH <= counts.len() {
        sums = sums.add(Lanes::load(counts, at).min(one));
        at += WIDTH;
    }
    let sums = sums.to_array();
    let mut n = (sums[0] + sums[1]) as usize + (sums[2] + sums[3]) as usize;
    while at < counts.len() {
        n += usize::from(counts[at] > 0.0);
        at += 1;
    }
    n
}

/// Keeps in `best` the greater of both, place by place.
pub(crate) fn keep_most(best: &mut [f32], values: &[f32]) {
    debug_assert_eq!(best.len(), values.len());
    let n = best.len().min(values.len());
    let mut at = 0;
    while at + WIDTH <= n {
        Lanes::load(best, at).max(Lanes::load(values, at)).store(best, at);
        at += WIDTH;
    }
    while at < n {
        best[at] = if best[at] < values[at] { values[at] } else { best[at] };
        at += 1;
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
    use super::*;

    #[cfg(target_arch = "wasm32")]
    wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

    /// Runs natively and in a browser, where the lanes differ. Every length around the width is tried.
    #[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
    #[cfg_attr(not(target_arch = "wasm32"), test)]
    fn columns_of_every_length_equal_the_plain_loops() {
        for seed in 1u64..=20 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 40) as f32 / (1 << 24) as f32
            };
            for n in (0..20).chain([127, 128, 1001]) {
                let which = format!("seed {seed}, {n} values");
                let mut column = || (0..n).map(|_| next()).collect::<Vec<f32>>();
                let (a, b, c) = (column(), column(), column());
                let least = a.iter().copied().fold(f32::INFINITY, f32::min);
                let most = a.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                assert_eq!(min_max(&a), (least, most), "{which}");
                let check = |found: &dyn Fn(&mut [f32]), expected: &dyn Fn(usize) -> f32| {
                    let mut sums = c.clone();
                    found(&mut sums);
                    assert_eq!(sums, (0..n).map(expected).collect::<Vec<_>>(), "{which}");
                };
                check(&|sums| add_scaled(sums, &a, 0.25, 3.0), &|i| c[i] + (a[i] - 0.25) * 3.0);
                check(&|sums| add_product(sums, &a, &b), &|i| c[i] + a[i] * b[i]);
                check(&|sums| add_bm25(sums, &a, &b, 2.0, 0.3, 0.7), &|i| {
                    c[i] + 2.0 * a[i] / (a[i] + (b[i] * 0.7 + 0.3))
                });
                let counts: Vec<f32> = a.iter().map(|x| (x * 3.0).floor()).collect();
                assert_eq!(n_positive(&counts), counts.iter().filter(|&&x| x > 0.0).count(), "{which}");
                check(&|sums| keep_most(sums, &a), &|i| if c[i] < a[i] { a[i] } else { c[i] });
            }
        }
        assert_eq!(min_max(&[f32::NAN, 2.0, 1.0, f32::NAN, 3.0]), (1.0, 3.0));
    }
}
