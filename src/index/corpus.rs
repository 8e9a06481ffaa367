//! The index of one memory: turns with their atoms, words and vectors, under one roof.

use std::sync::OnceLock;

use super::bm25::Field;
use super::columns::{Atoms, Speakers, Turns};
use super::layout::{DEAD, Layout};
use super::lexical::Lexical;
use super::session::Sessions;
use super::vector::TurnVectors;
use crate::error::{Error, Result};
use crate::id::{SessionId, Side, TurnId};
use crate::map::HashMap;
use crate::model::{Space, TurnUnits};
use crate::order::sort;
use crate::time::Timestamp;

/// A turn as the index takes it. Nothing of it is kept but numbers and the dictionary of its words.
#[derive(Clone, Copy, Debug)]
pub struct NewTurn<'a> {
    /// The turn; one already indexed under this id is replaced.
    pub id: TurnId,
    /// Its session.
    pub session: SessionId,
    /// When it was said. A turn without a time stands after the last one of its session.
    pub time: Option<Timestamp>,
    /// The speaker's label; empty when unknown.
    pub speaker: &'a str,
    /// Its text, which `units` point into.
    pub text: &'a str,
    /// Its atoms, made from `text`.
    pub units: &'a TurnUnits,
    /// Its vector in the index's embedding space, any length but zero; `None` while it is not embedded.
    pub vector: Option<&'a [f32]>,
}

/// Dead atoms from which [`Index::remove`] compacts, once they outnumber the live ones: each atom is then moved a bounded
/// number of times over the life of a memory.
const COMPACT_ATOMS: usize = 1024;

/// The largest number of atoms the histogram of assistant turns tells apart.
const HISTOGRAM: usize = 64;

/// Search index of one scope: turns, atoms, dictionary, postings, vectors, sessions.
///
/// Turns and atoms are named by u32 handles inside; handles change when the index compacts itself, so they are good only
/// until the next change. The order of insertion does not matter beyond turns of equal time.
#[derive(Debug)]
pub struct Index {
    pub(crate) turns: Turns,
    pub(crate) atoms: Atoms,
    pub(crate) lexical: Lexical,
    pub(crate) vectors: TurnVectors,
    pub(crate) sessions: Sessions,
    pub(crate) speakers: Speakers,
    by_id: HashMap<TurnId, u32>,
    /// By table row: live turns that name it.
    row_df: Vec<u32>,
    /// By number of atoms, up to [`HISTOGRAM`]: live turns of the assistant.
    assistant_atoms: [u32; HISTOGRAM + 1],
    n_live_atoms: usize,
    layout: OnceLock<Layout>,
}

impl Default for Index {
    /// Without an embedding space.
    fn default() -> Self {
        Self::new(None)
    }
}

impl Index {
    /// An empty index whose turn vectors are of `space`; `None` without an embedder.
    pub fn new(space: Option<Space>) -> Self {
        Self {
            turns: Turns::default(),
            atoms: Atoms::default(),
            lexical: Lexical::default(),
            vectors: TurnVectors::new(space),
            sessions: Sessions::default(),
            speakers: Speakers::default(),
            by_id: HashMap::new(),
            row_df: Vec::new(),
            assistant_atoms: [0; HISTOGRAM + 1],
            n_live_atoms: 0,
            layout: OnceLock::new(),
        }
    }

    /// Adds or replaces a turn.
    ///
    /// # Errors
    /// Only about the vector: `DIMENSION_MISMATCH` or `INVALID_ARGUMENT` (not finite, zero). The turn is indexed all the
    /// same, without a vector, and is found by keyword.
    pub fn insert(&mut self, new: NewTurn<'_>) -> Result<()> {
        self.remove(new.id);
        let turn = self.turns.id.len() as u32;
        let speaker = self.speakers.intern(new.speaker);
        self.speakers.n_turns[speaker as usize] += 1;
        self.turns.key.push(new.time.map_or_else(|| self.last_key(new.session), |time| time.epoch_ms));
        self.turns.id.push(new.id);
        self.turns.speaker.push(speaker);
        self.turns.date.push(new.time.and_then(Timestamp::local_date));
        self.turns.label_tokens.push(new.units.label_tokens);
        self.turns.live.push(true);
        for atom in &new.units.atoms {
            self.atoms.push((atom.start, atom.end), atom.cues, atom.cost_tokens, new.units.label_tokens, &atom.rows);
            self.lexical.push_atom(new.text.get(atom.start as usize..atom.end as usize).unwrap_or_default());
        }
        self.turns.first_atom.push(self.atoms.span.len() as u32);
        let (session, at) = self.sessions.insert(new.session, turn, &self.turns.key);
        self.turns.session.push(session);
        self.by_id.insert(new.id, turn);
        self.vectors.push_empty();
        self.count(turn, true);
        let atoms = self.atoms_of(turn);
        let comes_last = at + 1 == self.sessions.turns(session).len() && self.sessions.order().last() == Some(&session);
        match self.layout.get_mut() {
            Some(layout) if comes_last => layout.push(turn, atoms, at == 0, &self.lexical),
            _ => drop(self.layout.take()),
        }
        let set = new.vector.map_or(Ok(()), |vector| self.vectors.set(turn, vector));
        self.vectors.repair(self.sessions.turns(session), at);
        set
    }

