//! Long-term memory as a whole: facts learned, contradicted, archived, taken back.

#![allow(clippy::unwrap_used)]

use hashbrown::{HashMap, HashSet};
use proptest::prelude::*;

use super::conflict::{REASON_LATER, REASON_OUTRANKED, held_at, slot_of};
use super::history::{UndoError, as_of, fact_key, history, recorded, undo};
use super::long_term::{Learned, Outcome, Refusal, learn, static_profile};
use crate::config::{Config, KnowledgeEviction};
use crate::id::{ChangeId, FactId, IdSource, PageId, Side, TurnId};
use crate::model::{CandidateFact, Cause, Change, Cube, Evidence, Fact, FactKind, FactSource, LongTerm, Subject};
use crate::time::Timestamp;

/// A memory whose clock goes on by one with every write.
pub(super) struct Memory {
    pub(super) cube: Cube,
    pub(super) config: Config,
    pub(super) ids: IdSource,
    pub(super) now_ms: i64,
}

pub(super) fn memory() -> Memory {
    Memory { cube: Cube::default(), config: Config::default(), ids: IdSource::new(1), now_ms: 1_000_000 }
}

/// What the user said at a time, in the page of that number.
pub(super) fn said(attribute: &str, value: &str, at: i64) -> CandidateFact {
    CandidateFact {
        subject: Subject::User,
        attribute: attribute.into(),
        value: value.into(),
        kind: FactKind::Knowledge,
        source: FactSource::Stated,
        confidence: 0.8,
        trust: 1.0,
        since: None,
        valid_from: Some(Timestamp::utc(at)),
        evidence: vec![quote(at as u64, Side::User)],
    }
}

fn liked(attribute: &str, value: &str, at: i64) -> CandidateFact {
    CandidateFact { kind: FactKind::Preference, ..said(attribute, value, at) }
}

fn quote(page: u64, side: Side) -> Evidence {
    Evidence { turn: TurnId { page: PageId::from_raw(page), side }, quote: format!("words of {page}") }
}

fn cause() -> Cause {
    Cause::Analysis { pages: vec![PageId::from_raw(1)], model: Some("test".into()), step: "knowledge".into() }
}

impl Memory {
    pub(super) fn apply(&mut self, delta: Vec<Change>) {
        delta.into_iter().for_each(|change| self.cube.apply(change));
        self.now_ms += 1;
    }

    pub(super) fn learn(&mut self, candidates: &[CandidateFact]) -> Vec<Outcome> {
        let Learned { delta, outcomes } =
            learn(&self.cube, &self.config, candidates, cause(), &mut self.ids, self.now_ms);
        self.apply(delta);
        outcomes
    }

    pub(super) fn undo(&mut self, id: ChangeId) -> Result<(), UndoError> {
        let delta = undo(&self.cube, id)?;
        let delta = recorded(&self.cube, &self.config, delta, Cause::Undo(id), &mut self.ids, self.now_ms);
        self.apply(delta);
        Ok(())
    }

    /// (value, valid_to, reason) of every fact, in the order of recording.
    pub(super) fn facts(&self) -> Vec<(&str, Option<i64>, Option<&str>)> {
        self.cube
            .facts()
            .map(|fact| (fact.value.as_str(), fact.valid_to.map(|end| end.epoch_ms), fact.reason.as_deref()))
            .collect()
    }

    pub(super) fn last_change(&self) -> ChangeId {
        self.cube.changes().next_back().unwrap().id
    }

    pub(super) fn persona(&self) -> Vec<LongTerm> {
        self.cube.long_term().collect()
    }
}

#[test]
fn case_28_loved_and_then_hated_is_one_current_and_one_closed_and_undo_works() {
    let mut m = memory();
    m.learn(&[liked("preference: jazz", "loves", 10)]);
    let before = m.persona();
    m.learn(&[liked("hates", "Jazz", 20)]);
    assert_eq!(m.facts(), [("loves", Some(20), Some(REASON_LATER)), ("Jazz", None, None)]);
    let [first, second] = [0, 1].map(|n| m.cube.facts().nth(n).unwrap().clone());
    assert_eq!(first.superseded_by, Some(second.id));
    assert_eq!(history(&m.cube, fact_key(first.id)).len(), 2);
    assert_eq!(history(&m.cube, fact_key(second.id)).len(), 1);
    m.undo(m.last_change()).unwrap();
    assert_eq!(m.persona(), before);
    // Taking back the undo makes the change again.
    m.undo(m.last_change()).unwrap();
    assert_eq!(m.facts(), [("loves", Some(20), Some(REASON_LATER)), ("Jazz", None, None)]);
}

