//! Consolidation: pages sink from short-term into mid-term memory, as the update policy files them. Enrichment is the same for
//! pages that rules have filed: a model sees them, and they are filed anew.
//!
//! The model is asked without the turn to write. What it says of a page that has changed or gone meanwhile is not used: the job
//! stays and is done again.

use super::commit::{Commit, commit};
use super::engine::Engine;
use super::event::{Event, RefusedPart};
use super::learn::{learn, persona_changed};
use super::policy::{Desk, Filed};
use crate::config::{FILE_BY_RULES_AFTER, KEYWORDS_PER_SEGMENT, OPEN_SEGMENTS_SHOWN};
use crate::effect::Io;
use crate::error::Result;
use crate::generation::prompt::{Batch, OpenSegment};
use crate::generation::reply::BadReply;
use crate::id::{IdSource, JobId, PageId, SegmentId, Side, TurnId};
use crate::index::Index;
use crate::model::{Change, Cube, Job, JobKind, Page, Place, Record, RecordKey, RecordKind, Segment};
use crate::order::sort_by_key;
use crate::text;
use crate::updating::mid_term::{PageFeatures, Placement, Placer, sum};
use crate::updating::short_term::page_texts;
use crate::updating::{lifecycle, offline};

/// What a policy is shown, apart from the memory, which goes on changing.
struct Material {
    pages: Vec<Page>,
    before: Option<Page>,
    /// What the chain of the page before is about.
    chain: String,
    open: Vec<(SegmentId, String)>,
}

impl Material {
    /// Whether it is still so: an answer about what has been deleted meanwhile is not used.
    fn is_as_shown(&self, engine: &Engine) -> bool {
        let cube = engine.cube.borrow();
        let is_open =
            |(id, shown): &(SegmentId, String)| cube.segment(*id).is_some_and(|segment| theme(segment) == *shown);
        is_unchanged(engine, self.pages.iter().chain(&self.before))
            && self.open.iter().all(is_open)
            && chain_of(&cube, self.before.as_ref()) == self.chain
    }
}

fn chain_of(cube: &Cube, page: Option<&Page>) -> String {
    page.and_then(|page| cube.place(page.id)).map(|place| place.meta_info.clone()).unwrap_or_default()
}

/// Whether a job is still to be done: another task may have done it meanwhile.
pub(super) fn is_waiting(engine: &Engine, job: &Job) -> bool {
    engine.cube.borrow().job(job.id).is_some_and(|now| now.pages() == job.pages())
}

/// Files the pages of a job. The commit that places them removes the job, so doing it twice does it once.
pub(super) async fn consolidate(engine: &Engine, io: &Io, job: &Job, now_ms: i64) -> Result<()> {
    let material = gather(engine, job);
    let policy = engine.policy();
    let by_rules = why_by_rules(engine, job, now_ms).filter(|_| policy.asks_model());
    let asks = policy.asks_model() && by_rules.is_none() && !material.pages.is_empty();
    let mut filed = Filed::default();
    if asks {
        let pages: Vec<&Page> = material.pages.iter().collect();
        let open: Vec<_> = material.open.iter().map(|(id, theme)| OpenSegment { id: *id, theme }).collect();
        let batch = Batch { before: material.before.as_ref(), pages: &pages, open: &open };
        filed = match policy.file(&Desk::new(engine, io, now_ms), &batch).await {
            Err(error) if BadReply::of(&error) == Some(BadReply::Truncated) && pages.len() > 1 => {
                return split(engine, io, job.id).await;
            }
            other => other?,
        };
    }
    let turn = engine.write_turn().await?;
    if !is_waiting(engine, job) || (asks && !material.is_as_shown(engine)) {
        return Ok(());
    }
    let mut ids = engine.ids.get();
    let seen_ids: Vec<PageId> = material.pages.iter().map(|page| page.id).collect();
    let (delta, archived, segments) = {
        let (cube, index) = (engine.cube.borrow(), engine.index.borrow());
        let offered: Vec<SegmentId> = material.open.iter().map(|(id, _)| *id).filter(|_| filed.chose).collect();
        let placement = placed(engine, &cube, &index, job, &seen_ids, &filed, asks, &offered, &mut ids, now_ms);
        let segments: Vec<SegmentId> = placement.segments.keys().copied().collect();
        let (mut delta, archived) = settle(engine, &cube, &index, placement, now_ms);
        let facts = core::mem::take(&mut filed.filing.facts);
        delta.extend(learn(engine, &cube, facts, &seen_ids, "segments", &mut ids, now_ms));
        delta.push(Change::Remove(RecordKey { kind: RecordKind::Job, id: job.id.raw() }));
        (delta, archived, segments)
    };
    let persona = persona_changed(&delta);
    commit(engine, io, &turn, Commit::new(delta, ids)).await?;
    let pages: Vec<String> = seen_ids.iter().map(ToString::to_string).collect();
    let segments = segments.iter().map(ToString::to_string).collect();
    if let Some(reason) = by_rules {
        engine.enrichment_due.set(true);
        engine.emit(Event::FiledByRules { pages: pages.clone(), reason });
    }
    engine.emit(match job.kind {
        JobKind::Enrich { .. } => Event::Enriched { pages, segments },
        _ => Event::Consolidated { pages, segments },
    });
    persona.into_iter().for_each(|event| engine.emit(event));
    for segment in archived {
        engine.emit(Event::SegmentArchived { segment_id: segment.to_string() });
    }
    report_refused(engine, policy.name(), &filed.refused);
    Ok(())
}

