//! Turn vectors of one embedding space, and the lengths of their window sums.
//!
//! The vector of a window (a turn with its neighbours in the session) is the unit of the sum of its members' unit
//! vectors, so its cosine with a query is the sum of the members' cosines divided by the length of the sum. Only that
//! length is stored; it is repaired when a turn of the window comes or goes.

use super::{Arena, flat, kernel};
use crate::error::Result;
use crate::model::Space;

/// Turns on either side of a turn that its narrow and its wide window take in.
pub(crate) const WINDOWS: [usize; 2] = [1, 3];

/// Rows up to which cosines are exact. At 128 dimensions 4,096 rows are 2 MB of f32, still within a cache.
const EXACT_ROWS: usize = 4096;

/// Vectors by turn handle.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnVectors {
    /// `None` while there is no embedder.
    space: Option<Space>,
    arena: Arena,
    /// Length of the sum of each window of [`WINDOWS`], by turn handle.
    norms: Vec<[f32; 2]>,
}

impl TurnVectors {
    pub(crate) fn new(space: Option<Space>) -> Self {
        Self { arena: Arena::new(dimensions(space.as_ref())), space, norms: Vec::new() }
    }

    pub(crate) fn space(&self) -> Option<&Space> {
        self.space.as_ref()
    }

    pub(crate) fn n_live(&self) -> usize {
        self.arena.n_live()
    }

    pub(crate) fn has(&self, turn: u32) -> bool {
        self.arena.is_live(turn as usize)
    }

    /// Makes room for the next turn handle.
    pub(crate) fn push_empty(&mut self) {
        self.arena.push_empty();
        self.norms.push([0.0; 2]);
    }

    /// Sets or replaces the vector of `turn`; its windows are then to be repaired.
    pub(crate) fn set(&mut self, turn: u32, vector: &[f32]) -> Result<()> {
        self.arena.replace(turn as usize, vector)
    }

    pub(crate) fn remove(&mut self, turn: u32) {
        self.arena.remove(turn as usize);
        self.norms[turn as usize] = [0.0; 2];
    }

    /// Keeps the turns of `kept`, renumbered in that order.
    pub(crate) fn retain(&mut self, kept: &[u32]) {
        self.arena.retain(kept);
        self.norms = kept.iter().map(|&old| self.norms[old as usize]).collect();
    }

    /// Recomputes the windows that the place `at` of a session (its live turns, in order) lies in.
    pub(crate) fn repair(&mut self, session: &[u32], at: usize) {
        let reach = WINDOWS[1];
        let mut sum = vec![0f32; dimensions(self.space.as_ref())];
        for centre in at.saturating_sub(reach)..(at + reach + 1).min(session.len()) {
            for (window, reach) in WINDOWS.into_iter().enumerate() {
                sum.fill(0.0);
                for &turn in &session[centre.saturating_sub(reach)..(centre + reach + 1).min(session.len())] {
                    for (total, x) in sum.iter_mut().zip(self.arena.row(turn as usize)) {
                        *total += x;
                    }
                }
                self.norms[session[centre] as usize][window] = kernel::dot_f32(&sum, &sum).sqrt();
            }
        }
    }

    /// The unit vector of `turn`; `None` while it has none.
    pub(crate) fn get(&self, turn: u32) -> Option<&[f32]> {
        self.has(turn).then(|| self.arena.row(turn as usize))
    }

    /// Length of the window sum around `turn`.
    pub(crate) fn window_norm(&self, turn: u32, window: usize) -> f32 {
        self.norms[turn as usize][window]
    }

    /// Cosines of `query` with every turn handle; 0 for a turn without a vector.
    pub(crate) fn dots(&self, query: &[f32], out: &mut [f32]) -> Result<()> {
        flat::dots(&self.arena, query, EXACT_ROWS, out)
    }
}

fn dimensions(space: Option<&Space>) -> usize {
    space.map_or(0, |space| space.dimensions as usize)
}
