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
}

/// Takes the words of `pages` out of facts, traits and history.
///
/// A fact or trait whose every quotation goes is erased, unless the user entered or pinned it; with some left, it stays with
/// those. A fact that was closed in favour of an erased one is open again if its slot has no other open fact. Steps of history
/// that hold a quotation of the pages or name an erased fact go; entries without steps go.
///
/// Profile texts are not quotations: whoever forgets writes them anew.
pub fn unlearn(cube: &Cube, pages: &[PageId]) -> Unlearned {
    let mut out = Unlearned::default();
    let mut gone: Vec<FactId> = Vec::new();
    for fact in cube.facts().filter(|fact| quotes(&fact.evidence, pages)) {
        let evidence = without(&fact.evidence, pages);
        if evidence.is_empty() && fact.source != FactSource::Edited {
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
    out.reopen(cube, &gone);
    let tells = |record: &Option<LongTerm>| match record {
        Some(LongTerm::Fact(fact)) => {
            let link = fact.superseded_by.is_some_and(|by| gone.contains(&by));
            link || quotes(&fact.evidence, pages) || gone.contains(&fact.id)
        }
        Some(LongTerm::Trait(of)) => quotes(&of.evidence, pages),
        _ => false,
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
    fn rewrite(&mut self, record: Record) {
        self.erase.push(record.key());
        self.rewritten.push(Change::Put(record));
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
