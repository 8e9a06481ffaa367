//! Forgetting: the page, what was derived from it alone, and every version of either on disk.

use super::commit::{Commit, commit};
use super::consolidate::{describe, page_vector};
use super::engine::Engine;
use super::event::Event;
use crate::effect::Io;
use crate::error::Result;
use crate::id::{FactId, PageId, SegmentId};
use crate::map::HashSet;
use crate::model::{Change, Cube, Denied, Job, Place, Record, RecordKey, RecordKind, Segment};
use crate::order::sort_and_dedup;
use crate::updating::long_term::digest;
use crate::updating::mid_term::without;
use crate::updating::unlearn::unlearn;

/// What went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Pages that are gone.
    pub pages: Vec<PageId>,
    /// Ids that are not in this memory.
    pub not_found: Vec<PageId>,
    /// Segments derived anew without them.
    pub segments_rewritten: Vec<SegmentId>,
    /// Segments that went with their last page.
    pub segments_removed: Vec<SegmentId>,
    /// Facts that are gone.
    pub facts: Vec<FactId>,
    /// Ids of facts that are not in this memory.
    pub facts_not_found: Vec<FactId>,
    /// Facts that lost a quotation, or are believed again, and stay.
    pub facts_rewritten: Vec<FactId>,
    /// Whether profile texts went, which the next analysis writes anew.
    pub profiles_removed: bool,
}

/// Deletes pages for good: their text, units and vectors, sessions that end up empty, their share of segments and jobs, and what
/// long-term memory drew from them alone. Deletes facts for good, with every trace in history; they are not learnt again.
///
/// What a model wrote of the pages and their neighbours goes too: titles and summaries of their segments, the meta info of
/// their chains, profile texts since they were analysed. Rules take its place until the model sees what is left.
pub async fn forget(engine: &Engine, io: &Io, ids: &[PageId], facts: &[FactId], now_ms: i64) -> Result<Forgotten> {
    let turn = engine.write_turn().await?;
    let mut forgotten = Forgotten::default();
    let (delta, erase) = {
        let cube = engine.cube.borrow();
        let index = engine.index.borrow();
        let mut asked = ids.to_vec();
        sort_and_dedup(&mut asked);
        for id in asked {
            if cube.page(id).is_some() { forgotten.pages.push(id) } else { forgotten.not_found.push(id) }
        }
        let gone = forgotten.pages.as_slice();
        let mut delta = Vec::new();
        let mut erase = Vec::new();
        for page in gone {
            let kinds =
                [RecordKind::Page, RecordKind::Units, RecordKind::Vectors, RecordKind::Place, RecordKind::Analysed];
            erase.extend(kinds.map(|kind| RecordKey { kind, id: page.raw() }));
        }
        let mut asked = facts.to_vec();
        sort_and_dedup(&mut asked);
        for id in asked {
            match cube.fact(id) {
                Some(fact) => {
                    let denied = Denied { digest: digest(fact), at_ms: now_ms };
                    delta.push(Change::Put(Record::Denied(denied)));
                    forgotten.facts.push(id);
                }
                None => forgotten.facts_not_found.push(id),
            }
        }
        let unlearned = unlearn(&cube, gone, &forgotten.facts);
        forgotten.facts = unlearned.facts.clone();
        forgotten.facts_rewritten = unlearned.facts_rewritten();
        forgotten.profiles_removed = unlearned.erase.iter().any(|key| key.kind == RecordKind::Profile);
        let unseen = unlearned.unseen.iter().map(|page| RecordKey { kind: RecordKind::Analysed, id: page.raw() });
        delta.extend(unseen.map(Change::Remove));
        let unseen: HashSet<PageId> = unlearned.unseen.into_iter().collect();
        let n_unseen = |segment: SegmentId| {
            let left = cube.members(segment).filter(|page| !has(gone, *page));
            left.filter(|page| !cube.is_analysed(*page) || unseen.contains(page)).count() as u32
        };
        delta.extend(unlearned.rewritten);
        erase.extend(unlearned.erase);
        let losing = segments_of(&cube, gone);
        let again: Vec<PageId> = unseen.iter().copied().collect();
        for segment in segments_of(&cube, &again) {
            if losing.iter().all(|other| other.id != segment.id) {
                let l_interaction = n_unseen(segment.id);
                delta.push(Change::Put(Record::Segment(Segment { l_interaction, ..segment.clone() })));
            }
        }
        for segment in losing {
            erase.push(RecordKey { kind: RecordKind::Segment, id: segment.id.raw() });
            let left: Vec<_> = cube.members(segment.id).filter(|page| !has(gone, *page)).collect();
            if left.is_empty() {
                forgotten.segments_removed.push(segment.id);
                continue;
            }
            forgotten.segments_rewritten.push(segment.id);
            let vector = |page| page_vector(&index, page);
            let mut segment = without(&cube, segment, gone, index.space(), &vector);
            // What a model said of the segment may hold words of the pages that go: rules describe what is left of it.
            segment.title.clear();
            segment.l_interaction = n_unseen(segment.id);
            describe(&cube, &index, &mut segment, &left);
            delta.push(Change::Put(Record::Segment(segment)));
        }
        erase.extend(empty_sessions(&cube, gone));
        delta.extend(unlinked(&cube, gone));
        for job in cube.jobs().filter(|job| job.pages().iter().any(|page| has(gone, *page))) {
            let left: Vec<_> = job.pages().iter().copied().filter(|page| !has(gone, *page)).collect();
            delta.push(match left.is_empty() {
                true => Change::Remove(RecordKey { kind: RecordKind::Job, id: job.id.raw() }),
                false => Change::Put(Record::Job(Job { kind: job.kind.with_pages(left), ..job.clone() })),
            });
        }
        (delta, erase)
    };
    if forgotten.pages.is_empty() && forgotten.facts.is_empty() {
        return Ok(forgotten);
    }
    commit(engine, io, &turn, Commit { erase, ..Commit::new(delta, engine.ids.get()) }).await?;
    engine.emit(Event::Forgotten {
        pages: forgotten.pages.iter().map(ToString::to_string).collect(),
        facts: forgotten.facts.iter().map(ToString::to_string).collect(),
    });
    Ok(forgotten)
}

