//! Units and vectors that could not be computed when a page was stored: because the table was not there yet, or because the
//! embedding model is outside.

use super::commit::{Commit, commit};
use super::consolidate::{page_vector, unit_sum};
use super::engine::{Embedder, Engine, embedded_text, measure};
use super::event::Event;
use super::spending::{EMBED, QUERY};
use crate::config::EMBED_BATCH_PAGES;
use crate::effect::{EmbedKind, EmbedRequest, Io};
use crate::error::{Error, ErrorCode, Result};
use crate::id::{IdSource, JobId, PageId, Side};
use crate::index::Index;
use crate::map::HashMap;
use crate::model::{Change, Cube, Job, JobKind, Page, PageVectors, Record, RecordKey, RecordKind, Space};
use crate::updating::mid_term::recentre;

/// Computes what these pages lack and stores it in the commit that removes the job.
///
/// # Errors
/// `NOT_OPEN` while the built-in table is not there; the provider's error; `DIMENSION_MISMATCH` and `PROVIDER_BAD_REPLY` for
/// vectors that cannot be used.
pub(super) async fn embed(engine: &Engine, io: &Io, job: JobId, pages: &[PageId], now_ms: i64) -> Result<()> {
    let pages: Vec<_> = {
        let cube = engine.cube.borrow();
        pages.iter().filter_map(|&id| cube.page(id)).cloned().collect()
    };
    let mut delta = Vec::new();
    match &engine.options.embedder {
        Embedder::None => {}
        Embedder::Builtin if engine.table().is_none() => {
            return Err(Error::new(ErrorCode::NotOpen, "the embedding table has not been loaded"));
        }
        Embedder::Builtin => {
            for page in &pages {
                let (units, vectors) = measure(engine, page);
                delta.push(Change::Put(Record::Units(units)));
                delta.extend(vectors.map(|vectors| Change::Put(Record::Vectors(vectors))));
            }
        }
        Embedder::External { space, texts_per_call } => {
            for page in &pages {
                let (units, _) = measure(engine, page);
                delta.push(Change::Put(Record::Units(units)));
            }
            // A table that came later changes units alone: nobody is asked, or paid, twice for a vector.
            let stale: Vec<&Page> = pages.iter().filter(|page| is_stale(engine, space, page)).collect();
            let asked: Vec<_> =
                stale.iter().flat_map(|page| page.turns().map(|turn| (turn, embedded_text(page, turn.side)))).collect();
            let mut vectors = Vec::with_capacity(asked.len());
            for batch in asked.chunks((*texts_per_call).max(1)) {
                let texts = batch.iter().map(|(_, text)| text.clone()).collect();
                vectors.extend(ask(engine, io, space, EmbedKind::Passage, texts, now_ms).await?);
            }
            let mut found = asked.iter().map(|(turn, _)| *turn).zip(vectors).peekable();
            for page in stale {
                let mut record = PageVectors { page: page.id, space: space.clone(), user: None, agent: None };
                while let Some((turn, vector)) = found.next_if(|(turn, _)| turn.page == page.id) {
                    match turn.side {
                        Side::User => record.user = vector,
                        Side::Agent => record.agent = vector,
                    }
                }
                delta.push(Change::Put(Record::Vectors(record)));
            }
        }
    }
    let turn = engine.write_turn().await?;
    {
        let (cube, index) = (engine.cube.borrow(), engine.index.borrow());
        // A page that was deleted meanwhile must not come back in parts; one that got its answer has newer units.
        let unchanged = |id: u64| {
            let before = pages.iter().find(|page| page.id.raw() == id);
            before.is_some() && cube.page(PageId::from_raw(id)) == before
        };
        delta.retain(|change| unchanged(change.key().id));
        let segments = recentred(engine, &cube, &index, &delta);
        delta.extend(segments);
        let left = pages.iter().map(|page| page.id).filter(|id| cube.page(*id).is_some() && !unchanged(id.raw()));
        let left: Vec<PageId> = left.collect();
        delta.extend(cube.job(job).map(|job| match left.is_empty() {
            true => Change::Remove(RecordKey { kind: RecordKind::Job, id: job.id.raw() }),
            false => Change::Put(Record::Job(job.of(left))),
        }));
    }
    commit(engine, io, &turn, Commit::new(delta, engine.ids.get())).await?;
    let pending = without_vectors(engine).len();
    engine.emit(Event::Embedded { pages: pages.len(), pending });
    Ok(())
}

