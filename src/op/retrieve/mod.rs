//! Retrieval: read the question, score what the scope holds, pack the best of it. Writes nothing; visits wait for the next
//! commit.

mod context;
mod facts;
mod filter;
mod recall;
mod two_stage;

use self::context::{Context, PackedTurn};
use self::facts::facts;
use self::filter::Sieve;
use self::recall::{PackedPassage, Part, QueryView};
use self::two_stage::two_stage;
use super::embed;
use super::engine::{Embedder, Engine, Visits};
use super::persona_view::fact_hit;
use crate::effect::{EmbedKind, Io};
use crate::error::{Error, Result};
use crate::generation::{P, POOL};
use crate::id::{PageId, Side, TurnId};
use crate::map::HashMap;
use crate::model::{Cube, Page, Tier};
use crate::order::sort_by;
use crate::retrieval::{Profile, RankedTurn, Ranking, Request, ScoredAtom, Strategy, rank};

pub(super) use self::facts::FactText;
pub use self::filter::Filter;
pub use self::recall::{Hit, Recall};

/// Budget below which nothing is packed rather than hardly anything.
const LEAST_BUDGET: u32 = 8;

/// A search.
#[derive(Clone, Debug, PartialEq)]
pub struct RetrieveInput {
    /// The question.
    pub query: String,
    /// Hits to return, 1 to 1,000.
    pub top_k: usize,
    /// Tokens of the packed context, 0 to 1,000,000.
    pub budget_tokens: u32,
    /// Which signals may speak.
    pub strategy: Strategy,
    /// Weights; `None` lets the data choose.
    pub profile: Option<Profile>,
    /// What may be found.
    pub filter: Filter,
}

impl RetrieveInput {
    /// A search with the defaults: 10 hits, 1,024 tokens, automatic strategy and profile, no filter.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            top_k: 10,
            budget_tokens: 1_024,
            strategy: Strategy::Auto,
            profile: None,
            filter: Filter::default(),
        }
    }
}

/// Finds what answers a question.
///
/// # Errors
/// `INVALID_ARGUMENT` for an empty question and numbers out of range. A failing embedding model is no error: words answer
/// alone, and the result says so.
pub async fn retrieve(engine: &Engine, io: &Io, input: &RetrieveInput, now_ms: i64) -> Result<Recall> {
    engine.check_readable()?;
    if input.query.trim().is_empty() {
        return Err(Error::invalid("the query is empty"));
    }
    if !(1..=1_000).contains(&input.top_k) {
        return Err(Error::invalid(format!("topK is {}, outside 1 to 1,000", input.top_k)));
    }
    if input.budget_tokens > 1_000_000 {
        return Err(Error::invalid(format!("budgetTokens is {}, over 1,000,000", input.budget_tokens)));
    }
    let vector = match &engine.options.embedder {
        Embedder::External { space, .. } if input.strategy != Strategy::Keyword => {
            let asked = embed::ask(engine, io, space, EmbedKind::Query, vec![input.query.clone()], now_ms).await;
            asked.ok().and_then(|mut vectors| vectors.pop().flatten())
        }
        _ => None,
    };
    let mut found = search(engine, input, vector.as_deref(), input.budget_tokens);
    if engine.options.counts_tokens {
        found = fitted(engine, io, input, vector.as_deref(), found).await?;
    }
    count_visits(engine, &found.passages, now_ms);
    Ok(found)
}

/// The recall packed anew until the caller's own count of its context keeps the budget.
async fn fitted(
    engine: &Engine,
    io: &Io,
    input: &RetrieveInput,
    vector: Option<&[f32]>,
    mut found: Recall,
) -> Result<Recall> {
    let mut budget = input.budget_tokens;
    loop {
        let counts = io.count(vec![found.context.clone()]).await?;
        let &[count] = counts.as_slice() else {
            return Err(Error::invalid(format!("countTokens gave {} numbers for one text", counts.len())));
        };
        found.context_tokens = count;
        if count <= input.budget_tokens || budget == 0 {
            return Ok(found);
        }
        // A little below the exact share, so that a few steps are enough; then nothing, which always fits.
        let share = f64::from(input.budget_tokens) / f64::from(count) * 0.95;
        let next = (f64::from(budget) * share) as u32;
        budget = if next < LEAST_BUDGET { 0 } else { next };
        found = search(engine, input, vector, budget);
    }
}

