//! Work that is still to do. Jobs are persisted in the commit that makes them necessary.

use serde::{Deserialize, Serialize};

use crate::error::ErrorCode;
use crate::id::{JobId, PageId};

/// What a job does. Carrying one out twice has the effect of carrying it out once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobKind {
    /// Moves these pages from short-term into mid-term memory.
    Consolidate {
        /// Oldest first.
        pages: Vec<PageId>,
    },
    /// Computes units and vectors that could not be computed when these pages were stored.
    Embed {
        /// Oldest first.
        pages: Vec<PageId>,
    },
    /// Lets a model see pages that rules have filed.
    Enrich {
        /// Oldest first.
        pages: Vec<PageId>,
    },
    /// Takes pages of hot segments into profile and traits.
    Promote {
        /// Oldest first.
        pages: Vec<PageId>,
    },
}

impl JobKind {
    /// Its pages.
    pub fn pages(&self) -> &[PageId] {
        let (Self::Consolidate { pages } | Self::Embed { pages } | Self::Enrich { pages } | Self::Promote { pages }) =
            self;
        pages
    }

    /// The same for other pages.
    #[must_use]
    pub fn with_pages(&self, pages: Vec<PageId>) -> Self {
        match self {
            Self::Consolidate { .. } => Self::Consolidate { pages },
            Self::Embed { .. } => Self::Embed { pages },
            Self::Enrich { .. } => Self::Enrich { pages },
            Self::Promote { .. } => Self::Promote { pages },
        }
    }

    /// Whether it may need the language model.
    pub const fn asks_chat(&self) -> bool {
        !matches!(self, Self::Embed { .. })
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Consolidate { .. } => "consolidate",
            Self::Embed { .. } => "embed",
            Self::Enrich { .. } => "enrich",
            Self::Promote { .. } => "promote",
        }
    }
}

/// Why the last attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobError {
    /// Stable code, see [`ErrorCode`].
    pub code: String,
    /// The message.
    pub message: String,
}

impl JobError {
    /// The error's kind; `Internal` for a code that this version does not know.
    pub fn kind(&self) -> ErrorCode {
        ErrorCode::parse(&self.code).unwrap_or(ErrorCode::Internal)
    }
}

/// A persisted job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// What it does.
    pub kind: JobKind,
    /// Attempts that failed.
    pub attempts: u32,
    /// Not to be tried before this time, milliseconds since the epoch.
    pub not_before_ms: i64,
    /// Set aside after too many failures; only the user starts it again.
    pub failed: bool,
    /// The last failure.
    pub error: Option<JobError>,
}

impl Job {
    /// A job that may run at once.
    pub fn new(id: JobId, kind: JobKind) -> Self {
        Self { id, kind, attempts: 0, not_before_ms: i64::MIN, failed: false, error: None }
    }

    /// The same job for other pages, as if it had never been tried.
    #[must_use]
    pub fn of(&self, pages: Vec<PageId>) -> Self {
        Self::new(self.id, self.kind.with_pages(pages))
    }

    /// The pages it concerns.
    pub fn pages(&self) -> &[PageId] {
        self.kind.pages()
    }
}
