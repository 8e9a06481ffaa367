//! Every sentence that the core says to a model, one file a step: `render` makes the prompt, `parse` reads the reply.
//!
//! All steps are built alike. The system text is the same for every call of a step, so that a provider's prompt cache hits.
//! The data follow in fenced blocks, and after them the language to write in. Every step asks for one JSON object, with its
//! reasoning before its results. Pages and segments are named by short local ids (p1, s1), so that a reply can only name what
//! it was shown.
//!
//! Deviation: MemoryOS asks for plain text or for fields of its own notation; here every reply is JSON, because a reply that
//! is no JSON (an outage, a quota, a refusal) can then never be taken for a memory.

mod fence;
mod language;
mod pages;
mod respond;
pub(in crate::generation) mod step;

pub mod continuity;
pub mod knowledge;
pub mod meta_info;
pub mod multi_topic;
pub mod profile;
pub mod segments;

#[cfg(test)]
mod golden_test;

pub use fence::{fence, without_blocks};
pub use language::{Language, language};
pub use respond::{Exchange, Front, Prompt, respond_prompt};
pub use step::{Batch, OpenSegment, StepPrompt};
