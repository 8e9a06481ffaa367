//! The features of one question over everything that is visible (recipe.py, `features`).

use super::exact::{TRACKED, exact};
use super::fuse::{By, Fused, Site, Visible};
use super::max_sim::max_sim;
use super::query::Query;
use super::rank::Request;
use super::weights::{
    AGE, Feature, GRAMS_ALL_TURNS, GRAMS_ONE_OF, MAX_SIM_ALL_ATOMS, MAX_SIM_BEST_ATOMS, Strategy, Weights,
};
use crate::index::bm25::{self, Field, Scale};
use crate::index::{Index, WINDOWS};
use crate::model::Cues;
use crate::order::sort_numbers;
use crate::text::StaticTable;

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

/// Computes the features that `weights` asks for, and adds them up.
pub(crate) fn features(
    index: &Index,
    table: Option<&StaticTable>,
    request: &Request<'_>,
    query: &Query<'_>,
    weights: Weights,
    visible: &Visible,
) -> (Fused, Overlap) {
    let mut fused = Fused::new(index, weights);
    flags(index, query, &mut fused);
    recency(index, request, &mut fused);
    let overlap = lexical(index, query, visible, &mut fused);
    if let Some(values) = request.text_of.and_then(|text_of| exact(index, query, &overlap.held, visible, text_of)) {
        fused.add_as_is(Feature::Exact, By::Atom, values);
    }
    vectors(index, table, request, query, visible, &mut fused);
    fused.settle_sessions(index);
    if let Some(table) = table.filter(|_| query.has_max_sim(table))
        && [Feature::Ma, Feature::Mt, Feature::Mw, Feature::Ra].into_iter().any(|feature| fused.wants(feature))
    {
        let sums = max_sim(index, table, query, &max_sim_atoms(index, visible, &fused));
        fused.add_as_is(Feature::Midf, By::Atom, sums.telling);
        fused.add(index, visible, Feature::Ra, By::Atom, sums.reverse);
        fused.add(index, visible, Feature::Ma, By::Atom, sums.atoms);
        fused.add(index, visible, Feature::Mt, By::Place, sums.turns);
        fused.add(index, visible, Feature::Mw, By::Place, sums.near);
    }
    (fused, overlap)
}

fn flags(index: &Index, query: &Query<'_>, fused: &mut Fused) {
    let understanding = &query.understanding;
    fn flag(has: bool) -> f32 {
        f32::from(u8::from(has))
    }
    fused.add_cue(Feature::Isq, |cues| flag(cues.has(Cues::QUESTION)));
    fused.add_cue(Feature::I, |cues| flag(cues.has(Cues::FIRST_PERSON)));
    fused.add_cue(Feature::Cap, |cues| flag(cues.has(Cues::CAPITAL)));
    fused.add_cue(Feature::Caps, |cues| f32::from(cues.n_capitals()) / 3.0);
    if understanding.asks_when {
        fused.add_cue(Feature::When, |cues| flag(cues.has(Cues::TIME)));
    }
    if understanding.asks_name {
        fused.add_cue(Feature::Whcap, |cues| flag(cues.has(Cues::CAPITAL)));
    }
    let order = index.layout().order();
    if let Some((speaker, feature)) = query.speaker {
        let theirs = |&turn: &u32| f32::from(u8::from(index.turns.speaker[turn as usize] == speaker));
        fused.add_as_is(feature, By::Place, order.iter().map(theirs).collect());
    }
    if !understanding.dates.is_empty() {
        // Turns of one day follow one another.
        let (mut last, mut last_fit) = (None, 0.0);
        let fit = |&turn: &u32| {
            let date = index.turns.date[turn as usize];
            if date != last {
                (last, last_fit) = (date, date.map_or(0.0, |date| understanding.dates.fit(date)));
            }
            last_fit
        };
        fused.add_as_is(Feature::Date, By::Place, order.iter().map(fit).collect());
    }
}

fn recency(index: &Index, request: &Request<'_>, fused: &mut Fused) {
    if fused.wants(Feature::Rec) {
        let n_sessions = index.layout().n_sessions();
        let now = request.now_session.unwrap_or(n_sessions);
        let recency = |session: usize| (-(now.saturating_sub(session) as f32) / AGE).exp();
        fused.add_as_is(Feature::Rec, By::Session, (0..n_sessions).map(recency).collect());
    }
}

