//! Forgetting: the page, what was derived from it alone, and every version of either on disk.

use hashbrown::HashSet;

use super::commit::{Commit, commit};
use super::consolidate::{describe, page_vector};
use super::engine::Engine;
use super::event::Event;
use crate::effect::Io;
use crate::error::Result;
use crate::id::{PageId, SegmentId};
use crate::model::{Change, Cube, Job, JobKind, Place, Record, RecordKey, RecordKind, Segment};
use crate::order::sort_and_dedup;
use crate::updating::mid_term::recentre;

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
}

/// Deletes pages for good: their text, units and vectors, sessions that end up empty, and their share of segments and jobs.
pub async fn forget(engine: &Engine, io: &Io, ids: &[PageId]) -> Result<Forgotten> {
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
        for segment in segments_of(&cube, gone) {
            erase.push(RecordKey { kind: RecordKind::Segment, id: segment.id.raw() });
            let left: Vec<_> = cube.members(segment.id).filter(|page| !has(gone, *page)).collect();
            if left.is_empty() {
                forgotten.segments_removed.push(segment.id);
                continue;
            }
            forgotten.segments_rewritten.push(segment.id);
            let mut segment = without(&cube, &index, segment, gone, &left);
            describe(&cube, &index, &mut segment, &left);
            delta.push(Change::Put(Record::Segment(segment)));
        }
        erase.extend(empty_sessions(&cube, gone));
        delta.extend(unlinked(&cube, gone));
        for job in cube.jobs().filter(|job| job.pages().iter().any(|page| has(gone, *page))) {
            let left: Vec<_> = job.pages().iter().copied().filter(|page| !has(gone, *page)).collect();
            delta.push(match left.is_empty() {
                true => Change::Remove(RecordKey { kind: RecordKind::Job, id: job.id.raw() }),
                false => Change::Put(Record::Job(with_pages(job, left))),
            });
        }
        (delta, erase)
    };
    if forgotten.pages.is_empty() {
        return Ok(forgotten);
    }
    commit(engine, io, &turn, Commit { erase, ..Commit::new(delta, engine.ids.get()) }).await?;
    engine.emit(Event::Forgotten { pages: forgotten.pages.iter().map(ToString::to_string).collect() });
    Ok(forgotten)
}

fn segments_of<'a>(cube: &'a Cube, pages: &[PageId]) -> Vec<&'a Segment> {
    let mut ids: Vec<_> =
        pages.iter().filter_map(|&page| cube.place(page)).flat_map(|place| place.segments.clone()).collect();
    sort_and_dedup(&mut ids);
    ids.into_iter().filter_map(|id| cube.segment(id)).collect()
}

/// The segment with centroid, counts and times of its remaining pages.
fn without(cube: &Cube, index: &crate::index::Index, segment: &Segment, gone: &[PageId], left: &[PageId]) -> Segment {
    let mut segment = segment.clone();
    // Pages that analysis has seen no longer count.
    let n_gone = cube.members(segment.id).filter(|page| has(gone, *page) && !cube.is_analysed(*page)).count();
    segment.l_interaction = segment.l_interaction.saturating_sub(n_gone as u32);
    recentre(&mut segment, index.space(), left.iter().filter_map(|&page| page_vector(index, page)));
    let said = || left.iter().filter_map(|&page| cube.page(page)).map(|page| page.time_or_recorded());
    segment.start = said().min();
    segment.end = said().max();
    segment
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
        ..place.clone()
    });
    joined.map(|place| Change::Put(Record::Place(place))).collect()
}

fn with_pages(job: &Job, pages: Vec<PageId>) -> Job {
    let kind = match job.kind {
        JobKind::Consolidate { .. } => JobKind::Consolidate { pages },
        JobKind::Embed { .. } => JobKind::Embed { pages },
    };
    Job { kind, ..job.clone() }
}
