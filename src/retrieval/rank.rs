//! The search itself: a question in, scored atoms out.

use super::candidates::{Overlap, features};
use super::fuse::{Fused, Site, Visible};
use super::query::{Query, Understanding};
use super::weights::{Feature, Profile, Strategy, Weights};
use crate::id::TurnId;
use crate::index::Index;
use crate::model::Cues;
use crate::order::{sort_by, sort_by_key};
use crate::text::StaticTable;
use crate::time::Timestamp;

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
    /// Weights in place of those of the profile and the strategy, to measure with.
    pub weights: Option<Weights>,
    /// Which signals may speak.
    pub strategy: Strategy,
    /// When and where it is asked: what "last week" counts from. Without it only months and years that are named are read.
    pub now: Option<Timestamp>,
    /// Number of the session in which the question is asked, for recency; without it, the one after the last.
    pub now_session: Option<usize>,
    /// Reads the text of a turn. Asked only about turns that hold every word of the question or of a phrase it quotes, at most a few
    /// hundred; without it there is no [`Feature::Exact`].
    pub text_of: Option<&'a TextOf<'a>>,
}

impl<'a> Request<'a> {
    /// A search for `text` with all signals and no help from outside.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            vector: None,
            profile: None,
            weights: None,
            strategy: Strategy::Auto,
            now: None,
            now_session: None,
            text_of: None,
        }
    }
}

impl core::fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { text, vector, profile, weights, strategy, now, now_session, text_of } = self;
        f.debug_struct("Request")
            .field("text", text)
            .field("vector", &vector.map(<[f32]>::len))
            .field("profile", profile)
            .field("weights", weights)
            .field("strategy", strategy)
            .field("now", now)
            .field("now_session", now_session)
            .field("text_of", &text_of.is_some())
            .finish()
    }
}

/// A visible atom with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// Its best atom, whose score is the turn's.
    pub best: ScoredAtom,
}

/// The scores of everything visible, and what they are made of.
#[derive(Debug)]
pub struct Ranking<'a> {
    /// What was understood of the question.
    pub understanding: Understanding,
    /// The weights in effect.
    pub weights: Weights,
    /// Whether the question could be compared by vector.
    pub has_vector: bool,
    index: &'a Index,
    visible: Visible,
    fused: Fused,
    overlap: Overlap,
    /// Whether everything answers: see [`rank`].
    all_answer: bool,
}

/// Scores every atom of `index` whose turn is `visible`. Hidden turns neither appear nor set the scale of a feature; they
/// still stand beside their neighbours in windows.
///
/// Works without a table and without vectors: their signals are then silent. O(turns + atoms), plus the postings of the
/// question's terms.
pub fn rank<'a>(
    index: &'a Index,
    table: Option<&StaticTable>,
    request: &Request<'_>,
    visible: &dyn Fn(TurnId) -> bool,
) -> Ranking<'a> {
    let profile = request.profile.unwrap_or_else(|| Profile::of(index));
    let query = Query::read(index, table, request, profile);
    let strategy = query.understanding.strategy;
    let has_date = !query.understanding.dates.is_empty();
    let weights = request.weights.unwrap_or_else(|| strategy.weights(profile, has_date, query.has_max_sim(table)));
    let visible = Visible::new(index, |turn| visible(index.id(turn)));
    let (mut fused, overlap) = features(index, table, request, &query, weights, &visible);
    let has_vector = query.has_vector(index, table, request);
    // Scaled to 0..1, features are silent where all candidates are alike, above all where there is but one. If vectors have
    // been compared, all of them are then the answer.
    let alike = fused.settle(index, &visible) <= 0.0;
    let all_answer = match strategy {
        Strategy::Keyword => false,
        // Without a date in the question this is "the most recent", which everything answers to.
        Strategy::Temporal => query.understanding.dates.is_empty(),
        Strategy::TwoStage => true,
        Strategy::Auto | Strategy::Semantic => alike && has_vector && index.n_vectors() > 0,
    };
    Ranking { understanding: query.understanding, weights, has_vector, index, visible, fused, overlap, all_answer }
}

