//! Codes as bytes, on their way to where a graph is built.
//!
//! ```text
//! 0  "MSCO"
//! 4  format version          u32
//! 8  xxh32 of what follows   u32
//! 12 dimensions              u32
//! 16 n_rows                  u32
//! 20 clip of each row        f32   0 for an empty row
//!    codes of each row       i8    as many as it has dimensions
//! ```

use xxhash_rust::xxh32::xxh32;

use super::super::Codes;
use crate::error::{Error, ErrorCode, Result};

const MAGIC: &[u8; 4] = b"MSCO";
const VERSION: u32 = 1;
const HEAD: usize = 20;

/// The rows of `codes` as bytes.
pub fn encode(codes: &Codes) -> Vec<u8> {
    let (dims, n_rows) = (codes.dims(), codes.len());
    let mut out = Vec::with_capacity(HEAD + n_rows * (4 + dims));
    out.extend(MAGIC);
    out.extend(VERSION.to_le_bytes());
    out.extend([0; 4]);
    out.extend((dims as u32).to_le_bytes());
    out.extend((n_rows as u32).to_le_bytes());
    (0..n_rows).for_each(|row| out.extend(codes.row(row).1.to_le_bytes()));
    (0..n_rows).for_each(|row| out.extend(codes.row(row).0.iter().map(|&code| code as u8)));
    let checksum = xxh32(&out[12..], 0);
    out[8..12].copy_from_slice(&checksum.to_le_bytes());
    out
}

/// The rows that `bytes` hold, under the same numbers.
///
/// # Errors
/// `STORAGE_CORRUPT` for bytes that are not what was encoded, `VERSION_TOO_NEW` for a later format.
pub fn decode(bytes: &[u8]) -> Result<Codes> {
    let damaged = |why: &str| Error::new(ErrorCode::StorageCorrupt, format!("rows of codes cannot be read: {why}"));
    let four = |at: usize| bytes.get(at..at + 4).and_then(|four| <[u8; 4]>::try_from(four).ok());
    let number = |at: usize| four(at).map(u32::from_le_bytes).ok_or_else(|| damaged("their head is cut off"));
    if bytes.get(..4) != Some(MAGIC) {
        return Err(damaged("they do not begin as such"));
    }
    let version = number(4)?;
    if version > VERSION {
        return Err(Error::new(ErrorCode::VersionTooNew, format!("codes of format {version}, known is {VERSION}")));
    }
    if version != VERSION {
        return Err(damaged("their format was never written"));
    }
    let (checksum, dims, n_rows) = (number(8)?, number(12)? as usize, number(16)? as usize);
    if xxh32(&bytes[12..], 0) != checksum {
        return Err(damaged("their checksum differs"));
    }
    let expected = dims.checked_add(4).and_then(|row| row.checked_mul(n_rows)).and_then(|all| all.checked_add(HEAD));
    if expected != Some(bytes.len()) {
        return Err(damaged("they are not as many as they say"));
    }
    let mut codes = Codes::new(dims);
    codes.reserve(n_rows);
    let (clips, rows) = bytes[HEAD..].split_at(4 * n_rows);
    for (n, clip) in clips.as_chunks::<4>().0.iter().enumerate() {
        let row = codes.push_empty();
        let row_codes = rows[n * dims..(n + 1) * dims].iter().map(|&code| code as i8);
        codes.put_row(row, row_codes, f32::from_le_bytes(*clip));
    }
    Ok(codes)
}
