//! What the user does to long-term memory by hand: enter, correct, pin, take back, undo.

use super::commit::{Commit, commit};
use super::engine::Engine;
use super::event::Event;
use super::learn::persona_changed;
use super::persona_view::FactView;
use super::writer::Turn;
use crate::effect::Io;
use crate::error::{Error, ErrorCode, Result};
use crate::id::{ChangeId, FactId, IdSource, PageId, Side};
use crate::model::{CandidateFact, Cause, Change, Cube, FactKind, FactSource, Place, Record, Subject};
use crate::time::Timestamp;
use crate::updating::history::{recorded, undo as inverse};
use crate::updating::long_term::{self, Outcome};
use crate::updating::promotion::write_profile;

/// A fact as it is entered, or what of it is to change; `None` leaves it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactInput {
    /// Whom it is about; the user by default.
    pub subject: Option<Subject>,
    /// What it tells.
    pub attribute: Option<String>,
    /// The value.
    pub value: Option<String>,
    /// Its sort; knowledge by default.
    pub kind: Option<FactKind>,
    /// Since when; `Some(None)` makes it unknown.
    pub valid_from: Option<Option<Timestamp>>,
}

/// What one of these verbs changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Enters a fact.
    Add(FactInput),
    /// Corrects a fact.
    Edit(FactId, FactInput),
    /// Closes a fact with nothing in its place.
    Retract(FactId),
    /// Pins a fact, or takes the pin out.
    Pin(FactId, bool),
    /// Keeps a fact out of every recall, or lets it in again.
    NeverRecall(FactId, bool),
}

/// Does what the user wants with a fact, and returns the fact that holds now.
///
/// # Errors
/// `NOT_FOUND` for an unknown fact; `INVALID_ARGUMENT` for one that is closed, and for one that says nothing.
pub async fn act(engine: &Engine, io: &Io, act: Act, now_ms: i64) -> Result<FactView> {
    let turn = engine.write_turn().await?;
    let mut ids = engine.ids.get();
    let (delta, id) = delta(engine, &engine.cube.borrow(), act, &mut ids, now_ms)?;
    store(engine, io, &turn, delta, ids).await?;
    engine.fact(id)
}

fn delta(engine: &Engine, cube: &Cube, act: Act, ids: &mut IdSource, now_ms: i64) -> Result<(Vec<Change>, FactId)> {
    let config = &engine.options.config;
    let now = Timestamp::utc(now_ms);
    match act {
        Act::Add(input) => {
            let candidate = CandidateFact {
                subject: input.subject.unwrap_or(Subject::User),
                attribute: input.attribute.unwrap_or_default(),
                value: input.value.unwrap_or_default(),
                kind: input.kind.unwrap_or(FactKind::Knowledge),
                source: FactSource::Edited,
                confidence: 1.0,
                trust: 1.0,
                since: None,
                valid_from: input.valid_from.flatten().or(Some(now)),
                evidence: Vec::new(),
            };
            let learned = long_term::learn(cube, config, &[candidate], Cause::User, ids, now_ms);
            match learned.outcomes.first() {
                Some(&(Outcome::Added(id) | Outcome::AddedClosed(id) | Outcome::Refreshed(id))) => {
                    Ok((learned.delta, id))
                }
                Some(&Outcome::Refused(refusal)) => Err(refusal.into()),
                None => Err(Error::internal("a fact was learnt without an outcome")),
            }
        }
        Act::Edit(id, input) => {
            let missing = || Error::new(ErrorCode::NotFound, format!("no fact {id} in this memory"));
            let old = cube.fact(id).ok_or_else(missing)?;
            let valid_from = input.valid_from.unwrap_or(old.valid_from);
            let corrected = CandidateFact {
                subject: input.subject.unwrap_or_else(|| old.subject.clone()),
                attribute: input.attribute.unwrap_or_else(|| old.attribute.clone()),
                value: input.value.unwrap_or_else(|| old.value.clone()),
                kind: input.kind.unwrap_or(old.kind),
                source: FactSource::Edited,
                confidence: 1.0,
                trust: 1.0,
                since: old.since.clone().filter(|_| valid_from == old.valid_from),
                valid_from,
                evidence: Vec::new(),
            };
            long_term::edit(cube, config, id, corrected, ids, now)
        }
        Act::Retract(id) => Ok((long_term::take_back(cube, config, id, ids, now)?, id)),
        Act::Pin(id, pinned) => Ok((long_term::pin(cube, config, id, pinned, ids, now_ms)?, id)),
        Act::NeverRecall(id, never) => Ok((long_term::never_recall(cube, config, id, never, ids, now_ms)?, id)),
    }
}

/// Stores a change, if it is one, and tells of it.
async fn store(engine: &Engine, io: &Io, turn: &Turn<'_>, delta: Vec<Change>, ids: IdSource) -> Result<()> {
    if delta.is_empty() {
        return Ok(());
    }
    let events = persona_changed(&delta);
    commit(engine, io, turn, Commit::new(delta, ids)).await?;
    events.into_iter().for_each(|event| engine.emit(event));
    Ok(())
}

/// Takes a change of long-term memory back. The undoing is a change itself, whose id is returned.
///
/// # Errors
/// `NOT_FOUND` for a change that is not kept, `FORBIDDEN` where a later change rests on it.
pub async fn undo(engine: &Engine, io: &Io, change: ChangeId, now_ms: i64) -> Result<ChangeId> {
    let turn = engine.write_turn().await?;
    let mut ids = engine.ids.get();
    let delta = {
        let cube = engine.cube.borrow();
        let back = inverse(&cube, change)?;
        recorded(&cube, &engine.options.config, back, Cause::Undo(change), &mut ids, now_ms)
    };
    let entry = delta.iter().find_map(|change| match change {
        Change::Put(Record::ChangeEntry(entry)) => Some(entry.id),
        _ => None,
    });
    store(engine, io, &turn, delta, ids).await?;
    entry.ok_or_else(|| Error::internal("an undo left no entry of history"))
}

/// Writes the profile of the user or of the assistant by hand.
///
/// # Errors
/// `INVALID_ARGUMENT` for a blank text.
pub async fn set_profile(engine: &Engine, io: &Io, of: Side, text: &str, now_ms: i64) -> Result<()> {
    let turn = engine.write_turn().await?;
    let mut ids = engine.ids.get();
    let delta = {
        let cube = engine.cube.borrow();
        let written = write_profile(&cube, of, text, true, now_ms)?;
        recorded(&cube, &engine.options.config, written, Cause::User, &mut ids, now_ms)
    };
    store(engine, io, &turn, delta, ids).await
}

/// Keeps a page out of every recall, or lets it in again.
///
/// # Errors
/// `NOT_FOUND` for an unknown page.
pub async fn never_recall_page(engine: &Engine, io: &Io, page: PageId, never: bool) -> Result<()> {
    let turn = engine.write_turn().await?;
    let place = engine.cube.borrow().place(page).cloned();
    let place = place.ok_or_else(|| Error::new(ErrorCode::NotFound, format!("no page {page} in this memory")))?;
    let delta = vec![Change::Put(Record::Place(Place { never_recall: never, ..place }))];
    commit(engine, io, &turn, Commit::new(delta, engine.ids.get())).await?;
    engine.emit(Event::PageUpdated { page_id: page.to_string() });
    Ok(())
}