fn search(engine: &Engine, input: &RetrieveInput, vector: Option<&[f32]>, budget_tokens: u32) -> Recall {
    let (cube, index, table) = (engine.cube.borrow(), engine.index.borrow(), engine.table());
    let text_of = |turn: TurnId, read: &mut dyn FnMut(&str)| {
        if let Some(page) = cube.page(turn.page) {
            read(page.text(turn.side));
        }
    };
    let request = Request {
        vector,
        profile: input.profile,
        strategy: input.strategy,
        text_of: Some(&text_of),
        ..Request::new(&input.query)
    };
    let sieve = Sieve::new(&cube, &input.filter);
    let staged =
        (input.strategy == Strategy::TwoStage).then(|| two_stage(engine, &cube, &index, input, vector, &sieve));
    let lets_through =
        |turn: TurnId| staged.as_ref().is_none_or(|pages| pages.get(&turn.page).is_some()) && sieve.lets_through(turn);
    let ranking = rank(&index, table.as_deref(), &request, &lets_through);
    let n_turns = if staged.is_some() { usize::MAX } else { input.top_k };
    let (mut turns, pool) = ranking.best(n_turns, POOL, P as f32);
    let similarity = |turn: &RankedTurn| staged.as_ref().and_then(|pages| pages.get(&turn.id.page)).copied();
    if staged.is_some() {
        sort_by(&mut turns, |a, b| similarity(b).unwrap_or(0.0).total_cmp(&similarity(a).unwrap_or(0.0)));
    }
    let with_page = |atom: &ScoredAtom| {
        let id = index.id(atom.turn);
        Some((atom.turn, (id, cube.page(id.page)?)))
    };
    let pages: HashMap<u32, (TurnId, &Page)> = pool.iter().filter_map(with_page).collect();
    let facts = facts(engine, &cube, &index, &input.query, &input.filter, budget_tokens);
    let context = Context::pack(engine, pool, &pages, budget_tokens - facts.tokens);
    let packed: HashMap<u32, PackedTurn> = context.by_turn(&pages);
    let hits = turns.iter().take(input.top_k);
    let hits = hits
        .filter_map(|turn| {
            let found = hit(&cube, cube.page(turn.id.page)?, turn, &ranking, packed.get(&turn.best.turn));
            Some(match similarity(turn) {
                Some(score) => Hit { score, parts: vec![Part { name: "page", value: score }], ..found },
                None => found,
            })
        })
        .collect();
    let understanding = &ranking.understanding;
    let has_vectors = index.n_vectors() > 0 && (vector.is_some() || (table.is_some() && understanding.readable));
    let query = QueryView {
        strategy: understanding.strategy.as_str(),
        profile: understanding.profile.as_str(),
        names: understanding.names.clone(),
        words: understanding.words.clone(),
        months: understanding.dates.months.clone(),
        days: understanding.dates.days.clone(),
        years: understanding.dates.years.clone(),
        vectors: has_vectors && understanding.strategy != Strategy::Keyword,
    };
    Recall {
        hits,
        context: joined(facts.text, context.render(&pages)),
        context_tokens: facts.tokens + context.packed.used_tokens,
        facts: facts.facts.iter().map(|of| fact_hit(of.fact, of.score, of.packed)).collect(),
        passages: context.passages(&pages),
        query,
        below_cut: context.below_cut(&pages),
    }
}

fn joined(facts: String, passages: String) -> String {
    match (facts.is_empty(), passages.is_empty()) {
        (true, _) => passages,
        (_, true) => facts,
        (false, false) => [facts, passages].join("\n"),
    }
}

fn hit(cube: &Cube, page: &Page, turn: &RankedTurn, ranking: &Ranking<'_>, packed: Option<&PackedTurn>) -> Hit {
    let best = &turn.best;
    let mut parts: Vec<_> =
        ranking.parts(best).into_iter().map(|(feature, value)| Part { name: feature.as_str(), value }).collect();
    sort_by(&mut parts, |a, b| b.value.abs().total_cmp(&a.value.abs()));
    let place = cube.place(page.id);
    let session = cube.session(page.session).and_then(|session| session.label.clone());
    Hit {
        id: turn.id.to_string(),
        page_id: page.id.to_string(),
        kind: "turn",
        role: role_name(turn.id.side),
        speaker: page.speaker(turn.id.side).into(),
        text: page.text(turn.id.side).into(),
        packed: packed.is_some(),
        quotes: packed.map(|packed| packed.quotes.clone()).unwrap_or_default(),
        tier: tier_name(cube.tier(page.id)),
        segment_id: place.and_then(|place| place.segments.first()).map(ToString::to_string),
        time: page.time.map(|time| time.epoch_ms),
        offset_minutes: page.time.map_or(0, |time| time.offset_minutes),
        session: session.unwrap_or_else(|| page.session.to_string()),
        metadata: page.metadata.clone(),
        score: best.score,
        parts,
        tokens: packed.map_or(best.cost_tokens + best.label_tokens, |packed| packed.tokens),
    }
}

pub(super) fn role_name(side: Side) -> &'static str {
    match side {
        Side::User => "user",
        Side::Agent => "assistant",
    }
}

pub(super) fn tier_name(tier: Option<Tier>) -> &'static str {
    match tier {
        Some(Tier::Short) | None => "short",
        Some(Tier::Mid) => "mid",
        Some(Tier::Archive) => "archive",
    }
}

/// Counts one visit for every segment that the context draws on.
fn count_visits(engine: &Engine, passages: &[PackedPassage], now_ms: i64) {
    let cube = engine.cube.borrow();
    let pages: Vec<PageId> = passages.iter().filter_map(|passage| passage.page_id.parse().ok()).collect();
    let mut visits = engine.visits.borrow_mut();
    for segment in cube.segments_of(&pages) {
        let visit: &mut Visits = visits.entry(segment).or_default();
        visit.n = visit.n.saturating_add(1);
        visit.last_ms = visit.last_ms.max(now_ms);
    }
}
