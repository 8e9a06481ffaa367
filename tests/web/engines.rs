//! IndexedDB and an engine of the host's, against the list that the store in memory passes natively.

use js_sys::Reflect;
use memstrata::error::{ErrorCode, Result};
use memstrata::storage::{Entry, KeyRange, Store, WriteBatch};
use memstrata::wasm::Storage;
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

use super::conformance::{self, Engine, every_check, every_check_of_failure, puts, range};
use super::world::{buffers_of, delete_database, host_that, host_with_store, unique};

struct Indexed {
    storage: Option<Storage>,
    /// To be deleted at the end.
    opened: Vec<String>,
}

impl Engine for Indexed {
    async fn open(&mut self, database: &str) {
        self.storage = Some(Storage::open("indexeddb", database, JsValue::NULL).await.expect("opens"));
        self.opened.push(database.to_owned());
    }

    async fn close(&mut self) {
        self.storage.iter().for_each(Storage::close);
    }

    async fn read(&self, range: &KeyRange) -> Result<Vec<Entry>> {
        self.storage.as_ref().expect("open").read(range).await
    }

    async fn commit(&self, batch: WriteBatch) -> Result<()> {
        self.storage.as_ref().expect("open").commit(batch).await
    }
}

/// The host closes its engine itself.
struct Hosted {
    storage: Option<(Storage, JsValue)>,
}

impl Engine for Hosted {
    async fn open(&mut self, database: &str) {
        let host = host_with_store(database);
        self.storage = Some((Storage::open("host", database, host.clone()).await.expect("opens"), host));
    }

    async fn close(&mut self) {
        if let Some((storage, host)) = &self.storage {
            Reflect::set(host, &"closed".into(), &true.into()).expect("an object");
            storage.close();
        }
    }

    async fn read(&self, range: &KeyRange) -> Result<Vec<Entry>> {
        self.storage.as_ref().expect("open").0.read(range).await
    }

    async fn commit(&self, batch: WriteBatch) -> Result<()> {
        self.storage.as_ref().expect("open").0.commit(batch).await
    }
}

mod indexeddb {
    use super::*;

    macro_rules! tests {
        ($($check:ident)*) => {$(
            #[wasm_bindgen_test]
            async fn $check() {
                let database = unique(stringify!($check));
                let mut engine = Indexed { storage: None, opened: Vec::new() };
                engine.open(&database).await;
                conformance::$check(&mut engine, &database).await;
                engine.close().await;
                for name in engine.opened {
                    delete_database(&name).await.expect("nobody holds it");
                }
            }
        )*};
    }
    every_check!(tests);
    every_check_of_failure!(tests);
}

mod host {
    use super::*;

    macro_rules! tests {
        ($($check:ident)*) => {$(
            #[wasm_bindgen_test]
            async fn $check() {
                let database = unique(stringify!($check));
                let mut engine = Hosted { storage: None };
                engine.open(&database).await;
                conformance::$check(&mut engine, &database).await;
                engine.close().await;
            }
        )*};
    }
    every_check!(tests);
    every_check_of_failure!(tests);

    /// A view would make a structured clone of it copy the whole of the wasm memory.
    #[wasm_bindgen_test]
    async fn a_host_gets_bytes_of_its_own_and_no_view_of_wasm_memory() {
        let host = host_with_store(&unique("views"));
        let storage = Storage::open("host", "", host.clone()).await.expect("opens");
        storage.commit(puts(Store::Wal, &[("a", &[1, 2, 3]), ("b", &[])])).await.expect("committed");
        assert_eq!(buffers_of(&host), [3.0, 0.0]);
    }

    #[wasm_bindgen_test]
    async fn what_a_host_answers_wrongly_is_a_typed_error() {
        let answers = [
            ("return undefined", ErrorCode::StorageUnavailable),
            ("return null", ErrorCode::StorageUnavailable),
            ("return {}", ErrorCode::StorageUnavailable),
            ("return [undefined]", ErrorCode::StorageUnavailable),
            ("return [{ key: 'a' }]", ErrorCode::StorageUnavailable),
            ("return [{ key: 1, value: new Uint8Array() }]", ErrorCode::StorageUnavailable),
            ("return [{ key: 'a', value: [1] }]", ErrorCode::StorageUnavailable),
            ("throw Object.assign(new Error('full'), { code: 'STORAGE_QUOTA' })", ErrorCode::StorageQuota),
            ("throw new DOMException('full', 'QuotaExceededError')", ErrorCode::StorageQuota),
            ("throw new DOMException('gone', 'InvalidStateError')", ErrorCode::StorageUnavailable),
            ("throw undefined", ErrorCode::StorageUnavailable),
            ("throw 'text'", ErrorCode::StorageUnavailable),
            ("throw new Error('odd')", ErrorCode::StorageUnavailable),
        ];
        for (source, code) in answers {
            let storage = Storage::open("host", "", host_that(source)).await.expect("opens");
            let refused = storage.read(&range(Store::Wal, "a", "b")).await.expect_err(source);
            assert_eq!(refused.code(), code, "{source}: {refused}");
            if source.starts_with("throw") {
                let refused = storage.commit(puts(Store::Wal, &[("a", &[1])])).await.expect_err(source);
                assert_eq!(refused.code(), code, "{source}: {refused}");
            }
        }
    }

    #[wasm_bindgen_test]
    async fn a_host_without_a_store_and_a_kind_that_is_none_are_typed_errors() {
        let storage = Storage::open("host", "", JsValue::NULL).await.expect("opens");
        let refused = storage.read(&range(Store::Wal, "a", "b")).await.expect_err("no read()");
        assert_eq!(refused.code(), ErrorCode::NotOpen);
        let refused = Storage::open("tape", "", JsValue::NULL).await.err().expect("no such kind");
        assert_eq!(refused.code(), ErrorCode::InvalidArgument);
    }
}
