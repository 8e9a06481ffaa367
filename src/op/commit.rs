//! Commit, then apply: the one way in which anything changes.

use super::engine::Engine;
use super::writer::Turn;
use crate::effect::Io;
use crate::error::{ErrorCode, Result};
use crate::id::IdSource;
use crate::map::HashSet;
use crate::model::{Change, Record, RecordKey, RecordKind, Segment};
use crate::order::sort_and_dedup;
use crate::storage::{
    Durability, Entry, Frame, FrameHead, FrameKind, Keyspace, Location, Store, WriteBatch, encode_record, frame_bytes,
};

/// A delta on its way into the store.
pub(super) struct Commit {
    /// The changes, in order.
    pub(super) delta: Vec<Change>,
    /// Ids as they stand once the delta is stored.
    pub(super) ids: IdSource,
    /// Records of which no version may remain anywhere in the store.
    pub(super) erase: Vec<RecordKey>,
    /// Whether no version of long-term memory, segments, places or jobs may remain that is not live.
    pub(super) scrub: bool,
    /// How safe.
    pub(super) durability: Durability,
}

impl Commit {
    /// A commit that erases nothing.
    pub(super) fn new(delta: Vec<Change>, ids: IdSource) -> Self {
        Self { delta, ids, erase: Vec::new(), scrub: false, durability: Durability::Strict }
    }
}

/// Stores a delta as one log frame in one transaction, and then applies it. The caller holds the turn to write.
///
/// # Errors
/// Whatever the store answers; nothing has changed then. After `STORAGE_QUOTA` and `ABORTED` it is known that nothing was
/// written; after anything else the memory refuses writes until it is opened again.
pub(super) async fn commit(engine: &Engine, io: &Io, _turn: &Turn<'_>, mut commit: Commit) -> Result<()> {
    carry_visits(engine, &commit.erase, &mut commit.delta);
    commit.delta.extend(engine.bookings());
    let seq = engine.seq.get() + 1;
    let mut records = Vec::with_capacity(commit.delta.len());
    for change in &commit.delta {
        let mut bytes = Vec::new();
        let record = match change {
            Change::Put(record) => Some(record),
            Change::Remove(_) => None,
        };
        encode_record(&mut bytes, seq, change.key(), record)?;
        records.push(bytes);
    }
    let head = FrameHead { seq, ids_used: commit.ids.used() };
    let frame = frame_bytes(FrameKind::Log, head, records.iter().map(Vec::as_slice));
    let mut batch = WriteBatch { durability: commit.durability, ..WriteBatch::default() };
    let rewritten = rewrite_without(engine, io, &commit, &mut batch).await?;
    let frame_len = frame.len();
    batch.put(Store::Wal, engine.keys.wal(seq), frame);
    if !engine.manifest_stored.get() {
        batch.put(Store::Manifest, engine.keys.manifest(), engine.manifest.borrow().encode()?);
    }
    write(engine, io, batch).await?;

    engine.manifest_stored.set(true);
    engine.seq.set(seq);
    engine.ids.set(commit.ids);
    let mut catalog = engine.catalog.borrow_mut();
    for (at, kept) in rewritten {
        catalog.drop_value(at);
        if let Some(kept) = kept {
            catalog.note_value(at, kept.bytes);
            for (key, seq, bytes, removal) in kept.records {
                catalog.note_record(at, key, seq, bytes, removal);
            }
        }
    }
    catalog.note_value(Location::Log(seq), frame_len);
    for (change, bytes) in commit.delta.iter().zip(&records) {
        catalog.note_record(Location::Log(seq), change.key(), seq, bytes.len(), matches!(change, Change::Remove(_)));
    }
    drop(catalog);
    for change in &commit.delta {
        if let Change::Put(Record::Segment(segment)) = change {
            engine.visits.borrow_mut().remove(&segment.id);
        }
    }
    let put: HashSet<RecordKey> = commit.delta.iter().map(Change::key).collect();
    let erased = commit.erase.iter().filter(|key| !put.contains(*key)).map(|&key| Change::Remove(key));
    engine.apply(erased.chain(commit.delta.iter().cloned()).collect());
    Ok(())
}

