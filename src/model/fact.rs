//! Long-term facts with validity, evidence and trust.

use serde::{Deserialize, Serialize};

use crate::id::{FactId, TurnId};
use crate::time::Timestamp;

/// Whom a fact is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Subject {
    /// The user of this memory.
    User,
    /// The assistant.
    Assistant,
    /// Somebody or something else, by name.
    Named(String),
}

/// What sort of thing a fact says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FactKind {
    /// A state of affairs: lives in Lisbon.
    Knowledge,
    /// A liking, aversion or need.
    Preference,
    /// Something that happens at a time.
    Event,
}

/// Who vouches for a fact; later variants outrank earlier ones in a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FactSource {
    /// A model inferred it.
    Inferred,
    /// The user said it.
    Stated,
    /// The user edited it.
    Edited,
}

/// A quotation that supports a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The turn it stands in.
    pub turn: TurnId,
    /// The exact words.
    pub quote: String,
}

/// A fact of long-term persona memory. (subject, attribute) is its slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Its id.
    pub id: FactId,
    /// Whom it is about.
    pub subject: Subject,
    /// What of the subject it tells: "home city".
    pub attribute: String,
    /// The value: "Lisbon".
    pub value: String,
    /// Its sort.
    pub kind: FactKind,
    /// Who vouches for it.
    pub source: FactSource,
    /// How sure, 0 to 1.
    pub confidence: f32,
    /// How far its origins can be trusted, 0 to 1: the least over its lineage.
    pub trust: f32,
    /// Event time from which it holds; `None` if unknown, and then the time of recording counts.
    pub valid_from: Option<Timestamp>,
    /// The words that say so, as they were said.
    pub since: Option<String>,
    /// Event time at which it was last said again, if later than `valid_from`. In a conflict it counts as `valid_from`.
    pub confirmed: Option<Timestamp>,
    /// Event time at which it ceased to hold; `None` while it is current.
    pub valid_to: Option<Timestamp>,
    /// When it was recorded, milliseconds since the epoch.
    pub recorded_at_ms: i64,
    /// The fact that closed it.
    pub superseded_by: Option<FactId>,
    /// Why it was closed.
    pub reason: Option<String>,
    /// Whether it has left the queue of its subject for want of room: kept, and found on request only.
    pub archived: bool,
    /// Whether the user pinned it: it then outranks what is said later, and stands in every prompt.
    pub pinned: bool,
    /// Whether the user wants it never to be recalled.
    pub never_recall: bool,
    /// Quotations that support it, oldest first.
    pub evidence: Vec<Evidence>,
}

impl Fact {
    /// Whether it is believed: nothing has closed it. An archived fact can be open.
    pub fn is_open(&self) -> bool {
        self.valid_to.is_none()
    }

    /// How much its word counts in a conflict: a pin makes it the user's own.
    pub fn authority(&self) -> FactSource {
        if self.pinned { FactSource::Edited } else { self.source }
    }

    /// Event time from which it holds, or else when it was recorded.
    pub fn start(&self) -> Timestamp {
        self.valid_from.unwrap_or(Timestamp::utc(self.recorded_at_ms))
    }

    /// Event time at which it was last said to hold.
    pub fn last_said(&self) -> Timestamp {
        self.confirmed.map_or(self.start(), |confirmed| confirmed.max(self.start()))
    }
}