    /// Takes a turn out; `false` when it is not indexed. Every later score is that of an index which never held it.
    pub fn remove(&mut self, id: TurnId) -> bool {
        let Some(turn) = self.by_id.remove(&id) else { return false };
        let session = self.turns.session[turn as usize];
        self.turns.live[turn as usize] = false;
        self.speakers.n_turns[self.turns.speaker[turn as usize] as usize] -= 1;
        self.count(turn, false);
        self.vectors.remove(turn);
        if let Some(at) = self.sessions.remove(session, turn, &self.turns.key) {
            // The neighbours that closed up stand at `at` and before it.
            self.vectors.repair(self.sessions.turns(session), at);
        }
        self.layout.take();
        let n_dead = self.atoms.span.len() - self.n_live_atoms;
        if n_dead >= COMPACT_ATOMS && n_dead > self.n_live_atoms {
            self.compact();
        }
        true
    }

    /// Sets or replaces the vector of a turn.
    ///
    /// # Errors
    /// `NOT_FOUND` for a turn that is not indexed, `DIMENSION_MISMATCH`, and `INVALID_ARGUMENT` for a vector that is zero or
    /// not finite. Nothing is changed then.
    pub fn set_vector(&mut self, id: TurnId, vector: &[f32]) -> Result<()> {
        let turn = self
            .handle(id)
            .ok_or_else(|| Error::new(crate::ErrorCode::NotFound, format!("turn {id} is not indexed")))?;
        self.vectors.set(turn, vector)?;
        let session = self.turns.session[turn as usize];
        if let Some(at) = self.sessions.place(session, turn, &self.turns.key) {
            self.vectors.repair(self.sessions.turns(session), at);
        }
        Ok(())
    }

    /// Drops all vectors and enters another embedding space. Turns stay findable by keyword meanwhile.
    pub fn reset_vectors(&mut self, space: Option<Space>) {
        self.vectors = TurnVectors::new(space);
        (0..self.turns.id.len()).for_each(|_| self.vectors.push_empty());
    }

    /// The embedding space of the turn vectors; `None` without an embedder.
    pub fn space(&self) -> Option<&Space> {
        self.vectors.space()
    }

    /// The unit vector of a turn; `None` if it has none, or is not indexed.
    pub fn vector(&self, id: TurnId) -> Option<&[f32]> {
        self.vectors.get(self.handle(id)?)
    }

    /// Share of the indexed turns, 0 to 1, that hold a term of the stems field: a stem, a bigram or a lone character.
    pub fn document_share(&self, term: &str) -> f32 {
        let Some(term) = self.lexical.term(Field::Stems, term) else { return 0.0 };
        let layout = self.layout();
        let place_of_atom = layout.place_of_atom();
        let mut holds = vec![false; layout.n_turns()];
        let mut n_live = 0u32;
        self.lexical.for_each_occurrence(Field::Stems, term, &mut |atom, _| {
            let place = place_of_atom[atom as usize];
            if place != DEAD && !core::mem::replace(&mut holds[place as usize], true) {
                n_live += 1;
            }
        });
        n_live as f32 / self.len().max(1) as f32
    }

    /// Distinct words known.
    pub fn n_words(&self) -> usize {
        self.lexical.n_forms()
    }

    /// Indexed turns.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether no turn is indexed.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Indexed turns that have a vector.
    pub fn n_vectors(&self) -> usize {
        self.vectors.n_live()
    }

    /// Indexed turns that have no vector, in chronological order.
    pub fn without_vector(&self) -> impl Iterator<Item = TurnId> {
        self.layout().order().iter().filter(|&&turn| !self.vectors.has(turn)).map(|&turn| self.id(turn))
    }

    /// Atoms of the indexed turns.
    pub fn n_atoms(&self) -> usize {
        self.n_live_atoms
    }

    /// Whether a turn is indexed.
    pub fn contains(&self, id: TurnId) -> bool {
        self.by_id.contains_key(&id)
    }

    /// The handle of a turn, good until the next change.
    pub fn handle(&self, id: TurnId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// The turn of a handle.
    ///
    /// # Panics
    /// For a number that is no handle.
    pub fn id(&self, turn: u32) -> TurnId {
        self.turns.id[turn as usize]
    }

    /// The session of a turn handle.
    ///
    /// # Panics
    /// For a number that is no handle.
    pub fn session_of(&self, turn: u32) -> SessionId {
        self.sessions.id(self.turns.session[turn as usize])
    }

    /// Live turns of a session, in order; none for a session that is not known.
    pub fn session_turns(&self, session: SessionId) -> impl Iterator<Item = TurnId> {
        let turns = self.sessions.get(session).map_or(&[][..], |session| self.sessions.turns(session));
        turns.iter().map(|&turn| self.id(turn))
    }

    /// Sessions with live turns, in order of their first turn.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.sessions.order().iter().map(|&session| self.sessions.id(session))
    }

