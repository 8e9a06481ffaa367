//! Long-term memory: from checked candidate facts to a delta (MemoryOS, 3.2.3: user knowledge base, agent traits).
//!
//! Facts about the user, the assistant and others stand in a queue each. Deviation: the paper's queues drop what came first;
//! here repetitions refresh, contradictions supersede, and what is over the capacity is archived, the least useful first,
//! because a queue that drops its head forgets the user's home for the hundredth trifle. `firstIn` selects the paper's order.

use xxhash_rust::xxh32::xxh32;

use super::conflict::{Settled, join_evidence, retract, settle, slot_of};
use super::history::recorded;
use super::slot::{Slot, compared_value};
use crate::config::{
    ATTRIBUTE_MAX_CHARS, Config, FACTS_PER_WRITE, KnowledgeEviction, QUOTE_MAX_CHARS, VALUE_MAX_CHARS,
};
use crate::error::{Error, ErrorCode, Result};
use crate::id::{FactId, IdSource, Side};
use crate::map::HashMap;
use crate::model::{CandidateFact, Cause, Change, Cube, Evidence, Fact, FactKind, FactSource, Record, Subject};
use crate::order::sort_by;
use crate::time::Timestamp;

/// Slots of the static user profile (MemoryOS, 3.1).
const STATIC_FIELDS: [&str; 3] = ["name", "gender", "birth year"];

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A new fact that is believed.
    Added(FactId),
    /// A new fact, closed at once by a later one or one that outranks it.
    AddedClosed(FactId),
    /// It says what this fact says.
    Refreshed(FactId),
    /// Not remembered.
    Refused(Refusal),
}

/// Why a candidate is not remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Attribute, value or the subject's name is blank.
    Blank,
    /// Attribute, value or the subject's name is too long.
    TooLong,
    /// No quotation supports it.
    NoEvidence,
    /// It is about the user and rests on the assistant's words alone (a recommendation is no fact about the user).
    NotSaidByUser,
    /// A birth year without a year from 1850 to 2100.
    NoYear,
    /// `closures_per_write` facts are closed already.
    TooManyClosed,
    /// [`FACTS_PER_WRITE`] candidates were taken already.
    TooMany,
    /// The user has deleted it.
    Denied,
}

/// What was learnt.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The changes, with the entry of history.
    pub delta: Vec<Change>,
    /// One outcome a candidate, in their order.
    pub outcomes: Vec<Outcome>,
}

/// Facts as they will be after the delta, by slot.
struct Board {
    facts: Vec<Fact>,
    changed: Vec<bool>,
    slots: HashMap<Slot, Vec<usize>>,
}

impl Board {
    fn new(cube: &Cube) -> Self {
        let mut board = Self { facts: Vec::new(), changed: Vec::new(), slots: HashMap::new() };
        cube.facts().for_each(|fact| board.push(fact.clone(), false));
        board
    }

    fn put(&mut self, fact: Fact) {
        match self.facts.iter().position(|known| known.id == fact.id) {
            Some(at) => {
                self.changed[at] |= self.facts[at] != fact;
                self.facts[at] = fact;
            }
            None => self.push(fact, true),
        }
    }

    fn push(&mut self, fact: Fact, changed: bool) {
        if let Some(slot) = slot_of(&fact) {
            self.slots.get_or_insert_with(slot, Default::default).push(self.facts.len());
        }
        self.facts.push(fact);
        self.changed.push(changed);
    }

    fn write(&mut self, fact: Fact, closures: &mut usize) -> Outcome {
        let id = fact.id;
        let peers: Vec<&Fact> = match slot_of(&fact).and_then(|slot| self.slots.get(&slot)) {
            Some(peers) => peers.iter().map(|&at| &self.facts[at]).collect(),
            None => Vec::new(),
        };
        match settle(fact, &peers, *closures) {
            Settled::Current { fact, closed } => {
                *closures -= closed.len();
                closed.into_iter().for_each(|fact| self.put(fact));
                self.put(fact);
                Outcome::Added(id)
            }
            Settled::Superseded(fact) => {
                self.put(fact);
                Outcome::AddedClosed(id)
            }
            Settled::Refreshed(fact) => {
                let id = fact.id;
                self.put(fact);
                Outcome::Refreshed(id)
            }
            Settled::TooManyClosed => Outcome::Refused(Refusal::TooManyClosed),
        }
    }

