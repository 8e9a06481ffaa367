//! Sealing: the log becomes chunks. Chunks, manifest and the removal of the log go in one transaction.

use super::commit::write;
use super::engine::Engine;
use super::event::Event;
use crate::config::CHUNK_MAX_BYTES;
use crate::effect::Io;
use crate::error::Result;
use crate::map::HashSet;
use crate::model::RecordKey;
use crate::storage::{
    Durability, Entry, Frame, FrameHead, FrameKind, Keyspace, Location, Manifest, Store, WriteBatch, frame_bytes,
};

/// Chunks with more waste than life that one sealing cleans up, so that its work stays bounded.
const CLEANED_PER_SEALING: usize = 4;

/// Whether the log has grown past its threshold.
pub(super) fn seal_due(engine: &Engine) -> bool {
    engine.catalog.borrow().log_size().1 as usize >= engine.options.config.seal_threshold_bytes
}

/// A record on its way into a chunk.
struct Carried {
    key: RecordKey,
    seq: u64,
    removal: bool,
    bytes: Vec<u8>,
}

/// Writes what is live in the log, and in the most wasteful chunks, into new chunks.
pub(super) async fn seal(engine: &Engine, io: &Io) -> Result<()> {
    let _turn = engine.write_turn().await?;
    if engine.catalog.borrow().log_size().0 == 0 {
        return Ok(());
    }
    let seq = engine.seq.get();
    let cleaned: Vec<u32> = engine.catalog.borrow().wasted_chunks().into_iter().take(CLEANED_PER_SEALING).collect();
    let log_range = engine.keys.all(Store::Wal);
    let mut values: Vec<(Location, FrameKind, Entry)> = Vec::new();
    for &id in &cleaned {
        let stored = io.read(Keyspace::only(Store::Chunk, engine.keys.chunk(id))).await?;
        values.extend(stored.into_iter().map(|entry| (Location::Chunk(id), FrameKind::Chunk, entry)));
    }
    for entry in io.read(log_range.clone()).await? {
        let at = Location::Log(Frame::parse(FrameKind::Log, &entry.value)?.head.seq);
        values.push((at, FrameKind::Log, entry));
    }
    let gone: HashSet<Location> = values.iter().map(|&(at, ..)| at).collect();
    let carried = live_records(engine, &values, &gone)?;

    let mut manifest =
        Manifest { sealed_seq: seq, ids_used: engine.ids.get().used(), ..engine.manifest.borrow().clone() };
    manifest.chunks.retain(|id| !cleaned.contains(id));
    let mut batch = WriteBatch { durability: Durability::Strict, ..WriteBatch::default() };
    batch.deletes.push(log_range);
    batch.deletes.extend(cleaned.iter().map(|&id| Keyspace::only(Store::Chunk, engine.keys.chunk(id))));
    let mut written = Vec::new();
    for run in runs(&carried) {
        let id = manifest.next_chunk;
        manifest.next_chunk += 1;
        manifest.chunks.push(id);
        let head = FrameHead { seq, ids_used: manifest.ids_used };
        let bytes = frame_bytes(FrameKind::Chunk, head, run.iter().map(|record| record.bytes.as_slice()));
        written.push((id, bytes.len(), run));
        batch.put(Store::Chunk, engine.keys.chunk(id), bytes);
    }
    batch.put(Store::Manifest, engine.keys.manifest(), manifest.encode()?);
    write(engine, io, batch).await?;

    let mut catalog = engine.catalog.borrow_mut();
    for &at in gone.iter() {
        catalog.drop_value(at);
    }
    let sealed = Event::Sealed { chunks: written.len(), bytes: written.iter().map(|&(_, bytes, _)| bytes).sum() };
    for (id, bytes, run) in written {
        catalog.note_value(Location::Chunk(id), bytes);
        for record in run {
            catalog.note_record(Location::Chunk(id), record.key, record.seq, record.bytes.len(), record.removal);
        }
    }
    drop(catalog);
    *engine.manifest.borrow_mut() = manifest;
    engine.emit(sealed);
    Ok(())
}

/// What is live in the given values. A removal is carried on only while older versions lie elsewhere.
fn live_records(
    engine: &Engine,
    values: &[(Location, FrameKind, Entry)],
    gone: &HashSet<Location>,
) -> Result<Vec<Carried>> {
    let catalog = engine.catalog.borrow();
    let mut carried = Vec::new();
    for (at, kind, entry) in values {
        for raw in Frame::parse(*kind, &entry.value)?.records {
            let needed = !raw.is_removal() || catalog.shadows(raw.key, &|place| gone.contains(&place));
            if needed && catalog.is_live(raw.key, *at, raw.seq) {
                carried.push(Carried {
                    key: raw.key,
                    seq: raw.seq,
                    removal: raw.is_removal(),
                    bytes: raw.bytes.to_vec(),
                });
            }
        }
    }
    Ok(carried)
}

/// Splits records into runs of one chunk's size.
fn runs(records: &[Carried]) -> Vec<&[Carried]> {
    let mut runs = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, record) in records.iter().enumerate() {
        if at > start && bytes + record.bytes.len() > CHUNK_MAX_BYTES {
            runs.push(&records[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += record.bytes.len();
    }
    if start < records.len() {
        runs.push(&records[start..]);
    }
    runs
}
