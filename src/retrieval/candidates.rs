//! The features of one question over everything that is visible (recipe.py, `features`).

use super::exact::{TRACKED, exact};
use super::fuse::{Column, Features, Fused, Site, min_max};
use super::max_sim::max_sim;
use super::query::Query;
use super::rank::Request;
use super::weights::{AGE, Feature, MAX_SIM_ALL_ATOMS, MAX_SIM_BEST_ATOMS, Weights};
use crate::index::Index;
use crate::index::bm25::{self, Field, Scale};
use crate::model::Cues;
use crate::order::{keep_least, sort};
use crate::text::StaticTable;

/// What the caller may see.
#[derive(Debug)]
pub(crate) struct Visible {
    /// By place.
    pub(crate) turns: Vec<bool>,
    /// By session number: whether any turn of it is visible.
    pub(crate) sessions: Vec<bool>,
    /// Visible atoms in chronological order.
    pub(crate) sites: Vec<Site>,
}

impl Visible {
    pub(crate) fn new(index: &Index, visible: impl Fn(u32) -> bool) -> Self {
        let layout = index.layout();
        let turns: Vec<bool> = layout.order().iter().map(|&turn| visible(turn)).collect();
        let mut sessions = vec![false; layout.n_sessions()];
        let mut sites = Vec::with_capacity(index.n_atoms());
        for (place, &turn) in layout.order().iter().enumerate().filter(|&(place, _)| turns[place]) {
            let session = layout.session_of_place(place);
            sessions[session] = true;
            for atom in index.atoms_of(turn) {
                let cues = index.atoms.cues[atom as usize];
                sites.push(Site { atom, place: place as u32, session: session as u32, cues });
            }
        }
        Self { turns, sessions, sites }
    }

    fn scale_atoms(&self, values: &mut [f32]) {
        let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
        for site in &self.sites {
            let value = values[site.atom as usize];
            (least, most) = (least.min(value), most.max(value));
        }
        let span = most - least;
        if span > 0.0 {
            values.iter_mut().for_each(|value| *value = (*value - least) / span);
        } else {
            values.fill(0.0);
        }
    }

    fn scale_turns(&self, values: &mut [f32]) {
        min_max(values, |place| self.turns[place]);
    }

    fn scale_sessions(&self, values: &mut [f32]) {
        min_max(values, |session| self.sessions[session]);
    }
}

/// What the words of the question found, turn by turn.
#[derive(Debug)]
pub(crate) struct Overlap {
    /// By place: the first [`TRACKED`] stems as bits.
    held: Vec<u64>,
    /// By place: distinct 4-grams.
    n_grams: Vec<u16>,
    words: u64,
    enough_grams: u16,
}

impl Overlap {
    /// Whether the turn holds a word of the question, or, against typing errors, half of its 4-grams and at least three.
    pub(crate) fn matches(&self, place: u32) -> bool {
        self.held[place as usize] & self.words != 0 || self.n_grams[place as usize] >= self.enough_grams
    }
}

/// Computes the features that `weights` asks for.
pub(crate) fn features(
    index: &Index,
    table: Option<&StaticTable>,
    request: &Request<'_>,
    query: &Query<'_>,
    weights: &Weights,
    visible: &Visible,
) -> (Features, Overlap) {
    let mut features = Features::default();
    flags(index, query, &mut features);
    recency(index, request, &mut features);
    let overlap = lexical(index, query, visible, &mut features);
    if let Some(values) =
        request.text_of.and_then(|text_of| exact(index, query, &overlap.held, &visible.turns, text_of))
    {
        features.set(Feature::Exact, Column::Atom(values));
    }
    vectors(index, table, request, query, visible, &mut features);
    if let Some(table) = table.filter(|_| query.understanding.readable && !query.rows.is_empty())
        && [Feature::Ma, Feature::Mt, Feature::Mw].into_iter().any(|feature| weights.get(feature) != 0.0)
    {
        let atoms = max_sim_atoms(index, weights, visible, &features);
        let mut sums = max_sim(index, table, query, &atoms);
        visible.scale_atoms(&mut sums.atoms);
        visible.scale_turns(&mut sums.turns);
        visible.scale_turns(&mut sums.near);
        features.set(Feature::Ma, Column::Atom(sums.atoms));
        features.set(Feature::Mt, Column::Turn(sums.turns));
        features.set(Feature::Mw, Column::Turn(sums.near));
    }
    (features, overlap)
}

fn flags(index: &Index, query: &Query<'_>, features: &mut Features) {
    let understanding = &query.understanding;
    features.set(Feature::Isq, Column::Cue(Cues::QUESTION));
    features.set(Feature::I, Column::Cue(Cues::FIRST_PERSON));
    features.set(Feature::Cap, Column::Cue(Cues::CAPITAL));
    if understanding.asks_when {
        features.set(Feature::When, Column::Cue(Cues::TIME));
    }
    if understanding.asks_name {
        features.set(Feature::Whcap, Column::Cue(Cues::CAPITAL));
    }
    let by_turn = |value: &dyn Fn(usize) -> f32| {
        Column::Turn(index.layout().order().iter().map(|&turn| value(turn as usize)).collect())
    };
    if let Some(speaker) = query.speaker {
        let theirs = |turn: usize| f32::from(u8::from(index.turns.speaker[turn] == speaker));
        features.set(Feature::Spk, by_turn(&theirs));
    }
    if !understanding.dates.is_empty() {
        let fit = |turn: usize| index.turns.date[turn].map_or(0.0, |date| understanding.dates.fit(date));
        features.set(Feature::Date, by_turn(&fit));
    }
}

