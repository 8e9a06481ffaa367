//! Consolidation: pages sink from short-term into mid-term memory.

use hashbrown::HashSet;

use super::commit::{Commit, commit};
use super::engine::Engine;
use super::event::Event;
use crate::config::KEYWORDS_PER_SEGMENT;
use crate::effect::Io;
use crate::error::Result;
use crate::id::{JobId, PageId, SegmentId, Side, TurnId};
use crate::index::Index;
use crate::model::{Change, Cube, Page, Record, RecordKey, RecordKind, Segment};
use crate::text;
use crate::updating::mid_term::{PageFeatures, Placement, place};
use crate::updating::short_term::page_texts;
use crate::updating::{lifecycle, offline};

/// Places the pages of a job that are still in short-term memory. The commit that places them removes the job, so doing it
/// twice does it once.
pub(super) async fn consolidate(engine: &Engine, io: &Io, job: JobId, pages: &[PageId], now_ms: i64) -> Result<()> {
    let turn = engine.write_turn().await?;
    let mut ids = engine.ids.get();
    let (delta, event, archived) = {
        let cube = engine.cube.borrow();
        let index = engine.index.borrow();
        let in_short_term: HashSet<_> = cube.short_term().collect();
        let features: Vec<_> = pages
            .iter()
            .filter(|id| in_short_term.contains(*id))
            .filter_map(|&id| cube.page(id))
            .map(|page| features(&index, page))
            .collect();
        let placed = place(&cube, &engine.options.config, engine.space().as_ref(), &features, &mut ids, now_ms);
        let event = Event::Consolidated {
            pages: features.iter().map(|page| page.id.to_string()).collect(),
            segments: placed.segments.keys().map(ToString::to_string).collect(),
        };
        let (mut delta, archived) = settle(engine, &cube, &index, placed, now_ms);
        delta.push(Change::Remove(RecordKey { kind: RecordKind::Job, id: job.raw() }));
        (delta, event, archived)
    };
    commit(engine, io, &turn, Commit::new(delta, ids)).await?;
    engine.emit(event);
    for segment in archived {
        engine.emit(Event::SegmentArchived { segment_id: segment.to_string() });
    }
    Ok(())
}

fn features(index: &Index, page: &Page) -> PageFeatures {
    let texts: Vec<_> = page_texts(page).collect();
    PageFeatures {
        id: page.id,
        vector: page_vector(index, page.id),
        keywords: text::keywords(&texts, KEYWORDS_PER_SEGMENT, &|word| index.document_share(word)),
        session: page.session,
        said: page.time_or_recorded(),
    }
}

/// Unit vector of a page as the index has it.
pub(super) fn page_vector(index: &Index, page: PageId) -> Option<Vec<f32>> {
    let sides = [Side::User, Side::Agent];
    unit_sum(sides.into_iter().filter_map(|side| index.vector(TurnId { page, side })))
}

/// The direction of the sum of unit vectors.
pub(super) fn unit_sum<'a>(mut vectors: impl Iterator<Item = &'a [f32]>) -> Option<Vec<f32>> {
    let mut sum = vectors.next()?.to_vec();
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
    }
    let norm = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    if norm <= 0.0 {
        return None;
    }
    sum.iter_mut().for_each(|x| *x /= norm);
    Some(sum)
}

/// Describes the touched segments from their pages and archives what exceeds the capacity.
fn settle(
    engine: &Engine,
    cube: &Cube,
    index: &Index,
    placed: Placement,
    now_ms: i64,
) -> (Vec<Change>, Vec<SegmentId>) {
    let mut segments: Vec<Segment> = placed.segments.into_iter().map(|(_, segment)| segment).collect();
    for segment in &mut segments {
        let joined = placed.places.iter().filter(|place| place.segments.contains(&segment.id)).map(|place| place.page);
        let mut pages: Vec<PageId> = cube.members(segment.id).collect();
        pages.extend(joined.filter(|page| !pages.contains(page)).collect::<Vec<_>>());
        describe(cube, index, segment, &pages);
    }
    let touched: Vec<_> = segments.iter().collect();
    let archived = lifecycle::to_archive(cube, &touched, &engine.options.config, now_ms);
    for &id in &archived {
        match segments.iter_mut().find(|segment| segment.id == id) {
            Some(segment) => segment.archived = true,
            None => segments.extend(cube.segment(id).map(|segment| Segment { archived: true, ..segment.clone() })),
        }
    }
    let mut delta: Vec<_> = segments.into_iter().map(|segment| Change::Put(Record::Segment(segment))).collect();
    delta.extend(placed.places.into_iter().map(|place| Change::Put(Record::Place(place))));
    (delta, archived)
}

/// Derives keywords and summary of a segment from the given pages.
pub(super) fn describe(cube: &Cube, index: &Index, segment: &mut Segment, pages: &[PageId]) {
    let texts: Vec<_> = pages.iter().filter_map(|&id| cube.page(id)).flat_map(page_texts).collect();
    offline::describe(segment, &texts, &|word| index.document_share(word));
}
