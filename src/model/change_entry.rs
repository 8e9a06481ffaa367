//! History of long-term memory: what changed, when, and why.

use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::persona::{Profile, Trait};
use super::record::{Change, Record, RecordKey};
use crate::id::{ChangeId, PageId};

/// Who or what made a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// The user added, edited, pinned or removed something.
    User,
    /// The user took back an earlier change.
    Undo(ChangeId),
    /// An analysis of pages.
    Analysis {
        /// The pages it read, oldest first; at most [`CAUSE_MAX_PAGES`](crate::config::CAUSE_MAX_PAGES) are kept.
        pages: Vec<PageId>,
        /// Id of the language model; `None` where rules alone decided.
        model: Option<String>,
        /// The step: "knowledge", "profile", "traits".
        step: String,
    },
}

/// A record of long-term memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
// Few are held at a time, so a box would only cost.
#[allow(clippy::large_enum_variant)]
pub enum LongTerm {
    /// See [`Fact`].
    Fact(Fact),
    /// See [`Profile`].
    Profile(Profile),
    /// See [`Trait`].
    Trait(Trait),
}

impl LongTerm {
    /// The long-term record that a record is; `None` for the other tiers'.
    pub fn of(record: &Record) -> Option<Self> {
        match record {
            Record::Fact(fact) => Some(Self::Fact(fact.clone())),
            Record::Profile(profile) => Some(Self::Profile(profile.clone())),
            Record::Trait(of) => Some(Self::Trait(of.clone())),
            _ => None,
        }
    }

    /// It as a record.
    pub fn into_record(self) -> Record {
        match self {
            Self::Fact(fact) => Record::Fact(fact),
            Self::Profile(profile) => Record::Profile(profile),
            Self::Trait(of) => Record::Trait(of),
        }
    }

    /// When it was first recorded, milliseconds since the epoch; `None` where the record does not say.
    pub fn recorded_at_ms(&self) -> Option<i64> {
        match self {
            Self::Fact(fact) => Some(fact.recorded_at_ms),
            Self::Profile(profile) => Some(profile.recorded_at_ms),
            Self::Trait(_) => None,
        }
    }
}

/// One record before and after a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeStep {
    /// The record.
    pub key: RecordKey,
    /// As it was; `None` if it was not there.
    pub before: Option<LongTerm>,
    /// As it is now; `None` if it went.
    pub after: Option<LongTerm>,
}

/// One change of long-term memory, whole: what one analysis or one act of the user did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeEntry {
    /// Its id; ids of one device grow with time.
    pub id: ChangeId,
    /// When, milliseconds since the epoch.
    pub at_ms: i64,
    /// Why.
    pub cause: Cause,
    /// Every record it touched, each once.
    pub steps: Vec<ChangeStep>,
}

impl ChangeEntry {
    /// What it did to one record.
    pub fn step(&self, key: RecordKey) -> Option<&ChangeStep> {
        self.steps.iter().find(|step| step.key == key)
    }

    /// Its order: by time, then by id.
    pub fn order(&self) -> (i64, ChangeId) {
        (self.at_ms, self.id)
    }
}

impl ChangeStep {
    /// The change that puts back what was before.
    pub fn inverse(&self) -> Change {
        match &self.before {
            Some(before) => Change::Put(before.clone().into_record()),
            None => Change::Remove(self.key),
        }
    }
}