#[test]
fn case_29_a_back_dated_fact_is_placed_by_event_time() {
    let mut m = memory();
    m.learn(&[said("home city", "Lisbon", 30)]);
    let outcome = m.learn(&[said("home city", "Porto", 10)]);
    assert!(matches!(outcome[..], [Outcome::AddedClosed(_)]));
    assert_eq!(m.facts(), [("Lisbon", None, None), ("Porto", Some(30), Some(REASON_LATER))]);
    m.learn(&[said("home city", "Faro", 20)]);
    m.learn(&[said("home city", "Berlin", 50)]);
    assert_eq!(m.facts()[0], ("Lisbon", Some(50), Some(REASON_LATER)));
    assert_eq!(m.facts()[2], ("Faro", Some(30), Some(REASON_LATER)));
    for (at, value) in [
        (5, None),
        (10, Some("Porto")),
        (20, Some("Faro")),
        (29, Some("Faro")),
        (30, Some("Lisbon")),
        (99, Some("Berlin")),
    ] {
        assert_eq!(held_at(m.cube.facts(), Timestamp::utc(at)).map(|fact| fact.value.as_str()), value, "{at}");
    }
}

#[test]
fn case_29_what_was_said_again_later_is_not_closed_by_what_lies_between() {
    let mut m = memory();
    m.learn(&[said("home city", "Lisbon", 10), said("home city", "lisbon.", 40)]);
    m.learn(&[said("home city", "Porto", 20)]);
    assert_eq!(m.facts(), [("Lisbon", None, None), ("Porto", Some(40), Some(REASON_LATER))]);
}

#[test]
fn case_30_unrelated_facts_and_sets_never_close_each_other() {
    let mut m = memory();
    m.learn(&[
        said("home city", "Lisbon", 1),
        said("employer", "Acme", 2),
        said("hobbies", "chess", 3),
        said("hobby", "climbing", 4),
        liked("loves", "jazz", 5),
        liked("hates", "football", 6),
        CandidateFact { subject: Subject::Named("Jack".into()), ..said("home city", "Rome", 7) },
        said("???", "a", 8),
        said("!!!", "b", 9),
    ]);
    assert_eq!(m.cube.facts().filter(|fact| fact.is_open()).count(), 9);
    m.learn(&[said("Hobby", "Chess", 9)]);
    assert_eq!(m.cube.facts().count(), 9);
}

#[test]
fn o11_duplicates_refresh_evidence_and_confidence() {
    let mut m = memory();
    m.learn(&[CandidateFact { source: FactSource::Inferred, confidence: 0.5, ..said("home city", "Lisbon", 10) }]);
    let outcome = m.learn(&[CandidateFact { confidence: 0.6, ..said("Home City", " LISBON ", 20) }]);
    let fact = m.cube.facts().next().unwrap();
    assert_eq!(outcome, [Outcome::Refreshed(fact.id)]);
    assert_eq!((m.cube.facts().count(), fact.evidence.len(), fact.source), (1, 2, FactSource::Stated));
    assert!((fact.confidence - 0.8).abs() < 1e-6);
    // Reading the same page again changes nothing, and is no entry of history.
    let before = (m.cube.clone(), m.ids);
    m.learn(&[CandidateFact { confidence: 0.6, ..said("Home City", " LISBON ", 20) }]);
    assert_eq!((m.cube, m.ids), before);
}

#[test]
fn o11_reading_a_page_again_does_not_repeat_a_closed_fact() {
    let mut m = memory();
    m.learn(&[said("home city", "Lisbon", 10), said("home city", "Berlin", 20)]);
    let before = m.cube.clone();
    m.learn(&[said("home city", "Lisbon", 10)]);
    assert_eq!(m.cube, before);
    // Moving back later is a new fact.
    m.learn(&[said("home city", "Lisbon", 30)]);
    assert_eq!(m.facts().len(), 3);
    assert_eq!(m.facts()[1], ("Berlin", Some(30), Some(REASON_LATER)));
}

