//! IndexedDB when others are at it: connections closed from outside, databases deleted or upgraded, transactions aborted.

use core::future::poll_fn;
use core::pin::pin;
use core::task::Poll;

use js_sys::Reflect;
use memstrata::error::{ErrorCode, Result};
use memstrata::storage::{Store, WriteBatch};
use memstrata::wasm::Storage;
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

use super::conformance::{puts, range, together};
use super::world::{
    Memory, database_exists, delete_database, fail_next_put, interrupt, open_again, refuse_to_open, unique, upgrade,
};

async fn open(name: &str) -> Storage {
    Storage::open("indexeddb", name, JsValue::NULL).await.expect("opens")
}

fn one(key: &str) -> WriteBatch {
    puts(Store::Wal, &[(key, &[1])])
}

async fn keys(storage: &Storage) -> Result<Vec<String>> {
    let entries = storage.read(&range(Store::Wal, "", "~")).await?;
    Ok(entries.into_iter().map(|entry| entry.key).collect())
}

#[wasm_bindgen_test]
async fn case_37_a_connection_lets_go_when_another_context_wants_the_database() {
    let name = unique("let-go");
    let storage = open(&name).await;
    storage.commit(one("a")).await.expect("committed");
    upgrade(&name, 2).await.expect("not held up");
    delete_database(&name).await.expect("not held up");
    drop(storage);
}

#[wasm_bindgen_test]
async fn case_39_a_connection_closed_from_outside_is_opened_again() {
    let name = unique("interrupted");
    let storage = open(&name).await;
    storage.commit(one("a")).await.expect("committed");
    interrupt(&name).await.expect("let go");
    assert_eq!(keys(&storage).await.expect("opened again"), ["a"]);
    interrupt(&name).await.expect("let go");
    storage.commit(one("b")).await.expect("opened again");
    assert_eq!(keys(&open(&name).await).await.expect("read by another"), ["a", "b"]);
    storage.close();
    delete_database(&name).await.expect("nobody holds it");
}

#[wasm_bindgen_test]
async fn case_39_one_that_does_not_open_again_is_asked_once_and_rejects() {
    let name = unique("lost");
    let storage = open(&name).await;
    storage.commit(one("a")).await.expect("committed");
    interrupt(&name).await.expect("let go");
    let count = refuse_to_open();
    let refused = storage.commit(one("b")).await;
    let attempts = Reflect::get(&count, &"attempts".into()).expect("a count").as_f64();
    let refused_read = keys(&storage).await;
    open_again();
    assert_eq!(attempts, Some(1.0));
    assert_eq!(refused.expect_err("not written").code(), ErrorCode::StorageUnavailable);
    assert_eq!(refused_read.expect_err("not read").code(), ErrorCode::StorageUnavailable);
    assert_eq!(keys(&storage).await.expect("opened again"), ["a"]);
    storage.close();
    delete_database(&name).await.expect("nobody holds it");
}

#[wasm_bindgen_test]
async fn case_39_a_database_deleted_behind_an_open_store_is_not_begun_anew() {
    let name = unique("deleted");
    let storage = open(&name).await;
    storage.commit(one("a")).await.expect("committed");
    delete_database(&name).await.expect("not held up");
    for _ in 0..2 {
        let refused = storage.commit(one("b")).await.expect_err("there is nothing to add to");
        assert_eq!(refused.code(), ErrorCode::StorageUnavailable, "{refused}");
        assert!(refused.message().contains("deleted"), "{refused}");
        assert_eq!(keys(&storage).await.expect_err("nothing to read").code(), ErrorCode::StorageUnavailable);
    }
    assert!(!database_exists(&name).await, "an empty database was left behind");
}

#[wasm_bindgen_test]
async fn a_database_of_a_later_version_is_not_touched() {
    let name = unique("newer");
    let storage = open(&name).await;
    storage.commit(one("a")).await.expect("committed");
    upgrade(&name, 2).await.expect("not held up");
    assert_eq!(storage.commit(one("b")).await.expect_err("newer").code(), ErrorCode::VersionTooNew);
    let refused = Storage::open("indexeddb", &name, JsValue::NULL).await.err().expect("newer");
    assert_eq!(refused.code(), ErrorCode::VersionTooNew);
    delete_database(&name).await.expect("nobody holds it");
}

