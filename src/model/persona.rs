//! Long-term persona memory: profile and traits.

use serde::{Deserialize, Serialize};

use super::fact::Evidence;
use crate::id::Side;

/// One version of the profile text of the user or of the assistant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// 1 for the first version; counted over both profiles, so that it names one text.
    pub version: u64,
    /// Whose profile it is.
    pub of: Side,
    /// The text.
    pub text: String,
    /// Whether the user wrote it.
    pub edited: bool,
    /// When it was written, milliseconds since the epoch.
    pub recorded_at_ms: i64,
}

/// How pronounced a trait is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TraitLevel {
    /// Below most people.
    Low,
    /// As most people.
    Medium,
    /// Above most people.
    High,
}

/// One of the 90 trait dimensions, as far as the conversation shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trait {
    /// Number of the dimension, 0 to 89.
    pub dimension: u8,
    /// How pronounced.
    pub level: TraitLevel,
    /// How sure, 0 to 1.
    pub confidence: f32,
    /// Quotations that show it.
    pub evidence: Vec<Evidence>,
}