impl Ranking<'_> {
    /// Visible atoms in chronological order.
    pub fn atoms(&self) -> Vec<ScoredAtom> {
        let places = self.index.layout().order().iter().enumerate().filter(|&(place, _)| self.visible.has(place));
        places.flat_map(|(_, &turn)| self.index.atoms_of(turn)).map(|atom| self.scored(atom)).collect()
    }

    /// Turns by their best atom, hits first, best first, of equal ones the older.
    pub fn turns(&self) -> Vec<RankedTurn> {
        let mut turns: Vec<RankedTurn> = Vec::new();
        for atom in self.atoms() {
            match turns.last_mut() {
                Some(last) if last.best.turn == atom.turn => {
                    if (atom.hit, atom.score) > (last.best.hit, last.best.score) {
                        last.best = atom;
                    }
                }
                _ => turns.push(RankedTurn { id: self.index.id(atom.turn), best: atom }),
            }
        }
        // A stable sort leaves equal ones in chronological order.
        sort_by(&mut turns, |a, b| b.best.hit.cmp(&a.best.hit).then(b.best.score.total_cmp(&a.best.score)));
        turns
    }

    /// The hits that are worth the most: of turns the `n_turns` with the best atoms, best first; of atoms the `n_atoms` with
    /// the greatest `score - length * ln(tokens)`, label included, in chronological order.
    pub fn best(&self, n_turns: usize, n_atoms: usize, length: f32) -> (Vec<RankedTurn>, Vec<ScoredAtom>) {
        let is_hit = |site: Site| self.is_hit(site);
        let (turns, atoms) = self.fused.best(self.index, &self.visible, (n_turns, n_atoms), length, &is_hit);
        let turn = |atom: u32| {
            let best = self.scored(atom);
            RankedTurn { id: self.index.id(best.turn), best }
        };
        let mut turns: Vec<RankedTurn> = turns.into_iter().map(turn).collect();
        // Of equal ones the older, whichever was added first.
        sort_by(&mut turns, |a, b| b.best.score.total_cmp(&a.best.score).then(a.best.place().cmp(&b.best.place())));
        let mut atoms: Vec<ScoredAtom> = atoms.into_iter().map(|atom| self.scored(atom)).collect();
        sort_by_key(&mut atoms, |atom| (atom.site.place, atom.number));
        (turns, atoms)
    }

    /// What the score of an atom is made of: weight times value of each feature that is not 0.
    pub fn parts(&self, atom: &ScoredAtom) -> Vec<(Feature, f32)> {
        self.fused.parts(atom.site, self.index.atoms.cues[atom.site.atom as usize])
    }

    fn is_hit(&self, site: Site) -> bool {
        let strategy = self.understanding.strategy;
        if self.all_answer || (strategy != Strategy::Keyword && self.fused.answers(site.atom) > 0.0) {
            return true;
        }
        match strategy {
            Strategy::Auto => self.overlap.matches(site.place),
            Strategy::Keyword => {
                self.overlap.matches(site.place) || self.fused.value(Feature::Exact, site, Cues::default()) > 0.0
            }
            _ => false,
        }
    }

    fn scored(&self, atom: u32) -> ScoredAtom {
        let index = self.index;
        let site = Site::of(atom, index.layout());
        let turn = index.layout().order()[site.place as usize];
        let hit = self.is_hit(site);
        let at = atom as usize;
        ScoredAtom {
            turn,
            number: atom - index.atoms_of(turn).start,
            score: if hit || self.understanding.strategy != Strategy::Keyword {
                self.fused.answers(atom) + self.fused.own(site, index.atoms.cues[at])
            } else {
                0.0
            },
            hit,
            cost_tokens: index.atoms.cost_tokens[at],
            label_tokens: index.turns.label_tokens[turn as usize],
            span: index.atoms.span[at],
            site,
        }
    }
}