#[wasm_bindgen_test]
async fn calls_that_find_the_connection_closed_together_leave_none_behind() {
    let name = unique("together");
    let storage = open(&name).await;
    interrupt(&name).await.expect("let go");
    let names: Vec<String> = (0..8).map(|at| at.to_string()).collect();
    let all = together(names.iter().map(|key| storage.commit(one(key)))).await;
    all.into_iter().collect::<Result<()>>().expect("opened again");
    assert_eq!(keys(&storage).await.expect("read"), names);
    storage.close();
    delete_database(&name).await.expect("nobody holds it");
}

#[wasm_bindgen_test]
async fn a_store_that_is_dropped_or_closed_while_it_opens_again_holds_nothing() {
    let name = unique("dropped");
    drop(open(&name).await);
    let storage = open(&name).await;
    interrupt(&name).await.expect("let go");
    let mut commit = pin!(storage.commit(one("a")));
    let mut begun = false;
    let refused = poll_fn(|cx| {
        let polled = commit.as_mut().poll(cx);
        if !core::mem::replace(&mut begun, true) {
            assert!(polled.is_pending(), "it opens again, which takes time");
            storage.close();
        }
        match polled {
            Poll::Ready(done) => Poll::Ready(done),
            Poll::Pending => Poll::Pending,
        }
    })
    .await;
    assert_eq!(refused.expect_err("closed").code(), ErrorCode::Closed);
    delete_database(&name).await.expect("nobody holds it");
}

#[wasm_bindgen_test]
async fn a_commit_that_fails_says_so_and_writes_nothing() {
    let name = unique("failing");
    let storage = open(&name).await;
    storage.commit(one("a")).await.expect("committed");
    let faults = [
        ("throws", ErrorCode::StorageUnavailable),
        ("aborts", ErrorCode::StorageUnavailable),
        ("full", ErrorCode::StorageQuota),
    ];
    for (fault, code) in faults {
        fail_next_put(fault);
        let deletes = vec![range(Store::Wal, "a", "b")];
        let refused = storage.commit(WriteBatch { deletes, ..one("b") }).await.expect_err(fault);
        assert_eq!(refused.code(), code, "{fault}: {refused}");
        assert!(!refused.message().contains("JsValue"), "{fault}: {refused}");
        assert_eq!(keys(&storage).await.expect("read"), ["a"], "{fault}");
    }
    storage.close();
    delete_database(&name).await.expect("nobody holds it");
}

#[wasm_bindgen_test]
async fn a_memory_reports_a_failed_commit_and_goes_by_its_kind() {
    let name = unique("memory-failing");
    let memory = Memory::in_database(&name).await;
    memory.add("the first", "").await.expect("stored");
    // A full disk wrote nothing for certain: the next add may succeed.
    fail_next_put("full");
    assert_eq!(memory.add("no room", "").await.expect_err("full").code, "STORAGE_QUOTA");
    memory.add("the second", "").await.expect("stored");
    // After anything else nobody knows, so writes are refused until it is opened again.
    fail_next_put("aborts");
    for _ in 0..2 {
        assert_eq!(memory.add("aborted", "").await.expect_err("aborted").code, "STORAGE_UNAVAILABLE");
    }
    assert_eq!(memory.n_pages().await, 2);
    memory.close().await;
    let again = Memory::in_database(&name).await;
    again.add("the third", "").await.expect("stored");
    assert_eq!(again.n_pages().await, 3);
    again.close().await;
    delete_database(&name).await.expect("nobody holds it");
}

#[wasm_bindgen_test]
async fn case_39_a_memory_whose_database_was_deleted_acknowledges_nothing() {
    let name = unique("memory-deleted");
    let memory = Memory::in_database(&name).await;
    memory.add("the first", "").await.expect("stored");
    delete_database(&name).await.expect("not held up");
    for _ in 0..2 {
        assert_eq!(memory.add("the second", "").await.expect_err("deleted").code, "STORAGE_UNAVAILABLE");
    }
    memory.close().await;
    let again = Memory::in_database(&name).await;
    assert_eq!(again.n_pages().await, 0);
    again.add("begun anew", "").await.expect("stored");
    again.close().await;
    delete_database(&name).await.expect("nobody holds it");
}
