//! What happened, for whoever watches.

use serde::Serialize;

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
    /// Pages are gone.
    Forgotten {
        /// The pages.
        pages: Vec<String>,
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
