//! The scheduler: persisted jobs, one at a time, with retries; then housekeeping of the log.

use super::commit::{Commit, commit};
use super::consolidate::consolidate;
use super::embed::{backfill_jobs, embed};
use super::engine::{Embedder, Engine};
use super::event::Event;
use super::promote::{Reach, promote, queue_promotions};
use super::seal::{seal, seal_due};
use super::spending::{Waits, delay_ms, due_at};
use crate::config::{FILE_BY_RULES_AFTER, RETRY_ATTEMPTS};
use crate::effect::Io;
use crate::error::{Error, ErrorCode, Result};
use crate::id::{JobId, PageId};
use crate::model::{Change, Cube, Job, JobError, JobKind, Place, Record};
use crate::updating::short_term::consolidation_jobs;

/// What a call of [`work`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worked {
    /// Whether something was done.
    pub ran: bool,
    /// When the next job is due, milliseconds since the epoch; `None` when nothing waits.
    pub next_due_ms: Option<i64>,
}

/// Does the next thing that is due: one job, or one sealing of the log. Nothing while background work is paused.
///
/// # Errors
/// Those of the store. A job that fails is no error here: it is kept, with its reason, and tried again later.
pub async fn work(engine: &Engine, io: &Io, now_ms: i64) -> Result<Worked> {
    if engine.paused.get() {
        engine.check_readable()?;
        return Ok(Worked { ran: false, next_due_ms: None });
    }
    let _labour = engine.labour.turn().await;
    queue_backfill(engine, io).await?;
    queue_enrichment(engine, io).await?;
    queue_promotions(engine, io, Reach::Hot, now_ms).await?;
    let ran = match next_job(engine, now_ms, Pace::Due, &[]) {
        Some(job) => {
            // The failure is kept with the job and has been reported.
            let _ = attempt(engine, io, job, now_ms).await?;
            true
        }
        None if seal_due(engine) => {
            seal(engine, io).await?;
            true
        }
        None => false,
    };
    Ok(Worked { ran, next_due_ms: next_due_ms(engine, now_ms) })
}

/// Takes everything beyond the capacity into mid-term memory, does every job that can be done, waiting or not, and seals the
/// log.
///
/// # Errors
/// The first job's error, after all others have been done that need not wait for that one.
pub async fn flush(engine: &Engine, io: &Io, now_ms: i64) -> Result<()> {
    let _labour = engine.labour.turn().await;
    queue_backfill(engine, io).await?;
    {
        let turn = engine.write_turn().await?;
        let mut ids = engine.ids.get();
        let jobs = {
            let cube = engine.cube.borrow();
            let short_term: Vec<PageId> = cube.short_term().collect();
            let config = &engine.options.config;
            consolidation_jobs(&cube, &short_term, config.short_term_capacity, config, &mut ids)
        };
        if !jobs.is_empty() {
            commit(engine, io, &turn, Commit::new(jobs, ids)).await?;
        }
    }
    let first_error = drain(engine, io, Reach::Hot, now_ms).await?;
    seal(engine, io).await?;
    first_error.map_or(Ok(()), Err)
}

/// What an analysis on demand did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Analysed {
    /// Pages that long-term analysis has seen now and had not before.
    pub pages: usize,
    /// Changes of long-term memory.
    pub changes: usize,
}

/// Does every waiting job, and then analyses all of mid-term memory that no analysis has seen, hot or not (MemoryOS: force
/// analysis).
///
/// # Errors
/// The first job's error, after all others have been done that need not wait for that one. An analysis of everything comes
/// after everything that waits, and is not begun then.
pub async fn analyse(engine: &Engine, io: &Io, now_ms: i64) -> Result<Analysed> {
    let _labour = engine.labour.turn().await;
    let count = || {
        let cube = engine.cube.borrow();
        (cube.pages().filter(|page| cube.is_analysed(page.id)).count(), cube.n_changes())
    };
    let before = count();
    let first_error = drain(engine, io, Reach::All, now_ms).await?;
    let after = count();
    let done = Analysed { pages: after.0.saturating_sub(before.0), changes: after.1.saturating_sub(before.1) };
    first_error.map_or(Ok(done), Err)
}

/// Does every job that can be done, once, with those that they bring. Returns the first error of a job.
async fn drain(engine: &Engine, io: &Io, reach: Reach, now_ms: i64) -> Result<Option<Error>> {
    let mut first_error = None;
    let mut tried = Vec::new();
    loop {
        queue_enrichment(engine, io).await?;
        queue_promotions(engine, io, Reach::Hot, now_ms).await?;
        let mut next = next_job(engine, now_ms, Pace::AtOnce, &tried);
        if next.is_none() && reach == Reach::All && first_error.is_none() {
            queue_promotions(engine, io, reach, now_ms).await?;
            next = next_job(engine, now_ms, Pace::AtOnce, &tried);
        }
        let Some(job) = next else { return Ok(first_error.or_else(|| left_undone(engine, now_ms))) };
        tried.push(job.id);
        if let Err(error) = attempt(engine, io, job, now_ms).await? {
            first_error.get_or_insert(error);
        }
    }
}