    /// Archives what is over the capacity of each queue. What the user entered and what this write touched goes last.
    fn shrink(&mut self, config: &Config) {
        for queue in 0..3 {
            let in_queue = |fact: &Fact| fact.is_open() && !fact.archived && queue_of(&fact.subject) == queue;
            let mut open: Vec<usize> = (0..self.facts.len())
                .filter(|&at| in_queue(&self.facts[at]) && static_field(&self.facts[at]).is_none())
                .collect();
            let surplus = open.len().saturating_sub(config.knowledge_capacity);
            let first_in = config.knowledge_eviction == KnowledgeEviction::FirstIn;
            let rank = |at: usize| {
                let fact = &self.facts[at];
                let edited = fact.authority() == FactSource::Edited;
                let support = fact.confidence * fact.evidence.len().max(1) as f32;
                match first_in {
                    true => (edited, false, false, 0.0, fact.recorded_at_ms, fact.id),
                    false => {
                        let stated = fact.source == FactSource::Stated;
                        (edited, self.changed[at], stated, support, fact.last_said().epoch_ms, fact.id)
                    }
                }
            };
            if surplus > 0 {
                sort_by(&mut open, |&a, &b| {
                    let (a, b) = (rank(a), rank(b));
                    (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)).then(a.3.total_cmp(&b.3)).then((a.4, a.5).cmp(&(b.4, b.5)))
                });
            }
            for at in open.into_iter().take(surplus) {
                self.facts[at].archived = true;
                self.changed[at] = true;
            }
        }
    }

    fn into_delta(self) -> Vec<Change> {
        let changed = self.facts.into_iter().zip(self.changed).filter(|(_, changed)| *changed);
        changed.map(|(fact, _)| Change::Put(Record::Fact(fact))).collect()
    }
}

fn queue_of(subject: &Subject) -> usize {
    match subject {
        Subject::User => 0,
        Subject::Assistant => 1,
        Subject::Named(_) => 2,
    }
}

/// Learns facts: repetitions refresh, contradictions are settled by [`conflict`](super::conflict), queues keep their capacity.
/// Each candidate sees the ones before it.
pub fn learn(
    cube: &Cube,
    config: &Config,
    candidates: &[CandidateFact],
    cause: Cause,
    ids: &mut IdSource,
    now_ms: i64,
) -> Learned {
    let mut board = Board::new(cube);
    let mut closures = config.closures_per_write;
    let mut outcomes = Vec::with_capacity(candidates.len());
    for (at, candidate) in candidates.iter().enumerate() {
        let mut ahead = *ids;
        let checked = match at < FACTS_PER_WRITE {
            true => fact_of(candidate, FactId::from_raw(ahead.next_raw()), now_ms).and_then(|fact| {
                let denied = fact.source != FactSource::Edited && cube.is_denied(digest(&fact));
                if denied { Err(Refusal::Denied) } else { Ok(fact) }
            }),
            false => Err(Refusal::TooMany),
        };
        let outcome = match checked {
            Ok(fact) => board.write(fact, &mut closures),
            Err(refusal) => Outcome::Refused(refusal),
        };
        if matches!(outcome, Outcome::Added(_) | Outcome::AddedClosed(_)) {
            *ids = ahead;
        }
        outcomes.push(outcome);
    }
    board.shrink(config);
    Learned { delta: recorded(cube, config, board.into_delta(), cause, ids, now_ms), outcomes }
}

