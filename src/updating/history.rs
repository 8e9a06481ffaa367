//! History of long-term memory: entries are made, read, and taken back. Pure functions over what the cube holds.

use core::fmt;

use litemap::LiteMap;

use super::conflict::slot_of;
use crate::config::{CAUSE_MAX_PAGES, Config};
use crate::error::{Error, ErrorCode};
use crate::id::{ChangeId, FactId, IdSource};
use crate::model::{Cause, Change, ChangeEntry, ChangeStep, Cube, Fact, LongTerm, Record, RecordKey, RecordKind};
use crate::order::sort_by_key;

/// Adds to a delta the entry that records it, and drops the oldest entries beyond `history_capacity`. A delta that changes no
/// record of long-term memory gets no entry.
///
/// The entry is never earlier than the last one: a clock that was set back counts as no time passed.
pub fn recorded(
    cube: &Cube,
    config: &Config,
    mut delta: Vec<Change>,
    cause: Cause,
    ids: &mut IdSource,
    now_ms: i64,
) -> Vec<Change> {
    let mut steps: Vec<ChangeStep> = Vec::new();
    for change in &delta {
        let key = change.key();
        let after = match change {
            Change::Put(record) => LongTerm::of(record),
            Change::Remove(_) => None,
        };
        if !matches!(key.kind, RecordKind::Fact | RecordKind::Profile | RecordKind::Trait) {
            continue;
        }
        match steps.iter_mut().find(|step| step.key == key) {
            Some(step) => step.after = after,
            None => steps.push(ChangeStep { key, before: cube.long_term_record(key), after }),
        }
    }
    steps.retain(|step| step.before != step.after);
    if steps.is_empty() {
        return delta;
    }
    let cause = match cause {
        Cause::Analysis { mut pages, model, step } => {
            pages.truncate(CAUSE_MAX_PAGES);
            Cause::Analysis { pages, model, step }
        }
        other => other,
    };
    let at_ms = cube.changes().map(|entry| entry.at_ms).max().map_or(now_ms, |last| last.max(now_ms));
    let surplus = (cube.n_changes() + 1).saturating_sub(config.history_capacity);
    if surplus > 0 {
        let oldest = in_order(cube).into_iter().take(surplus);
        delta.extend(oldest.map(|entry| Change::Remove(entry_key(entry.id))));
    }
    let id = ChangeId::from_raw(ids.next_raw());
    delta.push(Change::Put(Record::ChangeEntry(ChangeEntry { id, at_ms, cause, steps })));
    delta
}

fn entry_key(id: ChangeId) -> RecordKey {
    RecordKey { kind: RecordKind::ChangeEntry, id: id.raw() }
}

/// The key of a fact's record.
pub fn fact_key(id: FactId) -> RecordKey {
    RecordKey { kind: RecordKind::Fact, id: id.raw() }
}

fn in_order(cube: &Cube) -> Vec<&ChangeEntry> {
    let mut entries: Vec<_> = cube.changes().collect();
    sort_by_key(&mut entries, |entry| entry.order());
    entries
}

/// Every entry that is kept and touched a record, oldest first.
pub fn history(cube: &Cube, key: RecordKey) -> Vec<&ChangeEntry> {
    let mut entries = in_order(cube);
    entries.retain(|entry| entry.step(key).is_some());
    entries
}

/// Long-term memory as it was recorded at `at_ms`: what was believed then, closed facts too, by key. A record is as it was before
/// the first change after that time, or as it is now; before the oldest change that is kept, from its own time of recording on.
pub fn as_of(cube: &Cube, at_ms: i64) -> Vec<LongTerm> {
    let mut then: LiteMap<RecordKey, Option<LongTerm>> = LiteMap::new();
    for step in in_order(cube).into_iter().filter(|entry| entry.at_ms > at_ms).flat_map(|entry| &entry.steps) {
        if !then.contains_key(&step.key) {
            then.insert(step.key, step.before.clone());
        }
    }
    for record in cube.long_term() {
        let key = record.clone().into_record().key();
        if !then.contains_key(&key) {
            then.insert(key, Some(record));
        }
    }
    let was_there = |record: &&LongTerm| record.recorded_at_ms().is_none_or(|recorded| recorded <= at_ms);
    then.values().flatten().filter(was_there).cloned().collect()
}

