//! What every storage engine must do: one list, run against each of them. `pkg-js/src/storage/conformance.ts` is the same
//! list for engines written in TypeScript; what is added here is added there.
#![allow(dead_code)]

use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::Poll;

use memstrata::error::{ErrorCode, Result};
use memstrata::model::Scope;
use memstrata::storage::{Durability, Entry, KeyRange, Keyspace, Store, WriteBatch};

/// An engine under test.
pub(crate) trait Engine {
    /// Opens a database by its name; again after `close`.
    async fn open(&mut self, database: &str);
    async fn close(&mut self);
    async fn read(&self, range: &KeyRange) -> Result<Vec<Entry>>;
    /// A put of the key [`THROWS`] or [`ABORTS`] fails, in an engine that can fail.
    async fn commit(&self, batch: WriteBatch) -> Result<()>;
}

/// The put is refused when it is asked for.
pub(crate) const THROWS: &str = "throws";
/// The put is accepted, and the transaction ends without having been carried out.
pub(crate) const ABORTS: &str = "aborts";

/// Hands the list to a macro that makes a test of each check.
macro_rules! every_check {
    ($make_tests:ident) => {
        $make_tests! {
            a_fresh_store_is_empty
            entries_come_back_in_order_of_their_keys
            ranges_hold_their_first_key_and_not_their_last
            empty_ranges_read_nothing_and_delete_nothing
            stores_do_not_see_each_other
            a_put_replaces_the_value_of_its_key
            deletes_come_before_the_puts_of_their_batch
            a_batch_over_several_stores_is_carried_out_whole
            an_empty_batch_and_an_empty_value_are_allowed
            what_was_read_is_the_readers_own
            a_chunk_of_a_mebibyte_comes_back_byte_for_byte
            a_hundred_commits_at_once_all_arrive
            keys_of_other_scopes_are_untouched
            what_was_committed_is_there_after_closing_and_opening_again
            databases_of_other_names_are_other_databases
        }
    };
}
pub(crate) use every_check;

/// The rest of the list, for engines that can fail: all but the store in memory, which takes nothing that it cannot carry out.
#[allow(unused_macros)]
macro_rules! every_check_of_failure {
    ($make_tests:ident) => {
        $make_tests! {
            a_batch_that_cannot_be_carried_out_changes_nothing
            after_closing_reads_and_commits_are_rejected
        }
    };
}
#[allow(unused_imports)]
pub(crate) use every_check_of_failure;

pub(crate) async fn a_fresh_store_is_empty(engine: &mut impl Engine, _: &str) {
    for store in Store::ALL {
        assert!(keys(engine, store, "", "~").await.is_empty());
    }
}

pub(crate) async fn entries_come_back_in_order_of_their_keys(engine: &mut impl Engine, _: &str) {
    let entries = [("b", &[2][..]), ("a", &[1]), ("B", &[3]), ("a/1", &[4]), ("|", &[5]), ("0", &[6])];
    commit(engine, puts(Store::Wal, &entries)).await;
    assert_eq!(keys(engine, Store::Wal, "", "~").await, ["0", "B", "a", "a/1", "b", "|"]);
}

pub(crate) async fn ranges_hold_their_first_key_and_not_their_last(engine: &mut impl Engine, _: &str) {
    commit(engine, puts(Store::Chunk, &[("a", &[1]), ("b", &[2]), ("c", &[3]), ("d", &[4])])).await;
    assert_eq!(keys(engine, Store::Chunk, "b", "d").await, ["b", "c"]);
    assert_eq!(keys(engine, Store::Chunk, "aa", "cc").await, ["b", "c"]);
    let only = Keyspace::only(Store::Chunk, "c".into());
    assert_eq!(keys(engine, Store::Chunk, &only.from, &only.to).await, ["c"]);
}

pub(crate) async fn empty_ranges_read_nothing_and_delete_nothing(engine: &mut impl Engine, _: &str) {
    commit(engine, puts(Store::Wal, &[("a", &[1]), ("b", &[2])])).await;
    for (from, to) in [("b", "b"), ("b", "a"), ("aa", "ab")] {
        assert!(keys(engine, Store::Wal, from, to).await.is_empty(), "{from} to {to}");
        let deletes = vec![range(Store::Wal, from, to)];
        commit(engine, WriteBatch { deletes, ..puts(Store::Wal, &[("c", &[3])]) }).await;
    }
    assert_eq!(keys(engine, Store::Wal, "", "~").await, ["a", "b", "c"]);
}

