//! What long-term memory loses when pages are forgotten (DESIGN: deleting a memory deletes what was derived from it alone).

use super::conflict::slot_of;
use super::history::fact_key;
use crate::id::{FactId, PageId};
use crate::model::{
    Change, ChangeEntry, ChangeStep, Cube, Evidence, Fact, FactSource, LongTerm, Record, RecordKey, RecordKind, Trait,
};

/// What goes and what stays otherwise. It is no entry of history: history must not remember what is to be forgotten.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unlearned {
    /// Records of which no version may remain in the store, those that `rewritten` replaces included.
    pub erase: Vec<RecordKey>,
    /// Records as they are without the pages.
    pub rewritten: Vec<Change>,
    /// Pages that long-term analysis has to see again.
    pub unseen: Vec<PageId>,
    /// Facts that go.
    pub facts: Vec<FactId>,
}

/// Takes the words of `pages` out of facts, traits and history, and `facts` altogether.
///
/// A fact or trait whose every quotation goes is erased, unless the user entered or pinned it; with some left, it stays with
/// those. A fact that was closed in favour of an erased one is open again if its slot has no other open fact. Steps of history
/// that hold a quotation of the pages or name an erased fact go; entries without steps go.
///
/// A profile text is no quotation, and may hold the words of every page that was analysed before it was written. So every version
/// since the first of these pages was analysed goes, but those that the user wrote, and the pages analysed since then count as
/// unseen: the next analysis writes the profile anew from what is left.
pub fn unlearn(cube: &Cube, pages: &[PageId], facts: &[FactId]) -> Unlearned {
    let mut out = Unlearned::default();
    let mut gone: Vec<FactId> = facts.to_vec();
    out.erase.extend(facts.iter().map(|&id| fact_key(id)));
    for fact in cube.facts().filter(|fact| !facts.contains(&fact.id) && quotes(&fact.evidence, pages)) {
        let evidence = without(&fact.evidence, pages);
        if evidence.is_empty() && fact.authority() != FactSource::Edited {
            gone.push(fact.id);
            out.erase.push(fact_key(fact.id));
        } else {
            out.rewrite(Record::Fact(Fact { evidence, ..fact.clone() }));
        }
    }
    for of in cube.traits().filter(|of| quotes(&of.evidence, pages)) {
        let evidence = without(&of.evidence, pages);
        let record = Record::Trait(Trait { evidence: evidence.clone(), ..of.clone() });
        if evidence.is_empty() { out.erase.push(record.key()) } else { out.rewrite(record) }
    }
    out.facts.clone_from(&gone);
    out.reopen(cube, &gone);
    let unsure: Vec<u64> = out.unwrite_profiles(cube, pages);
    let tells = |record: &Option<LongTerm>| match record {
        Some(LongTerm::Fact(fact)) => {
            let link = fact.superseded_by.is_some_and(|by| gone.contains(&by));
            link || quotes(&fact.evidence, pages) || gone.contains(&fact.id)
        }
        Some(LongTerm::Trait(of)) => quotes(&of.evidence, pages),
        Some(LongTerm::Profile(profile)) => unsure.contains(&profile.version),
        None => false,
    };
    for entry in cube.changes() {
        let steps: Vec<ChangeStep> =
            entry.steps.iter().filter(|step| !tells(&step.before) && !tells(&step.after)).cloned().collect();
        if steps.is_empty() {
            out.erase.push(RecordKey { kind: RecordKind::ChangeEntry, id: entry.id.raw() });
        } else if steps.len() < entry.steps.len() {
            out.rewrite(Record::ChangeEntry(ChangeEntry { steps, ..entry.clone() }));
        }
    }
    out
}

impl Unlearned {
    /// Facts that stay, changed.
    pub fn facts_rewritten(&self) -> Vec<FactId> {
        let facts = self.rewritten.iter().map(Change::key).filter(|key| key.kind == RecordKind::Fact);
        facts.map(|key| FactId::from_raw(key.id)).collect()
    }

    fn rewrite(&mut self, record: Record) {
        self.erase.push(record.key());
        self.rewritten.push(Change::Put(record));
    }

    /// Erases the profile texts that may hold words of the pages, and returns their versions.
    fn unwrite_profiles(&mut self, cube: &Cube, pages: &[PageId]) -> Vec<u64> {
        let Some(since) = pages.iter().filter_map(|&page| cube.analysed_at(page)).min() else { return Vec::new() };
        let unsure = cube.profiles().filter(|profile| !profile.edited && profile.recorded_at_ms >= since);
        let unsure: Vec<u64> = unsure.map(|profile| profile.version).collect();
        if unsure.is_empty() {
            return unsure;
        }
        self.erase.extend(unsure.iter().map(|&id| RecordKey { kind: RecordKind::Profile, id }));
        let again = cube.pages().map(|page| page.id).filter(|id| !pages.contains(id));
        let again = again.filter(|&id| cube.analysed_at(id).is_some_and(|at| at >= since));
        self.unseen.extend(again);
        unsure
    }

    /// The fact as it is by now.
    fn now(&self, fact: &Fact) -> Fact {
        let rewritten = self.rewritten.iter().find_map(|change| match change {
            Change::Put(Record::Fact(other)) if other.id == fact.id => Some(other.clone()),
            _ => None,
        });
        rewritten.unwrap_or_else(|| fact.clone())
    }

    /// Relinks the facts that `gone` ones have closed: to what closed those in turn, or open again.
    fn reopen(&mut self, cube: &Cube, gone: &[FactId]) {
        for fact in cube.facts().filter(|fact| !gone.contains(&fact.id)) {
            let Some(by) = fact.superseded_by.filter(|by| gone.contains(by)) else { continue };
            // Links never loop, so this ends.
            let mut heir = cube.fact(by).and_then(|by| by.superseded_by);
            while let Some(next) = heir.filter(|next| gone.contains(next)) {
                heir = cube.fact(next).and_then(|next| next.superseded_by);
            }
            let slot = slot_of(fact);
            let rival = cube.facts().find(|other| {
                other.id != fact.id && !gone.contains(&other.id) && self.now(other).is_open() && slot_of(other) == slot
            });
            let mut fact = self.now(fact);
            match heir.or(rival.map(|rival| rival.id)) {
                Some(heir) => fact.superseded_by = Some(heir),
                None => (fact.valid_to, fact.superseded_by, fact.reason) = (None, None, None),
            }
            let key = fact_key(fact.id);
            self.rewritten.retain(|change| change.key() != key);
            self.erase.retain(|other| *other != key);
            self.rewrite(Record::Fact(fact));
        }
    }
}

fn quotes(evidence: &[Evidence], pages: &[PageId]) -> bool {
    evidence.iter().any(|of| pages.contains(&of.turn.page))
}

fn without(evidence: &[Evidence], pages: &[PageId]) -> Vec<Evidence> {
    evidence.iter().filter(|of| !pages.contains(&of.turn.page)).cloned().collect()
}
