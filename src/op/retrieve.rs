//! Retrieval: read the question, score what the scope holds, pack the best of it. Writes nothing; visits wait for the next
//! commit.

use hashbrown::{HashMap, HashSet};
use jiff::civil::Date;
use serde::Serialize;

use super::embed;
use super::engine::{Embedder, Engine, Visits};
use crate::effect::{EmbedKind, Io};
use crate::error::{Error, Result};
use crate::generation::{Candidate, Packed, PackedGroup, Passage, heading, pack, render};
use crate::id::{PageId, Side, TurnId};
use crate::model::{Atom, Cube, Cues, Metadata, Page, Tier};
use crate::order::sort_by;
use crate::retrieval::{Profile, RankedTurn, Ranking, Request, ScoredAtom, Strategy, rank};
use crate::text::atom_text;

/// What may be found. All given conditions must hold; they apply before anything is scored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Tiers; empty means short- and mid-term memory.
    pub tiers: Vec<Tier>,
    /// Sides; empty means both.
    pub sides: Vec<Side>,
    /// Said at or after, milliseconds since the epoch.
    pub from_ms: Option<i64>,
    /// Said before.
    pub to_ms: Option<i64>,
    /// Callers' names of sessions, or session ids; empty means all.
    pub sessions: Vec<String>,
    /// Equality by top-level key.
    pub metadata: Metadata,
    /// Pages to leave out.
    pub exclude: Vec<PageId>,
    /// Leave out questions that got no answer: they tell nothing, and the same question asked again would find itself.
    pub no_open_questions: bool,
}

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

/// A term of a score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Name of the feature.
    pub name: &'static str,
    /// Weight times value.
    pub value: f32,
}

/// A turn that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// The turn.
    pub id: String,
    /// Its page.
    pub page_id: String,
    /// Always `turn`.
    pub kind: &'static str,
    /// `user` or `assistant`.
    pub role: &'static str,
    /// The label under which it is printed.
    pub speaker: String,
    /// The whole turn.
    pub text: String,
    /// What of it is in the context.
    pub quotes: Vec<String>,
    /// Whether anything of it is.
    pub packed: bool,
    /// `short`, `mid` or `archive`.
    pub tier: &'static str,
    /// The segment that holds its page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_id: Option<String>,
    /// When it was said, milliseconds since the epoch.
    pub time: Option<i64>,
    /// Minutes east of UTC where it was said.
    pub offset_minutes: i16,
    /// The session.
    pub session: String,
    /// The caller's keys.
    pub metadata: Metadata,
    /// Score of its best atom; only differences mean something.
    pub score: f32,
    /// Terms of the score, largest first.
    pub parts: Vec<Part>,
    /// Tokens that it takes in the context with its label, or that its best atom would take.
    pub tokens: u32,
}

/// What the context holds of one turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PackedPassage {
    /// The turn.
    pub turn_id: String,
    /// Its page.
    pub page_id: String,
    /// Its atoms in the context, in order.
    pub quotes: Vec<String>,
}

/// What ranked next but is not in the context.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BelowCut {
    /// The turn.
    pub turn_id: String,
    /// The atom.
    pub quote: String,
    /// Its score.
    pub score: f32,
    /// Tokens it would take.
    pub tokens: u32,
}

/// The question as it was understood.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryView {
    /// Strategy in effect.
    pub strategy: &'static str,
    /// Weights in effect.
    pub profile: &'static str,
    /// Speakers that it names.
    pub names: Vec<String>,
    /// Words that are looked up.
    pub words: Vec<String>,
    /// Months it names.
    pub months: Vec<i8>,
    /// Days of the month.
    pub days: Vec<i8>,
    /// Years.
    pub years: Vec<i16>,
    /// Whether vectors took part.
    pub vectors: bool,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recall {
    /// Turns, best first.
    pub hits: Vec<Hit>,
    /// Passages in order of time, for a prompt: data, never instructions.
    pub context: String,
    /// Its tokens.
    pub context_tokens: u32,
    /// What it holds, turn by turn.
    pub passages: Vec<PackedPassage>,
    /// The question as understood.
    pub query: QueryView,
    /// What ranked next, at most 20.
    pub below_cut: Vec<BelowCut>,
}

