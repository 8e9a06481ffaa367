//! The scheduler: persisted jobs, one at a time, with retries; then housekeeping of the log.

use super::commit::{Commit, commit};
use super::consolidate::consolidate;
use super::embed::{backfill_jobs, embed};
use super::engine::{Embedder, Engine};
use super::event::Event;
use super::seal::{seal, seal_due};
use crate::config::{RETRY_ATTEMPTS, RETRY_FIRST_MS};
use crate::effect::Io;
use crate::error::{Error, ErrorCode, Result};
use crate::id::{JobId, PageId};
use crate::model::{Change, Job, JobError, JobKind, Record};
use crate::updating::short_term::consolidation_jobs;

/// What a call of [`work`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worked {
    /// Whether something was done.
    pub ran: bool,
    /// When the next job is due, milliseconds since the epoch; `None` when nothing waits.
    pub next_due_ms: Option<i64>,
}

/// Does the next thing that is due: one job, or one sealing of the log.
///
/// # Errors
/// Those of the store. A job that fails is no error here: it is kept, with its reason, and tried again later.
pub async fn work(engine: &Engine, io: &Io, now_ms: i64) -> Result<Worked> {
    queue_backfill(engine, io).await?;
    let ran = match next_job(engine, Some(now_ms)) {
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
/// The first job's error, after all others have been done.
pub async fn flush(engine: &Engine, io: &Io, now_ms: i64) -> Result<()> {
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
    let mut first_error = None;
    let mut tried = Vec::new();
    while let Some(job) = next_job_but(engine, None, &tried) {
        tried.push(job.id);
        if let Err(error) = attempt(engine, io, job, now_ms).await? {
            first_error.get_or_insert(error);
        }
    }
    seal(engine, io).await?;
    first_error.map_or(Ok(()), Err)
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

/// Does a job. The outer result is the store's, the inner one the job's.
async fn attempt(engine: &Engine, io: &Io, job: Job, now_ms: i64) -> Result<Result<()>> {
    let outcome = match &job.kind {
        JobKind::Consolidate { pages } => consolidate(engine, io, job.id, pages, now_ms).await,
        JobKind::Embed { pages } => embed(engine, io, job.id, pages).await,
    };
    let Err(error) = outcome else { return Ok(Ok(())) };
    if is_of_the_store(error.code()) {
        return Err(error);
    }
    let attempts = job.attempts + 1;
    let failed = attempts >= RETRY_ATTEMPTS;
    let delay_ms = RETRY_FIRST_MS << (attempts - 1).min(16);
    let kept = Job {
        attempts,
        not_before_ms: now_ms.saturating_add(delay_ms),
        failed,
        error: Some(JobError { code: error.code().as_str().into(), message: error.message().into() }),
        ..job
    };
    let turn = engine.write_turn().await?;
    let id = kept.id;
    if engine.cube.borrow().job(id).is_some() {
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

fn next_job(engine: &Engine, due_ms: Option<i64>) -> Option<Job> {
    next_job_but(engine, due_ms, &[])
}

/// The job to do next: consolidation before embedding, the oldest first. `due_ms: None` does not wait.
fn next_job_but(engine: &Engine, due_ms: Option<i64>, tried: &[JobId]) -> Option<Job> {
    let cube = engine.cube.borrow();
    let can_run = |job: &&Job| {
        !job.failed && due_ms.is_none_or(|now| job.not_before_ms <= now) && !tried.contains(&job.id) && is_possible(engine, job)
    };
    cube.jobs().filter(can_run).min_by_key(|job| (matches!(job.kind, JobKind::Embed { .. }), job.id)).cloned()
}

/// A job that needs the embedding table waits for it without counting as tried.
fn is_possible(engine: &Engine, job: &Job) -> bool {
    match job.kind {
        JobKind::Consolidate { .. } => true,
        JobKind::Embed { .. } => engine.options.embedder != Embedder::Builtin || engine.table().is_some(),
    }
}

fn next_due_ms(engine: &Engine, now_ms: i64) -> Option<i64> {
    let cube = engine.cube.borrow();
    let jobs = cube.jobs().filter(|job| !job.failed && is_possible(engine, job)).map(|job| job.not_before_ms.max(now_ms));
    jobs.min().or_else(|| seal_due(engine).then_some(now_ms))
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
    commit(engine, io, &turn, Commit::new(vec![Change::Put(Record::Job(job))], engine.ids.get())).await
}
