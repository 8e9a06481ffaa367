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
use crate::text::for_each_token;
use crate::updating::long_term::digest;
use crate::updating::mid_term::without;
use crate::updating::short_term::page_texts;
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
/// their chains, profile texts since they were analysed. Rules describe the segments then; the next analysis writes the profile anew.
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
        let lost = LostWords::new(&cube, gone);
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
        let losing = segments_of(&cube, gone, &lost);
        let again: Vec<PageId> = unseen.iter().copied().collect();
        for segment in cube.segments_of(&again).into_iter().filter_map(|id| cube.segment(id)) {
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
        delta.extend(unlinked(&cube, gone, &lost));
        // The message of a failure may quote a reply, and the reply the pages.
        let concerns = |job: &&Job| job.error.is_some() || job.pages().iter().any(|page| has(gone, *page));
        for job in cube.jobs().filter(concerns) {
            let left: Vec<_> = job.pages().iter().copied().filter(|page| !has(gone, *page)).collect();
            delta.push(match left.is_empty() {
                true => Change::Remove(RecordKey { kind: RecordKind::Job, id: job.id.raw() }),
                false => Change::Put(Record::Job(Job { kind: job.kind.with_pages(left), error: None, ..job.clone() })),
            });
        }
        (delta, erase)
    };
    if forgotten.pages.is_empty() && forgotten.facts.is_empty() {
        return Ok(forgotten);
    }
    commit(engine, io, &turn, Commit { erase, scrub: true, ..Commit::new(delta, engine.ids.get()) }).await?;
    engine.emit(Event::Forgotten {
        pages: forgotten.pages.iter().map(ToString::to_string).collect(),
        facts: forgotten.facts.iter().map(ToString::to_string).collect(),
    });
    Ok(forgotten)
}

/// Words that only the pages say that go. A model is shown pages together, with the one before them for context, so it may have
/// written of one page where another is filed; a segment or meta info with such a word counts as derived from the pages that go.
/// Facts do not: their quotations tell where they come from.
struct LostWords(HashSet<String>);

impl LostWords {
    fn new(cube: &Cube, gone: &[PageId]) -> Self {
        let mut words = HashSet::new();
        let pages = |go: bool| cube.pages().filter(move |page| has(gone, page.id) == go);
        for text in pages(true).flat_map(page_texts) {
            for_each_token(text, &mut |token| {
                words.insert(token.text.to_owned());
            });
        }
        if words.is_empty() {
            return Self(words);
        }
        for text in pages(false).flat_map(page_texts) {
            for_each_token(text, &mut |token| {
                words.remove(token.text);
            });
        }
        Self(words)
    }

    fn are_in(&self, text: &str) -> bool {
        let mut found = false;
        if !self.0.is_empty() {
            for_each_token(text, &mut |token| found |= self.0.contains(token.text));
        }
        found
    }

    fn in_segment(&self, segment: &Segment) -> bool {
        [&segment.title, &segment.summary].into_iter().chain(&segment.keywords).any(|text| self.are_in(text))
    }
}

/// The segments that hold some of the pages, and those whose description has words that go with the pages.
fn segments_of<'a>(cube: &'a Cube, pages: &[PageId], lost: &LostWords) -> Vec<&'a Segment> {
    let mut ids = cube.segments_of(pages);
    ids.extend(cube.segments().filter(|segment| lost.in_segment(segment)).map(|segment| segment.id));
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

/// Places of the pages that share a dialogue chain with those that go, joined across the gap. The meta info of a chain tells of
/// all of it, so that of every such page goes.
fn unlinked(cube: &Cube, gone: &[PageId], lost: &LostWords) -> Vec<Change> {
    let beyond = |mut link: Option<PageId>, step: fn(&Place) -> Option<PageId>| {
        while let Some(id) = link.filter(|id| has(gone, *id)) {
            link = cube.place(id).and_then(step);
        }
        link
    };
    let mut chained: HashSet<PageId> = gone.iter().copied().collect();
    for mut page in gone.iter().copied() {
        while let Some(pre) = cube.place(page).and_then(|place| place.pre) {
            chained.insert(pre);
            page = pre;
        }
    }
    // A page continues an earlier one, so one pass in the order of arrival finds whatever follows.
    for page in cube.pages() {
        if cube.place(page.id).and_then(|place| place.pre).is_some_and(|pre| chained.contains(&pre)) {
            chained.insert(page.id);
        }
    }
    let tells = |page: PageId| cube.place(page).is_some_and(|place| lost.are_in(&place.meta_info));
    let left = cube.pages().filter(|page| !has(gone, page.id) && (chained.contains(&page.id) || tells(page.id)));
    let joined = left.filter_map(|page| cube.place(page.id)).map(|place| Place {
        pre: beyond(place.pre, |place| place.pre),
        next: beyond(place.next, |place| place.next),
        meta_info: String::new(),
        ..place.clone()
    });
    joined.map(|place| Change::Put(Record::Place(place))).collect()
}
