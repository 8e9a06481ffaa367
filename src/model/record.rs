//! The units of change and of storage.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::analysed::Analysed;
use super::change_entry::ChangeEntry;
use super::denied::Denied;
use super::fact::Fact;
use super::job::Job;
use super::ledger::LedgerDay;
use super::page::{Page, PageUnits, PageVectors, Place, Session};
use super::persona::{Profile, Trait};
use super::provider::ModelModes;
use super::segment::Segment;

/// Kind of a record; the number is its tag on disk and never changes. Loading applies kinds in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum RecordKind {
    /// [`Session`].
    Session = 1,
    /// [`Page`].
    Page = 2,
    /// [`PageUnits`].
    Units = 3,
    /// [`PageVectors`].
    Vectors = 4,
    /// [`Segment`].
    Segment = 5,
    /// [`Place`].
    Place = 6,
    /// [`Job`].
    Job = 7,
    /// [`Fact`].
    Fact = 8,
    /// [`Profile`], by version.
    Profile = 9,
    /// [`Trait`], by dimension.
    Trait = 10,
    /// [`ChangeEntry`].
    ChangeEntry = 11,
    /// [`Analysed`], by page.
    Analysed = 12,
    /// [`LedgerDay`], by day.
    Ledger = 13,
    /// [`ModelModes`], by a digest of the model's name.
    Modes = 14,
    /// [`Denied`], by digest.
    Denied = 15,
}

impl RecordKind {
    /// Every kind, in the order of loading.
    pub const ALL: [Self; 15] = [
        Self::Session,
        Self::Page,
        Self::Units,
        Self::Vectors,
        Self::Segment,
        Self::Place,
        Self::Job,
        Self::Fact,
        Self::Profile,
        Self::Trait,
        Self::ChangeEntry,
        Self::Analysed,
        Self::Ledger,
        Self::Modes,
        Self::Denied,
    ];

    /// The kind of a tag.
    pub fn from_tag(tag: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|&kind| kind as u8 == tag)
    }
}

/// A kind is serialized as its tag.
impl Serialize for RecordKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(*self as u8)
    }
}

impl<'de> Deserialize<'de> for RecordKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tag = u8::deserialize(deserializer)?;
        Self::from_tag(tag).ok_or_else(|| serde::de::Error::custom("unknown record kind"))
    }
}

/// Names a record within one memory. Records that belong to a page share its raw id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RecordKey {
    /// The kind.
    pub kind: RecordKind,
    /// Raw id.
    pub id: u64,
}

/// A record: the unit that is written, loaded and superseded whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// See [`Session`].
    Session(Session),
    /// See [`Page`].
    Page(Page),
    /// See [`PageUnits`].
    Units(PageUnits),
    /// See [`PageVectors`].
    Vectors(PageVectors),
    /// See [`Segment`].
    Segment(Segment),
    /// See [`Place`].
    Place(Place),
    /// See [`Job`].
    Job(Job),
    /// See [`Fact`].
    Fact(Fact),
    /// See [`Profile`].
    Profile(Profile),
    /// See [`Trait`].
    Trait(Trait),
    /// See [`ChangeEntry`].
    ChangeEntry(ChangeEntry),
    /// See [`Analysed`].
    Analysed(Analysed),
    /// See [`LedgerDay`].
    Ledger(LedgerDay),
    /// See [`ModelModes`].
    Modes(ModelModes),
    /// See [`Denied`].
    Denied(Denied),
}

impl Record {
    /// The record's name.
    pub fn key(&self) -> RecordKey {
        let (kind, id) = match self {
            Self::Session(session) => (RecordKind::Session, session.id.raw()),
            Self::Page(page) => (RecordKind::Page, page.id.raw()),
            Self::Units(units) => (RecordKind::Units, units.page.raw()),
            Self::Vectors(vectors) => (RecordKind::Vectors, vectors.page.raw()),
            Self::Segment(segment) => (RecordKind::Segment, segment.id.raw()),
            Self::Place(place) => (RecordKind::Place, place.page.raw()),
            Self::Job(job) => (RecordKind::Job, job.id.raw()),
            Self::Fact(fact) => (RecordKind::Fact, fact.id.raw()),
            Self::Profile(profile) => (RecordKind::Profile, profile.version),
            Self::Trait(of) => (RecordKind::Trait, u64::from(of.dimension)),
            Self::ChangeEntry(entry) => (RecordKind::ChangeEntry, entry.id.raw()),
            Self::Analysed(of) => (RecordKind::Analysed, of.page.raw()),
            Self::Ledger(of) => (RecordKind::Ledger, of.day),
            Self::Modes(of) => (RecordKind::Modes, ModelModes::id(&of.model)),
            Self::Denied(of) => (RecordKind::Denied, of.digest),
        };
        RecordKey { kind, id }
    }
}

/// One step of a delta. A delta is committed as a whole and then applied in order.
#[derive(Clone, Debug, PartialEq)]
// A delta is short-lived and nearly all of it is written: a box for each record would only cost.
#[allow(clippy::large_enum_variant)]
pub enum Change {
    /// Writes a record, replacing the one of the same key.
    Put(Record),
    /// Removes a record; nothing happens where there is none.
    Remove(RecordKey),
}

impl Change {
    /// The record it concerns.
    pub fn key(&self) -> RecordKey {
        match self {
            Self::Put(record) => record.key(),
            Self::Remove(key) => *key,
        }
    }
}