/// The fact that a candidate becomes, checked.
fn fact_of(candidate: &CandidateFact, id: FactId, now_ms: i64) -> Result<Fact, Refusal> {
    let (attribute, value) = (candidate.attribute.trim(), candidate.value.trim());
    let name = match &candidate.subject {
        Subject::Named(name) => name.trim(),
        Subject::User | Subject::Assistant => "user or assistant",
    };
    if [attribute, value, name].iter().any(|text| text.is_empty()) {
        return Err(Refusal::Blank);
    }
    let is_longer = |text: &str, most: usize| text.chars().nth(most).is_some();
    if is_longer(attribute, ATTRIBUTE_MAX_CHARS)
        || is_longer(value, VALUE_MAX_CHARS)
        || is_longer(name, ATTRIBUTE_MAX_CHARS)
    {
        return Err(Refusal::TooLong);
    }
    if candidate.source != FactSource::Edited {
        if candidate.evidence.is_empty() {
            return Err(Refusal::NoEvidence);
        }
        let by_user = candidate.evidence.iter().any(|of| of.turn.side == Side::User);
        if candidate.subject == Subject::User && !by_user {
            return Err(Refusal::NotSaidByUser);
        }
    }
    let share = |of: f32| if of.is_nan() { 0.0 } else { of.clamp(0.0, 1.0) };
    let mut fact = Fact {
        id,
        subject: candidate.subject.clone(),
        attribute: attribute.into(),
        value: value.into(),
        kind: candidate.kind,
        source: candidate.source,
        confidence: share(candidate.confidence),
        trust: share(candidate.trust),
        valid_from: candidate.valid_from,
        since: candidate.since.clone(),
        confirmed: None,
        valid_to: None,
        recorded_at_ms: now_ms,
        superseded_by: None,
        reason: None,
        archived: false,
        pinned: false,
        never_recall: false,
        evidence: Vec::new(),
    };
    let cut = |of: &Evidence| Evidence { turn: of.turn, quote: of.quote.chars().take(QUOTE_MAX_CHARS).collect() };
    join_evidence(&mut fact.evidence, &candidate.evidence.iter().map(cut).collect::<Vec<_>>());
    if let Some(field) = static_field(&fact) {
        fact.attribute = field.into();
        // A static field holds one value whatever sort the candidate claimed to be.
        fact.kind = FactKind::Knowledge;
        if field == "birth year" {
            fact.value = year_in(&fact.value).ok_or(Refusal::NoYear)?;
        }
    }
    Ok(fact)
}

/// By what a deleted fact is known again: subject, attribute and value, normalised.
pub fn digest(fact: &Fact) -> u64 {
    let slot = slot_of(fact).map(|slot| slot.attribute().to_owned());
    let value = compared_value(fact.kind, &fact.attribute, &fact.value);
    let text = format!("{:?}\n{:?}\n{value}", fact.subject, slot.as_deref().unwrap_or(&fact.attribute));
    u64::from(xxh32(text.as_bytes(), 0)) << 32 | u64::from(xxh32(text.as_bytes(), 1))
}

/// The first number of four digits that can be a year of birth.
fn year_in(value: &str) -> Option<String> {
    let mut numbers = value.split(|c: char| !c.is_ascii_digit()).filter(|number| number.len() == 4);
    numbers.find(|number| ("1850"..="2100").contains(number)).map(Into::into)
}

/// Which field of the static user profile a fact fills.
pub fn static_field(fact: &Fact) -> Option<&'static str> {
    if fact.subject != Subject::User {
        return None;
    }
    let slot = super::slot::slot(&fact.subject, FactKind::Knowledge, &fact.attribute, &fact.value)?;
    STATIC_FIELDS.into_iter().find(|field| *field == slot.attribute())
}

/// The static user profile (MemoryOS, 3.1): what is believed now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StaticProfile<'a> {
    /// The user's name.
    pub name: Option<&'a Fact>,
    /// The user's gender.
    pub gender: Option<&'a Fact>,
    /// The user's year of birth, four digits.
    pub birth_year: Option<&'a Fact>,
}

/// Reads the static profile from the facts of its slots.
pub fn static_profile(cube: &Cube) -> StaticProfile<'_> {
    let mut profile = StaticProfile::default();
    for fact in cube.facts().filter(|fact| fact.is_open()) {
        match static_field(fact) {
            Some("name") => profile.name = Some(fact),
            Some("gender") => profile.gender = Some(fact),
            Some(_) => profile.birth_year = Some(fact),
            None => {}
        }
    }
    profile
}

/// Takes facts of another memory in: a slot that is filled here keeps one open fact, whichever outranks the other; one that says
/// the same refreshes it, and what it had closed is closed by that.
pub fn adopt(cube: &Cube, facts: Vec<Fact>) -> Vec<Change> {
    let mut board = Board::new(cube);
    let mut same: HashMap<FactId, FactId> = HashMap::new();
    let (open, closed): (Vec<Fact>, Vec<Fact>) = facts.into_iter().partition(Fact::is_open);
    let mut closures = usize::MAX;
    for fact in open {
        let id = fact.id;
        if let Outcome::Refreshed(known) = board.write(fact, &mut closures) {
            same.insert(id, known);
        }
    }
    for fact in closed {
        let superseded_by = fact.superseded_by.map(|by| same.get(&by).copied().unwrap_or(by));
        board.put(Fact { superseded_by, ..fact });
    }
    board.into_delta()
}

