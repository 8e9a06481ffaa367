//! Facts of a reply, checked against the pages they were drawn from.

use super::bad::BadReply;
use super::field::{Json, field, items, local_id, number, text};
use super::quote::find_quote;
use super::words::{one_line, refuses};
use crate::generation::prompt::Batch;
use crate::id::{PageId, Side, TurnId};
use crate::map::HashMap;
use crate::model::{CandidateFact, Evidence, FactKind, FactSource, Page, Subject};

/// Most facts that one page may give, so that one reply cannot flood memory. A page of long prose gives five to eight.
pub const MAX_FACTS_PER_PAGE: usize = 12;
/// Most characters of a subject's name and of an attribute; longer ones are sentences, not names.
const NAME_MAX_CHARS: usize = 80;
/// Most characters of a value and of a quotation.
const VALUE_MAX_CHARS: usize = 400;
/// Confidence of a fact that states none.
const DEFAULT_CONFIDENCE: f64 = 0.5;

/// What is kept of a reply, and what is not.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked<T> {
    /// What may be believed.
    pub kept: Vec<T>,
    /// What may not, and why.
    pub refused: Vec<Refusal>,
}

/// A part of a reply that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which sort of part.
    pub part: Part,
    /// Why.
    pub reason: Reason,
    /// What it says, shortened; for a log, never for memory.
    pub detail: String,
}

/// A sort of part of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// A segment or theme.
    Segment,
    /// A page of a segment.
    Page,
    /// A link of a dialogue chain.
    Link,
    /// A fact.
    Fact,
    /// A trait.
    Trait,
}

/// Why a part was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// It lacks a field, or is no object.
    Shape,
    /// It names a page that was not offered.
    UnknownPage,
    /// It names a segment that was not offered.
    UnknownSegment,
    /// It names a trait dimension that there is not.
    UnknownDimension,
    /// Its quotation is not in its page.
    QuoteNotInPage,
    /// It is about the user, and only the assistant said it (case 12).
    SaidByAssistantOnly,
    /// A link goes forward, or to the page itself.
    NotEarlier,
    /// A field is longer than such a field can be.
    TooLong,
    /// Its page has given enough.
    TooMany,
    /// It is a refusal or an error in place of text (case 09).
    NotContent,
}

impl<T> Checked<T> {
    pub(in crate::generation) const fn new() -> Self {
        Self { kept: Vec::new(), refused: Vec::new() }
    }

    pub(in crate::generation) fn refuse(&mut self, part: Part, reason: Reason, detail: &Json) {
        self.refused.push(Refusal { part, reason, detail: one_line(&format!("{detail:?}"), 160) });
    }

    /// The result, unless a list that is not empty has no item of the right shape: that is no empty list but one that
    /// cannot be read (case 04).
    pub(super) fn unless_misshapen(self, part: Part, list: &[Json]) -> Result<Self, BadReply> {
        let misshapen = |refusal: &&Refusal| refusal.part == part && refusal.reason == Reason::Shape;
        let n = self.refused.iter().filter(misshapen).count();
        if n > 0 && n == list.len() {
            let detail = self.refused.first().map_or("", |refusal| refusal.detail.as_str());
            return Err(BadReply::unreadable("no item has the fields asked for", detail));
        }
        Ok(self)
    }
}

