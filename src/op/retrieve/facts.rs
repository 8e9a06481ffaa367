//! Facts of long-term memory that bear on a question (MemoryOS, 3.3: top-k of long-term memory).

use super::filter::Filter;
use crate::generation::{FACTS_HEADING, fact_line};
use crate::id::FactId;
use crate::index::Index;
use crate::map::HashMap;
use crate::model::{Fact, FactKind, Subject};
use crate::op::engine::Engine;
use crate::order::sort_by;
use crate::text::{StaticTable, TokenKind, for_each_token, stem};
use crate::updating::long_term::static_field;

/// Most facts of one recall (MemoryOS, 4.1: top 20 of long-term memory).
const MOST: usize = 20;
/// Share of the budget that facts may take.
const BUDGET_SHARE: f64 = 0.25;
/// Least score of a fact that bears on a question: about one telling word in three, or a near meaning.
const LEAST_SCORE: f32 = 0.35;
/// Facts whose words and vectors are kept at hand.
const CACHED: usize = 2_000;

/// What scoring needs of a fact's text.
pub(in crate::op) struct FactText {
    stems: Vec<String>,
    vector: Vec<f32>,
}

/// A fact with its score.
pub(super) struct ScoredFact<'a> {
    pub(super) fact: &'a Fact,
    pub(super) score: f32,
    pub(super) packed: bool,
}

/// Facts as a block of the context.
pub(super) struct FactsBlock<'a> {
    pub(super) facts: Vec<ScoredFact<'a>>,
    /// The lines of those that are packed.
    pub(super) text: String,
    pub(super) tokens: u32,
}

/// Scores the facts that are believed, and packs the best into their share of the budget. Conditions on turns leave facts out.
pub(super) fn facts<'a>(
    engine: &Engine,
    of: &[&'a Fact],
    index: &Index,
    query: &str,
    filter: &Filter,
    budget_tokens: u32,
) -> FactsBlock<'a> {
    let mut block = FactsBlock { facts: Vec::new(), text: String::new(), tokens: 0 };
    if !filter.admits_facts() || of.is_empty() {
        return block;
    }
    let table = engine.table();
    let asked = FactText::of(query, table.as_deref());
    let weight = |word: &str| -(index.document_share(word).max(0.001)).ln();
    let weights: Vec<f32> = asked.stems.iter().map(|word| weight(word)).collect();
    let mut texts = engine.fact_texts.borrow_mut();
    let is_wanted = |fact: &&&Fact| is_recalled(fact) && !(filter.no_standing_facts && is_standing(fact));
    for &fact in of.iter().filter(is_wanted) {
        let of = cached(&mut texts, fact, table.as_deref());
        let score = score(&asked, &weights, of);
        if score >= LEAST_SCORE {
            block.facts.push(ScoredFact { fact, score, packed: false });
        }
    }
    sort_by(&mut block.facts, |a, b| b.score.total_cmp(&a.score).then(a.fact.id.cmp(&b.fact.id)));
    block.facts.truncate(MOST);
    let most = (f64::from(budget_tokens) * BUDGET_SHARE) as u32;
    let heading = engine.count_tokens(FACTS_HEADING) + 1;
    for of in &mut block.facts {
        let line = fact_line(of.fact, Some(query));
        let cost = engine.count_tokens(&line) + if block.tokens == 0 { heading } else { 0 };
        if block.tokens + cost > most {
            continue;
        }
        if block.tokens == 0 {
            block.text.push_str(FACTS_HEADING);
            block.text.push('\n');
        }
        block.text.push_str(&line);
        block.text.push('\n');
        block.tokens += cost;
        of.packed = true;
    }
    block
}

/// Whether a prompt holds the fact anyway.
fn is_standing(fact: &Fact) -> bool {
    fact.pinned || static_field(fact).is_some()
}

fn is_recalled(fact: &Fact) -> bool {
    fact.is_open() && !fact.archived && !fact.never_recall
}

/// Share of the question's words that the fact has, by how telling they are, and how near its meaning is.
fn score(asked: &FactText, weights: &[f32], of: &FactText) -> f32 {
    let (mut shared, mut all) = (0.0, 0.0);
    for (word, weight) in asked.stems.iter().zip(weights) {
        all += weight;
        shared += if of.stems.contains(word) { *weight } else { 0.0 };
    }
    let words = if all > 0.0 { shared / all } else { 0.0 };
    let cosine: f32 = asked.vector.iter().zip(&of.vector).map(|(x, y)| x * y).sum();
    words + cosine.max(0.0)
}

fn cached<'a>(
    texts: &'a mut HashMap<(FactId, u32), FactText>,
    fact: &Fact,
    table: Option<&StaticTable>,
) -> &'a FactText {
    let text = text_of(fact);
    // An edited fact has another text; one read before the table came has no vector.
    let key = (fact.id, xxhash_rust::xxh32::xxh32(text.as_bytes(), u32::from(table.is_some())));
    if texts.len() > CACHED && !texts.contains_key(&key) {
        texts.clear();
    }
    texts.get_or_insert_with(key, || FactText::of(&text, table))
}

fn text_of(fact: &Fact) -> String {
    let name = match &fact.subject {
        Subject::Named(name) => name.as_str(),
        Subject::User | Subject::Assistant => "",
    };
    let liking = if fact.kind == FactKind::Preference { "likes prefers" } else { "" };
    [name, &fact.attribute, &fact.value, liking].join(" ")
}

impl FactText {
    fn of(text: &str, table: Option<&StaticTable>) -> Self {
        let mut stems: Vec<String> = Vec::new();
        for_each_token(text, &mut |token| {
            let stem = if token.kind == TokenKind::Word { stem(token.text) } else { token.text.into() };
            if !stems.iter().any(|known| *known == stem) {
                stems.push(stem.into_owned());
            }
        });
        Self { stems, vector: table.map(|table| table.unit_vector(text)).unwrap_or_default() }
    }
}