/// Pins a fact, or takes the pin out. Pinned it outranks what is said and inferred later, and is archived last.
///
/// # Errors
/// `NOT_FOUND` for an unknown id, `INVALID_ARGUMENT` for a fact that is closed.
pub fn pin(
    cube: &Cube,
    config: &Config,
    id: FactId,
    pinned: bool,
    ids: &mut IdSource,
    now_ms: i64,
) -> Result<Vec<Change>> {
    let fact = open_fact(cube, id)?;
    Ok(written(cube, config, Fact { pinned, archived: false, ..fact.clone() }, ids, now_ms))
}

/// Keeps a fact out of every recall and prompt, or lets it in again.
///
/// # Errors
/// `NOT_FOUND` for an unknown id.
pub fn never_recall(
    cube: &Cube,
    config: &Config,
    id: FactId,
    never: bool,
    ids: &mut IdSource,
    now_ms: i64,
) -> Result<Vec<Change>> {
    Ok(written(cube, config, Fact { never_recall: never, ..known_fact(cube, id)?.clone() }, ids, now_ms))
}

/// Takes a fact back on the user's word: it is closed as of now, with nothing in its place.
///
/// # Errors
/// `NOT_FOUND` for an unknown id, `INVALID_ARGUMENT` for a fact that is closed.
pub fn take_back(cube: &Cube, config: &Config, id: FactId, ids: &mut IdSource, now: Timestamp) -> Result<Vec<Change>> {
    let closed = retract(open_fact(cube, id)?, now);
    Ok(written(cube, config, closed, ids, now.epoch_ms))
}

fn written(cube: &Cube, config: &Config, fact: Fact, ids: &mut IdSource, now_ms: i64) -> Vec<Change> {
    recorded(cube, config, vec![Change::Put(Record::Fact(fact))], Cause::User, ids, now_ms)
}

/// Corrects a fact in place, on the user's word; history keeps what it was. `corrected` is the fact as it shall be, of which
/// evidence and source do not count. What it then contradicts is closed; if it then says what another fact says, that one is
/// refreshed and this one closed. Returns the delta and the fact that holds now.
///
/// # Errors
/// `NOT_FOUND` for an unknown id; `INVALID_ARGUMENT` for a fact that is closed, and for one that could not be entered.
pub fn edit(
    cube: &Cube,
    config: &Config,
    id: FactId,
    corrected: CandidateFact,
    ids: &mut IdSource,
    now: Timestamp,
) -> Result<(Vec<Change>, FactId)> {
    let old = open_fact(cube, id)?;
    let candidate =
        CandidateFact { source: FactSource::Edited, evidence: old.evidence.clone(), confidence: 1.0, ..corrected };
    let fact = fact_of(&candidate, id, old.recorded_at_ms).map_err(Error::from)?;
    let fact = Fact { pinned: old.pinned, never_recall: old.never_recall, ..fact };
    let slot = slot_of(&fact);
    let peers: Vec<&Fact> = match &slot {
        Some(slot) => cube.facts().filter(|peer| peer.id != id && slot_of(peer).as_ref() == Some(slot)).collect(),
        None => Vec::new(),
    };
    let (delta, holds) = match settle(fact, &peers, usize::MAX) {
        Settled::Current { fact, closed } => (closed.into_iter().chain([fact]).collect(), id),
        Settled::Superseded(fact) => (vec![fact], id),
        Settled::Refreshed(other) => {
            let holds = other.id;
            (vec![retract(old, now), other], holds)
        }
        Settled::TooManyClosed => (Vec::new(), id),
    };
    let delta = delta.into_iter().map(|fact| Change::Put(Record::Fact(fact))).collect();
    Ok((recorded(cube, config, delta, Cause::User, ids, now.epoch_ms), holds))
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::invalid(match refusal {
            Refusal::Blank => "a fact needs a subject, an attribute and a value that say something",
            Refusal::TooLong => "attribute, value or name of the fact is too long",
            Refusal::NoEvidence | Refusal::NotSaidByUser => "no words of the user support the fact",
            Refusal::NoYear => "the birth year has no year from 1850 to 2100",
            Refusal::TooManyClosed | Refusal::TooMany => "too many facts would change at once",
            Refusal::Denied => "the fact was deleted",
        })
    }
}

fn known_fact(cube: &Cube, id: FactId) -> Result<&Fact> {
    cube.fact(id).ok_or_else(|| Error::new(ErrorCode::NotFound, format!("no fact {id} in this memory")))
}

fn open_fact(cube: &Cube, id: FactId) -> Result<&Fact> {
    let fact = known_fact(cube, id)?;
    if fact.is_open() { Ok(fact) } else { Err(Error::invalid(format!("fact {id} is closed"))) }
}