pub(crate) async fn stores_do_not_see_each_other(engine: &mut impl Engine, _: &str) {
    commit(engine, puts(Store::Manifest, &[("k", &[1])])).await;
    commit(engine, puts(Store::Blob, &[("k", &[2])])).await;
    assert_eq!(values(engine, Store::Manifest).await, [[1]]);
    assert_eq!(values(engine, Store::Blob).await, [[2]]);
    assert!(values(engine, Store::Wal).await.is_empty());
}

pub(crate) async fn a_put_replaces_the_value_of_its_key(engine: &mut impl Engine, _: &str) {
    commit(engine, puts(Store::Wal, &[("k", &[1, 1, 1])])).await;
    commit(engine, puts(Store::Wal, &[("k", &[2])])).await;
    assert_eq!(values(engine, Store::Wal).await, [[2]]);
}

pub(crate) async fn deletes_come_before_the_puts_of_their_batch(engine: &mut impl Engine, _: &str) {
    commit(engine, puts(Store::Wal, &[("a", &[1]), ("b", &[2]), ("c", &[3])])).await;
    let deletes = vec![range(Store::Wal, "a", "c")];
    commit(engine, WriteBatch { deletes, ..puts(Store::Wal, &[("b", &[9])]) }).await;
    assert_eq!(keys(engine, Store::Wal, "", "~").await, ["b", "c"]);
    assert_eq!(values(engine, Store::Wal).await, [[9], [3]]);
}

pub(crate) async fn a_batch_over_several_stores_is_carried_out_whole(engine: &mut impl Engine, _: &str) {
    commit(engine, puts(Store::Wal, &[("1", &[1]), ("2", &[2])])).await;
    let mut batch = puts(Store::Chunk, &[("c", &[7])]);
    batch.put(Store::Manifest, "m".into(), vec![8]);
    batch.deletes = vec![range(Store::Wal, "1", "3")];
    batch.durability = Durability::Strict;
    commit(engine, batch).await;
    assert!(keys(engine, Store::Wal, "", "~").await.is_empty());
    assert_eq!(values(engine, Store::Chunk).await, [[7]]);
    assert_eq!(values(engine, Store::Manifest).await, [[8]]);
}

pub(crate) async fn a_batch_that_cannot_be_carried_out_changes_nothing(engine: &mut impl Engine, _: &str) {
    commit(engine, puts(Store::Wal, &[("a", &[1])])).await;
    for key in [THROWS, ABORTS] {
        let mut broken = puts(Store::Wal, &[("b", &[2])]);
        broken.put(Store::Chunk, key.into(), vec![3]);
        broken.deletes = vec![range(Store::Wal, "a", "b")];
        let refused = engine.commit(broken).await.expect_err(key);
        assert_eq!(refused.code(), ErrorCode::StorageUnavailable, "{key}: {refused}");
        assert_eq!(values(engine, Store::Wal).await, [[1]], "{key}");
        assert!(keys(engine, Store::Chunk, "", "~").await.is_empty(), "{key}");
    }
    commit(engine, puts(Store::Wal, &[("b", &[2])])).await;
    assert_eq!(values(engine, Store::Wal).await, [[1], [2]]);
}

pub(crate) async fn an_empty_batch_and_an_empty_value_are_allowed(engine: &mut impl Engine, _: &str) {
    commit(engine, WriteBatch::default()).await;
    commit(engine, puts(Store::Blob, &[("empty", &[])])).await;
    assert_eq!(values(engine, Store::Blob).await, [[0u8; 0]]);
}

pub(crate) async fn what_was_read_is_the_readers_own(engine: &mut impl Engine, _: &str) {
    commit(engine, puts(Store::Chunk, &[("k", &[1, 2, 3])])).await;
    for entry in &mut engine.read(&range(Store::Chunk, "k", "l")).await.expect("read") {
        entry.value.fill(7);
    }
    assert_eq!(values(engine, Store::Chunk).await, [[1, 2, 3]]);
}

