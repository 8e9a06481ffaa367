//! Plain data: what memory is made of. Rules that change it live in `updating`, bytes in `storage`.

mod analysed;
mod change_entry;
mod cube;
mod denied;
mod draft;
mod fact;
mod job;
mod ledger;
mod page;
mod persona;
mod provider;
mod record;
mod segment;
mod unit;
mod value;

pub use analysed::Analysed;
pub use change_entry::{Cause, ChangeEntry, ChangeStep, LongTerm};
pub use cube::{Cube, Scope};
pub use denied::Denied;
pub use draft::{CandidateFact, Filing, Link, SegmentDraft};
pub use fact::{Evidence, Fact, FactKind, FactSource, Subject};
pub use job::{Job, JobError, JobKind};
pub use ledger::{LedgerDay, LedgerRow};
pub use page::{Page, PageUnits, PageVectors, Place, Session, Space, Tier};
pub use persona::{Profile, Trait, TraitLevel};
pub use provider::{ModeRecord, ModelModes, OutputMode};
pub use record::{Change, Record, RecordKey, RecordKind};
pub use segment::Segment;
pub use unit::{Atom, Cues, TurnUnits};
pub use value::{Metadata, Value, serialize_map};