#[test]
fn what_the_user_said_outranks_what_was_inferred_and_what_was_edited_both() {
    let inferred = |value, at| CandidateFact { source: FactSource::Inferred, ..said("home city", value, at) };
    let edited =
        |value, at| CandidateFact { source: FactSource::Edited, evidence: vec![], ..said("home city", value, at) };
    let mut m = memory();
    m.learn(&[said("home city", "Lisbon", 10), inferred("Porto", 20)]);
    assert_eq!(m.facts(), [("Lisbon", None, None), ("Porto", Some(20), Some(REASON_OUTRANKED))]);
    m.learn(&[edited("Faro", 5), said("home city", "Braga", 90)]);
    assert_eq!(m.facts()[0], ("Lisbon", Some(10), Some(REASON_OUTRANKED)));
    assert_eq!(m.facts()[2], ("Faro", None, None));
    assert_eq!(m.facts()[3], ("Braga", Some(90), Some(REASON_OUTRANKED)));
}

#[test]
fn a_write_closes_a_bounded_number_of_facts() {
    let mut m = memory();
    m.config.closures_per_write = 2;
    let all = |value: &str, at| ["city", "employer", "job"].map(|attribute| said(attribute, value, at));
    m.learn(&all("a", 1));
    let outcome = m.learn(&all("b", 2));
    assert!(matches!(outcome[..], [Outcome::Added(_), Outcome::Added(_), Outcome::Refused(Refusal::TooManyClosed)]));
    assert_eq!(m.cube.facts().filter(|fact| !fact.is_open()).count(), 2);
}

#[test]
fn candidates_without_ground_are_refused() {
    let mut m = memory();
    let long = "x".repeat(2_000);
    for (candidate, refusal) in [
        (said("", "a", 1), Refusal::Blank),
        (said("city", " \n", 1), Refusal::Blank),
        (said("city", &long, 1), Refusal::TooLong),
        (said(&long, "a", 1), Refusal::TooLong),
        (CandidateFact { evidence: vec![], ..said("city", "a", 1) }, Refusal::NoEvidence),
        (said("birth year", "long ago", 1), Refusal::NoYear),
        (CandidateFact { subject: Subject::Named(" ".into()), ..said("city", "a", 1) }, Refusal::Blank),
    ] {
        assert_eq!(m.learn(&[candidate]), [Outcome::Refused(refusal)]);
    }
    assert_eq!(m.cube, Cube::default());
    let many: Vec<_> = (0..70).map(|n| said("hobby", &format!("h{n}"), n)).collect();
    assert_eq!(m.learn(&many)[64], Outcome::Refused(Refusal::TooMany));
}

#[test]
fn case_12_a_recommendation_is_no_fact_about_the_user() {
    let mut m = memory();
    let by_agent = CandidateFact { evidence: vec![quote(1, Side::Agent)], ..said("hobby", "yoga", 1) };
    assert_eq!(m.learn(core::slice::from_ref(&by_agent)), [Outcome::Refused(Refusal::NotSaidByUser)]);
    let of_agent = CandidateFact { subject: Subject::Assistant, ..by_agent };
    assert!(matches!(m.learn(&[of_agent])[..], [Outcome::Added(_)]));
}

#[test]
fn o12_static_fields_have_fixed_slots() {
    let mut m = memory();
    m.learn(&[
        said("Full name", "Ana", 1),
        said("性别", "女", 2),
        CandidateFact { kind: FactKind::Event, ..said("year of birth", "born in 1990, I think", 3) },
        CandidateFact { subject: Subject::Assistant, evidence: vec![quote(4, Side::Agent)], ..said("name", "Iris", 4) },
    ]);
    m.learn(&[said("name", "Anna", 5)]);
    let profile = static_profile(&m.cube);
    let value = |fact: Option<&Fact>| fact.map(|fact| fact.value.clone()).unwrap();
    assert_eq!([value(profile.name), value(profile.gender), value(profile.birth_year)], ["Anna", "女", "1990"]);
    assert_eq!(m.cube.facts().filter(|fact| !fact.is_open()).count(), 1);
}

#[test]
fn o11_a_full_queue_archives_the_least_useful_or_the_first_and_erases_nothing() {
    for (policy, gone) in [(KnowledgeEviction::LeastUseful, "h2"), (KnowledgeEviction::FirstIn, "h0")] {
        let mut m = memory();
        m.config = Config { knowledge_capacity: 4, knowledge_eviction: policy, ..Config::default() };
        m.learn(&[said("name", "Ana", 1)]);
        for n in 0..5 {
            let confidence = if n == 2 { 0.3 } else { 0.9 };
            m.learn(&[CandidateFact { confidence, ..said("hobby", &format!("h{n}"), n) }]);
        }
        // Others' queues are their own.
        m.learn(&[CandidateFact { subject: Subject::Named("Jack".into()), ..said("hobby", "darts", 9) }]);
        let archived: Vec<_> = m.cube.facts().filter(|fact| fact.archived).map(|fact| fact.value.as_str()).collect();
        assert_eq!(archived, [gone], "{policy:?}");
        assert_eq!(m.cube.facts().filter(|fact| fact.is_open()).count(), 7);
        // Said again, it comes back, and another goes.
        m.learn(&[said("hobby", gone, 20)]);
        let archived: Vec<_> = m.cube.facts().filter(|fact| fact.archived).map(|fact| fact.value.as_str()).collect();
        assert!(archived.len() == 1 && (policy == KnowledgeEviction::FirstIn || archived[0] != gone), "{policy:?}");
    }
}

