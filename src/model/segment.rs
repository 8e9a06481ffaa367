//! Mid-term segments.

use serde::{Deserialize, Serialize};

use super::page::Space;
use crate::id::SegmentId;
use crate::time::Timestamp;

/// A mid-term segment: pages on one topic (MemoryOS, 3.2). Its members are the pages whose `Place` names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Its id.
    pub id: SegmentId,
    /// Its theme in a few words; empty while no model has seen it.
    pub title: String,
    /// K_s: keywords, most telling first.
    pub keywords: Vec<String>,
    /// What its pages are about, in a few sentences.
    pub summary: String,
    /// The space of `centroid`; `None` before any page had a vector.
    pub space: Option<Space>,
    /// Sum of the unit vectors of its pages.
    pub centroid: Vec<f32>,
    /// N_visit: retrievals that used it.
    pub n_visit: u32,
    /// L_interaction: pages that long-term analysis has not yet seen.
    pub l_interaction: u32,
    /// Last retrieval or new page, milliseconds since the epoch.
    pub last_access_ms: i64,
    /// When its first page was said.
    pub start: Option<Timestamp>,
    /// When its last page was said.
    pub end: Option<Timestamp>,
    /// Whether it has left the hot tier.
    pub archived: bool,
}
