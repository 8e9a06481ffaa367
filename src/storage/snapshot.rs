//! An exported memory: one file with everything in it.
//!
//! ```text
//! 0   8  "MEMSTRAT"
//! 8   4  length of the manifest
//! 12  …  manifest
//! …      one Snapshot frame with every live record
//! ```

use super::codec::{Frame, FrameHead, FrameKind, frame_bytes, u32_at};
use super::manifest::Manifest;
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"MEMSTRAT";

/// A file that has been checked.
#[derive(Clone, Debug)]
pub struct Snapshot<'a> {
    /// Whose memory it was.
    pub manifest: Manifest,
    /// Its records.
    pub frame: Frame<'a>,
}

/// Writes the file.
pub fn write_snapshot<'a>(manifest: &Manifest, seq: u64, records: impl Iterator<Item = &'a [u8]>) -> Result<Vec<u8>> {
    let head = manifest.encode()?;
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&(head.len() as u32).to_le_bytes());
    out.extend_from_slice(&head);
    out.extend(frame_bytes(FrameKind::Snapshot, FrameHead { seq, ids_used: manifest.ids_used }, records));
    Ok(out)
}

/// Reads it.
///
/// # Errors
/// `INVALID_ARGUMENT` if it is no export of memstrata, `STORAGE_CORRUPT` if it is damaged, `VERSION_TOO_NEW`.
pub fn read_snapshot(bytes: &[u8]) -> Result<Snapshot<'_>> {
    if bytes.len() < 12 || &bytes[..8] != MAGIC {
        return Err(Error::invalid("not a file that memstrata exported: it does not begin with MEMSTRAT"));
    }
    let end = (u32_at(bytes, 8) as usize).checked_add(12).filter(|&end| end <= bytes.len());
    let end = end.ok_or_else(|| Error::corrupt("export is cut within its manifest"))?;
    let manifest = Manifest::decode(&bytes[12..end])?;
    let frame = Frame::parse(FrameKind::Snapshot, &bytes[end..])?;
    if end + frame.len != bytes.len() {
        return Err(Error::corrupt(format!("export has {} bytes after its last record", bytes.len() - end - frame.len)));
    }
    Ok(Snapshot { manifest, frame })
}