/// A candidate out of few values, so that slots collide.
fn any_candidate() -> impl Strategy<Value = CandidateFact> {
    let attribute = prop::sample::select(vec!["city", "City", "name", "hobby", "loves", "preference: tea", "??"]);
    let value = prop::sample::select(vec!["tea", "Tea.", "loves", "hates", "b"]);
    let subject = prop::sample::select(vec![Subject::User, Subject::Assistant, Subject::Named("Jack".into())]);
    let kind = prop::sample::select(vec![FactKind::Knowledge, FactKind::Preference, FactKind::Event]);
    let source = prop::sample::select(vec![FactSource::Inferred, FactSource::Stated, FactSource::Edited]);
    let at = prop::option::of(0..12_i64);
    (attribute, value, subject, kind, source, at, 0..6_u64).prop_map(
        |(attribute, value, subject, kind, source, at, page)| {
            let valid_from = at.map(Timestamp::utc);
            let evidence = vec![quote(page, Side::User)];
            CandidateFact { subject, kind, source, valid_from, evidence, ..said(attribute, value, 0) }
        },
    )
}

proptest! {
    #[test]
    fn slots_hold_one_open_fact_closing_stays_within_them_and_undo_restores(
        writes in prop::collection::vec((prop::collection::vec(any_candidate(), 1..4), 0..4_u8, any::<prop::sample::Index>()), 1..14),
        capacity in 1..5_usize,
    ) {
        let mut m = memory();
        m.config.knowledge_capacity = capacity;
        for (candidates, act, which) in writes {
            let (before, n_before) = (m.persona(), m.cube.n_changes());
            m.learn(&candidates);
            let facts: HashMap<FactId, &Fact> = m.cube.facts().map(|fact| (fact.id, fact)).collect();
            let mut open = HashSet::new();
            for fact in facts.values() {
                // At most one open fact a slot.
                if let Some(slot) = slot_of(fact).filter(|_| fact.is_open()) {
                    prop_assert!(open.insert(slot), "{fact:?}");
                }
                prop_assert!(fact.valid_to.is_none_or(|end| end >= fact.start()));
                // Closed within the slot, for ever, and without loops.
                let mut at = *fact;
                for step in 0.. {
                    let Some(next) = at.superseded_by else { break };
                    prop_assert!(step <= facts.len(), "a loop from {fact:?}");
                    prop_assert!(!at.is_open() && at.reason.is_some());
                    prop_assert_eq!(slot_of(at), slot_of(facts[&next]));
                    at = facts[&next];
                }
            }
            // Nothing that was there is gone, and what was closed stays closed.
            for record in &before {
                if let LongTerm::Fact(old) = record {
                    let new = facts[&old.id];
                    prop_assert!(old.is_open() || (new.valid_to == old.valid_to && new.superseded_by == old.superseded_by));
                }
            }
            drop(facts);
            if m.cube.n_changes() > n_before {
                let entry = m.last_change();
                if act == 0 {
                    m.undo(entry).unwrap();
                    prop_assert_eq!(m.persona(), before);
                } else if act < 3 && n_before > 0 {
                    // An older change or undo: taken back whole, or refused; either way one open fact a slot.
                    let older = m.cube.changes().nth(if act == 1 { 0 } else { which.index(n_before) }).unwrap().id;
                    let _ = m.undo(older);
                }
            }
            let open: Vec<_> = m.cube.facts().filter(|fact| fact.is_open()).filter_map(slot_of).collect();
            prop_assert_eq!(open.iter().collect::<HashSet<_>>().len(), open.len());
            prop_assert!(m.cube.facts().all(|fact| fact.superseded_by.is_none_or(|by| m.cube.fact(by).is_some())));
            prop_assert_eq!(as_of(&m.cube, i64::MAX), m.persona());
        }
    }
}
