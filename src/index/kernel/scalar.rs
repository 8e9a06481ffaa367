//! The portable kernels, written so that the compiler can vectorise them.

use super::FLOAT_LANES;

/// Sum of products of query codes and row codes; both slices have the same length.
pub(crate) fn dot_i8(query: &[i16], row: &[i8]) -> i32 {
    debug_assert_eq!(query.len(), row.len());
    query.iter().zip(row).map(|(&q, &r)| i32::from(q) * i32::from(r)).sum()
}

/// Sum of products of two rows of codes, both widened.
pub(crate) fn dot_i16(a: &[i16], b: &[i16]) -> i32 {
    debug_assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum()
}

/// [`dot_i8`] with every row of a contiguous block of `out.len()` rows.
pub(crate) fn dots_i8(query: &[i16], rows: &[i8], out: &mut [i32]) {
    debug_assert_eq!(query.len() * out.len(), rows.len());
    for (row, dot) in rows.chunks_exact(query.len().max(1)).zip(out) {
        *dot = dot_i8(query, row);
    }
}

/// Sum of products of two float vectors of the same length.
pub(crate) fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    debug_assert_eq!(a.len(), b.len());
    let mut lanes = [0f32; FLOAT_LANES];
    let (a_blocks, b_blocks) = (a.chunks_exact(FLOAT_LANES), b.chunks_exact(FLOAT_LANES));
    let rest: f32 = a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_blocks.zip(b_blocks) {
        for lane in 0..FLOAT_LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let [l0, l1, l2, l3, l4, l5, l6, l7] = lanes;
    ((l0 + l4) + (l2 + l6)) + ((l1 + l5) + (l3 + l7)) + rest
}
