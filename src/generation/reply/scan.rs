//! Finds the JSON in a reply, among reasoning, prose and fences.

use super::bad::BadReply;
use super::field::{Json, field, items};
use super::parse::parse_at;
use super::words::reports_outage;

/// Tags of reasoning blocks, in angle, square or triangular brackets.
const REASONING: [&str; 6] = ["thinking", "think", "thought", "reasoning", "reflection", "analysis"];
/// Longest tag, attributes included.
const TAG_CHARS: usize = 80;
/// Fields that models and gateways wrap an answer in.
const WRAPPERS: [&str; 11] = [
    "arguments",
    "parameters",
    "input",
    "output",
    "response",
    "result",
    "answer",
    "data",
    "json",
    "properties",
    "content",
];
/// Fields of an error report.
const ERRORS: [&str; 2] = ["error", "errors"];

/// Why a model stopped, as far as reading its reply is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyEnd {
    /// It had said everything.
    Stop,
    /// It was cut by the token limit.
    Length,
    /// A filter held it back.
    Filtered,
    /// The provider does not say.
    Unknown,
}

/// A reply with the reason for which it ends.
#[derive(Clone, Copy, Debug)]
pub struct ReplyText<'a> {
    /// The text.
    pub text: &'a str,
    /// Why it ends.
    pub end: ReplyEnd,
}

/// By what a step knows its answer. Names are written as for [`field`].
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// Fields of the answer, with their other names; one of them must be there.
    pub envelope: &'static [&'static str],
    /// Fields of the items of its lists: a list of such, or one such item, may stand for the answer. Empty where none may.
    pub item: &'static [&'static str],
}

impl Expected {
    fn is_answer(&self, json: &Json) -> bool {
        field(json, self.envelope).is_some()
    }

    fn is_item(&self, json: &Json) -> bool {
        field(json, self.item).is_some()
    }

    /// Whether a whole list may stand for the answer.
    fn is_list(&self, json: &Json) -> bool {
        matches!(json, Json::List(list) if !self.item.is_empty() && list.iter().all(|item| self.is_item(item)))
    }
}

/// Reads the answer out of a reply: an object with a field of the envelope, or a list of items.
///
/// Reasoning blocks are skipped, with what is in them. One that is never closed hides everything but an answer that ends the
/// reply. Of several answers the last counts. What stands within a string stays as it is, fences and tags too. A bracket
/// missing at the very end is supplied where the model stopped by itself.
///
/// # Errors
/// [`BadReply`]: a cut reply, whatever it holds; one with no answer in it; an answer that breaks off in the middle; an error
/// report; the schema in place of an answer.
pub fn read(reply: &ReplyText<'_>, expected: &Expected) -> Result<Json, BadReply> {
    match reply.end {
        ReplyEnd::Length => return Err(BadReply::Truncated),
        ReplyEnd::Filtered => return Err(BadReply::Filtered),
        ReplyEnd::Stop | ReplyEnd::Unknown => {}
    }
    let mut scan = Scan::default();
    scan.run(reply.text);
    // A reply that is one JSON string with JSON in it: the answer was encoded twice.
    if let Some(inner) = Some(reply.text.trim()).filter(|text| text.starts_with('"'))
        && let Some(Json::Text(inner)) = parse_at(inner, 0).value
    {
        scan = Scan::default();
        scan.run(&inner);
    }
    scan.choose(reply, expected)
}

/// Words of a reply outside its reasoning, for a step that takes a bare word for an answer.
pub(in crate::generation) fn without_reasoning(text: &str) -> &str {
    let mut rest = text.trim();
    while let Some(Tag::Open(_)) = tag_at(rest) {
        match block_end(rest) {
            Some(end) => rest = rest[end..].trim_start(),
            None => return "",
        }
    }
    rest
}

#[derive(Default)]
struct Scan {
    /// Values in the order of the reply, with whether each ends it.
    found: Vec<(Json, bool)>,
    /// Something that was meant as JSON could not be read.
    broken: bool,
    /// A value lacks brackets at the end.
    unclosed: bool,
    /// A reasoning block is never closed.
    reasoning_open: bool,
}