fn lexical(index: &Index, query: &Query<'_>, visible: &Visible, fused: &mut Fused) -> Overlap {
    let layout = index.layout();
    let words = query.stems.iter().take(TRACKED).zip(0..).filter(|(stem, _)| stem.is_word);
    let mut overlap = Overlap {
        held: vec![0; layout.n_turns()],
        n_grams: vec![0; layout.n_turns()],
        words: words.fold(0, |bits, (_, at)| bits | 1 << at),
        enough_grams: (query.n_grams.div_ceil(2)).clamp(3, usize::from(u16::MAX)) as u16,
    };
    let stems = [(Feature::Pba, Scale::Atom), (Feature::Pbv, Scale::Window), (Feature::Pbs, Scale::Session)];
    let grams = [(Feature::Gbv, Scale::Window), (Feature::Gbs, Scale::Session)];
    // Only these two ask how many 4-grams a turn holds.
    let asks_grams = matches!(query.understanding.strategy, Strategy::Auto | Strategy::Keyword)
        || grams.iter().any(|&(feature, _)| fused.wants(feature));
    let mut score = |field: Field, terms: &[u32], signals: &[(Feature, Scale)], seen: &mut dyn FnMut(usize, &[u32])| {
        let wanted = signals.iter().filter(|&&(feature, _)| fused.wants(feature));
        let scales: Vec<Scale> = wanted.map(|&(_, scale)| scale).collect();
        let most = match field {
            Field::Grams if layout.n_turns() > GRAMS_ALL_TURNS => layout.n_turns() / GRAMS_ONE_OF,
            _ => usize::MAX,
        };
        let mut scores = bm25::score(&index.lexical, layout, field, terms, &scales, most, seen);
        for &(feature, scale) in signals {
            let by = match scale {
                Scale::Atom => By::Atom,
                Scale::Window => By::Place,
                Scale::Session => By::Session,
            };
            fused.add(index, visible, feature, by, scores.take(scale));
        }
    };
    let known: Vec<(usize, u32)> =
        query.stems.iter().enumerate().filter_map(|(at, stem)| Some((at, stem.term?))).collect();
    let terms: Vec<u32> = known.iter().map(|&(_, term)| term).collect();
    score(Field::Stems, &terms, &stems, &mut |k, places| {
        let (at, held) = (known[k].0, overlap.held.as_mut_slice());
        if at < TRACKED {
            let mut i = 0;
            while i < places.len() {
                held[places[i] as usize] |= 1 << at;
                i += 1;
            }
        }
    });
    if asks_grams {
        score(Field::Grams, &query.grams, &grams, &mut |_, places| {
            let n_grams = overlap.n_grams.as_mut_slice();
            let mut i = 0;
            while i < places.len() {
                let count = &mut n_grams[places[i] as usize];
                *count = count.saturating_add(1);
                i += 1;
            }
        });
    }
    overlap
}

/// Cosines at three scales, from the caller's vector or the table's; none where the space is another's.
///
/// Deviation: the script gate shuts out the table only.
fn vectors(
    index: &Index,
    table: Option<&StaticTable>,
    request: &Request<'_>,
    query: &Query<'_>,
    visible: &Visible,
    fused: &mut Fused,
) {
    let own;
    let vector = match request.vector {
        Some(vector) => vector,
        None => match table.filter(|_| query.has_vector(index, table, request)) {
            Some(table) => {
                own = table.unit_vector(query.text);
                &own
            }
            None => return,
        },
    };
    if ![Feature::Odt, Feature::Odw, Feature::Odv].into_iter().any(|feature| fused.wants(feature)) {
        return;
    }
    let layout = index.layout();
    let mut by_handle = vec![0.0; index.turns.id.len()];
    // A vector of another length, not finite or zero says nothing about this index: search goes on without it.
    if index.n_vectors() == 0 || index.vectors.dots(vector, &mut by_handle).is_err() {
        return;
    }
    let order = layout.order();
    let mut turn = vec![0.0; order.len()];
    let mut place = 0;
    while place < order.len() {
        turn.as_mut_slice()[place] = by_handle.as_slice()[order[place] as usize];
        place += 1;
    }
    for (window, (reach, feature)) in WINDOWS.into_iter().zip([Feature::Odw, Feature::Odv]).enumerate() {
        let mut values = layout.window_sums(&turn, reach);
        let sums = values.as_mut_slice();
        let mut place = 0;
        while place < sums.len() {
            let norm = index.vectors.window_norm(order[place], window);
            sums[place] = if norm > 0.0 { sums[place] / norm } else { 0.0 };
            place += 1;
        }
        fused.add(index, visible, feature, By::Place, values);
    }
    fused.add(index, visible, Feature::Odt, By::Place, turn);
}

/// The atoms that max-sim looks at, in chronological order: all of a small store, hidden ones too (they
/// stand in the windows of others); of a large one the visible atoms that are best by all other features.
fn max_sim_atoms(index: &Index, visible: &Visible, fused: &Fused) -> Vec<Site> {
    let layout = index.layout();
    let atoms: Vec<u32> = if index.n_atoms() <= MAX_SIM_ALL_ATOMS {
        layout.order().iter().flat_map(|&turn| index.atoms_of(turn)).collect()
    } else {
        let best = fused.best_so_far(index, visible, MAX_SIM_BEST_ATOMS);
        // Places are in order of time, atoms in that of arrival.
        let place_of_atom = layout.place_of_atom();
        let place_and_atom = |atom: u32| u64::from(place_of_atom[atom as usize]) << 32 | u64::from(atom);
        let mut sites: Vec<u64> = best.into_iter().map(place_and_atom).collect();
        sort_numbers(&mut sites);
        sites.into_iter().map(|site| site as u32).collect()
    };
    atoms.into_iter().map(|atom| Site::of(atom, layout)).collect()
}
