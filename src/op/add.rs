//! Adding turns. Answers once they are durable; model work comes after, from the job queue of the same commit.

use std::borrow::Cow;

use super::commit::{Commit, commit};
use super::engine::{Embedder, Engine, measure};
use super::event::Event;
use crate::config::EMBED_BATCH_PAGES;
use crate::effect::Io;
use crate::error::Result;
use crate::generation::prompt::without_blocks;
use crate::id::{IdSource, JobId, PageId};
use crate::model::{Change, Job, JobKind, Page, Record};
use crate::updating::short_term::{Admission, Admitted, NewPage};

/// What became of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is a page now.
    Stored(PageId),
    /// A page with its client id was there already; nothing was written.
    Duplicate(PageId),
}

impl Added {
    /// The page that holds the turn.
    pub fn page(self) -> PageId {
        match self {
            Self::Stored(page) | Self::Duplicate(page) => page,
        }
    }
}

/// Stores turns in one transaction, in order.
///
/// # Errors
/// `INVALID_ARGUMENT` for a turn that says nothing; none of them is stored then.
pub async fn add(engine: &Engine, io: &Io, turns: Vec<NewPage>, now_ms: i64) -> Result<Vec<Added>> {
    let turn = engine.write_turn().await?;
    let mut ids = engine.ids.get();
    let mut added = Vec::with_capacity(turns.len());
    let mut pages = Vec::new();
    let mut delta = {
        let cube = engine.cube.borrow();
        let mut admission = Admission::new(&cube, &engine.options.config, &mut ids, now_ms);
        for new in turns.into_iter().map(without_recalled) {
            added.push(match admission.admit(new)? {
                Admitted::Stored(page) => {
                    let id = page.id;
                    pages.push(page);
                    Added::Stored(id)
                }
                Admitted::Duplicate(page) => Added::Duplicate(page),
            });
        }
        admission.finish()
    };
    if pages.is_empty() {
        return Ok(added);
    }
    delta.extend(measured(engine, &pages, &mut ids));
    commit(engine, io, &turn, Commit::new(delta, ids)).await?;
    for page in &pages {
        engine.emit(Event::PageAdded { page_id: page.id.to_string() });
    }
    Ok(added)
}

/// A turn as it is stored: without blocks of recalled memory that came back in it.
fn without_recalled(new: NewPage) -> NewPage {
    let [user_input, agent_response] = [new.user_input, new.agent_response].map(without_recalled_blocks);
    NewPage { user_input, agent_response, ..new }
}

pub(super) fn without_recalled_blocks(text: String) -> String {
    match without_blocks(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(stripped) => stripped,
    }
}

/// Units and vectors of new pages, or the jobs that will compute what cannot be computed now.
pub(super) fn measured(engine: &Engine, pages: &[Page], ids: &mut IdSource) -> Vec<Change> {
    let mut delta = Vec::new();
    let mut pending = Vec::new();
    for page in pages {
        let (units, vectors) = measure(engine, page);
        let incomplete = !units.from_table || (vectors.is_none() && engine.options.embedder != Embedder::None);
        delta.push(Change::Put(Record::Units(units)));
        match vectors {
            Some(vectors) => delta.push(Change::Put(Record::Vectors(vectors))),
            // Without any embedder there is nothing to wait for.
            None if incomplete && engine.options.embedder != Embedder::None => pending.push(page.id),
            None => {}
        }
    }
    // A job that waits reads the page when its turn comes.
    pending.retain(|page| !is_to_be_embedded(engine, *page));
    for batch in pending.chunks(EMBED_BATCH_PAGES) {
        let id = JobId::from_raw(ids.next_raw());
        delta.push(Change::Put(Record::Job(Job::new(id, JobKind::Embed { pages: batch.to_vec() }))));
    }
    delta
}

fn is_to_be_embedded(engine: &Engine, page: PageId) -> bool {
    let cube = engine.cube.borrow();
    cube.jobs().any(|job| matches!(job.kind, JobKind::Embed { .. }) && job.pages().contains(&page))
}
