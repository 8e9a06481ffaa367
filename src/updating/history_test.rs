//! History of long-term memory: what was believed, what is taken back, what is forgotten.

#![allow(clippy::unwrap_used)]

use super::history::{UndoError, as_of, fact_key};
use super::long_term::{pin, take_back};
use super::long_term_test::{memory, said};
use super::unlearn::unlearn;
use crate::error::{Error, ErrorCode};
use crate::id::{ChangeId, FactId, PageId};
use crate::model::{CandidateFact, Change, Cube, FactSource, LongTerm};
use crate::time::Timestamp;

#[test]
fn b04_as_of_answers_with_what_was_believed() {
    let mut m = memory();
    let start = m.now_ms;
    m.learn(&[said("home city", "Lisbon", 10)]);
    m.learn(&[said("home city", "Berlin", 20)]);
    let open = |at| {
        let open = |record: LongTerm| match record {
            LongTerm::Fact(fact) if fact.is_open() => Some(fact.value),
            _ => None,
        };
        as_of(&m.cube, at).into_iter().filter_map(open).collect::<Vec<_>>()
    };
    assert_eq!(open(start - 1), [""; 0]);
    assert_eq!(open(start), ["Lisbon"]);
    assert_eq!(open(start + 1), ["Berlin"]);
    assert_eq!(as_of(&m.cube, i64::MAX), m.persona());
}

#[test]
fn b04_undo_names_the_later_change_in_the_way() {
    let mut m = memory();
    m.learn(&[said("home city", "Lisbon", 10)]);
    let first = m.last_change();
    let lisbon = m.cube.facts().next().unwrap().id;
    let pinned = pin(&m.cube, &m.config, lisbon, true, &mut m.ids, m.now_ms).unwrap();
    m.apply(pinned);
    let pin = m.last_change();
    assert_eq!(m.undo(first), Err(UndoError::Later { change: Some(pin), key: fact_key(lisbon) }));
    let error = Error::from(m.undo(first).unwrap_err());
    assert!(error.code() == ErrorCode::Forbidden && error.message().contains(&pin.to_string()), "{error}");
    let unknown = ChangeId::from_raw(77);
    assert_eq!(m.undo(unknown), Err(UndoError::Unknown(unknown)));
    // A fact that was closed in favour of this one would lose what replaced it.
    let mut m = memory();
    m.learn(&[said("home city", "Lisbon", 10)]);
    let first = m.last_change();
    m.learn(&[said("home city", "Porto", 5)]);
    assert!(matches!(m.undo(first), Err(UndoError::Later { change: Some(id), .. }) if id == m.last_change()));
}

#[test]
fn b04_undo_is_refused_where_one_fact_that_rests_on_it_goes_too_and_another_stays() {
    let inferred = |value, at| CandidateFact { source: FactSource::Inferred, ..said("home city", value, at) };
    let mut m = memory();
    m.learn(&[said("home city", "Lisbon", 10), inferred("Porto", 20)]);
    let first = m.last_change();
    m.learn(&[inferred("Porto", 30)]);
    let (second, again) = (m.last_change(), m.cube.facts().last().unwrap().id);
    assert_eq!(m.undo(first), Err(UndoError::Later { change: Some(second), key: fact_key(again) }));
    m.undo(second).unwrap();
    m.undo(first).unwrap();
    assert_eq!(m.persona(), []);
}

#[test]
fn b04_undo_brings_no_fact_back_without_the_one_that_closed_it() {
    let mut m = memory();
    m.learn(&[said("home city", "Lisbon", 10)]);
    let (lisbon, id) = (m.last_change(), m.cube.facts().next().unwrap().id);
    m.learn(&[said("home city", "Porto", 5)]);
    let both = m.persona();
    m.undo(m.last_change()).unwrap();
    let without_porto = m.last_change();
    m.undo(lisbon).unwrap();
    let without_lisbon = m.last_change();
    assert_eq!(m.undo(without_porto), Err(UndoError::Later { change: Some(without_lisbon), key: fact_key(id) }));
    m.undo(without_lisbon).unwrap();
    m.undo(without_porto).unwrap();
    assert_eq!(m.persona(), both);
}

#[test]
fn b04_taken_back_facts_stay_closed_and_come_back_by_undo() {
    let mut m = memory();
    m.learn(&[said("home city", "Lisbon", 10)]);
    let before = m.persona();
    let id = m.cube.facts().next().unwrap().id;
    let delta = take_back(&m.cube, &m.config, id, &mut m.ids, Timestamp::utc(m.now_ms)).unwrap();
    m.apply(delta);
    let taken_back = m.last_change();
    // The page is analysed again.
    m.learn(&[said("home city", "lisbon", 20)]);
    assert_eq!(m.cube.facts().filter(|fact| fact.is_open()).count(), 0);
    m.undo(m.last_change()).unwrap();
    m.undo(taken_back).unwrap();
    assert_eq!(m.persona(), before);
    let missing = take_back(&m.cube, &m.config, FactId::from_raw(9), &mut m.ids, Timestamp::utc(0));
    assert_eq!(missing.unwrap_err().code(), ErrorCode::NotFound);
}

#[test]
fn history_is_bounded_and_never_goes_back_in_time() {
    let mut m = memory();
    m.config.history_capacity = 3;
    for n in 0..9 {
        m.now_ms = 1_000 - n;
        m.learn(&[said("hobby", &format!("h{n}"), n)]);
    }
    let times: Vec<_> = m.cube.changes().map(|entry| entry.at_ms).collect();
    assert_eq!(times, [1_000; 3]);
}

#[test]
fn forgotten_pages_take_their_facts_and_the_words_of_history_with_them() {
    let mut m = memory();
    m.learn(&[said("home city", "Lisbon", 10), said("employer", "Acme", 10)]);
    m.learn(&[said("home city", "Berlin", 20), said("employer", "acme", 20)]);
    let unlearned = unlearn(&m.cube, &[PageId::from_raw(20)], &[]);
    let erased = unlearned.erase.iter().map(|&key| Change::Remove(key));
    m.apply(erased.chain(unlearned.rewritten.iter().cloned()).collect());
    assert_eq!(m.facts(), [("Lisbon", None, None), ("Acme", None, None)]);
    assert!(!format!("{:?}", m.cube).contains("words of 20"));
    assert_eq!(m.cube.n_changes(), 1);
    assert_eq!(as_of(&m.cube, i64::MAX), m.persona());
    // The last page takes the rest.
    let unlearned = unlearn(&m.cube, &[PageId::from_raw(10)], &[]);
    assert_eq!(unlearned.rewritten, []);
    m.apply(unlearned.erase.into_iter().map(Change::Remove).collect());
    assert_eq!(m.cube, Cube::default());
}