    /// Half the sum of the two middle atom counts of the assistant's turns, that is their median; `None` without any.
    pub fn median_assistant_atoms(&self) -> Option<f32> {
        let n: u32 = self.assistant_atoms.iter().sum();
        let nth = |rank: u32| {
            let mut below = 0;
            self.assistant_atoms.iter().position(|&count| {
                below += count;
                below > rank
            })
        };
        Some((nth(n.checked_sub(1)? / 2)? + nth(n / 2)?) as f32 / 2.0)
    }

    /// Live turns that name a table row.
    pub(crate) fn row_df(&self, row: u16) -> u32 {
        self.row_df.get(row as usize).copied().unwrap_or(0)
    }

    /// Atom handles of a turn handle.
    #[inline(always)]
    pub(crate) fn atoms_of(&self, turn: u32) -> core::ops::Range<u32> {
        let first_atom = self.turns.first_atom.as_slice();
        first_atom[turn as usize]..first_atom[turn as usize + 1]
    }

    /// The chronological view; built when it is first asked for after a change.
    pub(crate) fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| Layout::new(&self.sessions, &self.turns.first_atom, &self.lexical))
    }

    /// The time key of a turn without a time: that of its session's last turn, else of the last session's first.
    fn last_key(&self, session: SessionId) -> i64 {
        let own = self.sessions.get(session).and_then(|session| self.sessions.turns(session).last());
        let last = || self.sessions.order().last().and_then(|&session| self.sessions.turns(session).first());
        own.or_else(last).map_or(i64::MIN, |&turn| self.turns.key[turn as usize])
    }

    /// Counts a turn in or out of what is known about all.
    fn count(&mut self, turn: u32, enters: bool) {
        let atoms = self.atoms_of(turn);
        let step = |count: &mut u32| if enters { *count += 1 } else { *count -= 1 };
        if self.turns.id[turn as usize].side == Side::Agent {
            step(&mut self.assistant_atoms[atoms.len().min(HISTOGRAM)]);
        }
        if enters {
            self.n_live_atoms += atoms.len();
        } else {
            self.n_live_atoms -= atoms.len();
        }
        let mut rows: Vec<u16> = atoms.flat_map(|atom| self.atoms.rows(atom)).copied().collect();
        sort(&mut rows);
        rows.dedup();
        if let Some(&last) = rows.last() {
            self.row_df.resize(self.row_df.len().max(usize::from(last) + 1), 0);
        }
        rows.into_iter().for_each(|row| step(&mut self.row_df[usize::from(row)]));
    }

    /// Drops what removed turns left behind. Handles change.
    fn compact(&mut self) {
        let kept: Vec<u32> = (0..self.turns.id.len() as u32).filter(|&turn| self.turns.live[turn as usize]).collect();
        let (old_turns, old_atoms) = (core::mem::take(&mut self.turns), core::mem::take(&mut self.atoms));
        let session_ids: Vec<SessionId> =
            kept.iter().map(|&old| self.sessions.id(old_turns.session[old as usize])).collect();
        let mut renumbered = vec![None; old_atoms.span.len()];
        let old_speakers = core::mem::take(&mut self.speakers);
        self.sessions.clear();
        self.by_id.clear();
        for ((turn, &old), session) in (0u32..).zip(&kept).zip(session_ids) {
            let label_tokens = old_turns.label_tokens[old as usize];
            for old in old_turns.first_atom[old as usize]..old_turns.first_atom[old as usize + 1] {
                renumbered[old as usize] = Some(self.atoms.span.len() as u32);
                let rows = old_atoms.rows(old);
                let old = old as usize;
                let (span, cues, cost) = (old_atoms.span[old], old_atoms.cues[old], old_atoms.cost_tokens[old]);
                self.atoms.push(span, cues, cost, label_tokens, rows);
            }
            let old = old as usize;
            self.turns.first_atom.push(self.atoms.span.len() as u32);
            self.turns.id.push(old_turns.id[old]);
            let speaker = self.speakers.intern(old_speakers.labels.text(old_turns.speaker[old]));
            self.speakers.n_turns[speaker as usize] += 1;
            self.turns.speaker.push(speaker);
            self.turns.date.push(old_turns.date[old]);
            self.turns.label_tokens.push(label_tokens);
            self.turns.key.push(old_turns.key[old]);
            self.turns.live.push(true);
            let (session, _) = self.sessions.insert(session, turn, &self.turns.key);
            self.turns.session.push(session);
            self.by_id.insert(old_turns.id[old], turn);
        }
        self.lexical.compact(&renumbered);
        self.vectors.retain(&kept);
        self.layout.take();
    }
}
