//! Which pages long-term analysis has seen.

use serde::{Deserialize, Serialize};

use crate::id::PageId;

/// Marks a page as seen by long-term analysis. A page without the mark counts in its segment's `l_interaction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysed {
    /// The page.
    pub page: PageId,
    /// When it was analysed, milliseconds since the epoch.
    pub at_ms: i64,
}
