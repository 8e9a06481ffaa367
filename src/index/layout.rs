//! The chronological view of the live turns that queries read: places, windows, session numbers and document lengths.
//!
//! It is a function of the index's contents, built at the first query after a change in time linear in turns and atoms.

use super::bm25::{B, K1, Scale};
use super::lexical::{Field, Lexical};
use super::session::Sessions;

/// The place of a turn that is not live.
pub(crate) const DEAD: u32 = u32::MAX;

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
    norms: [Norms; 2],
}

/// Length normalisation of one field, by scale.
#[derive(Clone, Debug, Default)]
pub(crate) struct Norms {
    /// Documents.
    pub(crate) n: [usize; 5],
    /// `K1 * (1 - B + B * length / mean length)` of each document.
    pub(crate) saturation: [Vec<f32>; 5],
}

impl Layout {
    /// `first_atom` has one entry a turn handle and one more at the end.
    pub(crate) fn new(sessions: &Sessions, first_atom: &[u32], lexical: &Lexical) -> Self {
        let n_atoms = first_atom[first_atom.len() - 1] as usize;
        let mut layout = Self { place_of_atom: vec![DEAD; n_atoms], ..Self::default() };
        for (number, &session) in (0u32..).zip(sessions.order()) {
            layout.first_place.push(layout.order.len() as u32);
            for &turn in sessions.turns(session) {
                let place = layout.order.len() as u32;
                let atoms = first_atom[turn as usize] as usize..first_atom[turn as usize + 1] as usize;
                layout.place_of_atom[atoms].fill(place);
                layout.order.push(turn);
                layout.session_of.push(number);
            }
        }
        layout.first_place.push(layout.order.len() as u32);
        layout.norms = [Field::Stems, Field::Grams].map(|field| layout.measure(field, lexical));
        layout
    }

    pub(crate) fn n_turns(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn n_sessions(&self) -> usize {
        self.first_place.len() - 1
    }

    /// Turn handles in chronological order.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    #[inline]
    pub(crate) fn place_of_atom(&self, atom: u32) -> u32 {
        self.place_of_atom[atom as usize]
    }

    #[inline]
    pub(crate) fn session_of_place(&self, place: usize) -> usize {
        self.session_of[place] as usize
    }

    /// Places of `place` and its `reach` neighbours on either side inside the session.
    #[inline]
    pub(crate) fn window(&self, place: usize, reach: usize) -> core::ops::Range<usize> {
        let session = self.session_of[place] as usize;
        let (first, end) = (self.first_place[session] as usize, self.first_place[session + 1] as usize);
        place.saturating_sub(reach).max(first)..(place + reach + 1).min(end)
    }

    pub(crate) fn norms(&self, field: Field) -> &Norms {
        &self.norms[field as usize]
    }

    fn measure(&self, field: Field, lexical: &Lexical) -> Norms {
        let mut lengths: [Vec<f32>; 5] = Default::default();
        let mut by_turn = vec![0f32; self.n_turns()];
        let mut by_atom = vec![0f32; self.place_of_atom.len()];
        let (mut n_atoms, mut total) = (0usize, 0f64);
        for (atom, &place) in (0u32..).zip(&self.place_of_atom) {
            if place != DEAD {
                let length = lexical.length(field, atom) as f32;
                by_atom[atom as usize] = length;
                by_turn[place as usize] += length;
                n_atoms += 1;
                total += f64::from(length);
            }
        }
        for scale in [Scale::Near1, Scale::Near3] {
            lengths[scale as usize] =
                (0..self.n_turns()).map(|place| by_turn[self.window(place, scale.reach())].iter().sum()).collect();
        }
        lengths[Scale::Session as usize] =
            self.first_place.windows(2).map(|ends| by_turn[ends[0] as usize..ends[1] as usize].iter().sum()).collect();
        lengths[Scale::Turn as usize] = by_turn;
        lengths[Scale::Atom as usize] = by_atom;
        let mut norms = Norms::default();
        for (scale, mut lengths) in lengths.into_iter().enumerate() {
            let is_atom = scale == Scale::Atom as usize;
            let n = if is_atom { n_atoms } else { lengths.len() };
            let sum = if is_atom { total } else { lengths.iter().map(|&x| f64::from(x)).sum() };
            let mean = (sum / n.max(1) as f64).max(1e-6) as f32;
            lengths.iter_mut().for_each(|length| *length = K1 * (1.0 - B + B * *length / mean));
            norms.n[scale] = n;
            norms.saturation[scale] = lengths;
        }
        norms
    }
}