impl Scan {
    fn run(&mut self, text: &str) {
        let (mut at, mut never_closed) = (0, false);
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            match tag_at(rest) {
                Some(Tag::Open(length)) => {
                    // Looked for once at most, so that no reply takes quadratic time; a lone end still ends it below.
                    let block = if never_closed { None } else { block_end(rest) };
                    never_closed |= block.is_none();
                    self.reasoning_open |= block.is_none();
                    at += block.unwrap_or(length);
                    continue;
                }
                // Its beginning was in the prompt: everything so far was reasoning.
                Some(Tag::Close(length)) => {
                    *self = Self::default();
                    at += length;
                    continue;
                }
                None => {}
            }
            if !matches!(c, '{' | '[') {
                at += c.len_utf8();
                continue;
            }
            let parsed = parse_at(text, at);
            at = parsed.end.max(at + 1);
            if let Some(value) = parsed.value {
                self.unclosed |= parsed.unclosed;
                let after = text[at..].trim().trim_matches('`').trim();
                self.found.push((value, after.is_empty()));
            } else {
                // The parts of a value that breaks off are not to be taken for values of their own.
                self.broken |= parsed.had_members;
            }
        }
    }

    fn choose(self, reply: &ReplyText<'_>, expected: &Expected) -> Result<Json, BadReply> {
        let whole = reply.text;
        let hidden = self.reasoning_open;
        let visible = |last: bool| last || !hidden;
        let (mut parts, mut empty, mut echoed, mut failure, mut answer) = (Vec::new(), None, false, None, None);
        for (value, last) in self.found.into_iter().filter(|&(_, last)| visible(last)) {
            let value = unwrapped(value, expected);
            if is_schema(&value, expected) {
                echoed = true;
            } else if expected.is_answer(&value) {
                answer = Some(value);
            } else if let Some(report) = items(Some(&value)).first().and_then(|first| field(first, &ERRORS)) {
                failure = Some(report.clone());
            } else if matches!(&value, Json::List(list) if list.is_empty()) {
                empty = last.then_some(value);
            } else if expected.is_list(&value) {
                answer = Some(value);
            } else if expected.is_item(&value) {
                parts.push(value);
            }
        }
        if self.unclosed && reply.end != ReplyEnd::Stop {
            return Err(BadReply::unreadable("a bracket is not closed", whole));
        }
        // Beside something that breaks off only a whole envelope counts, never what may be a part of it.
        let is_whole = |answer: &Json| matches!(answer, Json::Map(_)) && !expected.is_item(answer);
        if let Some(answer) = answer.filter(|answer| !self.broken || is_whole(answer)) {
            return Ok(answer);
        }
        if let Some(failure) = failure {
            return Err(BadReply::failure(&report_text(&failure)));
        }
        if echoed {
            return Err(BadReply::EchoedSchema);
        }
        if self.broken {
            return Err(BadReply::unreadable("its JSON breaks off", whole));
        }
        match (parts.is_empty(), empty) {
            (false, _) => Ok(Json::List(parts)),
            (true, Some(empty)) if !expected.item.is_empty() => Ok(empty),
            // What a gateway says in place of a failing provider, although the call succeeded.
            _ if reports_outage(whole) => Err(BadReply::failure(whole)),
            _ => Err(BadReply::unreadable("no answer in it", whole)),
        }
    }
}

/// The answer within its wrapper, or the value itself.
fn unwrapped(value: Json, expected: &Expected) -> Json {
    if expected.is_answer(&value) {
        return value;
    }
    if let Json::List(list) = &value
        && let [single] = list.as_slice()
        && expected.is_answer(single)
    {
        return single.clone();
    }
    let inner = match field(&value, &WRAPPERS) {
        Some(Json::Text(text)) if text.trim_start().starts_with('{') => parse_at(text.trim_start(), 0).value,
        Some(inner) => Some(inner.clone()),
        None => None,
    };
    inner.filter(|inner| expected.is_answer(inner)).unwrap_or(value)
}

/// Whether a value is a schema: a field of the answer is itself an object that tells a type.
fn is_schema(value: &Json, expected: &Expected) -> bool {
    let schema = field(value, &["schema"]).unwrap_or(value);
    let fields = field(schema, &["properties"]).unwrap_or(schema);
    let tells_a_type = |field: &Json| matches!(field, Json::Map(map) if map.get("type").is_some_and(names_a_type));
    match fields {
        Json::Map(map) => {
            expected.is_answer(fields) && map.iter().any(|(_, field)| tells_a_type(field))
                || field(schema, &["properties"]).is_some() && tells_a_type(schema)
        }
        _ => false,
    }
}

fn names_a_type(json: &Json) -> bool {
    match json {
        Json::Text(name) => ["object", "array", "string", "number", "integer", "boolean"].contains(&name.as_str()),
        Json::List(names) => names.iter().any(names_a_type),
        _ => false,
    }
}

/// The words of an error report.
fn report_text(report: &Json) -> String {
    match report {
        Json::Text(text) => text.clone(),
        Json::List(list) => list.first().map(report_text).unwrap_or_default(),
        _ => super::field::text(field(report, &["message", "detail", "code", "type"])).unwrap_or_default(),
    }
}

enum Tag {
    Open(usize),
    Close(usize),
}

/// The reasoning tag at the start of `text`, with its length.
fn tag_at(text: &str) -> Option<Tag> {
    let mut chars = text.chars();
    let close = match chars.next()? {
        '<' => '>',
        '[' => ']',
        '\u{25c1}' => '\u{25b7}',
        _ => return None,
    };
    let inner = chars.as_str();
    let name = inner.strip_prefix('/').unwrap_or(inner);
    let word = &name[..name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len())];
    if !REASONING.iter().any(|known| known.eq_ignore_ascii_case(word)) {
        return None;
    }
    // Attributes may follow on the same line.
    let end = text.char_indices().take(TAG_CHARS).find(|&(_, c)| c == close || c == '\n');
    let length = end.filter(|&(_, c)| c == close)?.0 + close.len_utf8();
    Some(if name.len() < inner.len() { Tag::Close(length) } else { Tag::Open(length) })
}

/// One past the end of the reasoning block at the start of `text`; `None` if it, or a block within, is never closed.
fn block_end(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(c) = text[at..].chars().next() {
        match tag_at(&text[at..]) {
            Some(Tag::Open(length)) => {
                depth += 1;
                at += length;
            }
            Some(Tag::Close(length)) => {
                depth -= 1;
                at += length;
                if depth == 0 {
                    return Some(at);
                }
            }
            None => at += c.len_utf8(),
        }
    }
    None
}