/// The facts of `list` that stand up to the pages of `batch`.
///
/// A fact needs subject (or `default`), attribute, value, and a quotation that stands in its page; a fact that names no page is
/// taken where exactly one page has the quotation. What is kept as evidence are the page's own words.
///
/// Whose side the quotation stands in matters. A fact about the user must be quoted from the user's side: what an assistant
/// recommends or supposes is no fact about the user, and where the user agrees, the agreement can be quoted. Facts about the
/// assistant and about others may be quoted from either side. The user's side is tried first.
///
/// Facts that say the same are one, with the evidence of all and the greatest confidence.
///
/// # Errors
/// [`BadReply::Unreadable`] if there are items and none has the fields of a fact.
pub fn facts(list: &[Json], batch: &Batch<'_>, default: Option<&Subject>) -> Result<Checked<CandidateFact>, BadReply> {
    let mut checked = Checked::new();
    let mut known: HashMap<(Subject, String, String), usize> = HashMap::new();
    let mut per_page: HashMap<PageId, usize> = HashMap::new();
    for item in list {
        let fact = match fact(item, batch, default) {
            Ok(fact) => fact,
            Err(reason) => {
                checked.refuse(Part::Fact, reason, item);
                continue;
            }
        };
        let slot = (fact.subject.clone(), fact.attribute.to_lowercase(), fact.value.to_lowercase());
        if let Some(&at) = known.get(&slot) {
            merge(&mut checked.kept[at], fact);
            continue;
        }
        let n = per_page.get_or_insert_with(fact.evidence[0].turn.page, || 0);
        *n += 1;
        if *n > MAX_FACTS_PER_PAGE {
            checked.refuse(Part::Fact, Reason::TooMany, item);
            continue;
        }
        known.insert(slot, checked.kept.len());
        checked.kept.push(fact);
    }
    checked.unless_misshapen(Part::Fact, list)
}

fn merge(kept: &mut CandidateFact, other: CandidateFact) {
    kept.confidence = kept.confidence.max(other.confidence);
    kept.source = kept.source.max(other.source);
    kept.since = kept.since.take().or(other.since);
    for evidence in other.evidence {
        if !kept.evidence.contains(&evidence) {
            kept.evidence.push(evidence);
        }
    }
}

fn fact(item: &Json, batch: &Batch<'_>, default: Option<&Subject>) -> Result<CandidateFact, Reason> {
    let subject = text(field(item, &["subject", "about", "who", "entity", "person", "\u{4e3b}\u{4f53}"]));
    let subject = subject.and_then(|name| subject_of(&name, batch)).or(default.cloned()).ok_or(Reason::Shape)?;
    let attribute =
        text(field(item, &["attribute", "property", "predicate", "slot", "aspect", "key", "\u{5c5e}\u{6027}"]));
    let value = text(field(item, &["value", "object", "fact", "content", "\u{503c}"]));
    let (Some(attribute), Some(value)) = (attribute, value) else { return Err(Reason::Shape) };
    let evidence = evidence(item, batch, subject == Subject::User)?;
    let (attribute, value) = (one_line(&attribute, usize::MAX), one_line(&value, usize::MAX));
    let name = if let Subject::Named(name) = &subject { name } else { "" };
    if attribute.chars().count() > NAME_MAX_CHARS
        || name.chars().count() > NAME_MAX_CHARS
        || value.chars().count() > VALUE_MAX_CHARS
        || evidence.quote.chars().count() > VALUE_MAX_CHARS
    {
        return Err(Reason::TooLong);
    }
    if refuses(&value) {
        return Err(Reason::NotContent);
    }
    let since = text(field(item, &["validfrom", "validfromphrase", "since", "when", "time", "date"]));
    Ok(CandidateFact {
        subject,
        attribute,
        value,
        kind: kind_of(field(item, &["kind", "type", "category", "\u{7c7b}\u{578b}"])),
        source: if evidence.turn.side == Side::User { FactSource::Stated } else { FactSource::Inferred },
        confidence: confidence(item),
        trust: 1.0,
        since: since.map(|phrase| one_line(&phrase, NAME_MAX_CHARS)).filter(|phrase| !is_nothing(phrase)),
        valid_from: None,
        evidence: vec![evidence],
    })
}

/// A placeholder where a text may be missing.
pub(super) fn is_nothing(text: &str) -> bool {
    ["null", "none", "n/a", "unknown", "\u{65e0}", "\u{672a}\u{77e5}"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(text))
}

/// The confidence of an item, clamped to 0 to 1: a number, per cent, or a level in words.
pub(in crate::generation) fn confidence(item: &Json) -> f32 {
    let stated = field(item, &["confidence", "certainty", "score", "\u{7f6e}\u{4fe1}\u{5ea6}"]);
    let value = number(stated).unwrap_or_else(|| match text(stated).map(|word| word.to_lowercase()).as_deref() {
        Some("high" | "\u{9ad8}") => 0.9,
        Some("medium" | "\u{4e2d}") => 0.6,
        Some("low" | "\u{4f4e}") => 0.3,
        _ => DEFAULT_CONFIDENCE,
    });
    let share = if value > 1.0 && value <= 100.0 { value / 100.0 } else { value };
    share.clamp(0.0, 1.0) as f32
}

