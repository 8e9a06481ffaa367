//! The conflict rule: which of the facts of one slot is believed.
//!
//! Of the open facts of a slot the current one has the highest [`Rank`]: what the user edited outranks what the user said, and
//! that what a model inferred; then the latest event time (`valid_from`, or a later repetition of it); then the latest
//! recording. The loser is closed with the time, the winner and the reason, never erased. Only facts of the slot are closed.
//!
//! A fact that says the same as the slot's open one refreshes it: evidence, confidence, event time of the last repetition. So
//! does one that falls into the time of a closed fact of the same value, which makes reading the same pages twice harmless.
//!
//! A back-dated fact is placed by event time: it closes nothing that begins later, and is itself closed at once by the first
//! later one. Facts that were closed before are left as they are, so their times may overlap; [`held_at`] takes the latest.
//!
//! Every link of `superseded_by` leads to a fact of higher rank, and the rank of a closed fact never changes: links never loop.

use super::slot::{Slot, compared_value, slot};
use crate::config::EVIDENCE_MAX;
use crate::id::FactId;
use crate::model::{Evidence, Fact, FactSource};
use crate::time::Timestamp;

/// Reason of a fact that a later one replaced.
pub const REASON_LATER: &str = "later";
/// Reason of a fact that one of a higher [`FactSource`] stands against.
pub const REASON_OUTRANKED: &str = "outranked";
/// Reason of a fact that the user took back.
pub const REASON_RETRACTED: &str = "retracted";

/// What decides a conflict, the highest wins: source, event time, time of recording, id.
pub type Rank = (FactSource, i64, i64, FactId);

/// The rank of a fact within its slot.
pub fn rank(fact: &Fact) -> Rank {
    (fact.authority(), fact.last_said().epoch_ms, fact.recorded_at_ms, fact.id)
}

/// The slot of a fact; `None` for one that is never merged.
pub fn slot_of(fact: &Fact) -> Option<Slot> {
    slot(&fact.subject, fact.kind, &fact.attribute, &fact.value)
}

/// What became of a fact that was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Settled {
    /// It is believed, and these facts, closed, give way to it.
    Current {
        /// The new fact.
        fact: Fact,
        /// The facts it closes, as they are afterwards.
        closed: Vec<Fact>,
    },
    /// It is kept, closed at once.
    Superseded(Fact),
    /// It says what this fact says already, which is refreshed.
    Refreshed(Fact),
    /// It would close more facts than are left to be closed; nothing is written.
    TooManyClosed,
}

/// Settles a new fact against `peers`: all facts of its slot, closed ones too. At most `closures` facts are closed.
pub fn settle(new: Fact, peers: &[&Fact], closures: usize) -> Settled {
    let value = value_of(&new);
    let same = |fact: &&&Fact| value_of(fact) == value;
    let open = || peers.iter().filter(|fact| fact.is_open());
    if let Some(known) = open().filter(same).max_by_key(|fact| rank(fact)) {
        return Settled::Refreshed(refreshed(known, &new));
    }
    let covers = |fact: &&&Fact| {
        let (start, at) = (fact.start().epoch_ms, new.start().epoch_ms);
        at == start || (start < at && fact.valid_to.is_some_and(|end| at < end.epoch_ms))
    };
    let closed = || peers.iter().filter(|fact| !fact.is_open());
    // The user may say again what was closed; a model that reads the same page again may not.
    if new.source != FactSource::Edited
        && let Some(known) = closed().filter(same).find(covers)
    {
        return Settled::Refreshed(supported(known, &new));
    }
    match open().max_by_key(|fact| rank(fact)) {
        Some(winner) if rank(winner) > rank(&new) => Settled::Superseded(placed(new, winner, peers)),
        _ if open().count() > closures => Settled::TooManyClosed,
        _ => {
            let closed = open().map(|fact| close((*fact).clone(), &new, new.start())).collect();
            Settled::Current { fact: new, closed }
        }
    }
}

