//! The search itself: a question in, scored atoms out.

use super::candidates::{Visible, features};
use super::fuse::{Features, Fused, Site};
use super::query::{Query, Understanding};
use super::weights::{Feature, Profile, Strategy, Weights};
use crate::id::TurnId;
use crate::index::Index;
use crate::order::sort_by;
use crate::text::StaticTable;

/// Hands the text of a turn to the visitor, or does not call it when there is none.
pub type TextOf<'a> = dyn Fn(TurnId, &mut dyn FnMut(&str)) + 'a;

/// A search.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The question.
    pub text: &'a str,
    /// Its vector from the embedder that made the index's vectors; without it the static table's is taken, if the index
    /// holds the table's.
    pub vector: Option<&'a [f32]>,
    /// Weights; without it those that suit what the index holds.
    pub profile: Option<Profile>,
    /// Which signals may speak.
    pub strategy: Strategy,
    /// Number of the session in which the question is asked, for recency; without it, the one after the last.
    pub now_session: Option<usize>,
    /// Reads the text of a turn. Asked only about turns that hold every word of the question or of a phrase it quotes, at most a few
    /// hundred; without it there is no [`Feature::Exact`].
    pub text_of: Option<&'a TextOf<'a>>,
}

impl<'a> Request<'a> {
    /// A search for `text` with all signals and no help from outside.
    pub fn new(text: &'a str) -> Self {
        Self { text, vector: None, profile: None, strategy: Strategy::Auto, now_session: None, text_of: None }
    }
}

impl core::fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { text, vector, profile, strategy, now_session, text_of } = self;
        f.debug_struct("Request")
            .field("text", text)
            .field("vector", &vector.map(<[f32]>::len))
            .field("profile", profile)
            .field("strategy", strategy)
            .field("now_session", now_session)
            .field("text_of", &text_of.is_some())
            .finish()
    }
}

/// A visible atom with its score.
#[derive(Clone, Copy, Debug)]
pub struct ScoredAtom {
    /// Handle of its turn, good until the index changes.
    pub turn: u32,
    /// Its number within the turn, from 0.
    pub number: u32,
    /// Weighted sum of its features; only differences mean something.
    pub score: f32,
    /// Whether anything in it answers to the question. Of [`Strategy::Keyword`]: whether its turn holds a word of the
    /// question, or most of its 4-grams; an atom that is no hit then scores 0.
    pub hit: bool,
    /// Tokens it costs in a prompt, without its speaker's label.
    pub cost_tokens: u32,
    /// Tokens of its speaker's label.
    pub label_tokens: u32,
    /// Bytes of its turn's text.
    pub span: (u32, u32),
    site: Site,
}

impl ScoredAtom {
    /// Number of its session in chronological order.
    pub fn session(&self) -> usize {
        self.site.session as usize
    }

    /// Position of its turn in chronological order.
    pub fn place(&self) -> usize {
        self.site.place as usize
    }
}

/// A turn by its best atom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedTurn {
    /// The turn.
    pub id: TurnId,
    /// Its handle, good until the index changes.
    pub turn: u32,
    /// Score of its best atom.
    pub score: f32,
    /// Whether one of its atoms is a hit.
    pub hit: bool,
    /// Its best atom in [`Ranking::atoms`].
    pub best: usize,
}

/// The scores of everything visible, and what they are made of.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// Visible atoms in chronological order.
    pub atoms: Vec<ScoredAtom>,
    /// What was understood of the question.
    pub understanding: Understanding,
    /// The weights in effect.
    pub weights: Weights,
    features: Features,
    /// Ids of the turns of `atoms`, each once, in order.
    ids: Vec<TurnId>,
}

