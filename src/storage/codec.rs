//! Bytes of frames and records. All integers are little-endian.
//!
//! A *frame* is the value of one log key or one chunk key:
//! ```text
//! 0   4  magic: "MSWL" (log), "MSCK" (chunk), "MSNP" (snapshot)
//! 4   2  format version
//! 6   2  reserved, zero
//! 8   8  sequence: the commit that wrote it (log), the last one sealed in it (chunk)
//! 16  4  ids used so far by this replica
//! 20  4  number of records
//! 24  4  XXH32 of bytes 0 to 24
//! 28  …  records
//! ```
//! A *record*:
//! ```text
//! 0   1  kind (RecordKind)
//! 1   1  version of the payload; 0 marks a removal, which has no payload
//! 2   8  raw id
//! 10  8  sequence of the commit that wrote it
//! 18  4  payload length
//! 22  4  XXH32 of bytes 0 to 22 and of the payload
//! 26  …  payload (postcard)
//! ```

use serde::Serialize;
use xxhash_rust::xxh32::{Xxh32, xxh32};

use super::manifest::FORMAT_VERSION;
use crate::error::{Error, ErrorCode, Result};
use crate::model::{Record, RecordKey, RecordKind};

const FRAME_HEAD_BYTES: usize = 28;
const RECORD_HEAD_BYTES: usize = 26;
/// Version that the current code writes into every record.
pub(super) const RECORD_VERSION: u8 = 1;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// One commit.
    Log,
    /// A sealed chunk.
    Chunk,
    /// Part of an exported file.
    Snapshot,
}

impl FrameKind {
    const fn magic(self) -> [u8; 4] {
        match self {
            Self::Log => *b"MSWL",
            Self::Chunk => *b"MSCK",
            Self::Snapshot => *b"MSNP",
        }
    }
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// The commit that wrote it, or the last one sealed in it.
    pub seq: u64,
    /// Ids the replica had used when it was written.
    pub ids_used: u32,
}

/// A record that has been framed and checked but not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRecord<'a> {
    /// Its name.
    pub key: RecordKey,
    /// Version of the payload; 0 marks a removal.
    pub version: u8,
    /// The commit that wrote it.
    pub seq: u64,
    /// The payload.
    pub payload: &'a [u8],
    /// The whole record, head included, for copying as it is.
    pub bytes: &'a [u8],
}

impl RawRecord<'_> {
    /// Whether it says that the record is gone.
    pub fn is_removal(&self) -> bool {
        self.version == 0
    }
}

/// A frame being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its head.
    pub head: FrameHead,
    /// Its records of kinds that this version knows.
    pub records: Vec<RawRecord<'a>>,
    /// Records of kinds that it does not know. Such a frame must not be rewritten.
    pub n_unknown: u32,
    /// Bytes it takes.
    pub len: usize,
}

impl<'a> Frame<'a> {
    /// Reads the frame at the start of `bytes`.
    ///
    /// # Errors
    /// `STORAGE_CORRUPT` where a length, magic or checksum is wrong; `VERSION_TOO_NEW` for a later format.
    pub fn parse(kind: FrameKind, bytes: &'a [u8]) -> Result<Self> {
        let head = bytes.get(..FRAME_HEAD_BYTES).ok_or_else(|| Error::corrupt("frame is shorter than its head"))?;
        if head[..4] != kind.magic() {
            return Err(Error::corrupt(format!("frame begins with {:02x?}, not a {kind:?} frame", &head[..4])));
        }
        let version = u16::from_le_bytes([head[4], head[5]]);
        if version > FORMAT_VERSION {
            return Err(Error::new(
                ErrorCode::VersionTooNew,
                format!("frame has format {version}, this version reads up to {FORMAT_VERSION}"),
            ));
        }
        if xxh32(&head[..24], 0) != u32_at(head, 24) {
            return Err(Error::corrupt("frame head fails its checksum"));
        }
        let n_records = u32_at(head, 20);
        let mut rest = &bytes[FRAME_HEAD_BYTES..];
        let mut n_unknown = 0;
        let mut records = Vec::with_capacity(n_records.min(65_536) as usize);
        for number in 0..n_records {
            let (record, after) = parse_record(rest)
                .map_err(|error| Error::new(error.code(), format!("record {number}: {}", error.message())))?;
            n_unknown += u32::from(record.is_none());
            records.extend(record);
            rest = after;
        }
        let head = FrameHead { seq: u64_at(head, 8), ids_used: u32_at(head, 16) };
        Ok(Self { head, records, n_unknown, len: bytes.len() - rest.len() })
    }
}