fn kind_of(json: Option<&Json>) -> FactKind {
    let kind = text(json).unwrap_or_default().to_lowercase();
    let begins = |starts: &[&str]| starts.iter().any(|start| kind.starts_with(start));
    if begins(&["pref", "like", "dislike", "need", "\u{504f}\u{597d}", "\u{559c}\u{597d}"]) {
        FactKind::Preference
    } else if begins(&["event", "plan", "\u{4e8b}\u{4ef6}"]) {
        FactKind::Event
    } else {
        FactKind::Knowledge
    }
}

/// Whom a name of a reply stands for: the roles, the speakers' own names, or somebody else (case 13).
fn subject_of(name: &str, batch: &Batch<'_>) -> Option<Subject> {
    let name = one_line(name, usize::MAX);
    let bare = name.to_lowercase();
    let bare = bare.strip_prefix("the ").unwrap_or(&bare);
    let speaks = |of: fn(&Page) -> &str| {
        batch
            .pages
            .iter()
            .map(|page| of(page).trim())
            .any(|speaker| !speaker.is_empty() && speaker.to_lowercase() == bare)
    };
    match bare {
        "" => None,
        "user" | "\u{7528}\u{6237}" => Some(Subject::User),
        "assistant" | "ai assistant" | "\u{52a9}\u{624b}" => Some(Subject::Assistant),
        _ if speaks(|page| &page.user_name) => Some(Subject::User),
        _ if speaks(|page| &page.agent_name) => Some(Subject::Assistant),
        _ => Some(Subject::Named(name)),
    }
}

/// The quotation of an item, found in its page.
pub(in crate::generation) fn evidence(item: &Json, batch: &Batch<'_>, by_user: bool) -> Result<Evidence, Reason> {
    // Some models put page and quotation into an object of their own.
    let nested =
        items(field(item, &["evidence", "source", "support"])).first().filter(|json| matches!(json, Json::Map(_)));
    let holders = [Some(item), nested];
    let find = |names: &[&str]| holders.into_iter().flatten().find_map(|holder| field(holder, names));
    let quote = find(&["quote", "quotation", "quotes", "evidence", "excerpt", "\u{5f15}\u{6587}", "\u{539f}\u{6587}"]);
    let quote = items(quote).first().and_then(|quote| text(Some(quote))).ok_or(Reason::Shape)?;
    let named =
        items(find(&["page", "pageid", "pages", "pageids", "\u{9875}"])).first().filter(|id| **id != Json::Null);
    let sought: Vec<&Page> = match named {
        Some(id) => {
            let number = local_id(id, 'p', "page").ok_or(Reason::UnknownPage)?;
            vec![*number.checked_sub(1).and_then(|at| batch.pages.get(at)).ok_or(Reason::UnknownPage)?]
        }
        None => batch.pages.to_vec(),
    };
    let (quote, sought) = (quote.as_str(), &sought);
    let on = |side: Side| {
        let found = sought.iter().filter_map(move |page| {
            let text = page.text(side);
            let quote = find_quote(text, quote).or_else(|| find_quote(text, unlabelled(quote, page, side)))?;
            Some(Evidence { turn: TurnId { page: page.id, side }, quote: text.get(quote)?.to_owned() })
        });
        found.collect::<Vec<_>>()
    };
    let mut found = on(Side::User);
    if found.is_empty() {
        found = on(Side::Agent);
        if by_user && !found.is_empty() {
            return Err(Reason::SaidByAssistantOnly);
        }
    }
    match found.len() {
        1 => found.pop().ok_or(Reason::QuoteNotInPage),
        0 => Err(Reason::QuoteNotInPage),
        _ => Err(Reason::UnknownPage),
    }
}

/// A quotation without the speaker's label that stood before it in the prompt.
fn unlabelled<'a>(quote: &'a str, page: &Page, side: Side) -> &'a str {
    match quote.split_once(": ") {
        Some((label, rest)) if label.starts_with(page.speaker(side)) && label.len() < 120 => rest,
        _ => quote,
    }
}