/// Scores every atom of `index` whose turn is `visible`. Hidden turns neither appear nor set the scale of a feature; they
/// still stand beside their neighbours in windows.
///
/// Works without a table and without vectors: their signals are then silent. O(turns + atoms), plus the postings of the
/// question's terms.
pub fn rank(
    index: &Index,
    table: Option<&StaticTable>,
    request: &Request<'_>,
    visible: &dyn Fn(TurnId) -> bool,
) -> Ranking {
    let profile = request.profile.unwrap_or_else(|| Profile::of(index));
    let query = Query::read(index, table, request.text, request.strategy, profile);
    let strategy = query.understanding.strategy;
    let weights = strategy.weights(profile, !query.understanding.dates.is_empty());
    let visible = Visible::new(index, |turn| visible(index.id(turn)));
    let (features, overlap) = features(index, table, request, &query, &weights, &visible);

    let layout = index.layout();
    let asked = |feature: Feature| feature.depends_on_question();
    let by_question = Fused::new(&features, &weights, layout, asked);
    let by_itself = Fused::new(&features, &weights, layout, |feature| !asked(feature));
    // Scaled to 0..1, features are silent where all candidates are alike, above all where there is but one. If vectors have
    // been compared, all of them are then the answer.
    let alike = visible.sites.iter().all(|&site| by_question.at(site) <= 0.0);
    let compared =
        index.n_vectors() > 0 && query.understanding.readable && (request.vector.is_some() || table.is_some());
    let mut ids: Vec<TurnId> = Vec::new();
    let mut atoms = Vec::with_capacity(visible.sites.len());
    let mut last_place = u32::MAX;
    for &site in &visible.sites {
        let turn = layout.order()[site.place as usize];
        if site.place != last_place {
            ids.push(index.id(turn));
            last_place = site.place;
        }
        let answers = by_question.at(site);
        let hit = match strategy {
            Strategy::Keyword => overlap.matches(site.place) || features.value(Feature::Exact, site) > 0.0,
            // Without a date in the question this is "the most recent", which everything answers to.
            Strategy::Temporal => answers > 0.0 || query.understanding.dates.is_empty(),
            Strategy::TwoStage => true,
            Strategy::Auto => answers > 0.0 || overlap.matches(site.place) || (alike && compared),
            Strategy::Semantic => answers > 0.0 || (alike && compared),
        };
        let score = if hit || strategy != Strategy::Keyword { answers + by_itself.at(site) } else { 0.0 };
        let atom = site.atom as usize;
        atoms.push(ScoredAtom {
            turn,
            number: site.atom - index.atoms_of(turn).start,
            score,
            hit,
            cost_tokens: index.atoms.cost_tokens[atom],
            label_tokens: index.turns.label_tokens[turn as usize],
            span: index.atoms.span[atom],
            site,
        });
    }
    Ranking { atoms, understanding: query.understanding, weights, features, ids }
}

impl Ranking {
    /// Turns by their best atom, hits first, best first, of equal ones the older.
    pub fn turns(&self) -> Vec<RankedTurn> {
        let mut turns: Vec<RankedTurn> = Vec::with_capacity(self.ids.len());
        for (at, atom) in self.atoms.iter().enumerate() {
            match turns.last_mut() {
                Some(last) if last.turn == atom.turn => {
                    if (atom.hit, atom.score) > (last.hit, last.score) {
                        (last.score, last.hit, last.best) = (atom.score, atom.hit, at);
                    }
                }
                _ => {
                    let id = self.ids[turns.len()];
                    turns.push(RankedTurn { id, turn: atom.turn, score: atom.score, hit: atom.hit, best: at });
                }
            }
        }
        // A stable sort leaves equal ones in chronological order.
        sort_by(&mut turns, |a, b| b.hit.cmp(&a.hit).then(b.score.total_cmp(&a.score)));
        turns
    }

    /// What the score of an atom is made of: weight times value of each feature that is not 0.
    pub fn parts(&self, atom: &ScoredAtom) -> Vec<(Feature, f32)> {
        let part = |feature: Feature| (feature, self.weights.get(feature) * self.features.value(feature, atom.site));
        Feature::ALL.into_iter().map(part).filter(|&(_, part)| part != 0.0).collect()
    }
}