/// Whether a page wants vectors of a space: it has those of another, or came by an answer since it was embedded.
fn is_stale(engine: &Engine, space: &Space, page: &Page) -> bool {
    let (cube, index) = (engine.cube.borrow(), engine.index.borrow());
    cube.embedded_in(page.id) != Some(space) || page.turns().any(|turn| index.vector(turn).is_none())
}

/// The segments of newly embedded pages, with centroids that count them in.
fn recentred(engine: &Engine, cube: &Cube, index: &Index, delta: &[Change]) -> Vec<Change> {
    let new: HashMap<PageId, &PageVectors> = delta
        .iter()
        .filter_map(|change| match change {
            Change::Put(Record::Vectors(vectors)) => Some((vectors.page, vectors)),
            _ => None,
        })
        .collect();
    let vector = |page: PageId| match new.get(&page) {
        Some(vectors) => unit_sum([vectors.user.as_deref(), vectors.agent.as_deref()].into_iter().flatten()),
        None => page_vector(index, page),
    };
    let pages: Vec<PageId> = new.keys().copied().collect();
    let segments = cube.segments_of(&pages).into_iter().filter_map(|id| cube.segment(id)).cloned();
    let recentred = segments.map(|mut segment| {
        let pages = cube.members(segment.id);
        recentre(&mut segment, engine.space().as_ref(), pages.filter_map(vector));
        Change::Put(Record::Segment(segment))
    });
    recentred.collect()
}

/// Asks the outside model for unit vectors; `None` for one that is zero, infinite or not a number.
///
/// # Errors
/// `PROVIDER_BAD_REPLY` for too few or too many vectors, `DIMENSION_MISMATCH` for one of another length.
pub(super) async fn ask(
    engine: &Engine,
    io: &Io,
    space: &Space,
    kind: EmbedKind,
    texts: Vec<String>,
    now_ms: i64,
) -> Result<Vec<Option<Vec<f32>>>> {
    let n_texts = texts.len();
    let operation = if kind == EmbedKind::Query { QUERY } else { EMBED };
    let reply = io.embed(EmbedRequest { texts, kind }).await;
    engine.spend(now_ms, operation, reply.as_ref().map(|reply| reply.usage).unwrap_or_default(), reply.is_ok());
    let reply = reply?;
    if reply.vectors.len() != n_texts {
        let got = reply.vectors.len();
        return Err(Error::new(ErrorCode::ProviderBadReply, format!("{got} vectors came back for {n_texts} texts")));
    }
    reply.vectors.into_iter().map(|vector| unit(vector, space)).collect()
}

fn unit(mut vector: Vec<f32>, space: &Space) -> Result<Option<Vec<f32>>> {
    if vector.len() != space.dimensions as usize {
        let (got, model, want) = (vector.len(), &space.model, space.dimensions);
        return Err(Error::new(
            ErrorCode::DimensionMismatch,
            format!("{model} gave a vector of {got} dimensions, not {want}"),
        ));
    }
    let norm = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    if !norm.is_normal() {
        return Ok(None);
    }
    vector.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
    Ok(Some(vector))
}

/// Pages that have not been embedded in the present space, or whose units are still estimates.
pub(super) fn without_vectors(engine: &Engine) -> Vec<PageId> {
    let Some(space) = engine.space() else { return Vec::new() };
    let has_table = engine.table().is_some();
    let cube = engine.cube.borrow();
    let lacks = |id: PageId| {
        cube.embedded_in(id) != Some(&space) || cube.units(id).is_none_or(|units| has_table && !units.from_table)
    };
    cube.pages().map(|page| page.id).filter(|&id| lacks(id)).collect()
}

/// Jobs for every page that lacks something and that no job is about yet: after a table has been loaded, or the embedder
/// changed.
pub(super) fn backfill_jobs(engine: &Engine, ids: &mut IdSource) -> Vec<Change> {
    let spoken_for = engine.cube.borrow().queued(|kind| matches!(kind, JobKind::Embed { .. }));
    let pages: Vec<_> = without_vectors(engine).into_iter().filter(|id| !spoken_for.contains(id)).collect();
    let batches = pages.chunks(EMBED_BATCH_PAGES);
    batches
        .map(|batch| {
            let id = JobId::from_raw(ids.next_raw());
            Change::Put(Record::Job(Job::new(id, JobKind::Embed { pages: batch.to_vec() })))
        })
        .collect()
}