/// The value of a fact as it is compared within its slot.
fn value_of(fact: &Fact) -> String {
    compared_value(fact.kind, &fact.attribute, &fact.value)
}

/// A back-dated or outranked fact, closed by the first fact that holds after it, or else by the winner.
fn placed(new: Fact, winner: &Fact, peers: &[&Fact]) -> Fact {
    let begins_later =
        |fact: &&&Fact| fact.authority() >= new.authority() && fact.start().epoch_ms > new.start().epoch_ms;
    // A value that the user took back was never replaced by anything, and replaces nothing.
    let next = peers.iter().filter(begins_later).filter(|fact| fact.reason.as_deref() != Some(REASON_RETRACTED));
    match next.min_by_key(|fact| (fact.start().epoch_ms, rank(fact))) {
        Some(next) => close(new, next, next.start()),
        None => close(new, winner, winner.last_said()),
    }
}

/// Closes `loser` in favour of `winner` at `end`, or where it begins if that is later: then it never held.
fn close(loser: Fact, winner: &Fact, end: Timestamp) -> Fact {
    let outranked = winner.authority() > loser.authority();
    Fact {
        valid_to: Some(loser.start().max(end)),
        superseded_by: Some(winner.id),
        reason: Some(if outranked { REASON_OUTRANKED } else { REASON_LATER }.into()),
        ..loser
    }
}

/// The fact, taken back by the user as of `now`.
pub fn retract(fact: &Fact, now: Timestamp) -> Fact {
    let reason = Some(REASON_RETRACTED.into());
    Fact { valid_to: Some(fact.start().max(now)), superseded_by: None, reason, ..fact.clone() }
}

/// An open fact that was said again: it can rise in source and event time, and comes back from the archive.
fn refreshed(known: &Fact, again: &Fact) -> Fact {
    let mut fact = supported(known, again);
    fact.source = known.source.max(again.source);
    if again.start().epoch_ms > known.last_said().epoch_ms {
        fact.confirmed = Some(again.start());
    }
    fact.archived = false;
    fact
}

/// A fact with the evidence of another that says the same. Each line of evidence stands alone, so the better trust holds, and
/// doubts multiply: the chance that both are wrong. Evidence that is known already changes nothing.
fn supported(known: &Fact, again: &Fact) -> Fact {
    let mut fact = known.clone();
    if again.evidence.iter().any(|of| !known.evidence.contains(of)) {
        let doubt = (1.0 - known.confidence) * (1.0 - again.confidence);
        fact.confidence = (1.0 - doubt).clamp(0.0, 0.99).max(known.confidence);
    } else {
        fact.confidence = known.confidence.max(again.confidence);
    }
    fact.trust = known.trust.max(again.trust);
    join_evidence(&mut fact.evidence, &again.evidence);
    fact
}

/// Adds quotations that are new; where there are too many, the first and the latest stay.
pub fn join_evidence(evidence: &mut Vec<Evidence>, more: &[Evidence]) {
    for of in more {
        if !evidence.contains(of) {
            evidence.push(of.clone());
        }
        if evidence.len() > EVIDENCE_MAX {
            evidence.remove(1);
        }
    }
}

/// The current fact among those of one slot: the open one of the highest rank.
pub fn current<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> Option<&'a Fact> {
    facts.into_iter().filter(|fact| fact.is_open()).max_by_key(|fact| rank(fact))
}

/// The fact of one slot that held at an event time, as is known now: of those whose time includes it, the latest to begin.
pub fn held_at<'a>(facts: impl IntoIterator<Item = &'a Fact>, at: Timestamp) -> Option<&'a Fact> {
    let at = at.epoch_ms;
    let holds = |fact: &&Fact| fact.start().epoch_ms <= at && fact.valid_to.is_none_or(|end| at < end.epoch_ms);
    facts
        .into_iter()
        .filter(holds)
        .max_by_key(|fact| (fact.authority(), fact.start().epoch_ms, fact.recorded_at_ms, fact.id))
}