/// Why a change cannot be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoError {
    /// There is no such change, or it is too old to be kept.
    Unknown(ChangeId),
    /// A later change rests on this one: it has touched the same record, or closed a fact in favour of one that would go, or
    /// filled the slot of one that would be open again, or removed what closed one that would be back.
    Later {
        /// The later change; undo it first. `None` where it is not kept.
        change: Option<ChangeId>,
        /// The record in the way.
        key: RecordKey,
    },
}

impl fmt::Display for UndoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(id) => write!(f, "no change {id} is kept"),
            Self::Later { change: Some(id), key } => {
                write!(f, "change {id} came later and rests on it ({:?} {:016x}): undo that first", key.kind, key.id)
            }
            Self::Later { change: None, key } => write!(f, "{:?} {:016x} rests on it", key.kind, key.id),
        }
    }
}

impl core::error::Error for UndoError {}

impl From<UndoError> for Error {
    fn from(error: UndoError) -> Self {
        let code = match error {
            UndoError::Unknown(_) => ErrorCode::NotFound,
            UndoError::Later { .. } => ErrorCode::Forbidden,
        };
        Self::new(code, error.to_string())
    }
}

/// The delta that takes a change back: every record it touched as it was before. To be passed through [`recorded`] with
/// [`Cause::Undo`]; undoing that does the change again. Refused where facts would be left with a dangling link or a slot with two
/// open facts.
///
/// # Errors
/// [`UndoError`], naming the later change that has to be undone first.
pub fn undo(cube: &Cube, id: ChangeId) -> Result<Vec<Change>, UndoError> {
    let entry = cube.change(id).ok_or(UndoError::Unknown(id))?;
    let later = |key| UndoError::Later {
        change: history(cube, key).into_iter().rfind(|other| other.order() > entry.order()).map(|other| other.id),
        key,
    };
    // Later changes that have been taken back themselves are not in the way.
    if let Some(step) = entry.steps.iter().find(|step| cube.long_term_record(step.key) != step.after) {
        return Err(later(step.key));
    }
    // Links and slots are judged by the facts as they would be: what the change itself wrote goes or is put back with it.
    let back = entry.steps.iter().filter_map(|step| match &step.before {
        Some(LongTerm::Fact(fact)) => Some(fact),
        _ => None,
    });
    let stays = |fact: &&Fact| entry.step(fact_key(fact.id)).is_none();
    let then: Vec<&Fact> = cube.facts().filter(stays).chain(back.clone()).collect();
    let gone = entry.steps.iter().filter(|step| step.before.is_none() && step.key.kind == RecordKind::Fact);
    for id in gone.map(|step| FactId::from_raw(step.key.id)) {
        if let Some(fact) = then.iter().find(|fact| fact.superseded_by == Some(id)) {
            return Err(later(fact_key(fact.id)));
        }
    }
    for fact in back {
        // What closed it may have gone since.
        let missing = fact.superseded_by.filter(|by| then.iter().all(|other| other.id != *by));
        if let Some(id) = missing.or_else(|| rival(&then, fact)) {
            return Err(later(fact_key(id)));
        }
    }
    Ok(entry.steps.iter().map(ChangeStep::inverse).collect())
}

/// Another open fact of the slot of an open one.
fn rival(facts: &[&Fact], fact: &Fact) -> Option<FactId> {
    let slot = slot_of(fact).filter(|_| fact.is_open())?;
    let mut others = facts.iter().filter(|other| other.is_open() && other.id != fact.id);
    others.find(|other| slot_of(other).as_ref() == Some(&slot)).map(|other| other.id)
}
