//! The manifest: one small value a scope that says what is live.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh32::xxh32;

use super::codec::u32_at;
use crate::error::{Error, ErrorCode, Result};
use crate::model::Scope;

/// Version of the layout of stores, frames and manifest.
pub const FORMAT_VERSION: u16 = 1;

const MAGIC: [u8; 4] = *b"MSMF";

/// What is live in a scope's part of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Whose memory it is; compared at open.
    pub scope: Scope,
    /// High half of the ids made here.
    pub replica: u32,
    /// Numbers of the live chunks, ascending.
    pub chunks: Vec<u32>,
    /// Number for the next chunk; never used twice.
    pub next_chunk: u32,
    /// Last commit whose records are sealed; the log holds the later ones.
    pub sealed_seq: u64,
    /// Ids used when it was written.
    pub ids_used: u32,
}

impl Manifest {
    /// The manifest of a new memory.
    pub fn new(scope: Scope, replica: u32) -> Self {
        Self { scope, replica, chunks: Vec::new(), next_chunk: 0, sealed_seq: 0, ids_used: 0 }
    }

    /// Its bytes: magic, format version, XXH32 of the rest, postcard.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let body = postcard::to_allocvec(self)
            .map_err(|error| Error::internal(format!("manifest does not serialize: {error}")))?;
        let mut out = Vec::with_capacity(body.len() + 12);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&u32::from(FORMAT_VERSION).to_le_bytes());
        out.extend_from_slice(&xxh32(&body, 0).to_le_bytes());
        out.extend_from_slice(&body);
        Ok(out)
    }

    /// Reads it back.
    ///
    /// # Errors
    /// `VERSION_TOO_NEW` for a later format, `STORAGE_CORRUPT` where magic or checksum is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        if bytes.len() < 12 || bytes[..4] != MAGIC {
            return Err(Error::corrupt("manifest has no magic"));
        }
        let version = u32_at(bytes, 4);
        if version > u32::from(FORMAT_VERSION) {
            return Err(Error::new(
                ErrorCode::VersionTooNew,
                format!("database has format {version}, this version reads up to {FORMAT_VERSION}"),
            ));
        }
        if xxh32(&bytes[12..], 0) != u32_at(bytes, 8) {
            return Err(Error::corrupt("manifest fails its checksum"));
        }
        postcard::from_bytes(&bytes[12..]).map_err(|error| Error::corrupt(format!("manifest does not decode: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_round_trips_and_notices_damage() {
        let scope = Scope::new("u", "a").expect("valid");
        let manifest = Manifest { chunks: vec![3, 9], ..Manifest::new(scope, 77) };
        let bytes = manifest.encode().expect("encodes");
        assert_eq!(Manifest::decode(&bytes), Ok(manifest));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(Manifest::decode(&damaged).is_err(), "byte {at}");
        }
    }
}
