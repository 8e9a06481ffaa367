//! Sessions as ordered lists of turns, themselves in order.
//!
//! Turns of a session are ordered by (time, insertion), sessions by their first turn. A handle grows with every insertion,
//! so (time key, handle) is the whole order, and the order of what is left after a removal is that of a memory which
//! never held the removed turn.

use crate::id::SessionId;
use crate::map::HashMap;

/// All sessions that have a live turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sessions {
    /// By session handle; an emptied one stays until [`Sessions::rebuild`].
    records: Vec<Record>,
    by_id: HashMap<SessionId, u32>,
    /// Handles of the sessions with live turns, in order.
    order: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Record {
    id: SessionId,
    turns: Vec<u32>,
}

impl Sessions {
    /// Puts `turn` into its place; answers its session's handle and its place there. `keys` are the time keys of all turns.
    pub(crate) fn insert(&mut self, id: SessionId, turn: u32, keys: &[i64]) -> (u32, usize) {
        let session = *self.by_id.get_or_insert_with(id, || {
            self.records.push(Record { id, turns: Vec::new() });
            self.records.len() as u32 - 1
        });
        let turns = &self.records[session as usize].turns;
        let at = turns.partition_point(|&other| (keys[other as usize], other) < (keys[turn as usize], turn));
        if at > 0 {
            self.records[session as usize].turns.insert(at, turn);
        } else {
            self.leave_order(session, keys);
            self.records[session as usize].turns.insert(0, turn);
            self.enter_order(session, keys);
        }
        (session, at)
    }

    /// Takes `turn` out of `session`; answers the place it had.
    pub(crate) fn remove(&mut self, session: u32, turn: u32, keys: &[i64]) -> Option<usize> {
        let at = self.place(session, turn, keys)?;
        if at == 0 {
            self.leave_order(session, keys);
        }
        self.records[session as usize].turns.remove(at);
        if at == 0 {
            self.enter_order(session, keys);
        }
        Some(at)
    }

    /// Where `turn` stands in `session`.
    pub(crate) fn place(&self, session: u32, turn: u32, keys: &[i64]) -> Option<usize> {
        let turns = self.turns(session);
        let at = turns.partition_point(|&other| (keys[other as usize], other) < (keys[turn as usize], turn));
        (turns.get(at) == Some(&turn)).then_some(at)
    }

    /// Live turns of a session, in order.
    pub(crate) fn turns(&self, session: u32) -> &[u32] {
        &self.records[session as usize].turns
    }

    pub(crate) fn id(&self, session: u32) -> SessionId {
        self.records[session as usize].id
    }

    pub(crate) fn get(&self, id: SessionId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// Handles of the sessions with live turns, in order.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Starts anew; the caller inserts the kept turns again.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn first(&self, session: u32, keys: &[i64]) -> Option<(i64, u32)> {
        self.turns(session).first().map(|&turn| (keys[turn as usize], turn))
    }

    fn leave_order(&mut self, session: u32, keys: &[i64]) {
        if let Some(first) = self.first(session, keys) {
            let at = self.order.partition_point(|&other| self.first(other, keys) < Some(first));
            debug_assert_eq!(self.order.get(at), Some(&session));
            self.order.remove(at);
        }
    }

    fn enter_order(&mut self, session: u32, keys: &[i64]) {
        if let Some(first) = self.first(session, keys) {
            let at = self.order.partition_point(|&other| self.first(other, keys) < Some(first));
            self.order.insert(at, session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_dated_turns_move_their_session_and_removal_moves_it_back() {
        let (a, b) = (SessionId::from_raw(1), SessionId::from_raw(2));
        let keys = [50, 40, 60, 10, 50];
        let mut sessions = Sessions::default();
        assert_eq!(sessions.insert(a, 0, &keys), (0, 0));
        assert_eq!(sessions.insert(b, 1, &keys), (1, 0));
        assert_eq!(sessions.insert(a, 2, &keys), (0, 1));
        assert_eq!(sessions.order(), [1, 0]);
        assert_eq!(sessions.insert(a, 3, &keys), (0, 0), "earlier than all");
        assert_eq!(sessions.insert(a, 4, &keys), (0, 2), "after the earlier inserted of equal time");
        assert_eq!((sessions.turns(0), sessions.order()), (&[3, 0, 4, 2][..], &[0, 1][..]));
        assert_eq!(sessions.remove(0, 3, &keys), Some(0));
        assert_eq!(sessions.remove(0, 3, &keys), None);
        assert_eq!(sessions.order(), [1, 0]);
        assert_eq!(sessions.remove(1, 1, &keys), Some(0));
        assert_eq!(sessions.order(), [0], "an empty session has no place");
    }
}