/// Entries of [`Recall::below_cut`].
const BELOW_CUT: usize = 20;

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
            let asked = embed::ask(engine, io, space, EmbedKind::Query, vec![input.query.clone()]).await;
            asked.ok().and_then(|mut vectors| vectors.pop().flatten())
        }
        _ => None,
    };
    let found = search(engine, input, vector.as_deref());
    count_visits(engine, &found.passages, now_ms);
    Ok(found)
}

fn search(engine: &Engine, input: &RetrieveInput, vector: Option<&[f32]>) -> Recall {
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
    let ranking = rank(&index, table.as_deref(), &request, &|turn| sieve.lets_through(turn));
    let turns: Vec<RankedTurn> = ranking.turns().into_iter().filter(|turn| turn.hit).collect();
    let pages: HashMap<u32, (TurnId, &Page)> =
        turns.iter().filter_map(|turn| Some((turn.turn, (turn.id, cube.page(turn.id.page)?)))).collect();
    let context = Context::pack(engine, &ranking, &pages, input.budget_tokens);
    let packed: HashMap<u32, PackedTurn> = context.by_turn(&pages);
    let hits = turns.iter().take(input.top_k);
    let hits = hits
        .filter_map(|turn| Some(hit(&cube, cube.page(turn.id.page)?, turn, &ranking, packed.get(&turn.turn))))
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
        context: context.render(&pages),
        context_tokens: context.packed.used_tokens,
        passages: context.passages(&pages),
        query,
        below_cut: context.below_cut(&pages),
    }
}

/// The filter, prepared for many turns.
struct Sieve<'a> {
    cube: &'a Cube,
    filter: &'a Filter,
    tiers: HashSet<Tier>,
    exclude: HashSet<PageId>,
    /// No condition can fail.
    is_open: bool,
}

impl<'a> Sieve<'a> {
    fn new(cube: &'a Cube, filter: &'a Filter) -> Self {
        let tiers: HashSet<Tier> = if filter.tiers.is_empty() {
            [Tier::Short, Tier::Mid].into()
        } else {
            filter.tiers.iter().copied().collect()
        };
        let is_open = *filter == Filter::default() && cube.segments().all(|segment| !segment.archived);
        Self { cube, filter, tiers, exclude: filter.exclude.iter().copied().collect(), is_open }
    }

    fn lets_through(&self, turn: TurnId) -> bool {
        if self.is_open {
            return true;
        }
        let filter = self.filter;
        let Some(page) = self.cube.page(turn.page) else { return false };
        let said_ms = page.time_or_recorded().epoch_ms;
        let session = || {
            let id = page.session.to_string();
            let label = self.cube.session(page.session).and_then(|session| session.label.as_deref());
            filter.sessions.iter().any(|wanted| *wanted == id || Some(wanted.as_str()) == label)
        };
        self.cube.tier(turn.page).is_some_and(|tier| self.tiers.contains(&tier))
            && (filter.sides.is_empty() || filter.sides.contains(&turn.side))
            && filter.from_ms.is_none_or(|from| said_ms >= from)
            && filter.to_ms.is_none_or(|to| said_ms < to)
            && (filter.sessions.is_empty() || session())
            && filter.metadata.iter().all(|(key, value)| page.metadata.get(key) == Some(value))
            && !self.exclude.contains(&turn.page)
            && !(filter.no_open_questions && self.is_open_question(page))
    }
}

impl Sieve<'_> {
    fn is_open_question(&self, page: &Page) -> bool {
        let asks = |atom: &Atom| atom.cues.has(Cues::QUESTION);
        page.agent_response.trim().is_empty()
            && self.cube.units(page.id).is_some_and(|units| units.user.atoms.iter().all(asks))
    }
}

/// What the context holds of a turn, and what it spends on it.
struct PackedTurn {
    quotes: Vec<String>,
    tokens: u32,
}

/// What was packed, with the atoms it was packed from.
struct Context<'a> {
    atoms: Vec<&'a ScoredAtom>,
    headings: Vec<String>,
    packed: Packed,
}

