//! An answer that comes after its question was stored.

use super::add::{measured, without_recalled_blocks};
use super::commit::{Commit, commit};
use super::engine::Engine;
use super::event::Event;
use crate::effect::Io;
use crate::error::{Error, ErrorCode, Result};
use crate::id::PageId;
use crate::model::{Change, Page, Record};

/// Stores the answer of the page with this id, its own or its caller's. The same answer again changes nothing.
///
/// # Errors
/// `NOT_FOUND` for a page that is not there, `INVALID_ARGUMENT` for one that has another answer: what was said is not
/// overwritten.
pub async fn complete(engine: &Engine, io: &Io, id: &str, answer: String) -> Result<()> {
    let page = engine.cube.borrow().page_named(id);
    let page = page.ok_or_else(|| Error::new(ErrorCode::NotFound, format!("there is no page {id}")))?;
    store_answer(engine, io, page, without_recalled_blocks(answer), false).await
}

/// Gives a page its answer; one that was deleted meanwhile stays deleted.
pub(super) async fn store_answer(engine: &Engine, io: &Io, id: PageId, answer: String, replaces: bool) -> Result<()> {
    let turn = engine.write_turn().await?;
    let page = engine.cube.borrow().page(id).cloned();
    let Some(page) = page.filter(|page| page.agent_response != answer) else { return Ok(()) };
    if !replaces && !page.agent_response.is_empty() {
        return Err(Error::invalid(format!("page {id} has another answer; forget it and add the turn anew")));
    }
    let page = Page { agent_response: answer, ..page };
    let mut ids = engine.ids.get();
    let mut delta = vec![Change::Put(Record::Page(page.clone()))];
    delta.extend(measured(engine, &[page], &mut ids));
    commit(engine, io, &turn, Commit::new(delta, ids)).await?;
    engine.emit(Event::PageUpdated { page_id: id.to_string() });
    Ok(())
}