/// Why a job is left that waits for a model which has failed too often to be asked now.
fn left_undone(engine: &Engine, now_ms: i64) -> Option<Error> {
    let cube = engine.cube.borrow();
    let mut left = cube.jobs().filter(|job| !job.failed && waits_for(engine, job, now_ms) == Some(Waits::Model));
    left.find_map(|job| job.error.as_ref().map(|error| Error::new(error.kind(), error.message.clone())))
}

/// Queues jobs for pages that lack vectors, when that may have changed.
async fn queue_backfill(engine: &Engine, io: &Io) -> Result<()> {
    if !engine.backfill_due.get() {
        return Ok(());
    }
    let turn = engine.write_turn().await?;
    let mut ids = engine.ids.get();
    let jobs = backfill_jobs(engine, &mut ids);
    if !jobs.is_empty() {
        commit(engine, io, &turn, Commit::new(jobs, ids)).await?;
    }
    // Without a table there is nothing to compute yet; its arrival raises the flag again.
    engine.backfill_due.set(false);
    Ok(())
}

/// Queues jobs for pages that rules have filed and a model should see: after an outage, or when a model came later.
async fn queue_enrichment(engine: &Engine, io: &Io) -> Result<()> {
    if !engine.enrichment_due.get() || !engine.policy().asks_model() {
        return Ok(());
    }
    let turn = engine.write_turn().await?;
    let mut ids = engine.ids.get();
    let jobs: Vec<_> = {
        let cube = engine.cube.borrow();
        let queued = cube.queued(|kind| matches!(kind, JobKind::Enrich { .. }));
        let is_due = |id: &PageId| cube.place(*id).is_some_and(Place::is_by_rules) && !queued.contains(id);
        let due: Vec<PageId> = cube.pages().map(|page| page.id).filter(is_due).collect();
        let batches = due.chunks(engine.options.config.consolidation_batch);
        let job = |pages: &[PageId]| JobKind::Enrich { pages: pages.to_vec() };
        batches.map(|pages| Change::Put(Record::Job(Job::new(JobId::from_raw(ids.next_raw()), job(pages))))).collect()
    };
    if !jobs.is_empty() {
        commit(engine, io, &turn, Commit::new(jobs, ids)).await?;
    }
    engine.enrichment_due.set(false);
    Ok(())
}

/// Does a job. The outer result is the store's, the inner one the job's.
async fn attempt(engine: &Engine, io: &Io, job: Job, now_ms: i64) -> Result<Result<()>> {
    let outcome = match &job.kind {
        JobKind::Consolidate { .. } | JobKind::Enrich { .. } => consolidate(engine, io, &job, now_ms).await,
        JobKind::Embed { pages } => embed(engine, io, job.id, pages, now_ms).await,
        JobKind::Promote { .. } => promote(engine, io, &job, now_ms).await,
    };
    let Err(error) = outcome else { return Ok(Ok(())) };
    if is_of_the_store(error.code()) {
        return Err(error);
    }
    let attempts = job.attempts + 1;
    let is_own = is_the_jobs_own(engine, &job, now_ms);
    let failed = is_own && attempts >= RETRY_ATTEMPTS;
    let kept = Job {
        attempts,
        not_before_ms: now_ms.saturating_add(delay_ms(attempts)),
        failed,
        error: Some(JobError { code: error.code().as_str().into(), message: error.message().into() }),
        ..job
    };
    let turn = engine.write_turn().await?;
    let id = kept.id;
    let known = engine.cube.borrow().job(id).map(|job| job.pages().to_vec());
    if let Some(pages) = known {
        // Pages may have been forgotten meanwhile.
        let kept = Job { kind: kept.kind.with_pages(pages), ..kept };
        commit(engine, io, &turn, Commit::new(vec![Change::Put(Record::Job(kept))], engine.ids.get())).await?;
    }
    engine.emit(Event::JobFailed {
        job_id: id.to_string(),
        code: error.code().as_str().into(),
        message: error.message().into(),
        will_retry: !failed,
    });
    Ok(Err(error))
}

/// Whether a failure is of this job and not of the language model as a whole, which then rests.
///
/// A model that is out, or that says nothing of use, sets no job aside, however long it lasts; a job that fails while others
/// succeed is set aside.
fn is_the_jobs_own(engine: &Engine, job: &Job, now_ms: i64) -> bool {
    if !job.kind.asks_chat() {
        return true;
    }
    engine.model_failed(now_ms);
    let health = engine.health.get();
    health.answered && health.failures <= job.attempts
}

fn is_of_the_store(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::StorageUnavailable
            | ErrorCode::StorageQuota
            | ErrorCode::StorageCorrupt
            | ErrorCode::VersionTooNew
            | ErrorCode::Closed
    )
}

