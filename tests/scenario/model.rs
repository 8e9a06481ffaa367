//! A language model that answers the prompts of memory by rule: what it says depends on the prompt alone, and is such that
//! every part of it can be checked.

#![allow(dead_code, unreachable_pub)]

use memstrata::effect::{ChatReply, ChatRequest, FinishReason, Usage};
use memstrata::error::{Error, ErrorCode, Result};
use serde_json::{Value, json};

/// A page as a prompt shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// `p1`, `p2` and so on.
    pub id: String,
    pub user: String,
    pub assistant: String,
}

/// The pages that a prompt asks about; `p0` is shown for context only and is left out.
pub fn shown(request: &ChatRequest) -> Vec<Shown> {
    let prompt = &request.messages.last().expect("a message").content;
    let mut pages: Vec<Shown> = Vec::new();
    for line in prompt.lines() {
        if let Some((id, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] "))
            && id.starts_with('p')
        {
            pages.push(Shown { id: id.into(), user: String::new(), assistant: String::new() });
        } else if let (Some(page), Some(said)) = (pages.last_mut(), side(line, "user")) {
            page.user = said.into();
        } else if let (Some(page), Some(said)) = (pages.last_mut(), side(line, "assistant")) {
            page.assistant = said.into();
        }
    }
    pages.retain(|page| page.id != "p0");
    pages
}

/// What stands behind the label of a speaker, named or not.
fn side<'a>(line: &'a str, role: &str) -> Option<&'a str> {
    let (label, said) = line.split_once(": ")?;
    (label == role || label.ends_with(&format!("({role})"))).then_some(said)
}

/// Themes of the open segments that a prompt shows.
pub fn open_segments(request: &ChatRequest) -> Vec<(String, String)> {
    let prompt = &request.messages.last().expect("a message").content;
    let themes = prompt.lines().filter_map(|line| line.split_once(": "));
    themes
        .filter(|(id, _)| id.strip_prefix('s').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())))
        .map(|(id, theme)| (id.into(), theme.into()))
        .collect()
}

/// Answers a prompt of memory, or any other one with a sentence.
pub fn answer_by_rule(request: &ChatRequest) -> Result<ChatReply> {
    let pages = shown(request);
    let Some(format) = request.format else { return Ok(reply("That is noted.".into(), request)) };
    let ids: Vec<&str> = pages.iter().map(|page| page.id.as_str()).collect();
    let value = match format.name {
        "memory_batch" => {
            let segments: Vec<Value> =
                by_theme(&pages).iter().map(|theme| segment(theme, &open_segments(request))).collect();
            let links: Vec<Value> = (0..pages.len()).map(|at| link(&pages, at)).collect();
            json!({ "reasoning": "by theme", "segments": segments, "links": links, "facts": facts(&pages) })
        }
        "multi_topic_summary" => {
            let themes: Vec<Value> = by_theme(&pages).iter().map(|theme| segment(theme, &[])).collect();
            json!({ "reasoning": "by theme", "themes": themes })
        }
        "continuity" => json!({ "reasoning": "same theme", "continues": theme(&pages[0]) == theme(&pages[1]) }),
        "meta_info" => json!({ "meta_info": format!("About {}.", theme(&pages[pages.len() - 1])) }),
        "knowledge" => json!({ "reasoning": "said", "user_knowledge": facts(&pages), "assistant_knowledge": [] }),
        "user_profile" => {
            let trait_of = |page: &&Shown| !page.user.is_empty();
            let traits: Vec<Value> = pages
                .iter()
                .filter(trait_of)
                .take(1)
                .map(|page| json!({ "dimension": 5, "level": "high", "confidence": 0.7, "quote": page.user, "page": page.id }))
                .collect();
            let themes: Vec<String> = by_theme(&pages).iter().map(|pages| theme(&pages[0])).collect();
            json!({ "reasoning": "said", "profile": format!("The user speaks of {}.", themes.join(", ")), "traits": traits })
        }
        other => return Err(Error::new(ErrorCode::ProviderFailed, format!("no rule for {other} about {ids:?}"))),
    };
    Ok(reply(value.to_string(), request))
}

/// A reply with the tokens that it and its prompt would take: four characters each.
pub fn reply(text: String, request: &ChatRequest) -> ChatReply {
    let asked: usize = request.messages.iter().map(|message| message.content.chars().count()).sum();
    let usage = Usage {
        input_tokens: Some(asked as u64 / 4),
        output_tokens: Some(text.chars().count() as u64 / 4),
        elapsed_ms: 7,
    };
    ChatReply { text, finish_reason: FinishReason::Stop, usage, mode: None }
}

/// The theme of a page: what it says before its number, or its first words.
pub fn theme(page: &Shown) -> String {
    let said = if page.user.is_empty() { &page.assistant } else { &page.user };
    let words: Vec<&str> = said.split(" (note ").next().unwrap_or(said).split_whitespace().take(3).collect();
    words.join(" ")
}

/// Pages of one theme together, in the order in which the themes first came.
fn by_theme(pages: &[Shown]) -> Vec<Vec<Shown>> {
    let mut themes: Vec<Vec<Shown>> = Vec::new();
    for page in pages {
        match themes.iter_mut().find(|pages| theme(&pages[0]) == theme(page)) {
            Some(pages) => pages.push(page.clone()),
            None => themes.push(vec![page.clone()]),
        }
    }
    themes
}

fn segment(pages: &[Shown], open: &[(String, String)]) -> Value {
    let title = theme(&pages[0]);
    let continues = open.iter().find(|(_, theme)| *theme == title).map(|(id, _)| id.clone());
    let ids: Vec<&str> = pages.iter().map(|page| page.id.as_str()).collect();
    json!({
        "continues": continues,
        "title": title,
        "summary": format!("The user says: {}.", pages[0].user),
        "keywords": title.split(' ').collect::<Vec<_>>(),
        "pages": ids,
    })
}

fn link(pages: &[Shown], at: usize) -> Value {
    let before = at.checked_sub(1).filter(|&before| theme(&pages[before]) == theme(&pages[at]));
    json!({
        "page": pages[at].id,
        "continues": before.map(|before| pages[before].id.clone()),
        "meta_info": format!("About {}.", theme(&pages[at])),
    })
}

/// Sentences that state a fact: `My <attribute> is <value>.`, `I love <object>.`, `I hate <object>.`; and one fact a numbered
/// note, which each note supersedes.
fn facts(pages: &[Shown]) -> Vec<Value> {
    let mut facts = Vec::new();
    for page in pages {
        let mut add = |attribute: &str, value: &str, kind: &str, quote: &str| {
            facts.push(json!({
                "subject": "user", "attribute": attribute, "value": value, "kind": kind, "confidence": 0.9,
                "valid_from": null, "quote": quote, "page": page.id,
            }));
        };
        for sentence in page.user.split_inclusive(['.', '!']).map(str::trim) {
            let bare = sentence.trim_end_matches(['.', '!']);
            if let Some((attribute, value)) = bare.strip_prefix("My ").and_then(|rest| rest.split_once(" is ")) {
                add(attribute, value, "knowledge", sentence);
            }
            for verb in ["love", "hate"] {
                if let Some(object) = bare.strip_prefix(&format!("I {verb} ")) {
                    add(&format!("preference: {object}"), &format!("{verb}s"), "preference", sentence);
                }
            }
        }
        if let Some((_, number)) = page.user.split_once(" (note ") {
            add("last note", number.trim_end_matches(')'), "knowledge", &page.user);
        }
    }
    facts
}
