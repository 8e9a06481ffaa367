//! Distances of bits.

use core::arch::wasm32::{
    i8x16_add, i8x16_popcnt, i16x8_extadd_pairwise_u8x16, i32x4_add, i32x4_bitmask, i32x4_extadd_pairwise_u16x8,
    i32x4_splat, u8x16_splat, u32x4_le, v128, v128_load, v128_store, v128_xor,
};

use super::super::{BIT_BYTES, BLOCK};
use super::sums_i32;

/// Vectors whose counts of at most 8 a byte can be added up before a byte overflows.
const MOST: usize = 31;

/// Bits in which the query differs from each row of a block. A row has as many bytes as the query, a multiple of
/// [`BIT_BYTES`].
pub(crate) fn hammings(query: &[u8], rows: &[u8], out: &mut [u32; BLOCK]) {
    let len = query.len();
    assert!(rows.len() == len * BLOCK && len.is_multiple_of(BIT_BYTES));
    for at in (0..BLOCK).step_by(4) {
        // SAFETY: at + 4 <= BLOCK, so the four rows are within `rows` and the four counts within `out`.
        unsafe {
            let counts = four_rows(query, rows.as_ptr().add(at * len));
            v128_store(out.as_mut_ptr().add(at).cast(), counts);
        }
    }
}

/// Differing bits of the query and each of four rows that follow one another.
///
/// # Safety
/// `rows` points to four times as many bytes as `query` has, a multiple of [`BIT_BYTES`].
#[inline(always)]
unsafe fn four_rows(query: &[u8], rows: *const u8) -> v128 {
    let len = query.len();
    let mut total = i32x4_splat(0);
    let mut at = 0;
    while at < len {
        let end = len.min(at + MOST * BIT_BYTES);
        let [mut a, mut b, mut c, mut d] = [u8x16_splat(0); 4];
        while at < end {
            // SAFETY: at + BIT_BYTES <= end <= len, and by the caller's word four rows of `len` bytes begin at `rows`.
            unsafe {
                let bits = v128_load(query.as_ptr().add(at).cast());
                let row = rows.add(at);
                a = add_differing(a, bits, row);
                b = add_differing(b, bits, row.add(len));
                c = add_differing(c, bits, row.add(2 * len));
                d = add_differing(d, bits, row.add(3 * len));
            }
            at += BIT_BYTES;
        }
        total = i32x4_add(total, sums_i32([widened(a), widened(b), widened(c), widened(d)]));
    }
    total
}

/// # Safety
/// [`BIT_BYTES`] bytes can be read from `row`.
#[inline(always)]
unsafe fn add_differing(counts: v128, query: v128, row: *const u8) -> v128 {
    // SAFETY: by the caller's word.
    i8x16_add(counts, i8x16_popcnt(v128_xor(query, unsafe { v128_load(row.cast()) })))
}

#[inline(always)]
fn widened(counts: v128) -> v128 {
    i32x4_extadd_pairwise_u16x8(i16x8_extadd_pairwise_u8x16(counts))
}

/// Bit `n` is set where `numbers[n]` is at most `bar`.
pub(crate) fn at_most(numbers: &[u32; BLOCK], bar: u32) -> u64 {
    let bar = i32x4_splat(bar as i32);
    let mut mask = 0;
    for at in (0..BLOCK).step_by(4) {
        // SAFETY: at + 4 <= BLOCK.
        let number = unsafe { v128_load(numbers.as_ptr().add(at).cast()) };
        mask |= u64::from(i32x4_bitmask(u32x4_le(number, bar))) << at;
    }
    mask
}
