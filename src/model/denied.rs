//! What the user has deleted and does not want to be told again.

use serde::{Deserialize, Serialize};

/// A fact that was deleted: it is not learnt again from pages that are still there. Only a digest of it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denied {
    /// Digest of subject, attribute and value, normalised.
    pub digest: u64,
    /// When it was deleted, milliseconds since the epoch.
    pub at_ms: i64,
}
