//! Export of a whole memory into one file.

use super::engine::Engine;
use crate::effect::Io;
use crate::error::Result;
use crate::storage::{Frame, FrameKind, Location, Store, write_snapshot};

/// Every live record, copied from the store as it is. Writers wait while it is read.
pub async fn export(engine: &Engine, io: &Io) -> Result<Vec<u8>> {
    engine.check_readable()?;
    let _turn = engine.read_turn().await;
    let chunks = io.read(engine.keys.all(Store::Chunk)).await?;
    let log = io.read(engine.keys.all(Store::Wal)).await?;
    let catalog = engine.catalog.borrow();
    let manifest = engine.manifest.borrow();
    let mut live = Vec::new();
    let listed = manifest.chunks.iter().map(|&id| (id, engine.keys.chunk(id)));
    let stored = listed.filter_map(|(id, key)| Some((Location::Chunk(id), chunks.iter().find(|entry| entry.key == key)?)));
    for (at, entry) in stored {
        let frame = Frame::parse(FrameKind::Chunk, &entry.value)?;
        live.extend(frame.records.into_iter().filter(|raw| !raw.is_removal() && catalog.is_live(raw.key, at, raw.seq)));
    }
    for entry in &log {
        let frame = Frame::parse(FrameKind::Log, &entry.value)?;
        let at = Location::Log(frame.head.seq);
        live.extend(frame.records.into_iter().filter(|raw| !raw.is_removal() && catalog.is_live(raw.key, at, raw.seq)));
    }
    let head = crate::storage::Manifest { ids_used: engine.ids.get().used(), chunks: Vec::new(), ..manifest.clone() };
    write_snapshot(&head, engine.seq.get(), live.into_iter().map(|raw| raw.bytes))
}
