//! BM25 at three scales from one set of postings, computed at query time: term by term, a rare one in sparse passes over
//! the documents that hold it, a frequent one in a pass over all of them.
//!
//! `idf = ln(1 + (N - df + .5) / (df + .5))`; N, df and the mean length are those of the scale that is scored
//! (eval/RETRIEVAL.md, part B, section 2), over live documents only.

use super::kernel::column::{add_bm25, n_positive};
use super::layout::{DEAD, Layout, Lengths, REACH};
pub use super::lexical::Field;
use super::lexical::Lexical;

/// Saturation of the term frequency; dimensionless, above 0. Source: eval/RETRIEVAL.md.
pub const K1: f32 = 1.2;
/// Weight of the document's length; 0 to 1. Source: eval/RETRIEVAL.md.
pub const B: f32 = 0.75;

/// A term that more than one turn in so many holds is scored in passes over all windows: about there the passes are as
/// fast as the scattered sums, in Chromium.
const FREQUENT: usize = 16;

/// What counts as a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A sentence.
    Atom,
    /// A turn with three neighbours on either side, inside its session.
    Window,
    /// A session.
    Session,
}

impl Scale {
    /// Every scale, in declaration order.
    pub const ALL: [Self; 3] = [Self::Atom, Self::Window, Self::Session];
}

/// Scores of one field: by atom handle at [`Scale::Atom`], by session number at [`Scale::Session`], by place in
/// chronological order else. Empty at a scale that was not asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scores(pub(crate) [Vec<f32>; 3]);

impl Scores {
    /// The scores at a scale, once.
    pub(crate) fn take(&mut self, scale: Scale) -> Vec<f32> {
        core::mem::take(&mut self.0[scale as usize])
    }
}

/// Term frequencies of one term: dense, with the list of the documents that are not 0.
#[derive(Debug)]
struct Frequencies {
    tf: Vec<f32>,
    /// Documents, of which the first `n_touched` count.
    touched: Vec<u32>,
    n_touched: usize,
}

impl Frequencies {
    fn new(n: usize) -> Self {
        Self { tf: vec![0.0; n], touched: vec![0; n], n_touched: 0 }
    }

    fn touched(&self) -> &[u32] {
        &self.touched[..self.n_touched]
    }

    #[inline(always)]
    fn add(&mut self, document: usize, count: f32) {
        let tf = &mut self.tf.as_mut_slice()[document];
        if *tf == 0.0 {
            self.touched.as_mut_slice()[self.n_touched] = document as u32;
            self.n_touched += 1;
        }
        *tf += count;
    }

    fn forget(&mut self) {
        let (tf, touched) = (self.tf.as_mut_slice(), self.touched.as_slice());
        let mut at = 0;
        while at < self.n_touched {
            tf[touched[at] as usize] = 0.0;
            at += 1;
        }
        self.n_touched = 0;
    }

    /// Adds the term's contribution to `scores` and forgets it.
    fn flush(&mut self, scale: &Documents<'_>, scores: &mut [f32]) {
        let gain = scale.gain(self.n_touched);
        let (tfs, touched, lengths) = (self.tf.as_mut_slice(), self.touched.as_slice(), scale.lengths);
        let mut at = 0;
        while at < self.n_touched {
            let document = touched[at] as usize;
            let tf = tfs[document];
            scores[document] += gain * tf / (tf + (lengths[document] * scale.slope + scale.base));
            tfs[document] = 0.0;
            at += 1;
        }
        self.n_touched = 0;
    }
}

/// What BM25 needs to know of a scale.
struct Documents<'a> {
    n: f32,
    lengths: &'a [f32],
    base: f32,
    slope: f32,
}

impl<'a> Documents<'a> {
    fn new(lengths: &'a Lengths, scale: Scale) -> Self {
        let slope = K1 * B / lengths.mean(scale);
        Self { n: lengths.n(scale) as f32, lengths: lengths.of(scale), base: K1 * (1.0 - B), slope }
    }

    fn gain(&self, df: usize) -> f32 {
        let df = df as f32;
        (1.0 + (self.n - df + 0.5) / (df + 0.5)).ln() * (K1 + 1.0)
    }
}

/// Scores `terms` (distinct, known) at `scales`, leaving out those that more than `most` turns hold. `seen(k, places)` hears of
/// the turns that hold the k-th term, left out or not.
pub(crate) fn score(
    lexical: &Lexical,
    layout: &Layout,
    field: Field,
    terms: &[u32],
    scales: &[Scale],
    most: usize,
    seen: &mut dyn FnMut(usize, &[u32]),
) -> Scores {
    let mut scores = Scores::default();
    let lengths = layout.lengths(field);
    let [atom, window, session] = Scale::ALL.map(|scale| Documents::new(lengths, scale));
    let [mut atoms, mut windows, mut sessions] = Scale::ALL.map(|scale| {
        let n = if scales.contains(&scale) { lengths.of(scale).len() } else { 0 };
        scores.0[scale as usize] = vec![0.0; n];
        Frequencies::new(n)
    });
    let [by_atom, by_window, by_session] = &mut scores.0;
    let mut turns = Frequencies::new(layout.n_turns());
    let (place_of_atom, session_of) = (layout.place_of_atom(), layout.session_of());
    for (k, &term) in terms.iter().enumerate() {
        lexical.for_each_occurrence(field, term, &mut |atom, count| {
            let place = place_of_atom[atom as usize];
            if place != DEAD {
                turns.add(place as usize, count as f32);
                if !by_atom.is_empty() {
                    atoms.add(atom as usize, count as f32);
                }
            }
        });
        seen(k, turns.touched());
        if turns.n_touched > most {
            atoms.forget();
            turns.forget();
            continue;
        }
        atoms.flush(&atom, by_atom);
        if !by_session.is_empty() {
            for &place in turns.touched() {
                sessions.add(session_of[place as usize] as usize, turns.tf[place as usize]);
            }
            sessions.flush(&session, by_session);
        }
        if by_window.is_empty() {
            turns.forget();
        } else if turns.n_touched * FREQUENT > layout.n_turns() {
            let tf = layout.window_sums(&turns.tf, REACH);
            add_bm25(by_window, &tf, window.lengths, window.gain(n_positive(&tf)), window.base, window.slope);
            turns.forget();
        } else {
            let (tfs, touched) = (turns.tf.as_slice(), turns.touched());
            let mut at = 0;
            while at < touched.len() {
                let place = touched[at] as usize;
                let near = layout.window(place, REACH);
                let mut place_near = near.start;
                while place_near < near.end {
                    windows.add(place_near, tfs[place]);
                    place_near += 1;
                }
                at += 1;
            }
            windows.flush(&window, by_window);
            turns.forget();
        }
    }
    scores
}
