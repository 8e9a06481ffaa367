//! What pages tell of the user and of the assistant (`paper` policy; MemoryOS, 3.2.3).

use super::step::{Batch, StepPrompt, step};
use crate::error::Result;
use crate::generation::reply::{BadReply, Checked, Expected, Json, ReplyText, facts, field, items, read};
use crate::model::{CandidateFact, Subject};

const TASK: &str = r#"You keep the long-term memory of a personal assistant. You get pages of its conversation with one user. Note two lists of facts worth remembering for months: what the pages tell of the user and of the people around them, and what they tell of the assistant (what it is called, what it said of itself, what it promised or recommended).

Answer with one JSON object and nothing else: {"reasoning": one or two sentences, "user_knowledge": list, "assistant_knowledge": list}
The items of both lists are {"subject", "attribute", "value", "kind", "confidence", "valid_from", "quote", "page"}. An empty list is right when there is nothing.
- "subject": "user", "assistant", or the name of whoever else the fact is about. What is said of a friend or relative is about them, not about the user.
- "attribute" and "value": what of the subject is told, in a few words each, such as "home city" and "Lisbon".
- "kind": "knowledge", "preference" or "event".
- "confidence": 0 to 1; 0.9 and more for plain statements only.
- "valid_from": the words that say since when or at what time, exactly as said, or null. Do not work out dates.
- "quote": the shortest passage that proves the fact, copied letter by letter from "page", the id of the page it stands in. A fact about the user needs a quote of the user: what the assistant recommends or supposes is no fact about the user.
Leave out small talk and general knowledge."#;

const SCHEMA: &str = r##"{"type":"object","additionalProperties":false,"required":["reasoning","user_knowledge","assistant_knowledge"],"properties":{"reasoning":{"type":"string"},"user_knowledge":{"type":"array","items":{"$ref":"#/$defs/fact"}},"assistant_knowledge":{"type":"array","items":{"$ref":"#/$defs/fact"}}},"$defs":{"fact":{"type":"object","additionalProperties":false,"required":["subject","attribute","value","kind","confidence","valid_from","quote","page"],"properties":{"subject":{"type":"string"},"attribute":{"type":"string"},"value":{"type":"string"},"kind":{"type":"string","enum":["knowledge","preference","event"]},"confidence":{"type":"number"},"valid_from":{"type":["string","null"]},"quote":{"type":"string"},"page":{"type":"string"}}}}}"##;

const USER: [&str; 4] = ["userknowledge", "userfacts", "user", "knowledge"];
const ASSISTANT: [&str; 4] = ["assistantknowledge", "assistantfacts", "assistant", "agentknowledge"];
const EXPECTED: Expected = Expected {
    envelope: &[
        "userknowledge",
        "userfacts",
        "user",
        "knowledge",
        "assistantknowledge",
        "assistantfacts",
        "assistant",
        "agentknowledge",
    ],
    item: &["quote", "quotation", "\u{5f15}\u{6587}"],
};

/// The prompt.
pub fn render(batch: &Batch<'_>) -> StepPrompt {
    step(TASK, &[], batch, SCHEMA, "knowledge", "knowledge")
}

/// Reads the reply: the facts of both lists, each with its subject; where a fact names none it is that of its list.
///
/// # Errors
/// As every step; also if one of the lists is missing. A bare list of facts is taken where each names its subject.
pub fn parse(batch: &Batch<'_>, reply: &ReplyText<'_>) -> Result<Checked<CandidateFact>> {
    let json = read(reply, &EXPECTED)?;
    if !matches!(json, Json::Map(_)) {
        return Ok(facts(items(Some(&json)), batch, None)?);
    }
    let list = |names: &[&str]| {
        let missing = || BadReply::Unreadable("one of its two lists is missing".into());
        field(&json, names).map(|list| items(Some(list))).ok_or_else(missing)
    };
    let mut of_user = facts(list(&USER)?, batch, Some(&Subject::User))?;
    let of_assistant = facts(list(&ASSISTANT)?, batch, Some(&Subject::Assistant))?;
    of_user.kept.extend(of_assistant.kept);
    of_user.refused.extend(of_assistant.refused);
    Ok(of_user)
}
