//! Retrieval: read the question, score what the scope holds, pack the best of it. Writes nothing; visits wait for the next
//! commit.

mod context;
mod facts;
mod filter;
mod recall;
mod retriever;
mod two_stage;

use self::context::{Context, PackedTurn};
use self::facts::facts;
use self::filter::Sieve;
use self::recall::{PackedPassage, Part, QueryView};
use self::retriever::Ranked;
use self::two_stage::two_stage;
use super::embed;
use super::engine::{Embedder, Engine, Visits};
use super::persona_view::{fact_hit, facts_as_of};
use crate::effect::{EmbedKind, Io};
use crate::error::{Error, Result};
use crate::generation::{P, POOL, REP, REP_LIST};
use crate::id::{PageId, Side, TurnId};
use crate::map::HashMap;
use crate::model::{Cube, Fact, Page, Tier};
use crate::order::sort_by;
use crate::retrieval::{DayRange, Profile, RankedTurn, Ranking, Request, ScoredAtom, Strategy, rank};
use crate::text::asks_for_several;
use crate::time::Timestamp;

pub(super) use self::facts::FactText;
pub use self::filter::{Filter, Test};
pub use self::recall::{Hit, RangeView, Recall};
pub use self::retriever::{Candidate, Retriever, Search};

/// Budget below which nothing is packed rather than hardly anything.
const LEAST_BUDGET: u32 = 8;
/// What the best of a retriever's turns is worth above its last when the context is packed: about as much as under the core's own
/// score, so that length tells as much.
const RANKED_SPAN: f32 = 10.0;

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
    /// A registered retriever that ranks in place of the strategy.
    pub retriever: Option<String>,
    /// What may be found.
    pub filter: Filter,
    /// When and where it is asked: what "last week" counts from. `None` is now, in UTC.
    pub asked: Option<Timestamp>,
    /// Only what had been said by then, milliseconds since the epoch, and facts as they were believed then.
    pub as_of_ms: Option<i64>,
    /// Tells a retriever outside which search asks.
    pub call_id: Option<String>,
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
            retriever: None,
            filter: Filter::default(),
            asked: None,
            as_of_ms: None,
            call_id: None,
        }
    }
}

/// Finds what answers a question.
///
/// # Errors
/// `INVALID_ARGUMENT` for an empty question, numbers out of range, a retriever that is not registered, and a negated filter
/// without conditions; a retriever's own, with its name. A failing embedding model is no error: words answer
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
    if input.filter.not.iter().any(|not| !not.has_conditions()) {
        return Err(Error::invalid("filter.not has no condition, which would leave nothing"));
    }
    let vector = match &engine.options.embedder {
        Embedder::External { space, .. } if input.strategy != Strategy::Keyword => {
            let asked = embed::ask(engine, io, space, EmbedKind::Query, vec![input.query.clone()], now_ms).await;
            asked.ok().and_then(|mut vectors| vectors.pop().flatten())
        }
        _ => None,
    };
    let vector = vector.as_deref();
    let now = input.asked.unwrap_or(Timestamp::utc(now_ms));
    let asking = retriever::Search { io, now, engine, input, vector };
    let ranked = match &input.retriever {
        Some(name) => Some(Ranked::by(name, &asking).await?),
        None => None,
    };
    let pack = |budget_tokens| search(engine, input, now, vector, ranked.as_ref(), budget_tokens).recall;
    let mut found = pack(input.budget_tokens);
    if engine.options.counts_tokens {
        found = fitted(io, input.budget_tokens, found, &pack).await?;
    }
    count_visits(engine, &found.passages, now_ms);
    Ok(found)
}

/// The recall packed anew until the caller's own count of its context keeps the budget.
async fn fitted(io: &Io, budget_tokens: u32, mut found: Recall, pack: &dyn Fn(u32) -> Recall) -> Result<Recall> {
    let mut budget = budget_tokens;
    loop {
        let counts = io.count(vec![found.context.clone()]).await?;
        let &[count] = counts.as_slice() else {
            return Err(Error::invalid(format!("countTokens gave {} numbers for one text", counts.len())));
        };
        found.context_tokens = count;
        if count <= budget_tokens || budget == 0 {
            return Ok(found);
        }
        // A little below the exact share, so that a few steps are enough; then nothing, which always fits.
        let share = f64::from(budget_tokens) / f64::from(count) * 0.95;
        let next = (f64::from(budget) * share) as u32;
        budget = if next < LEAST_BUDGET { 0 } else { next };
        found = pack(budget);
    }
}

/// A recall, and the turns of its hits.
struct Found {
    recall: Recall,
    turns: Vec<(TurnId, f64)>,
}