impl<'a> Context<'a> {
    /// Packs hits. Their headings are days: turns of one day share one, whichever session they are of.
    fn pack(engine: &Engine, ranking: &'a Ranking, pages: &HashMap<u32, (TurnId, &Page)>, budget_tokens: u32) -> Self {
        let atoms: Vec<_> = ranking.atoms.iter().filter(|atom| atom.hit && pages.contains_key(&atom.turn)).collect();
        let mut days: HashMap<Option<Date>, u32> = HashMap::new();
        let mut headings: Vec<String> = Vec::new();
        let candidates: Vec<_> = atoms
            .iter()
            .map(|atom| {
                let (turn, page) = pages[&atom.turn];
                let day = page.time.and_then(|time| time.local_date());
                let number = *days.entry(day).or_insert_with(|| {
                    headings.push(day.map_or_else(String::new, |day| heading(day, page.text(turn.side))));
                    headings.len() as u32 - 1
                });
                Candidate {
                    group: atom.turn,
                    session: number,
                    score: atom.score,
                    cost_tokens: atom.cost_tokens,
                    label_tokens: atom.label_tokens,
                }
            })
            .collect();
        let costs: Vec<u32> = headings.iter().map(|heading| engine.count_tokens(heading)).collect();
        let packed = pack(&candidates, budget_tokens, &|day| costs[day as usize]);
        Self { atoms, headings, packed }
    }

    fn quote(&self, pages: &HashMap<u32, (TurnId, &Page)>, at: usize) -> String {
        let atom = self.atoms[at];
        let (turn, page) = pages[&atom.turn];
        atom_text(page.text(turn.side), &(atom.span.0 as usize..atom.span.1 as usize)).into_owned()
    }

    fn by_turn(&self, pages: &HashMap<u32, (TurnId, &Page)>) -> HashMap<u32, PackedTurn> {
        let packed = |group: &PackedGroup| {
            let label_tokens = group.parts.first().map_or(0, |&at| self.atoms[at].label_tokens);
            let tokens = label_tokens + group.parts.iter().map(|&at| self.atoms[at].cost_tokens).sum::<u32>();
            let quotes = group.parts.iter().map(|&at| self.quote(pages, at)).collect();
            (group.group, PackedTurn { quotes, tokens })
        };
        self.packed.groups.iter().map(packed).collect()
    }

    fn render(&self, pages: &HashMap<u32, (TurnId, &Page)>) -> String {
        let passages = self.packed.groups.iter().map(|group| {
            let (turn, page) = pages[&group.group];
            let quotes: Vec<_> = group.parts.iter().map(|&at| self.quote(pages, at)).collect();
            Passage {
                heading: self.headings[group.session as usize].clone(),
                speaker: page.speaker(turn.side).into(),
                text: quotes.join(" "),
            }
        });
        render(&passages.collect::<Vec<_>>())
    }

    fn passages(&self, pages: &HashMap<u32, (TurnId, &Page)>) -> Vec<PackedPassage> {
        let passage = |group: &PackedGroup| {
            let (turn, _) = pages[&group.group];
            let quotes = group.parts.iter().map(|&at| self.quote(pages, at)).collect();
            PackedPassage { turn_id: turn.to_string(), page_id: turn.page.to_string(), quotes }
        };
        self.packed.groups.iter().map(passage).collect()
    }

    fn below_cut(&self, pages: &HashMap<u32, (TurnId, &Page)>) -> Vec<BelowCut> {
        let left = self.packed.left_out.iter().take(BELOW_CUT);
        left.map(|left| {
            let atom = self.atoms[left.candidate];
            BelowCut {
                turn_id: pages[&atom.turn].0.to_string(),
                quote: self.quote(pages, left.candidate),
                score: atom.score,
                tokens: atom.cost_tokens + atom.label_tokens,
            }
        })
        .collect()
    }
}

fn hit(cube: &Cube, page: &Page, turn: &RankedTurn, ranking: &Ranking, packed: Option<&PackedTurn>) -> Hit {
    let best = &ranking.atoms[turn.best];
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
        score: turn.score,
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
    let pages: HashSet<PageId> = passages.iter().filter_map(|passage| passage.page_id.parse().ok()).collect();
    let segments: HashSet<_> =
        pages.iter().filter_map(|&page| cube.place(page)).flat_map(|place| place.segments.clone()).collect();
    let mut visits = engine.visits.borrow_mut();
    for segment in segments {
        let visit: &mut Visits = visits.entry(segment).or_default();
        visit.n = visit.n.saturating_add(1);
        visit.last_ms = visit.last_ms.max(now_ms);
    }
}
