//! The one call of the `batched` policy: segments, chain links and candidate facts of a batch of pages.
//!
//! Deviation: MemoryOS spends about three calls a page on continuity, meta info, topics, profile and knowledge; one call a
//! batch gives the same, because its answer costs far less than reading the pages again for each.

use super::step::{Batch, StepPrompt, step};
use crate::error::Result;
use crate::generation::reply::{
    BadReply, Expected, Json, Refusal, ReplyText, facts, field, items, links, read, segments,
};
use crate::model::Filing;

const TASK: &str = r#"You keep the long-term memory of a personal assistant. You get the latest pages of its conversation with one user. File them: sort them into segments by topic, link the pages that continue one another, and note facts worth remembering for months.

Answer with one JSON object and nothing else. Its fields, in this order:
- "reasoning": one or two sentences on where the topics change and what is worth remembering.
- "segments": list of {"continues", "title", "summary", "keywords", "pages"}. Every page is in at least one; a page of two topics is in two. "continues" is the id of an open segment on the same topic (like "s1"), or null for a new topic. "title": two to six words. "summary": one to three sentences that name who did, said or wants what, and when. "keywords": three to eight words that someone would search for. "pages": ids of the pages.
- "links": list of {"page", "continues", "meta_info"}, one for each page. "continues" is the id of the earlier page whose conversation this page takes up, or null where it begins something new. "meta_info": one line on what that conversation is about so far.
- "facts": list of {"subject", "attribute", "value", "kind", "confidence", "valid_from", "quote", "page"}. An empty list is right when there is nothing.

Rules for facts:
- "subject": "user", "assistant", or the name of whoever else the fact is about. What is said of a friend or relative is about them: "my sister Mia plays chess" has the subject "Mia", not "user".
- "attribute" and "value": what of the subject is told, in a few words each, such as "home city" and "Lisbon". Use the same attribute for what would replace it.
- "kind": "knowledge" for a state of affairs, "preference" for a liking, an aversion or a need, "event" for what happens at a time.
- "confidence": 0 to 1; 0.9 and more for plain statements only.
- "valid_from": the words that say since when or at what time, exactly as said ("last week"), or null. Do not work out dates.
- "quote": the shortest passage that proves the fact, copied letter by letter from "page", the id of the page it stands in.
- A fact about the user needs a quote of the user. What the assistant recommends, supposes or explains is no fact about the user, and neither is a question. Where the user agrees, quote the agreement.
- Leave out small talk, general knowledge, and whatever will not matter in a month. At most five facts a page.
- A page p0 is shown for context only: a page may continue it, but it is in no segment and gives no fact."#;

const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["reasoning","segments","links","facts"],"properties":{"reasoning":{"type":"string"},"segments":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["continues","title","summary","keywords","pages"],"properties":{"continues":{"type":["string","null"]},"title":{"type":"string"},"summary":{"type":"string"},"keywords":{"type":"array","items":{"type":"string"}},"pages":{"type":"array","items":{"type":"string"}}}}},"links":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["page","continues","meta_info"],"properties":{"page":{"type":"string"},"continues":{"type":["string","null"]},"meta_info":{"type":"string"}}}},"facts":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["subject","attribute","value","kind","confidence","valid_from","quote","page"],"properties":{"subject":{"type":"string"},"attribute":{"type":"string"},"value":{"type":"string"},"kind":{"type":"string","enum":["knowledge","preference","event"]},"confidence":{"type":"number"},"valid_from":{"type":["string","null"]},"quote":{"type":"string"},"page":{"type":"string"}}}}}}"#;

const SEGMENTS: [&str; 4] = ["segments", "topics", "themes", "\u{4e3b}\u{9898}"];
const FACTS: [&str; 5] = ["facts", "candidatefacts", "memories", "factlist", "\u{4e8b}\u{5b9e}"];
const LINKS: [&str; 4] = ["links", "chainlinks", "chains", "chain"];

const EXPECTED: Expected = Expected {
    envelope: &[
        "segments",
        "topics",
        "themes",
        "\u{4e3b}\u{9898}",
        "facts",
        "candidatefacts",
        "memories",
        "factlist",
        "\u{4e8b}\u{5b9e}",
    ],
    item: &["quote", "quotation", "summary", "title", "\u{5f15}\u{6587}", "\u{6458}\u{8981}"],
};

/// The prompt of a batch. Its front is the same for every batch, and at most 1,200 tokens.
pub fn render(batch: &Batch<'_>) -> StepPrompt {
    step(TASK, &[], batch, SCHEMA, "memory_batch", "segments")
}

/// Reads the reply to [`render`] of the same batch.
///
/// # Errors
/// `PROVIDER_BAD_REPLY`, or `PROVIDER_FAILED` for a reply that reports an error; [`BadReply::of`] tells the kind. A reply in
/// which the list of facts is missing, rather than empty, is unreadable.
pub fn parse(batch: &Batch<'_>, reply: &ReplyText<'_>) -> Result<(Filing, Vec<Refusal>)> {
    let json = read(reply, &EXPECTED)?;
    let has = |item: &Json, names: &[&str]| field(item, names).is_some();
    let (segment_items, link_items, mut fact_items): (Vec<Json>, &[Json], Vec<Json>);
    if let Json::Map(_) = &json {
        segment_items = items(field(&json, &SEGMENTS)).to_vec();
        link_items = items(field(&json, &LINKS));
        fact_items = items(field(&json, &FACTS)).to_vec();
        // Some models put the facts into the segments they belong to.
        let nested = segment_items.iter().filter_map(|segment| field(segment, &FACTS));
        fact_items.extend(nested.flat_map(|list| items(Some(list)).to_vec()));
        if !has(&json, &FACTS) && !segment_items.iter().any(|segment| has(segment, &FACTS)) {
            return Err(BadReply::Unreadable("it has no list of facts".into()).into());
        }
    } else {
        // A list where the object was asked: its items show what they are.
        let is_fact = |item: &&Json| has(item, &["quote", "quotation", "\u{5f15}\u{6587}"]);
        let all = items(Some(&json));
        fact_items = all.iter().filter(is_fact).cloned().collect();
        segment_items = all.iter().filter(|item| !is_fact(item)).cloned().collect();
        link_items = &[];
        fact_items.extend(segment_items.iter().flat_map(|segment| items(field(segment, &FACTS)).to_vec()));
        if fact_items.is_empty() && !all.iter().all(|segment| has(segment, &FACTS)) {
            return Err(BadReply::Unreadable("it is a list of segments without facts".into()).into());
        }
    }
    let segments = segments(&segment_items, batch)?;
    let links = links(link_items, batch)?;
    let facts = facts(&fact_items, batch, None)?;
    let refused = [segments.refused, links.refused, facts.refused].concat();
    Ok((Filing { segments: segments.kept, links: links.kept, facts: facts.kept }, refused))
}
