//! Whether a page continues another (`paper` policy; MemoryOS, 3.2, dialogue chain).

use super::step::{Batch, StepPrompt, step};
use crate::error::Result;
use crate::generation::reply::{BadReply, Expected, Json, ReplyText, boolean, field, read, without_reasoning};
use crate::model::Page;

const TASK: &str = r#"You keep the dialogue chains of an assistant's memory. You get two pages of its conversation with one user, p1 and the later p2. Decide whether p2 continues the conversation of p1: the same matter, a question back, a detail or a consequence of it. A new matter that merely follows in time does not continue it.

Answer with one JSON object and nothing else: {"reasoning": one sentence, "continues": true or false}"#;

const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["reasoning","continues"],"properties":{"reasoning":{"type":"string"},"continues":{"type":"boolean"}}}"#;

const NAMES: [&str; 8] =
    ["continues", "continuous", "iscontinuous", "continuity", "continued", "iscontinuation", "result", "answer"];
const EXPECTED: Expected = Expected { envelope: &NAMES, item: &[] };

/// The prompt: does `current` continue `previous`?
pub fn render(previous: &Page, current: &Page) -> StepPrompt {
    step(TASK, &[], &Batch { pages: &[previous, current], ..Batch::default() }, SCHEMA, "continuity", "continuity")
}

/// Reads the reply. A truth value of any spelling is taken, also as the only word of the reply.
///
/// # Errors
/// As every step: `PROVIDER_BAD_REPLY`, or `PROVIDER_FAILED` for a reply that reports an error.
pub fn parse(reply: &ReplyText<'_>) -> Result<bool> {
    let unclear = || BadReply::Unreadable("it is neither true nor false".into());
    match read(reply, &EXPECTED) {
        Ok(json) => Ok(boolean(field(&json, &NAMES)).ok_or_else(unclear)?),
        Err(BadReply::Unreadable(why)) => {
            let word = Json::Text(without_reasoning(reply.text).to_owned());
            Ok(boolean(Some(&word)).ok_or(BadReply::Unreadable(why))?)
        }
        Err(bad) => Err(bad.into()),
    }
}
