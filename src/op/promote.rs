//! Promotion: hot pages go into the user's profile and traits, and their facts into long-term memory (MemoryOS, 3.2.2).

use super::commit::{Commit, commit};
use super::consolidate::{is_unchanged, is_waiting, report_refused, split};
use super::engine::Engine;
use super::event::Event;
use super::learn::{cause, learn, persona_changed, stands};
use super::policy::Desk;
use crate::config::PROMOTION_MAX_PAGES;
use crate::effect::Io;
use crate::error::Result;
use crate::generation::prompt::Batch;
use crate::generation::reply::BadReply;
use crate::id::{JobId, PageId, Side};
use crate::model::{Change, Job, JobKind, Page, Record, RecordKey, RecordKind, Trait};
use crate::order::sort_by_key;
use crate::updating::history::recorded;
use crate::updating::promotion;

/// Which pages an analysis is queued for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those of hot segments, once there are enough of them.
    Hot,
    /// All of mid-term memory that no analysis has seen.
    All,
}

/// Queues the analysis of pages that are due and that no job is about; hottest first. A policy without a model has none.
pub(super) async fn queue_promotions(engine: &Engine, io: &Io, reach: Reach, now_ms: i64) -> Result<()> {
    if !engine.policy().asks_model() || due(engine, reach, now_ms).is_empty() {
        return Ok(());
    }
    let turn = engine.write_turn().await?;
    let mut ids = engine.ids.get();
    let jobs: Vec<_> = due(engine, reach, now_ms)
        .chunks(PROMOTION_MAX_PAGES)
        .map(|pages| {
            let mut pages = pages.to_vec();
            let cube = engine.cube.borrow();
            sort_by_key(&mut pages, |&id| cube.page(id).map(|page| page.position));
            Change::Put(Record::Job(Job::new(JobId::from_raw(ids.next_raw()), JobKind::Promote { pages })))
        })
        .collect();
    if jobs.is_empty() {
        return Ok(());
    }
    commit(engine, io, &turn, Commit::new(jobs, ids)).await
}

fn due(engine: &Engine, reach: Reach, now_ms: i64) -> Vec<PageId> {
    let cube = engine.cube.borrow();
    let config = &engine.options.config;
    let mut known = cube.queued(|kind| matches!(kind, JobKind::Promote { .. }));
    let fresh = |page: &PageId| known.insert(*page);
    let due: Vec<PageId> = match reach {
        Reach::Hot => {
            let promotions = promotion::due(&cube, config, &|segment| engine.with_visits(segment), now_ms);
            promotions.into_iter().flat_map(|promotion| promotion.pages).filter(fresh).collect()
        }
        Reach::All => {
            let segments = cube.segments().flat_map(|segment| promotion::unseen(&cube, segment.id));
            segments.filter(fresh).collect()
        }
    };
    let least = if reach == Reach::Hot { config.promotion_batch } else { 1 };
    if due.len() < least { Vec::new() } else { due }
}

/// Analyses the pages of a job. The commit that writes what was found marks the pages as seen and removes the job.
pub(super) async fn promote(engine: &Engine, io: &Io, job: &Job, now_ms: i64) -> Result<()> {
    let policy = engine.policy();
    let profile = || engine.cube.borrow().profile(Side::User).cloned();
    let before = profile();
    let until_now = before.as_ref().map(|profile| profile.text.clone()).unwrap_or_default();
    let material = {
        let cube = engine.cube.borrow();
        let unseen = job.pages().iter().filter(|id| !cube.is_analysed(**id));
        unseen.filter_map(|&id| cube.page(id)).cloned().collect::<Vec<Page>>()
    };
    let pages: Vec<&Page> = material.iter().collect();
    let batch = Batch { pages: &pages, ..Batch::default() };
    let analysis = match pages.is_empty() || !policy.asks_model() {
        true => super::policy::Analysis::default(),
        false => match policy.analyse(&Desk::new(engine, io, now_ms), &batch, &until_now).await {
            Err(error) if BadReply::of(&error) == Some(BadReply::Truncated) && pages.len() > 1 => {
                return split(engine, io, job.id).await;
            }
            other => other?,
        },
    };
    let turn = engine.write_turn().await?;
    // A profile rests on the one before it, which may have been deleted or written by the user meanwhile.
    if !is_waiting(engine, job) || !is_unchanged(engine, &material) || profile() != before {
        return Ok(());
    }
    let mut ids = engine.ids.get();
    let seen: Vec<PageId> = material.iter().map(|page| page.id).collect();
    let (delta, segments) = {
        let cube = engine.cube.borrow();
        let config = &engine.options.config;
        let mut persona = match &analysis.profile {
            Some(text) => promotion::write_profile(&cube, Side::User, text, false, now_ms)?,
            None => Vec::new(),
        };
        let is_shown = |of: &&Trait| of.evidence.iter().all(|of| stands(&cube, of));
        let traits: Vec<Trait> = analysis.traits.iter().filter(is_shown).cloned().collect();
        persona.extend(promotion::observe_traits(&cube, &traits));
        let mut delta = recorded(&cube, config, persona, cause(engine, &seen, "profile"), &mut ids, now_ms);
        delta.extend(learn(engine, &cube, analysis.facts, &seen, "knowledge", &mut ids, now_ms));
        if policy.asks_model() {
            delta.extend(promotion::analysed(&cube, &seen, now_ms));
        }
        delta.push(Change::Remove(RecordKey { kind: RecordKind::Job, id: job.id.raw() }));
        (delta, cube.segments_of(&seen))
    };
    let events = persona_changed(&delta);
    commit(engine, io, &turn, Commit::new(delta, ids)).await?;
    engine.emit(Event::Promoted {
        pages: seen.iter().map(ToString::to_string).collect(),
        segments: segments.iter().map(ToString::to_string).collect(),
    });
    events.into_iter().for_each(|event| engine.emit(event));
    report_refused(engine, policy.name(), &analysis.refused);
    Ok(())
}
