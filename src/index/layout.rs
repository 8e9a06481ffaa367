//! The chronological view of the live turns that queries read: places, windows, session numbers and document lengths.
//!
//! It is a function of the index's contents. A turn that comes last is added to it; after any other change it is built
//! anew at the next query, in time linear in turns and atoms.

use super::bm25::Scale;
use super::kernel::column::add_product;
use super::lexical::{Field, Lexical};
use super::session::Sessions;

/// The place of a turn that is not live.
pub(crate) const DEAD: u32 = u32::MAX;

/// Turns on either side of a turn that belong to its wide window.
pub(crate) const REACH: usize = 3;

/// Places are positions of live turns in chronological order; the turns of a session are consecutive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// By place: turn handle.
    order: Vec<u32>,
    /// By place: session number.
    session_of: Vec<u32>,
    /// By session number: its first place; one more entry at the end.
    first_place: Vec<u32>,
    /// By atom handle.
    place_of_atom: Vec<u32>,
    /// By distance less one, by place: 1 where the turn at that distance after it is of the same session, else 0.
    same_session: [Vec<f32>; REACH],
    lengths: [Lengths; 2],
}

/// Terms of the documents of one field, by scale.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lengths {
    by_scale: [Vec<f32>; 3],
    /// Documents and the sum of their lengths.
    totals: [(usize, f64); 3],
    by_place: Vec<f32>,
}

impl Lengths {
    /// The length of each document; of an atom that is not live 0.
    pub(crate) fn of(&self, scale: Scale) -> &[f32] {
        &self.by_scale[scale as usize]
    }

    /// Documents.
    pub(crate) fn n(&self, scale: Scale) -> usize {
        self.totals[scale as usize].0
    }

    pub(crate) fn mean(&self, scale: Scale) -> f32 {
        let (n, total) = self.totals[scale as usize];
        (total / n.max(1) as f64).max(1e-6) as f32
    }

    fn count(&mut self, scale: Scale, documents: usize, terms: f32) {
        let (n, total) = &mut self.totals[scale as usize];
        *n += documents;
        *total += f64::from(terms);
    }
}

impl Layout {
    /// `first_atom` has one entry a turn handle and one more at the end.
    pub(crate) fn new(sessions: &Sessions, first_atom: &[u32], lexical: &Lexical) -> Self {
        let mut layout = Self { first_place: vec![0], ..Self::default() };
        for &session in sessions.order() {
            for (at, &turn) in sessions.turns(session).iter().enumerate() {
                let atoms = first_atom[turn as usize]..first_atom[turn as usize + 1];
                layout.push(turn, atoms, at == 0, lexical);
            }
        }
        layout.cover(first_atom[first_atom.len() - 1] as usize);
        layout
    }

    /// Adds the turn that comes after all others.
    pub(crate) fn push(&mut self, turn: u32, atoms: core::ops::Range<u32>, begins_session: bool, lexical: &Lexical) {
        let place = self.order.len();
        self.order.push(turn);
        if begins_session {
            self.first_place.push(place as u32);
        }
        let session = self.first_place.len() - 2;
        self.first_place[session + 1] = place as u32 + 1;
        self.session_of.push(session as u32);
        let first = self.first_place[session] as usize;
        for (distance, same) in (1..).zip(&mut self.same_session) {
            same.push(0.0);
            if place >= first + distance {
                same[place - distance] = 1.0;
            }
        }
        self.cover(atoms.end as usize);
        self.place_of_atom[atoms.start as usize..atoms.end as usize].fill(place as u32);
        let window = place.saturating_sub(REACH).max(first)..place;
        for field in [Field::Stems, Field::Grams] {
            let lengths = &mut self.lengths[field as usize];
            let mut length = 0.0;
            for atom in atoms.clone() {
                let of_atom = lexical.length(field, atom) as f32;
                lengths.by_scale[Scale::Atom as usize][atom as usize] = of_atom;
                length += of_atom;
            }
            let [_, windows, sessions] = &mut lengths.by_scale;
            let mut around = length;
            for near in window.clone() {
                windows[near] += length;
                around += lengths.by_place[near];
            }
            windows.push(around);
            sessions.resize(session + 1, 0.0);
            sessions[session] += length;
            lengths.by_place.push(length);
            lengths.count(Scale::Atom, atoms.len(), length);
            lengths.count(Scale::Window, 1, around + length * window.len() as f32);
            lengths.count(Scale::Session, usize::from(begins_session), length);
        }
    }

    /// Makes room for atoms up to handle `end`.
    fn cover(&mut self, end: usize) {
        let end = end.max(self.place_of_atom.len());
        self.place_of_atom.resize(end, DEAD);
        self.lengths.iter_mut().for_each(|lengths| lengths.by_scale[Scale::Atom as usize].resize(end, 0.0));
    }

    pub(crate) fn n_turns(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn n_sessions(&self) -> usize {
        self.first_place.len() - 1
    }

    /// Turn handles in chronological order.
    #[inline(always)]
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// By atom handle: its place, or [`DEAD`].
    #[inline(always)]
    pub(crate) fn place_of_atom(&self) -> &[u32] {
        &self.place_of_atom
    }

    /// By place: session number.
    #[inline(always)]
    pub(crate) fn session_of(&self) -> &[u32] {
        &self.session_of
    }

    /// Places of `place` and its `reach` neighbours on either side inside the session.
    #[inline(always)]
    pub(crate) fn window(&self, place: usize, reach: usize) -> core::ops::Range<usize> {
        let session = self.session_of.as_slice()[place] as usize;
        let first_place = self.first_place.as_slice();
        let (first, end) = (first_place[session] as usize, first_place[session + 1] as usize);
        let (from, to) = (place.saturating_sub(reach), place + reach + 1);
        (if from < first { first } else { from })..(if to < end { to } else { end })
    }

    /// Sums of `values`, one a place, over the `reach` neighbours on either side inside the session, up to [`REACH`].
    pub(crate) fn window_sums(&self, values: &[f32], reach: usize) -> Vec<f32> {
        let mut sums = values.to_vec();
        for (distance, same) in (1..=reach).zip(&self.same_session) {
            if distance < values.len() {
                add_product(&mut sums, same, &values[distance..]);
                add_product(&mut sums[distance..], same, values);
            }
        }
        sums
    }

    pub(crate) fn lengths(&self, field: Field) -> &Lengths {
        &self.lengths[field as usize]
    }
}
