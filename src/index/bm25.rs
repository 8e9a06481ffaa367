//! BM25 at five scales from one set of postings, computed at query time in sparse passes over dense accumulators.
//!
//! `idf = ln(1 + (N - df + .5) / (df + .5))`; N, df and the mean length are those of the scale that is scored
//! (eval/RETRIEVAL.md, part B, section 2), over live documents only.

use super::layout::{DEAD, Layout};
pub use super::lexical::Field;
use super::lexical::Lexical;

/// Saturation of the term frequency; dimensionless, above 0. Source: eval/RETRIEVAL.md.
pub const K1: f32 = 1.2;
/// Weight of the document's length; 0 to 1. Source: eval/RETRIEVAL.md.
pub const B: f32 = 0.75;

/// What counts as a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A sentence.
    Atom,
    /// A turn.
    Turn,
    /// A turn with one neighbour on either side, inside its session.
    Near1,
    /// A turn with three neighbours on either side, inside its session.
    Near3,
    /// A session.
    Session,
}

impl Scale {
    /// Every scale, in declaration order.
    pub const ALL: [Self; 5] = [Self::Atom, Self::Turn, Self::Near1, Self::Near3, Self::Session];

    /// Neighbours on either side that belong to a turn's document.
    pub(crate) fn reach(self) -> usize {
        match self {
            Self::Near1 => 1,
            Self::Near3 => 3,
            _ => 0,
        }
    }
}

/// Scores of one field: by atom handle at [`Scale::Atom`], by session number at [`Scale::Session`], by place in
/// chronological order else. Empty at a scale that was not asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scores(pub(crate) [Vec<f32>; 5]);

impl Scores {
    /// The scores at a scale, once.
    pub(crate) fn take(&mut self, scale: Scale) -> Vec<f32> {
        core::mem::take(&mut self.0[scale as usize])
    }
}

/// Term frequencies of one term: dense, with the list of the documents that are not 0.
#[derive(Debug, Default)]
struct Frequencies {
    tf: Vec<f32>,
    touched: Vec<u32>,
}

impl Frequencies {
    fn new(n: usize) -> Self {
        Self { tf: vec![0.0; n], touched: Vec::new() }
    }

    #[inline(always)]
    fn add(&mut self, document: usize, count: f32) {
        let tf = &mut self.tf[document];
        if *tf == 0.0 {
            self.touched.push(document as u32);
        }
        *tf += count;
    }

    /// Adds the term's contribution to `scores` and forgets it.
    fn flush(&mut self, n_documents: usize, saturation: &[f32], scores: &mut [f32]) {
        let (n, df) = (n_documents as f32, self.touched.len() as f32);
        let gain = (1.0 + (n - df + 0.5) / (df + 0.5)).ln() * (K1 + 1.0);
        for &document in &self.touched {
            let document = document as usize;
            let tf = self.tf[document];
            scores[document] += gain * tf / (tf + saturation[document]);
            self.tf[document] = 0.0;
        }
        self.touched.clear();
    }
}

/// Scores `terms` (distinct, known) at `scales`. `seen(k, places)` hears of the turns that
/// hold the k-th term.
pub(crate) fn score(
    lexical: &Lexical,
    layout: &Layout,
    field: Field,
    terms: &[u32],
    scales: &[Scale],
    seen: &mut dyn FnMut(usize, &[u32]),
) -> Scores {
    let mut scores = Scores::default();
    let norms = layout.norms(field);
    let mut frequencies: Vec<(Scale, Frequencies)> = Vec::with_capacity(scales.len());
    for &scale in scales {
        let size = norms.saturation[scale as usize].len();
        scores.0[scale as usize] = vec![0.0; size];
        if scale != Scale::Turn {
            frequencies.push((scale, Frequencies::new(size)));
        }
    }
    let mut turns = Frequencies::new(layout.n_turns());
    for (k, &term) in terms.iter().enumerate() {
        if let Some((_, atoms)) = frequencies.iter_mut().find(|(scale, _)| *scale == Scale::Atom) {
            lexical.for_each_occurrence(field, term, &mut |atom, count| {
                let place = layout.place_of_atom(atom);
                if place != DEAD {
                    atoms.add(atom as usize, count as f32);
                    turns.add(place as usize, count as f32);
                }
            });
        } else {
            lexical.for_each_occurrence(field, term, &mut |atom, count| {
                let place = layout.place_of_atom(atom);
                if place != DEAD {
                    turns.add(place as usize, count as f32);
                }
            });
        }
        seen(k, &turns.touched);
        for (scale, documents) in &mut frequencies {
            match scale {
                Scale::Atom => {}
                Scale::Session => {
                    for &place in &turns.touched {
                        documents.add(layout.session_of_place(place as usize), turns.tf[place as usize]);
                    }
                }
                _ => {
                    for &place in &turns.touched {
                        let tf = turns.tf[place as usize];
                        for near in layout.window(place as usize, scale.reach()) {
                            documents.add(near, tf);
                        }
                    }
                }
            }
            let scale = *scale as usize;
            documents.flush(norms.n[scale], &norms.saturation[scale], &mut scores.0[scale]);
        }
        let scale = Scale::Turn as usize;
        if scores.0[scale].is_empty() {
            for &place in &turns.touched {
                turns.tf[place as usize] = 0.0;
            }
            turns.touched.clear();
        } else {
            turns.flush(norms.n[scale], &norms.saturation[scale], &mut scores.0[scale]);
        }
    }
    scores
}
