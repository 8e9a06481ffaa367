//! What it costs to read bytes and to do nothing else: the streaming floor that scans are measured against.

use core::arch::wasm32::{i32x4_add, i32x4_splat, v128, v128_load};

use super::{sum_i32, sums_i32};

/// Bytes added up a round.
const STEP: usize = 128;

/// All bytes added up in order, four at a time, modulo 2^32. There are a multiple of 128 of them.
pub(crate) fn sum_bytes_in_order(bytes: &[i8]) -> i32 {
    assert!(bytes.len().is_multiple_of(STEP));
    let [mut a, mut b, mut c, mut d] = [i32x4_splat(0); 4];
    let mut at = 0;
    while at < bytes.len() {
        // SAFETY: at + STEP <= bytes.len().
        unsafe {
            let bytes = bytes.as_ptr().add(at);
            a = add_32(a, bytes);
            b = add_32(b, bytes.add(32));
            c = add_32(c, bytes.add(64));
            d = add_32(d, bytes.add(96));
        }
        at += STEP;
    }
    sum_i32(sums_i32([a, b, c, d]))
}

/// The same for the bytes of four slices of one length, a multiple of 32, read side by side.
pub(crate) fn sum_bytes(streams: [&[i8]; 4]) -> i32 {
    let len = streams[0].len();
    assert!(len.is_multiple_of(STEP / 4) && streams.iter().all(|stream| stream.len() == len));
    let streams = streams.map(<[i8]>::as_ptr);
    let [mut a, mut b, mut c, mut d] = [i32x4_splat(0); 4];
    let mut at = 0;
    while at < len {
        // SAFETY: at + STEP / 4 <= len, which each of the streams has.
        unsafe {
            a = add_32(a, streams[0].add(at));
            b = add_32(b, streams[1].add(at));
            c = add_32(c, streams[2].add(at));
            d = add_32(d, streams[3].add(at));
        }
        at += STEP / 4;
    }
    sum_i32(sums_i32([a, b, c, d]))
}

/// # Safety
/// 32 bytes can be read from `bytes`.
#[inline(always)]
unsafe fn add_32(sum: v128, bytes: *const i8) -> v128 {
    // SAFETY: by the caller's word.
    unsafe { i32x4_add(i32x4_add(sum, v128_load(bytes.cast())), v128_load(bytes.add(16).cast())) }
}