fn parse_record(bytes: &[u8]) -> Result<(Option<RawRecord<'_>>, &[u8])> {
    let head = bytes.get(..RECORD_HEAD_BYTES).ok_or_else(|| Error::corrupt("record is shorter than its head"))?;
    let len = u32_at(head, 18) as usize;
    let end = RECORD_HEAD_BYTES.checked_add(len).filter(|&end| end <= bytes.len());
    let end = end.ok_or_else(|| Error::corrupt(format!("payload of {len} bytes runs past the frame")))?;
    let payload = &bytes[RECORD_HEAD_BYTES..end];
    let mut hash = Xxh32::new(0);
    hash.update(&head[..22]);
    hash.update(payload);
    if hash.digest() != u32_at(head, 22) {
        return Err(Error::corrupt("record fails its checksum"));
    }
    let record = RecordKind::from_tag(head[0]).map(|kind| RawRecord {
        key: RecordKey { kind, id: u64_at(head, 2) },
        version: head[1],
        seq: u64_at(head, 10),
        payload,
        bytes: &bytes[..end],
    });
    Ok((record, &bytes[end..]))
}

/// Appends a record, or the removal of one.
pub fn encode_record(out: &mut Vec<u8>, seq: u64, key: RecordKey, record: Option<&Record>) -> Result<()> {
    let start = out.len();
    out.push(key.kind as u8);
    out.push(if record.is_some() { RECORD_VERSION } else { 0 });
    out.extend_from_slice(&key.id.to_le_bytes());
    out.extend_from_slice(&seq.to_le_bytes());
    out.extend_from_slice(&[0; 8]);
    if let Some(record) = record {
        let payload = match record {
            Record::Session(inner) => payload(inner),
            Record::Page(inner) => payload(inner),
            Record::Units(inner) => payload(inner),
            Record::Vectors(inner) => payload(inner),
            Record::Segment(inner) => payload(inner),
            Record::Place(inner) => payload(inner),
            Record::Job(inner) => payload(inner),
            Record::Fact(inner) => payload(inner),
            Record::Profile(inner) => payload(inner),
            Record::Trait(inner) => payload(inner),
            Record::ChangeEntry(inner) => payload(inner),
            Record::Analysed(inner) => payload(inner),
            Record::Ledger(inner) => payload(inner),
            Record::Modes(inner) => payload(inner),
            Record::Denied(inner) => payload(inner),
        }?;
        out.extend_from_slice(&payload);
    }
    let len = u32::try_from(out.len() - start - RECORD_HEAD_BYTES)
        .map_err(|_| Error::invalid(format!("record of {} bytes exceeds 4 GiB", out.len() - start)))?;
    out[start + 18..start + 22].copy_from_slice(&len.to_le_bytes());
    let mut hash = Xxh32::new(0);
    hash.update(&out[start..start + 22]);
    hash.update(&out[start + RECORD_HEAD_BYTES..]);
    out[start + 22..start + 26].copy_from_slice(&hash.digest().to_le_bytes());
    Ok(())
}

fn payload<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    postcard::to_allocvec(value).map_err(|error| Error::internal(format!("record does not serialize: {error}")))
}

