//! Opening: the manifest, then the chunks, then the log; the latest version of every record wins.

use std::rc::Rc;

use super::engine::{Engine, OpenOptions};
use crate::effect::Io;
use crate::error::{Error, ErrorCode, Result};
use crate::id::IdSource;
use crate::map::HashMap;
use crate::model::{Change, Record, RecordKey};
use crate::order::sort_by_key;
use crate::storage::{Frame, FrameKind, Keyspace, Location, Manifest, Store, decode_record};

/// Opens the memory of a scope, or begins one. Writes nothing.
///
/// # Errors
/// `INVALID_ARGUMENT` for parameters out of range, `STORAGE_CORRUPT` naming the damaged value, `VERSION_TOO_NEW` if the
/// manifest itself cannot be read; single records of a newer version open read-only.
pub async fn open(io: Io, options: OpenOptions) -> Result<Rc<Engine>> {
    options.config.check()?;
    let keys = Keyspace::new(&options.scope);
    let stored = io.read(Keyspace::only(Store::Manifest, keys.manifest())).await?;
    let manifest = match stored.first() {
        Some(entry) => Manifest::decode(&entry.value)?,
        None => Manifest::new(options.scope.clone(), options.seed),
    };
    if manifest.scope != options.scope {
        return Err(Error::new(ErrorCode::Forbidden, "this part of the database belongs to another scope"));
    }
    let chunks = io.read(keys.all(Store::Chunk)).await?;
    let log = io.read(keys.all(Store::Wal)).await?;
    let (replica, chunk_ids) = (manifest.replica, manifest.chunks.clone());
    let mut seq = manifest.sealed_seq;
    let mut ids_used = manifest.ids_used;
    let engine = Engine::new(options, manifest)?;
    let mut latest: HashMap<RecordKey, (u64, Option<Change>)> = HashMap::new();
    let mut newer = None;
    let mut chunk_values = Vec::with_capacity(chunk_ids.len());
    for &id in &chunk_ids {
        let key = engine.keys.chunk(id);
        let at = chunks.binary_search_by(|entry| entry.key.cmp(&key));
        let at = at.map_err(|_| Error::corrupt(format!("chunk {key} is listed but missing")))?;
        chunk_values.push((Location::Chunk(id), FrameKind::Chunk, &chunks[at]));
    }
    let log_values = log.iter().map(|entry| (Location::Log(0), FrameKind::Log, entry));
    for (at, kind, entry) in chunk_values.into_iter().chain(log_values) {
        let name_it = |error: Error| Error::new(error.code(), format!("{}: {}", entry.key, error.message()));
        let frame = Frame::parse(kind, &entry.value).map_err(name_it)?;
        if frame.n_unknown > 0 {
            let message = format!("{} records are of kinds that this version does not know", frame.n_unknown);
            newer = Some(Error::new(ErrorCode::VersionTooNew, message));
        }
        let at = if kind == FrameKind::Log { Location::Log(frame.head.seq) } else { at };
        seq = seq.max(frame.head.seq);
        ids_used = ids_used.max(frame.head.ids_used);
        let mut catalog = engine.catalog.borrow_mut();
        catalog.note_value(at, entry.value.len());
        for raw in &frame.records {
            catalog.note_record(at, raw.key, raw.seq, raw.bytes.len(), raw.is_removal());
            if latest.get(&raw.key).is_some_and(|&(known, _)| known > raw.seq) {
                continue;
            }
            let change = match raw.is_removal() {
                true => None,
                false => match decode_record(raw) {
                    Ok(record) => Some(Change::Put(record)),
                    Err(error) if error.code() == ErrorCode::VersionTooNew => {
                        newer = Some(error);
                        None
                    }
                    Err(error) => return Err(name_it(error)),
                },
            };
            latest.insert(raw.key, (raw.seq, change));
        }
    }
    engine.seq.set(seq);
    engine.ids.set(IdSource::resumed(replica, ids_used));
    engine.manifest_stored.set(!stored.is_empty());
    if let Some(newer) = newer {
        engine.set_read_only(newer);
    }
    let mut loaded: Vec<_> = latest.into_values().filter_map(|(_, change)| change).collect();
    in_order_of_arrival(&mut loaded);
    engine.expect_space(loaded.iter().rev().find_map(|change| match change {
        Change::Put(Record::Vectors(vectors)) => Some(&vectors.space),
        _ => None,
    }));
    engine.apply(loaded);
    Ok(Rc::new(engine))
}

/// Pages enter the index in the order of arrival, as they did when they were live, so that ties rank as before.
fn in_order_of_arrival(changes: &mut [Change]) {
    sort_by_key(changes, |change| {
        let position = match change {
            Change::Put(Record::Page(page)) => page.position,
            _ => 0,
        };
        let key = change.key();
        (key.kind, position, key.id)
    });
}
