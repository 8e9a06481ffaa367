//! The multi-topic summary of pages that leave short-term memory (`paper` policy; MemoryOS, 3.2.2).
//!
//! Deviation: MemoryOS takes two themes at most and stores a page of two themes twice; here there may be as many as there are
//! pages, and a theme names its pages, which are stored once.

use super::step::{Batch, StepPrompt, step};
use crate::error::Result;
use crate::generation::reply::{Checked, Expected, Json, ReplyText, field, items, read, segments};
use crate::model::SegmentDraft;

const TASK: &str = r#"You keep the mid-term memory of a personal assistant. You get pages of its conversation with one user. Find the themes they are about. One theme is enough where all pages are on one matter; do not split a matter into its details.

Answer with one JSON object and nothing else: {"reasoning": one sentence, "themes": list of {"title", "summary", "keywords", "pages"}}
- "title": two to six words.
- "summary": one to three sentences that name who did, said or wants what, and when.
- "keywords": three to eight words that someone would search for.
- "pages": ids of the pages of the theme. Every page is in at least one; a page of two themes is in both."#;

const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["reasoning","themes"],"properties":{"reasoning":{"type":"string"},"themes":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["title","summary","keywords","pages"],"properties":{"title":{"type":"string"},"summary":{"type":"string"},"keywords":{"type":"array","items":{"type":"string"}},"pages":{"type":"array","items":{"type":"string"}}}}}}}"#;

const NAMES: [&str; 5] = ["themes", "topics", "segments", "summaries", "\u{4e3b}\u{9898}"];
const EXPECTED: Expected = Expected { envelope: &NAMES, item: &["summary", "keywords", "\u{6458}\u{8981}"] };

/// The prompt.
pub fn render(batch: &Batch<'_>) -> StepPrompt {
    step(TASK, &[], batch, SCHEMA, "multi_topic_summary", "multi_topic")
}

/// Reads the reply: the themes, none of which continues a segment; `f_score` decides that.
///
/// # Errors
/// As every step.
pub fn parse(batch: &Batch<'_>, reply: &ReplyText<'_>) -> Result<Checked<SegmentDraft>> {
    let json = read(reply, &EXPECTED)?;
    let list = if let Json::Map(_) = &json { items(field(&json, &NAMES)) } else { items(Some(&json)) };
    let mut themes = segments(list, &Batch { open: &[], ..*batch })?;
    themes.refused.retain(|refusal| refusal.reason != crate::generation::reply::Reason::UnknownSegment);
    Ok(themes)
}