/// A whole frame around records that are already encoded.
pub fn frame_bytes<'a>(kind: FrameKind, head: FrameHead, records: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = vec![0; FRAME_HEAD_BYTES];
    let mut n_records: u32 = 0;
    for record in records {
        out.extend_from_slice(record);
        n_records += 1;
    }
    out[..4].copy_from_slice(&kind.magic());
    out[4..6].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    out[8..16].copy_from_slice(&head.seq.to_le_bytes());
    out[16..20].copy_from_slice(&head.ids_used.to_le_bytes());
    out[20..24].copy_from_slice(&n_records.to_le_bytes());
    let hash = xxh32(&out[..24], 0);
    out[24..28].copy_from_slice(&hash.to_le_bytes());
    out
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{ChangeId, PageId, SegmentId, Side};
    use crate::model::{Analysed, Cause, ChangeEntry, ChangeStep, LongTerm, Place, Profile};
    use proptest::prelude::*;

    fn place(id: u64) -> Record {
        let page = PageId::from_raw(id);
        Record::Place(Place {
            segments: vec![SegmentId::from_raw(9)],
            next: Some(PageId::from_raw(id + 1)),
            ..Place::short_term(page)
        })
    }

    fn sample() -> Vec<u8> {
        let mut records = Vec::new();
        for id in 0..3 {
            let mut bytes = Vec::new();
            let record = place(id);
            encode_record(&mut bytes, 40 + id, record.key(), (id != 1).then_some(&record)).expect("encodes");
            records.push(bytes);
        }
        frame_bytes(FrameKind::Log, FrameHead { seq: 42, ids_used: 7 }, records.iter().map(Vec::as_slice))
    }

    #[test]
    fn a_frame_round_trips() {
        let bytes = sample();
        let frame = Frame::parse(FrameKind::Log, &bytes).expect("parses");
        assert_eq!(frame.head, FrameHead { seq: 42, ids_used: 7 });
        assert_eq!(frame.len, bytes.len());
        let seen: Vec<_> = frame.records.iter().map(|r| (r.key.id, r.seq, r.is_removal())).collect();
        assert_eq!(seen, [(0, 40, false), (1, 41, true), (2, 42, false)]);
        assert_eq!(super::super::decode_record(&frame.records[2]), Ok(place(2)));
    }

    #[test]
    fn b04_entries_of_history_and_marks_of_analysis_round_trip() {
        let profile = Profile { version: 3, of: Side::Agent, text: "patient".into(), edited: false, recorded_at_ms: 5 };
        let profile = Record::Profile(profile);
        let step = ChangeStep { key: profile.key(), before: None, after: LongTerm::of(&profile) };
        let cause = Cause::Analysis { pages: vec![PageId::from_raw(1)], model: None, step: "profile".into() };
        let entry = ChangeEntry { id: ChangeId::from_raw(9), at_ms: 7, cause, steps: vec![step] };
        let mark = Analysed { page: PageId::from_raw(1), at_ms: 8 };
        for (record, tag) in [(Record::ChangeEntry(entry), 11), (Record::Analysed(mark), 12), (profile, 9)] {
            let mut bytes = Vec::new();
            encode_record(&mut bytes, 1, record.key(), Some(&record)).expect("encodes");
            assert_eq!(bytes[0], tag);
            let (raw, rest) = parse_record(&bytes).expect("parses");
            assert!(rest.is_empty());
            assert_eq!(super::super::decode_record(&raw.expect("known")), Ok(record));
        }
    }

    #[test]
    fn a_later_format_and_another_kind_are_refused() {
        let mut bytes = sample();
        assert_eq!(Frame::parse(FrameKind::Chunk, &bytes).expect_err("wrong kind").code(), ErrorCode::StorageCorrupt);
        bytes[4] = 0xff;
        assert_eq!(Frame::parse(FrameKind::Log, &bytes).expect_err("later").code(), ErrorCode::VersionTooNew);
    }

    proptest! {
        #[test]
        fn any_flipped_bit_and_any_cut_is_noticed(bit in 0..sample().len() * 8, cut in 0..sample().len()) {
            let whole = sample();
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Frame::parse(FrameKind::Log, &flipped).is_err());
            prop_assert!(Frame::parse(FrameKind::Log, &whole[..cut]).is_err());
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Frame::parse(FrameKind::Log, &bytes);
        }
    }
}
