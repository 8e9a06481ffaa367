//! What lies in the store: bounded writes, sealing, reopening, damage.

use memstrata::config::Config;
use memstrata::error::{Error, ErrorCode};
use memstrata::memory_os::MemoryOs;
use memstrata::op::{OpenOptions, RetrieveInput};
use memstrata::storage::{Entry, Store, WriteBatch};

use crate::world::{Fault, NOON_MS, Random, World, made_up, options};

fn small_chunks() -> OpenOptions {
    OpenOptions { config: Config { seal_threshold_bytes: 16 * 1024, ..Config::default() }, ..options() }
}

fn add_and_work(world: &mut World, memory: &MemoryOs, numbers: std::ops::Range<usize>) {
    let mut random = Random(11);
    for number in numbers {
        world.run(memory.add(vec![made_up(number, &mut random)], NOON_MS)).done().expect("stored");
        while world.run(memory.work(NOON_MS)).done().expect("works").ran {}
    }
}

fn ranking(world: &mut World, memory: &MemoryOs, query: &str) -> Vec<(String, u32)> {
    let found = world
        .run(memory.retrieve(RetrieveInput { top_k: 40, ..RetrieveInput::new(query) }, NOON_MS))
        .done()
        .expect("answered");
    found.hits.into_iter().map(|hit| (hit.id, hit.score.to_bits())).collect()
}

#[test]
fn a_reopened_memory_is_the_same_and_ranks_the_same() {
    let mut world = World::default();
    let memory = world.open_with(small_chunks()).done().expect("opens");
    add_and_work(&mut world, &memory, 0..80);
    assert!(memory.stats().storage.chunks > 2);
    let queries = ["tomatoes on the balcony", "爬山", "who sings in the choir?", "brake"];
    let before: Vec<_> = queries.iter().map(|query| ranking(&mut world, &memory, query)).collect();
    for _ in 0..2 {
        let again = world.open_with(small_chunks()).done().expect("opens");
        let after: Vec<_> = queries.iter().map(|query| ranking(&mut world, &again, query)).collect();
        for (after, before) in after.iter().zip(&before) {
            let differing = after.iter().zip(before).find(|(after, before)| after != before);
            assert_eq!((differing, after.len()), (None, before.len()));
        }
        assert_eq!(again.pages(0, 1_000), memory.pages(0, 1_000));
        let storage = |memory: &MemoryOs| {
            let stats = memory.stats().storage;
            (stats.wal_records, stats.wal_bytes, stats.chunks, stats.chunk_bytes)
        };
        assert_eq!(storage(&again), storage(&memory));
    }
}

#[test]
fn bytes_written_by_an_add_do_not_grow_with_the_store() {
    let mut world = World::default();
    let memory = world.open_with(small_chunks()).done().expect("opens");
    let total = |world: &mut World, memory: &MemoryOs, from: usize| {
        let before = world.written.len();
        add_and_work(world, memory, from..from + 100);
        world.written[before..].iter().sum::<usize>() as f64
    };
    let early = total(&mut world, &memory, 100);
    add_and_work(&mut world, &memory, 200..600);
    let late = total(&mut world, &memory, 600);
    assert!((late / early - 1.0).abs() < 0.25, "{early} bytes, later {late}");
}

#[test]
fn sealing_removes_the_log_it_covers_and_chunks_of_mostly_old_versions_are_cleaned() {
    let mut world = World::default();
    let memory = world.open_with(small_chunks()).done().expect("opens");
    add_and_work(&mut world, &memory, 0..200);
    world.run(memory.flush(NOON_MS)).done().expect("flushes");
    let stats = memory.stats().storage;
    assert_eq!((stats.wal_records, stats.wal_bytes), (0, 0));
    let live: usize = world.run(memory.export()).done().expect("exports").len();
    assert!(stats.chunk_bytes < 3 * live as u64, "{} bytes in chunks for {live} alive", stats.chunk_bytes);
}