pub(crate) async fn a_chunk_of_a_mebibyte_comes_back_byte_for_byte(engine: &mut impl Engine, _: &str) {
    let value: Vec<u8> = (0..1u32 << 20).map(|at| (at * 31) as u8).collect();
    let durability = Durability::Strict;
    commit(engine, WriteBatch { durability, ..puts(Store::Chunk, &[("big", &value)]) }).await;
    let read = engine.read(&range(Store::Chunk, "big", "bih")).await.expect("read");
    assert!(read.len() == 1 && read[0].value == value);
}

pub(crate) async fn a_hundred_commits_at_once_all_arrive(engine: &mut impl Engine, _: &str) {
    let names: Vec<String> = (0..100).map(|at| format!("{at:03}")).collect();
    let engine: &_ = engine;
    together(names.iter().map(|name| commit(engine, puts(Store::Wal, &[(name, &[1])])))).await;
    assert_eq!(keys(engine, Store::Wal, "", "~").await, names);
}

pub(crate) async fn keys_of_other_scopes_are_untouched(engine: &mut impl Engine, _: &str) {
    let scope = |user: &str| Keyspace::new(&Scope::new(user, "helper").expect("valid"));
    let (ada, eve) = (scope("ada"), scope("eve"));
    for keys in [&ada, &eve] {
        commit(engine, puts(Store::Wal, &[(&keys.wal(0), &[1]), (&keys.wal(u64::MAX), &[2])])).await;
    }
    let deletes = vec![ada.all(Store::Wal)];
    commit(engine, WriteBatch { deletes, ..WriteBatch::default() }).await;
    assert!(engine.read(&ada.all(Store::Wal)).await.expect("read").is_empty());
    assert_eq!(keys(engine, Store::Wal, "", "~").await, [eve.wal(0), eve.wal(u64::MAX)]);
}

pub(crate) async fn what_was_committed_is_there_after_closing_and_opening_again(
    engine: &mut impl Engine,
    database: &str,
) {
    for (key, durability) in [("a", Durability::Strict), ("b", Durability::Relaxed)] {
        commit(engine, WriteBatch { durability, ..puts(Store::Wal, &[(key, &[1])]) }).await;
    }
    engine.close().await;
    engine.open(database).await;
    assert_eq!(keys(engine, Store::Wal, "", "~").await, ["a", "b"]);
}

pub(crate) async fn databases_of_other_names_are_other_databases(engine: &mut impl Engine, database: &str) {
    commit(engine, puts(Store::Wal, &[("a", &[1])])).await;
    engine.close().await;
    engine.open(&format!("{database}/../'\": 名")).await;
    assert!(keys(engine, Store::Wal, "", "~").await.is_empty());
    engine.close().await;
    engine.open(database).await;
    assert_eq!(keys(engine, Store::Wal, "", "~").await, ["a"]);
}

pub(crate) async fn after_closing_reads_and_commits_are_rejected(engine: &mut impl Engine, database: &str) {
    engine.close().await;
    assert!(engine.read(&range(Store::Wal, "", "~")).await.is_err());
    assert!(engine.commit(puts(Store::Wal, &[("a", &[1])])).await.is_err());
    engine.open(database).await;
    assert!(keys(engine, Store::Wal, "", "~").await.is_empty());
}

pub(crate) fn puts(store: Store, entries: &[(&str, &[u8])]) -> WriteBatch {
    let mut batch = WriteBatch::default();
    for (key, value) in entries {
        batch.put(store, (*key).to_owned(), value.to_vec());
    }
    batch
}

pub(crate) fn range(store: Store, from: &str, to: &str) -> KeyRange {
    KeyRange { store, from: from.into(), to: to.into() }
}

/// Drives futures side by side to the end of the last.
pub(crate) async fn together<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut open: Vec<Pin<Box<_>>> = futures.map(Box::pin).collect();
    let mut done: Vec<Option<T>> = open.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (future, done) in open.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            if let Poll::Ready(value) = future.as_mut().poll(cx) {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

async fn commit(engine: &impl Engine, batch: WriteBatch) {
    engine.commit(batch).await.expect("committed");
}

async fn keys(engine: &impl Engine, store: Store, from: &str, to: &str) -> Vec<String> {
    engine.read(&range(store, from, to)).await.expect("read").into_iter().map(|entry| entry.key).collect()
}

async fn values(engine: &impl Engine, store: Store) -> Vec<Vec<u8>> {
    engine.read(&range(store, "", "~")).await.expect("read").into_iter().map(|entry| entry.value).collect()
}