/// Tells whoever watches what of a reply was not taken.
pub(super) fn report_refused(engine: &Engine, operation: &str, refused: &[crate::generation::reply::Refusal]) {
    if !refused.is_empty() {
        let parts = refused.iter().map(RefusedPart::from).collect();
        engine.emit(Event::ReplyRefused { operation: operation.into(), parts });
    }
}

/// Why rules shall file what a model should see; only consolidation goes by rules, so that short-term memory does not wait.
fn why_by_rules(engine: &Engine, job: &Job, now_ms: i64) -> Option<String> {
    if !matches!(job.kind, JobKind::Consolidate { .. }) {
        return None;
    }
    if job.attempts >= FILE_BY_RULES_AFTER {
        return Some(job.error.as_ref().map_or_else(String::new, |error| error.message.clone()));
    }
    let waits = engine.model_waits(now_ms).filter(|_| engine.is_model_out(now_ms));
    waits.map(|waits| waits.as_str().into())
}

/// Whether the pages are still what they were.
pub(super) fn is_unchanged<'a>(engine: &Engine, pages: impl IntoIterator<Item = &'a Page>) -> bool {
    let cube = engine.cube.borrow();
    pages.into_iter().all(|page| cube.page(page.id) == Some(page))
}

/// The pages of a job that are still to be filed, with the page before them and the last open segments.
fn gather(engine: &Engine, job: &Job) -> Material {
    let cube = engine.cube.borrow();
    let waits = |id: &PageId| match &job.kind {
        JobKind::Enrich { .. } => cube.place(*id).is_some_and(Place::is_by_rules),
        _ => cube.place(*id).is_some_and(|place| place.segments.is_empty()),
    };
    let pages: Vec<Page> = job.pages().iter().filter(|id| waits(id)).filter_map(|&id| cube.page(id)).cloned().collect();
    let before = pages.first().and_then(|first| cube.page_before(first.position)).cloned();
    // Pages that are filed anew are filed as if no rule had filed any: into what a model has made of other pages.
    let anew = matches!(job.kind, JobKind::Enrich { .. });
    let drafted = |page: PageId| cube.place(page).is_some_and(|place| place.drafted);
    let offers = |segment: &&Segment| !segment.archived && (!anew || cube.members(segment.id).any(drafted));
    let mut open: Vec<&Segment> = cube.segments().filter(offers).collect();
    sort_by_key(&mut open, |segment| core::cmp::Reverse((segment.end.map(|end| end.epoch_ms), segment.id)));
    open.truncate(OPEN_SEGMENTS_SHOWN);
    let open = open.into_iter().map(|segment| (segment.id, theme(segment))).collect();
    let chain = chain_of(&cube, before.as_ref());
    Material { pages, before, chain, open }
}

/// What a segment is about, in a few words.
pub(super) fn theme(segment: &Segment) -> String {
    if segment.title.is_empty() {
        segment.keywords.iter().take(3).cloned().collect::<Vec<_>>().join(" \u{b7} ")
    } else {
        segment.title.clone()
    }
}

