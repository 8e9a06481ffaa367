//! Reading records of every version that was ever written.

use serde::de::DeserializeOwned;

use super::codec::{RECORD_VERSION, RawRecord};
use crate::error::{Error, ErrorCode, Result};
use crate::model::{Record, RecordKind};

/// The record in its present shape. A change of shape adds an arm for the old version here, and a fixture for it.
///
/// # Errors
/// `VERSION_TOO_NEW` for a version this code does not know, `STORAGE_CORRUPT` for a payload it cannot read.
pub fn decode_record(raw: &RawRecord<'_>) -> Result<Record> {
    match (raw.key.kind, raw.version) {
        (_, version) if version > RECORD_VERSION => Err(Error::new(
            ErrorCode::VersionTooNew,
            format!("{:?} record has version {version}, this version reads up to {RECORD_VERSION}", raw.key.kind),
        )),
        (RecordKind::Session, _) => read(raw).map(Record::Session),
        (RecordKind::Page, _) => read(raw).map(Record::Page),
        (RecordKind::Units, _) => read(raw).map(Record::Units),
        (RecordKind::Vectors, _) => read(raw).map(Record::Vectors),
        (RecordKind::Segment, _) => read(raw).map(Record::Segment),
        (RecordKind::Place, _) => read(raw).map(Record::Place),
        (RecordKind::Job, _) => read(raw).map(Record::Job),
        (RecordKind::Fact, _) => read(raw).map(Record::Fact),
        (RecordKind::Profile, _) => read(raw).map(Record::Profile),
        (RecordKind::Trait, _) => read(raw).map(Record::Trait),
        (RecordKind::ChangeEntry, _) => read(raw).map(Record::ChangeEntry),
        (RecordKind::Analysed, _) => read(raw).map(Record::Analysed),
        (RecordKind::Ledger, _) => read(raw).map(Record::Ledger),
        (RecordKind::Modes, _) => read(raw).map(Record::Modes),
        (RecordKind::Denied, _) => read(raw).map(Record::Denied),
    }
}

fn read<T: DeserializeOwned>(raw: &RawRecord<'_>) -> Result<T> {
    postcard::from_bytes(raw.payload).map_err(|error| {
        Error::corrupt(format!("{:?} record {:016x} does not decode: {error}", raw.key.kind, raw.key.id))
    })
}
