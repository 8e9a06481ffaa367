//! The `offline` policy: what a segment is about, by rules alone. A model may see its pages later.

use crate::config::{KEYWORDS_PER_SEGMENT, SUMMARY_MAX_CHARS};
use crate::model::Segment;
use crate::text;

/// Derives keywords and summary of a segment from the texts of all its pages, in their order.
///
/// `document_frequency` gives the share of turns, 0 to 1, that hold a word.
pub fn describe(segment: &mut Segment, texts: &[&str], document_frequency: &dyn Fn(&str) -> f32) {
    segment.keywords = text::keywords(texts, KEYWORDS_PER_SEGMENT, document_frequency);
    segment.summary = text::extractive_summary(texts, &segment.keywords, SUMMARY_MAX_CHARS);
}
