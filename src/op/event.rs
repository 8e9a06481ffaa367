//! What happened, for whoever watches.

use serde::Serialize;

use crate::generation::reply::Refusal;

/// A part of a reply that was not taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefusedPart {
    /// Which sort of part.
    pub part: String,
    /// Why.
    pub reason: String,
    /// What it says, shortened.
    pub detail: String,
}

impl From<&Refusal> for RefusedPart {
    fn from(refusal: &Refusal) -> Self {
        Self {
            part: format!("{:?}", refusal.part),
            reason: format!("{:?}", refusal.reason),
            detail: refusal.detail.clone(),
        }
    }
}

/// An event, in the order of the commits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Event {
    /// A page is stored.
    PageAdded {
        /// Its id.
        page_id: String,
    },
    /// A page has got its answer.
    PageUpdated {
        /// Its id.
        page_id: String,
    },
    /// Pages have sunk into mid-term memory.
    Consolidated {
        /// The pages.
        pages: Vec<String>,
        /// The segments that took them.
        segments: Vec<String>,
    },
    /// A segment has left the hot tier.
    SegmentArchived {
        /// Its id.
        segment_id: String,
    },
    /// Rules have filed pages; a model sees them later.
    FiledByRules {
        /// The pages.
        pages: Vec<String>,
        /// Why no model did.
        reason: String,
    },
    /// A model has seen pages that rules had filed.
    Enriched {
        /// The pages.
        pages: Vec<String>,
        /// The segments that hold them now.
        segments: Vec<String>,
    },
    /// Long-term memory has changed.
    PersonaChanged {
        /// The entry of history.
        change_id: String,
        /// Facts it touched.
        facts: usize,
        /// Profile texts.
        profiles: usize,
        /// Traits.
        traits: usize,
    },
    /// Pages of hot segments have been analysed.
    Promoted {
        /// The pages.
        pages: Vec<String>,
        /// Their segments.
        segments: Vec<String>,
    },
    /// Parts of a reply did not stand up to the pages it was about.
    ReplyRefused {
        /// What was asked.
        operation: String,
        /// The parts.
        parts: Vec<RefusedPart>,
    },
    /// Background work has stopped.
    Paused,
    /// Background work goes on.
    Resumed,
    /// Pages and facts are gone.
    Forgotten {
        /// The pages.
        pages: Vec<String>,
        /// The facts.
        facts: Vec<String>,
    },
    /// Pages have got vectors.
    Embedded {
        /// How many.
        pages: usize,
        /// How many still have none.
        pending: usize,
    },
    /// A job has failed.
    JobFailed {
        /// Its id.
        job_id: String,
        /// Stable code.
        code: String,
        /// What went wrong.
        message: String,
        /// Whether it will be tried again by itself.
        will_retry: bool,
    },
    /// The log has been sealed.
    Sealed {
        /// Chunks written.
        chunks: usize,
        /// Their bytes.
        bytes: usize,
    },
    /// Everything is gone.
    Cleared,
}
