//! What a model, or a rule, makes of pages before it is settled against what is known: segments, links, facts.

use super::fact::{Evidence, FactKind, FactSource, Subject};
use crate::id::{PageId, SegmentId};
use crate::time::Timestamp;

/// A segment as a model sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentDraft {
    /// The open segment that it continues; `None` for a new one.
    pub continues: Option<SegmentId>,
    /// Its theme in a few words; may be empty if there is a summary.
    pub title: String,
    /// What its pages say; may be empty if there is a title.
    pub summary: String,
    /// Its keywords, most telling first.
    pub keywords: Vec<String>,
    /// Its pages, at least one, each once. A page of two themes is in two segments.
    pub pages: Vec<PageId>,
}

/// A link of a dialogue chain (MemoryOS, 3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The page.
    pub page: PageId,
    /// The earlier page that it continues; `None` where a chain begins.
    pub continues: Option<PageId>,
    /// What the chain is about so far, on one line; may be empty.
    pub meta_info: String,
}

/// A fact that is to be remembered. Whoever makes it has checked that the quotations stand in their pages.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateFact {
    /// Whom it is about.
    pub subject: Subject,
    /// What it tells: "home city", "preference: jazz".
    pub attribute: String,
    /// The value: "Lisbon", "loves".
    pub value: String,
    /// Its sort.
    pub kind: FactKind,
    /// Who vouches for it; `Edited` is for what the user enters by hand.
    pub source: FactSource,
    /// How sure, 0 to 1; no number counts as 0.
    pub confidence: f32,
    /// The least trust of what it comes from, 0 to 1.
    pub trust: f32,
    /// Since when or at what time, in the words in which it was said ("last week").
    pub since: Option<String>,
    /// Event time from which it holds, usually when it was said; `None` if unknown.
    pub valid_from: Option<Timestamp>,
    /// Quotations that support it; needed unless the user enters it.
    pub evidence: Vec<Evidence>,
}

/// What a batch of pages is: what an update policy makes of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filing {
    /// New and continued segments. Pages that none of them names are placed by rules.
    pub segments: Vec<SegmentDraft>,
    /// Links of dialogue chains, at most one a page.
    pub links: Vec<Link>,
    /// Candidate facts.
    pub facts: Vec<CandidateFact>,
}