fn segments_of<'a>(cube: &'a Cube, pages: &[PageId]) -> Vec<&'a Segment> {
    let mut ids: Vec<_> =
        pages.iter().filter_map(|&page| cube.place(page)).flat_map(|place| place.segments.clone()).collect();
    sort_and_dedup(&mut ids);
    ids.into_iter().filter_map(|id| cube.segment(id)).collect()
}

/// Sessions whose every page goes.
fn empty_sessions(cube: &Cube, gone: &[PageId]) -> Vec<RecordKey> {
    let left: HashSet<_> = cube.pages().filter(|page| !has(gone, page.id)).map(|page| page.session).collect();
    let mut empty: Vec<_> = gone.iter().filter_map(|&id| cube.page(id)).map(|page| page.session).collect();
    empty.retain(|session| !left.contains(session));
    sort_and_dedup(&mut empty);
    empty.into_iter().map(|session| RecordKey { kind: RecordKind::Session, id: session.raw() }).collect()
}

/// Whether a page is among those that go, which are sorted.
fn has(gone: &[PageId], id: PageId) -> bool {
    gone.binary_search(&id).is_ok()
}

/// Places of the neighbours in the dialogue chain, joined across the gap.
fn unlinked(cube: &Cube, gone: &[PageId]) -> Vec<Change> {
    let beyond = |mut link: Option<PageId>, step: fn(&Place) -> Option<PageId>| {
        while let Some(id) = link.filter(|id| has(gone, *id)) {
            link = cube.place(id).and_then(step);
        }
        link
    };
    let mut neighbours: Vec<_> = gone
        .iter()
        .filter_map(|&id| cube.place(id))
        .flat_map(|place| [beyond(place.pre, |place| place.pre), beyond(place.next, |place| place.next)])
        .flatten()
        .collect();
    sort_and_dedup(&mut neighbours);
    let joined = neighbours.into_iter().filter_map(|id| cube.place(id)).map(|place| Place {
        pre: beyond(place.pre, |place| place.pre),
        next: beyond(place.next, |place| place.next),
        // It tells of the chain so far, and that may be of the pages that go.
        meta_info: String::new(),
        ..place.clone()
    });
    joined.map(|place| Change::Put(Record::Place(place))).collect()
}