/// Whether jobs wait for their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Due,
    AtOnce,
}

/// The job to do next: consolidation, then vectors, then long-term memory, then what rules have filed.
fn next_job(engine: &Engine, now_ms: i64, pace: Pace, tried: &[JobId]) -> Option<Job> {
    let cube = engine.cube.borrow();
    let can_run = |job: &Job| {
        let is_time = pace == Pace::AtOnce || due_at(job.not_before_ms, now_ms) <= now_ms;
        let waits = waits_for(engine, job, now_ms);
        // A model that has failed rests, unless somebody insists; and then not for ever.
        let insists = waits == Some(Waits::Model) && pace == Pace::AtOnce && !engine.is_model_out(now_ms);
        !job.failed && is_time && (waits.is_none() || insists) && !tried.contains(&job.id)
    };
    let line = line(&cube, &can_run);
    let job = cube.jobs().filter(|job| can_run(job) && !line.holds(&cube, job)).min_by_key(|job| order(&cube, job));
    job.cloned()
}

/// The oldest pages come first of their kind.
type Order = (u8, Option<u64>, JobId);

/// Promotions come as they were queued.
fn order(cube: &Cube, job: &Job) -> Order {
    let positions = job.pages().iter().filter_map(|&id| cube.page(id)).map(|page| page.position);
    let first_page = if matches!(job.kind, JobKind::Promote { .. }) { None } else { positions.min() };
    (priority(&job.kind), first_page, job.id)
}

/// Where the queue stands still.
struct Line(Option<Order>);

/// A job that waits to be tried again holds up what asks the language model after it, so that a failure that passes changes
/// nothing but the time. After its third failure it holds up nobody any longer.
fn line(cube: &Cube, can_run: &dyn Fn(&Job) -> bool) -> Line {
    let is_tried_again = |job: &&Job| !job.failed && (1..FILE_BY_RULES_AFTER).contains(&job.attempts);
    let held = cube.jobs().filter(is_tried_again).filter(|job| job.kind.asks_chat() && !can_run(job));
    Line(held.map(|job| order(cube, job)).min())
}

impl Line {
    fn holds(&self, cube: &Cube, job: &Job) -> bool {
        job.kind.asks_chat() && self.0.is_some_and(|first| order(cube, job) > first)
    }
}

const fn priority(kind: &JobKind) -> u8 {
    match kind {
        JobKind::Consolidate { .. } => 0,
        JobKind::Embed { .. } => 1,
        JobKind::Promote { .. } => 2,
        JobKind::Enrich { .. } => 3,
    }
}

/// What a job waits for, its own time apart.
pub(super) fn waits_for(engine: &Engine, job: &Job, now_ms: i64) -> Option<Waits> {
    let is_embed = matches!(job.kind, JobKind::Embed { .. });
    if is_embed && engine.options.embedder == Embedder::Builtin {
        return engine.table().is_none().then_some(Waits::Table);
    }
    if is_embed {
        return engine.is_budget_spent(now_ms).then_some(Waits::Budget);
    }
    // Consolidation goes by rules where it need not wait for the model.
    let asks = engine.policy().asks_model();
    match job.kind {
        JobKind::Consolidate { .. } if !asks || engine.is_model_out(now_ms) => None,
        _ if !asks => Some(Waits::Policy),
        _ => engine.model_waits(now_ms),
    }
}

fn next_due_ms(engine: &Engine, now_ms: i64) -> Option<i64> {
    let cube = engine.cube.borrow();
    let due = |job: &Job| match waits_for(engine, job, now_ms) {
        None => Some(due_at(job.not_before_ms, now_ms)),
        Some(Waits::Budget) => Some(Engine::next_day_ms(now_ms)),
        Some(Waits::Model) => engine.rests_until(now_ms).map(|until| until.max(due_at(job.not_before_ms, now_ms))),
        Some(Waits::Table | Waits::Pause | Waits::Policy) => None,
    };
    let line = line(&cube, &|job| due_at(job.not_before_ms, now_ms) <= now_ms);
    let queued = cube.jobs().filter(|job| !job.failed && !line.holds(&cube, job));
    queued.filter_map(due).min().or_else(|| seal_due(engine).then_some(now_ms))
}

/// Puts a failed job back into the queue.
///
/// # Errors
/// `NOT_FOUND` if there is no such job.
pub async fn retry(engine: &Engine, io: &Io, id: JobId) -> Result<()> {
    let turn = engine.write_turn().await?;
    let job = engine.cube.borrow().job(id).cloned();
    let job = job.ok_or_else(|| Error::new(ErrorCode::NotFound, format!("there is no job {id}")))?;
    let job = Job { attempts: 0, not_before_ms: i64::MIN, failed: false, ..job };
    engine.let_model_try();
    commit(engine, io, &turn, Commit::new(vec![Change::Put(Record::Job(job))], engine.ids.get())).await
}