/// Two jobs in place of one whose answer does not fit. They are new ones, so that whoever does every job once does them too.
pub(super) async fn split(engine: &Engine, io: &Io, id: JobId) -> Result<()> {
    let turn = engine.write_turn().await?;
    let mut ids = engine.ids.get();
    let Some(job) = engine.cube.borrow().job(id).cloned() else { return Ok(()) };
    let (first, second) = job.pages().split_at(job.pages().len() / 2);
    let mut half = |pages: &[PageId]| {
        let id = JobId::from_raw(ids.next_raw());
        Change::Put(Record::Job(Job { id, ..job.of(pages.to_vec()) }))
    };
    let whole = Change::Remove(RecordKey { kind: RecordKind::Job, id: id.raw() });
    let delta = vec![half(first), half(second), whole];
    commit(engine, io, &turn, Commit::new(delta, ids)).await
}

#[allow(clippy::too_many_arguments)]
fn placed(
    engine: &Engine,
    cube: &Cube,
    index: &Index,
    job: &Job,
    pages: &[PageId],
    filed: &Filed,
    seen: bool,
    offered: &[SegmentId],
    ids: &mut IdSource,
    now_ms: i64,
) -> Placement {
    let known = pages.iter().filter_map(|&id| cube.page(id));
    let features: Vec<_> = known.map(|page| features(index, page)).collect();
    let space = engine.space();
    let mut placer = Placer::new(cube, &engine.options.config, space.as_ref(), &features, now_ms);
    if matches!(job.kind, JobKind::Enrich { .. }) {
        placer.lift(&|page| page_vector(index, page));
    }
    for draft in &filed.filing.segments {
        placer.as_drafted(draft, offered, ids);
    }
    let is_drafted = |page: &PageId| filed.filing.segments.iter().any(|draft| draft.pages.contains(page));
    for page in features.iter().filter(|page| !is_drafted(&page.id)) {
        placer.by_rules(page, seen, ids);
    }
    placer.link(&filed.filing.links);
    placer.finish()
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
pub(super) fn unit_sum<'a>(vectors: impl Iterator<Item = &'a [f32]>) -> Option<Vec<f32>> {
    let mut sum = sum(vectors)?;
    let norm = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    if norm <= 0.0 {
        return None;
    }
    sum.iter_mut().for_each(|x| *x /= norm);
    Some(sum)
}

/// Describes the segments that no model has described from their pages, and archives what exceeds the capacity.
fn settle(
    engine: &Engine,
    cube: &Cube,
    index: &Index,
    placed: Placement,
    now_ms: i64,
) -> (Vec<Change>, Vec<SegmentId>) {
    let Placement { places, segments, by_rules, emptied } = placed;
    let mut segments: Vec<Segment> = segments.into_iter().map(|(_, segment)| segment).collect();
    for segment in segments.iter_mut().filter(|segment| segment.title.is_empty() && by_rules.contains(&segment.id)) {
        let is_placed = |page: &PageId| places.iter().any(|place| place.page == *page);
        let mut pages: Vec<PageId> = cube.members(segment.id).filter(|page| !is_placed(page)).collect();
        let joined = places.iter().filter(|place| place.segments.contains(&segment.id)).map(|place| place.page);
        pages.extend(joined);
        describe(cube, index, segment, &pages);
    }
    let touched: Vec<_> = segments.iter().collect();
    let archived = lifecycle::to_archive(cube, &touched, &engine.options.config, now_ms);
    let archived: Vec<SegmentId> = archived.into_iter().filter(|id| !emptied.contains(id)).collect();
    for &id in &archived {
        match segments.iter_mut().find(|segment| segment.id == id) {
            Some(segment) => segment.archived = true,
            None => segments.extend(cube.segment(id).map(|segment| Segment { archived: true, ..segment.clone() })),
        }
    }
    let gone = emptied.iter().map(|id| Change::Remove(RecordKey { kind: RecordKind::Segment, id: id.raw() }));
    let mut delta: Vec<_> = gone.collect();
    delta.extend(segments.into_iter().map(|segment| Change::Put(Record::Segment(segment))));
    delta.extend(places.into_iter().map(|place| Change::Put(Record::Place(place))));
    (delta, archived)
}

/// Derives keywords and summary of a segment from the given pages.
pub(super) fn describe(cube: &Cube, index: &Index, segment: &mut Segment, pages: &[PageId]) {
    let mut pages = pages.to_vec();
    sort_by_key(&mut pages, |&id| cube.page(id).map(|page| page.position));
    let texts: Vec<_> = pages.iter().filter_map(|&id| cube.page(id)).flat_map(page_texts).collect();
    offline::describe(segment, &texts, &|word| index.document_share(word));
}
