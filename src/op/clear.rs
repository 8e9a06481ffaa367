//! Clearing: everything of this scope goes, in one transaction.

use super::commit::write;
use super::engine::Engine;
use super::event::Event;
use crate::effect::Io;
use crate::error::Result;
use crate::storage::{Durability, Manifest, Store, WriteBatch};

/// Deletes the whole memory of this scope. Ids go on where they were, so none comes back with another meaning.
pub async fn clear(engine: &Engine, io: &Io) -> Result<()> {
    let _turn = engine.write_turn().await?;
    let old = engine.manifest.borrow().clone();
    let manifest = Manifest {
        next_chunk: old.next_chunk,
        sealed_seq: engine.seq.get(),
        ids_used: engine.ids.get().used(),
        ..Manifest::new(old.scope, old.replica)
    };
    let mut batch = WriteBatch { durability: Durability::Strict, ..WriteBatch::default() };
    batch.deletes.extend(Store::ALL.map(|store| engine.keys.all(store)));
    batch.put(Store::Manifest, engine.keys.manifest(), manifest.encode()?);
    write(engine, io, batch).await?;
    engine.manifest_stored.set(true);
    *engine.manifest.borrow_mut() = manifest;
    engine.catalog.take();
    engine.cube.take();
    engine.visits.take();
    engine.spent.take();
    engine.fact_texts.take();
    engine.fresh_modes.take();
    engine.fact_texts.take();
    engine.empty_index();
    engine.emit(Event::Cleared);
    Ok(())
}