fn recency(index: &Index, request: &Request<'_>, features: &mut Features) {
    let n_sessions = index.layout().n_sessions();
    let now = request.now_session.unwrap_or(n_sessions);
    let recency = |session: usize| (-(now.saturating_sub(session) as f32) / AGE).exp();
    features.set(Feature::Rec, Column::Session((0..n_sessions).map(recency).collect()));
}

fn lexical(index: &Index, query: &Query<'_>, visible: &Visible, features: &mut Features) -> Overlap {
    let layout = index.layout();
    let words = query.stems.iter().take(TRACKED).zip(0..).filter(|(stem, _)| stem.is_word);
    let mut overlap = Overlap {
        held: vec![0; layout.n_turns()],
        n_grams: vec![0; layout.n_turns()],
        words: words.fold(0, |bits, (_, at)| bits | 1 << at),
        enough_grams: (query.n_grams.div_ceil(2)).clamp(3, usize::from(u16::MAX)) as u16,
    };
    let known: Vec<(usize, u32)> =
        query.stems.iter().enumerate().filter_map(|(at, stem)| Some((at, stem.term?))).collect();
    let terms: Vec<u32> = known.iter().map(|&(_, term)| term).collect();
    let scales = [Scale::Atom, Scale::Near3, Scale::Session];
    let mut scores = bm25::score(&index.lexical, layout, Field::Stems, &terms, &scales, &mut |k, places| {
        let at = known[k].0;
        if at < TRACKED {
            places.iter().for_each(|&place| overlap.held[place as usize] |= 1 << at);
        }
    });
    let mut take = |features: &mut Features, scale: Scale, feature: Feature| {
        let mut values = scores.take(scale);
        match scale {
            Scale::Atom => {
                visible.scale_atoms(&mut values);
                features.set(feature, Column::Atom(values));
            }
            Scale::Session => {
                visible.scale_sessions(&mut values);
                features.set(feature, Column::Session(values));
            }
            _ => {
                visible.scale_turns(&mut values);
                features.set(feature, Column::Turn(values));
            }
        }
    };
    take(features, Scale::Atom, Feature::Pba);
    take(features, Scale::Near3, Feature::Pbv);
    take(features, Scale::Session, Feature::Pbs);
    scores = bm25::score(&index.lexical, layout, Field::Grams, &query.grams, &scales[1..], &mut |_, places| {
        for &place in places {
            let count = &mut overlap.n_grams[place as usize];
            *count = count.saturating_add(1);
        }
    });
    let mut take = |features: &mut Features, scale: Scale, feature: Feature| {
        let mut values = scores.take(scale);
        if scale == Scale::Session {
            visible.scale_sessions(&mut values);
            features.set(feature, Column::Session(values));
        } else {
            visible.scale_turns(&mut values);
            features.set(feature, Column::Turn(values));
        }
    };
    take(features, Scale::Near3, Feature::Gbv);
    take(features, Scale::Session, Feature::Gbs);
    overlap
}

/// Cosines at three scales, from the caller's vector or the table's; none where the space is another's.
///
/// Deviation: the script gate shuts out the table only. An outside embedder may read what the table does not.
fn vectors(
    index: &Index,
    table: Option<&StaticTable>,
    request: &Request<'_>,
    query: &Query<'_>,
    visible: &Visible,
    features: &mut Features,
) {
    let own;
    let vector = match request.vector {
        Some(vector) => vector,
        None => match table {
            Some(table)
                if query.understanding.readable
                    && index.space().is_some_and(|space| space.model == table.model_id()) =>
            {
                own = table.unit_vector(query.text);
                &own
            }
            _ => return,
        },
    };
    let layout = index.layout();
    let mut by_handle = vec![0.0; index.turns.id.len()];
    // A vector of another length, not finite or zero says nothing about this index: search goes on without it.
    if index.n_vectors() == 0 || index.vectors.dots(vector, &mut by_handle).is_err() {
        return;
    }
    let turn: Vec<f32> = layout.order().iter().map(|&turn| by_handle[turn as usize]).collect();
    for (window, (reach, feature)) in [(1, Feature::Odw), (3, Feature::Odv)].into_iter().enumerate() {
        let mut values: Vec<f32> = (0..turn.len())
            .map(|place| {
                let sum: f32 = turn[layout.window(place, reach)].iter().sum();
                let norm = index.vectors.window_norm(layout.order()[place], window);
                if norm > 0.0 { sum / norm } else { 0.0 }
            })
            .collect();
        visible.scale_turns(&mut values);
        features.set(feature, Column::Turn(values));
    }
    let mut values = turn;
    visible.scale_turns(&mut values);
    features.set(Feature::Odt, Column::Turn(values));
}

/// The atoms that max-sim looks at, with their places, in chronological order: all of a small store, hidden ones too (they
/// stand in the windows of others); of a large one the visible atoms that are best by all other features.
fn max_sim_atoms(index: &Index, weights: &Weights, visible: &Visible, features: &Features) -> Vec<(u32, u32)> {
    let layout = index.layout();
    if index.n_atoms() <= MAX_SIM_ALL_ATOMS {
        let of_turn = |(place, &turn): (u32, &u32)| index.atoms_of(turn).map(move |atom| (atom, place));
        return (0u32..).zip(layout.order()).flat_map(of_turn).collect();
    }
    let fused = Fused::new(features, weights, layout, |_| true);
    let mut best: Vec<(f32, u32)> = visible.sites.iter().zip(0u32..).map(|(&site, at)| (fused.at(site), at)).collect();
    keep_least(&mut best, MAX_SIM_BEST_ATOMS, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut at: Vec<u32> = best.into_iter().map(|(_, at)| at).collect();
    sort(&mut at);
    at.into_iter().map(|at| &visible.sites[at as usize]).map(|site| (site.atom, site.place)).collect()
}