fn search(
    engine: &Engine,
    input: &RetrieveInput,
    now: Timestamp,
    vector: Option<&[f32]>,
    ranked: Option<&Ranked<'_>>,
    budget_tokens: u32,
) -> Found {
    let (cube, index, table) = (engine.cube.borrow(), engine.index.borrow(), engine.table());
    let text_of = |turn: TurnId, read: &mut dyn FnMut(&str)| {
        if let Some(page) = cube.page(turn.page) {
            read(page.text(turn.side));
        }
    };
    let request = Request {
        vector,
        profile: input.profile,
        // A retriever has chosen already, as the first of two stages does.
        strategy: if ranked.is_some() { Strategy::TwoStage } else { input.strategy },
        now: Some(now),
        text_of: Some(&text_of),
        ..Request::new(&input.query)
    };
    let sieve = Sieve::new(&cube, &input.filter, input.as_of_ms);
    let staged = (request.strategy == Strategy::TwoStage && ranked.is_none())
        .then(|| two_stage(engine, &cube, &index, input, vector, &sieve));
    let is_staged = request.strategy == Strategy::TwoStage;
    let staged_score = |turn: TurnId| match ranked {
        Some(ranked) => ranked.score(turn),
        None => staged.as_ref()?.get(&turn.page).map(|&score| f64::from(score)),
    };
    let lets_through = |turn: TurnId| (!is_staged || staged_score(turn).is_some()) && sieve.lets_through(turn);
    let visible: &dyn Fn(TurnId) -> bool = if sieve.is_open && !is_staged { &|_| true } else { &lets_through };
    let ranking = rank(&index, table.as_deref(), &request, visible);
    let (n_turns, n_atoms) = match (is_staged, ranked) {
        (false, _) => (input.top_k, POOL),
        (true, None) => (usize::MAX, POOL),
        (true, Some(_)) => (usize::MAX, usize::MAX),
    };
    let (mut turns, mut pool) = ranking.best(n_turns, n_atoms, P as f32);
    if let Some(ranked) = ranked {
        rescore(&mut pool, &turns, ranked);
    }
    if is_staged {
        let score = |turn: &RankedTurn| staged_score(turn.id).unwrap_or(0.0);
        sort_by(&mut turns, |a, b| score(b).total_cmp(&score(a)));
    }
    turns.truncate(input.top_k);
    let with_page = |atom: &ScoredAtom| {
        let id = index.id(atom.turn);
        Some((atom.turn, (id, cube.page(id.page)?)))
    };
    let pages: HashMap<u32, (TurnId, &Page)> = pool.iter().filter_map(with_page).collect();
    let then: Option<Vec<Fact>> = input.as_of_ms.map(|at_ms| facts_as_of(&cube, at_ms));
    let believed: Vec<&Fact> = match &then {
        // What is not to be recalled now is not recalled as of then either.
        Some(then) => then.iter().filter(|fact| cube.fact(fact.id).is_none_or(|now| !now.never_recall)).collect(),
        None => cube.facts().collect(),
    };
    let facts = facts(engine, &believed, &index, &input.query, &input.filter, budget_tokens);
    let rep = if asks_for_several(&input.query) { REP_LIST } else { REP };
    let context = Context::pack(engine, pool, &pages, budget_tokens - facts.tokens, rep);
    let packed: HashMap<u32, PackedTurn> = context.by_turn(&pages);
    let hits: Vec<Hit> = turns
        .iter()
        .filter_map(|turn| {
            let found = hit(&cube, cube.page(turn.id.page)?, turn, &ranking, packed.get(&turn.best.turn));
            let name = if ranked.is_some() { "retriever" } else { "page" };
            Some(match staged_score(turn.id) {
                Some(score) => Hit { score: score as f32, parts: vec![Part { name, value: score as f32 }], ..found },
                None => found,
            })
        })
        .collect();
    let understanding = &ranking.understanding;
    let has_vectors = index.n_vectors() > 0 && ranking.has_vector;
    let query = QueryView {
        strategy: ranked.map_or(understanding.strategy.as_str(), |ranked| ranked.name).into(),
        profile: understanding.profile.as_str(),
        names: understanding.names.clone(),
        words: understanding.words.clone(),
        months: understanding.dates.months.clone(),
        days: understanding.dates.days.clone(),
        years: understanding.dates.years.clone(),
        ranges: understanding.dates.ranges.iter().map(range_view).collect(),
        vectors: has_vectors && understanding.strategy != Strategy::Keyword,
    };
    let turns = turns.iter().zip(&hits).map(|(turn, hit)| (turn.id, f64::from(hit.score))).collect();
    let recall = Recall {
        hits,
        context: joined(facts.text, context.render(&pages)),
        context_tokens: facts.tokens + context.packed.used_tokens,
        facts: facts.facts.iter().map(|of| fact_hit(of.fact, of.score, of.packed)).collect(),
        passages: context.passages(&pages),
        query,
        below_cut: context.below_cut(&pages),
    };
    Found { recall, turns }
}

/// Gives atoms the scores of a retriever, in the packer's scale: the best atom of a turn has its turn's, the others fall short of it
/// by as much as the core finds.
fn rescore(pool: &mut [ScoredAtom], turns: &[RankedTurn], ranked: &Ranked<'_>) {
    let mut shift = (u32::MAX, 0.0);
    for atom in pool {
        // Atoms of one turn follow one another.
        if shift.0 != atom.turn {
            let of =
                |turn: &RankedTurn| RANKED_SPAN * ranked.share(ranked.score(turn.id).unwrap_or(0.0)) - turn.best.score;
            shift = (atom.turn, turns.iter().find(|turn| turn.best.turn == atom.turn).map_or(0.0, of));
        }
        atom.score += shift.1;
    }
}

fn range_view(range: &DayRange) -> RangeView {
    let text = |date: Option<jiff::civil::Date>| {
        date.map(|date| format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day()))
    };
    RangeView { phrase: range.phrase.clone(), from: text(range.from), to: text(range.to) }
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
    let Candidate { id, page_id, role, speaker, text, tier, time, offset_minutes, session, metadata } =
        Candidate::of(cube, page, turn.id);
    Hit {
        id,
        page_id,
        kind: "turn",
        role,
        speaker,
        text,
        packed: packed.is_some(),
        quotes: packed.map(|packed| packed.quotes.clone()).unwrap_or_default(),
        tier,
        segment_id: cube.place(page.id).and_then(|place| place.segments.first()).map(ToString::to_string),
        time,
        offset_minutes,
        session,
        metadata,
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
