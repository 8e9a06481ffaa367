//! The meta info of a dialogue chain (`paper` policy; MemoryOS, 3.2).

use super::step::{Batch, StepPrompt, step};
use crate::error::Result;
use crate::generation::reply::{BadReply, Expected, ReplyText, field, one_line, read, refuses, text};
use crate::model::Page;

/// Most characters of a meta info.
const MOST_CHARS: usize = 300;

const TASK: &str = r#"You keep the dialogue chains of an assistant's memory. A chain is a run of pages on one matter; its meta info is one line that says what the chain is about so far, for someone who sees a single page of it. You get the meta info until now, if there is one, and the pages that come next. Write the new meta info: what is being talked about, who wants what, and where it stands. One line, at most 40 words, nothing that the material does not say.

Answer with one JSON object and nothing else: {"meta_info": the line}"#;

const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["meta_info"],"properties":{"meta_info":{"type":"string"}}}"#;

const NAMES: [&str; 4] = ["metainfo", "meta", "summary", "metainformation"];
const EXPECTED: Expected = Expected { envelope: &NAMES, item: &[] };

/// The prompt: `until_now` is the meta info of the chain before `pages`, if it has one.
pub fn render(until_now: Option<&str>, pages: &[&Page]) -> StepPrompt {
    let line = until_now.map(|text| one_line(text, MOST_CHARS));
    let blocks: Vec<_> = line.iter().map(|line| ("meta-info", line.as_str())).collect();
    step(TASK, &blocks, &Batch { pages, ..Batch::default() }, SCHEMA, "meta_info", "meta_info")
}

/// Reads the reply: one line of at most 300 characters.
///
/// # Errors
/// As every step; also if the line is missing, or is a refusal.
pub fn parse(reply: &ReplyText<'_>) -> Result<String> {
    let json = read(reply, &EXPECTED)?;
    let line = text(field(&json, &NAMES)).map(|line| one_line(&line, MOST_CHARS)).filter(|line| !line.is_empty());
    let line = line.filter(|line| !refuses(line));
    Ok(line.ok_or_else(|| BadReply::Unreadable("it has no meta info".into()))?)
}
