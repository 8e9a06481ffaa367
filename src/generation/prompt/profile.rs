//! The user's profile and traits, brought up to date with new pages (both policies; MemoryOS, 3.2.3).

use core::fmt::Write as _;

use super::step::{Batch, StepPrompt, step};
use crate::error::Result;
use crate::generation::reply::{
    BadReply, Checked, Expected, Json, Part, Reason, Refusal, ReplyText, confidence, echoes, evidence, field, items,
    one_line, read, refuses, text,
};
use crate::id::Side;
use crate::model::{Trait, TraitLevel};

/// Most characters of a profile; about 600 words.
const PROFILE_MAX_CHARS: usize = 4_000;

const TASK: &str = r#"You keep the profile of the user of a personal assistant. You get the profile until now, if there is one, and new pages of the conversation. Rewrite the profile so that it holds what the pages add. Keep what still holds, correct what the user has corrected, and leave nothing out for the sake of brevity alone. Write at most 300 words of plain prose, in the third person, on the user only: not on friends, relatives or the assistant, and nothing that the material does not say. What the assistant recommends or supposes is nothing that the user said.

Then rate the traits that the new pages show, and no others. The dimensions, each with its number, are:
"#;

const SHAPE: &str = r#"
Answer with one JSON object and nothing else: {"reasoning": one or two sentences, "profile": the whole new profile, "traits": list of {"dimension", "level", "confidence", "quote", "page"}}
- "dimension": its number.
- "level": "low", "medium" or "high", against most people.
- "confidence": 0 to 1.
- "quote": what the user said that shows it, copied letter by letter from "page", the id of the page it stands in.
An empty list of traits is right when nothing shows one."#;

const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["reasoning","profile","traits"],"properties":{"reasoning":{"type":"string"},"profile":{"type":"string"},"traits":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["dimension","level","confidence","quote","page"],"properties":{"dimension":{"type":"integer"},"level":{"type":"string","enum":["low","medium","high"]},"confidence":{"type":"number"},"quote":{"type":"string"},"page":{"type":"string"}}}}}}"#;

const PROFILE: [&str; 5] =
    ["profile", "userprofile", "profiletext", "updatedprofile", "\u{7528}\u{6237}\u{753b}\u{50cf}"];
const TRAITS: [&str; 4] = ["traits", "usertraits", "personality", "\u{7279}\u{5f81}"];
const EXPECTED: Expected = Expected { envelope: &PROFILE, item: &[] };

/// A profile and the traits that new pages show.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileReply {
    /// The whole new profile.
    pub profile: String,
    /// Traits, each dimension once, with one quotation of the user each.
    pub traits: Vec<Trait>,
    /// What was not taken, and why.
    pub refused: Vec<Refusal>,
}

/// The prompt: `until_now` is the present profile, empty if there is none; `dimensions` are the names of the trait
/// dimensions in the order of their numbers. Its front is the same as long as the dimensions are.
pub fn render(until_now: &str, batch: &Batch<'_>, dimensions: &[&str]) -> StepPrompt {
    let mut task = TASK.to_owned();
    for (number, name) in dimensions.iter().enumerate() {
        let _ = write!(task, "{}{number} {name}", if number == 0 { "" } else { ", " });
    }
    task.push_str(SHAPE);
    let blocks = [("profile", until_now)];
    let blocks = if until_now.trim().is_empty() { &[][..] } else { &blocks[..] };
    step(&task, blocks, batch, SCHEMA, "user_profile", "profile")
}

/// Reads the reply. A trait needs a dimension by number or name, a level, and a quotation from the user's side of its page.
///
/// # Errors
/// As every step; also if the profile is missing, empty, a refusal, or copied from the instructions: nothing may take
/// the place of the present profile then.
pub fn parse(batch: &Batch<'_>, dimensions: &[&str], reply: &ReplyText<'_>) -> Result<ProfileReply> {
    let json = read(reply, &EXPECTED)?;
    let profile = text(field(&json, &PROFILE)).filter(|profile| !refuses(profile));
    let profile = profile.ok_or_else(|| BadReply::Unreadable("it has no profile".into()))?;
    let lines: Vec<_> = profile.lines().map(|line| one_line(line, PROFILE_MAX_CHARS)).collect();
    let profile = lines.join("\n");
    if echoes(&profile, TASK) || echoes(&profile, SHAPE) {
        return Err(BadReply::Unreadable("its profile is a piece of the instructions".into()).into());
    }
    if profile.chars().count() > PROFILE_MAX_CHARS {
        return Err(BadReply::Unreadable(format!("its profile is longer than {PROFILE_MAX_CHARS} characters")).into());
    }
    let mut checked: Checked<Trait> = Checked::new();
    for item in items(field(&json, &TRAITS)) {
        match found_trait(item, batch, dimensions) {
            Ok(found) => match checked.kept.iter_mut().find(|known| known.dimension == found.dimension) {
                Some(known) if known.confidence < found.confidence => *known = found,
                Some(_) => {}
                None => checked.kept.push(found),
            },
            Err(reason) => checked.refuse(Part::Trait, reason, item),
        }
    }
    Ok(ProfileReply { profile, traits: checked.kept, refused: checked.refused })
}

fn found_trait(item: &Json, batch: &Batch<'_>, dimensions: &[&str]) -> Result<Trait, Reason> {
    let named = text(field(item, &["dimension", "dimensionnumber", "number", "name", "trait"])).ok_or(Reason::Shape)?;
    // "12", "12 openness" and "openness" alike.
    let digits: String = named.chars().take_while(char::is_ascii_digit).collect();
    let name = named[digits.len()..].trim().to_lowercase();
    let known = |dimension: &usize| *dimension < dimensions.len();
    let dimension = match digits.parse::<u8>().map(usize::from).ok() {
        Some(number) => Some(number).filter(known),
        None => dimensions.iter().position(|dimension| dimension.to_lowercase() == name),
    };
    let dimension = dimension.and_then(|at| u8::try_from(at).ok()).ok_or(Reason::UnknownDimension)?;
    let level = text(field(item, &["level", "rating", "\u{6c34}\u{5e73}"])).ok_or(Reason::Shape)?.to_lowercase();
    let level = match level.as_str() {
        "low" | "\u{4f4e}" => TraitLevel::Low,
        "medium" | "moderate" | "\u{4e2d}" => TraitLevel::Medium,
        "high" | "\u{9ad8}" => TraitLevel::High,
        _ => return Err(Reason::Shape),
    };
    let evidence = evidence(item, batch, true)?;
    debug_assert_eq!(evidence.turn.side, Side::User);
    Ok(Trait { dimension, level, confidence: confidence(item), evidence: vec![evidence] })
}