#[test]
fn damage_is_named_and_a_later_format_is_not_touched() {
    let mut world = World::default();
    let memory = world.open();
    add_and_work(&mut world, &memory, 0..3);
    let everything = memstrata::storage::KeyRange { store: Store::Wal, from: String::new(), to: "~".into() };
    let entry = world.store.read(&everything)[1].clone();
    let mut put = |value: Vec<u8>| {
        let entry = Entry { key: entry.key.clone(), value };
        world.store.commit(WriteBatch { puts: vec![(Store::Wal, entry)], ..WriteBatch::default() });
        let error: Error = match world.open_with(options()).done() {
            Ok(memory) => {
                world.run(memory.add(vec![made_up(9, &mut Random(1))], NOON_MS)).done().expect_err("read-only")
            }
            Err(error) => error,
        };
        error
    };
    let mut damaged = entry.value.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    let error = put(damaged);
    assert_eq!(error.code(), ErrorCode::StorageCorrupt);
    assert!(error.message().contains(&entry.key), "{error}");
    let mut newer = entry.value.clone();
    newer[4] = 99;
    assert_eq!(put(newer).code(), ErrorCode::VersionTooNew);
}

#[test]
fn a_record_of_a_later_version_opens_read_only() {
    let mut world = World::default();
    let memory = world.open();
    add_and_work(&mut world, &memory, 0..3);
    let everything = memstrata::storage::KeyRange { store: Store::Wal, from: String::new(), to: "~".into() };
    let mut entry = world.store.read(&everything)[2].clone();
    // Version byte of the frame's first record, then its checksum anew.
    let (start, head) = (28, 26);
    entry.value[start + 1] = 200;
    let len = u32::from_le_bytes(entry.value[start + 18..start + 22].try_into().expect("four bytes")) as usize;
    let crc = {
        let mut crc = xxhash_rust::xxh32::Xxh32::new(0);
        crc.update(&entry.value[start..start + 22]);
        crc.update(&entry.value[start + head..start + head + len]);
        crc.digest()
    };
    entry.value[start + 22..start + 26].copy_from_slice(&crc.to_le_bytes());
    world.store.commit(WriteBatch { puts: vec![(Store::Wal, entry)], ..WriteBatch::default() });
    let again = world.open();
    assert!(again.stats().pages >= 2);
    let refused = world.run(again.add(vec![made_up(9, &mut Random(1))], NOON_MS)).done().expect_err("read-only");
    assert_eq!(refused.code(), ErrorCode::VersionTooNew);
    assert!(!ranking(&mut world, &again, "tomatoes").is_empty());
}

#[test]
fn case_39_after_a_commit_of_unknown_outcome_writes_are_refused_until_reopened() {
    let mut world = World::default();
    let memory = world.open();
    add_and_work(&mut world, &memory, 0..3);
    let lost = Error::new(ErrorCode::StorageUnavailable, "the connection was lost");
    world.fault = Some(Fault::Fail(world.n_effects + 1, lost));
    let mut random = Random(1);
    for number in 3..5 {
        let refused = world.run(memory.add(vec![made_up(number, &mut random)], NOON_MS)).done().expect_err("refused");
        assert_eq!(refused.code(), ErrorCode::StorageUnavailable);
    }
    assert_eq!(memory.stats().pages, 3);
    let again = world.open();
    add_and_work(&mut world, &again, 3..4);
    assert_eq!(again.stats().pages, 4);
}

#[test]
fn a_closed_memory_refuses_everything() {
    let mut world = World::default();
    let memory = world.open();
    memory.close();
    let add = world.run(memory.add(vec![made_up(0, &mut Random(1))], NOON_MS)).done().expect_err("closed");
    let read = world.run(memory.retrieve(RetrieveInput::new("x"), NOON_MS)).done().expect_err("closed");
    assert_eq!((add.code(), read.code()), (ErrorCode::Closed, ErrorCode::Closed));
}