/// Hands a batch to the store, and remembers if its outcome is unknown.
pub(super) async fn write(engine: &Engine, io: &Io, batch: WriteBatch) -> Result<()> {
    let bytes = batch.value_bytes() as u64;
    match io.commit(batch).await {
        Ok(()) => {
            engine.written_bytes.set(engine.written_bytes.get() + bytes);
            Ok(())
        }
        Err(error) => {
            if !matches!(error.code(), ErrorCode::StorageQuota | ErrorCode::Aborted) {
                engine.set_outcome_unknown(error.clone());
            }
            Err(error)
        }
    }
}

/// Adds the visits that wait to the segments of the delta, and the other visited segments to the delta, unless they go with it.
fn carry_visits(engine: &Engine, erase: &[RecordKey], delta: &mut Vec<Change>) {
    let cube = engine.cube.borrow();
    let erased = erase.iter().filter(|key| key.kind == RecordKind::Segment);
    let mut written: HashSet<_> = erased.map(|key| crate::id::SegmentId::from_raw(key.id)).collect();
    for change in delta.iter_mut() {
        match change {
            Change::Put(Record::Segment(segment)) => {
                *segment = engine.with_visits(segment).into_owned();
                written.insert(segment.id);
            }
            Change::Remove(RecordKey { kind: RecordKind::Segment, id }) => {
                written.insert(crate::id::SegmentId::from_raw(*id));
            }
            _ => {}
        }
    }
    let visited = engine.visits.borrow();
    let others = visited.keys().filter(|id| !written.contains(*id)).filter_map(|&id| cube.segment(id));
    delta
        .extend(others.map(|segment: &Segment| Change::Put(Record::Segment(engine.with_visits(segment).into_owned()))));
}

/// Whether records of a kind are derived from what was said, so that an older version may hold what a later one does not.
const fn tells(kind: RecordKind) -> bool {
    matches!(
        kind,
        RecordKind::Segment
            | RecordKind::Place
            | RecordKind::Job
            | RecordKind::Fact
            | RecordKind::Profile
            | RecordKind::Trait
            | RecordKind::ChangeEntry
    )
}

/// What is left of a value that was rewritten.
struct Kept {
    bytes: usize,
    records: Vec<(RecordKey, u64, usize, bool)>,
}

/// Adds to the batch every value that holds a version of an erased record, or one that is to be scrubbed, rewritten without those
/// and without any version that is no longer live. Values that are left empty are deleted.
async fn rewrite_without(
    engine: &Engine,
    io: &Io,
    commit: &Commit,
    batch: &mut WriteBatch,
) -> Result<Vec<(Location, Option<Kept>)>> {
    let gone: HashSet<RecordKey> = commit.erase.iter().copied().collect();
    let replaced: HashSet<RecordKey> = commit.delta.iter().map(Change::key).collect();
    let mut places: Vec<Location> = commit.erase.iter().flat_map(|&key| engine.catalog.borrow().places(key)).collect();
    if commit.scrub {
        let catalog = engine.catalog.borrow();
        places.extend(replaced.iter().filter(|key| tells(key.kind)).flat_map(|&key| catalog.places(key)));
        places.extend(catalog.stale_places(&|key| tells(key.kind)));
    }
    sort_and_dedup(&mut places);
    let mut rewritten = Vec::new();
    for at in places {
        let (store, key, kind) = match at {
            Location::Log(seq) => (Store::Wal, engine.keys.wal(seq), FrameKind::Log),
            Location::Chunk(id) => (Store::Chunk, engine.keys.chunk(id), FrameKind::Chunk),
        };
        let range = Keyspace::only(store, key);
        for Entry { key, value } in io.read(range.clone()).await? {
            let frame = Frame::parse(kind, &value)?;
            let catalog = engine.catalog.borrow();
            let keep: Vec<_> = frame
                .records
                .iter()
                .filter(|record| {
                    !gone.contains(&record.key)
                        && !replaced.contains(&record.key)
                        && catalog.is_live(record.key, at, record.seq)
                })
                .collect();
            // The manifest lists the chunks, so an empty one stays until the next sealing.
            if keep.is_empty() && kind == FrameKind::Log {
                batch.deletes.push(range.clone());
                rewritten.push((at, None));
                continue;
            }
            let bytes = frame_bytes(kind, frame.head, keep.iter().map(|record| record.bytes));
            let records =
                keep.iter().map(|record| (record.key, record.seq, record.bytes.len(), record.is_removal())).collect();
            rewritten.push((at, Some(Kept { bytes: bytes.len(), records })));
            batch.put(store, key, bytes);
        }
    }
    Ok(rewritten)
}
