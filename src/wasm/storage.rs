//! The store behind a memory: IndexedDB, plain memory, or the host's own engine.

use core::cell::RefCell;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::host::{Host, get, object};
use super::idb::Database;
use crate::error::{Error, ErrorCode, Result};
use crate::storage::{Durability, Entry, KeyRange, MemoryStore, Store, WriteBatch};

enum Engine {
    IndexedDb(Database),
    Memory(RefCell<MemoryStore>),
    Host(Host),
}

/// An open store. Public so that every engine can be held against the same list of checks.
pub struct Storage(Engine);

impl Storage {
    /// Opens or creates a store.
    ///
    /// `kind` is `indexeddb` (a database called `name`), `memory`, or `host` (`read` and `commit` of the object).
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for another `kind`, `STORAGE_UNAVAILABLE` if the database does not open, `VERSION_TOO_NEW` if
    /// a later version of the package has changed its layout.
    pub async fn open(kind: &str, name: &str, host: JsValue) -> Result<Self> {
        Self::of(kind, name, Host::new(host)).await
    }

    pub(super) async fn of(kind: &str, name: &str, host: Host) -> Result<Self> {
        Ok(Self(match kind {
            "indexeddb" => Engine::IndexedDb(Database::open(name).await?),
            "memory" => Engine::Memory(RefCell::default()),
            "host" => Engine::Host(host),
            other => return Err(Error::invalid(format!("storage {other:?} is none of indexeddb, memory, host"))),
        }))
    }

    /// Ends it. The host closes an engine of its own itself.
    pub fn close(&self) {
        if let Engine::IndexedDb(database) = &self.0 {
            database.close();
        }
    }

    /// Entries of a range in key order.
    ///
    /// # Errors
    /// What the engine says, with a code of [`ErrorCode`].
    pub async fn read(&self, range: &KeyRange) -> Result<Vec<Entry>> {
        match &self.0 {
            Engine::IndexedDb(database) => database.read(range).await,
            Engine::Memory(store) => Ok(store.borrow().read(range)),
            Engine::Host(host) => {
                let entries = host.call("read", &range_object(range), &JsValue::UNDEFINED).await.map_err(of_store)?;
                // `Array.from` would throw past us for what cannot be iterated, and leave the caller waiting for ever.
                if !Array::is_array(&entries) {
                    return Err(bad_entry());
                }
                Array::from(&entries).iter().map(|entry| entry_of(&entry)).collect()
            }
        }
    }

    /// Carries out a whole batch, or nothing of it.
    ///
    /// # Errors
    /// What the engine says, with a code of [`ErrorCode`].
    pub async fn commit(&self, batch: WriteBatch) -> Result<()> {
        match &self.0 {
            Engine::IndexedDb(database) => database.commit(&batch).await,
            Engine::Memory(store) => {
                store.borrow_mut().commit(batch);
                Ok(())
            }
            Engine::Host(host) => {
                let done = host.call("commit", &batch_object(&batch), &JsValue::UNDEFINED).await;
                done.map(|_| ()).map_err(of_store)
            }
        }
    }
}

/// What a host's engine threw without a code of ours is no model's failure.
fn of_store(error: Error) -> Error {
    match error.code() {
        ErrorCode::ProviderFailed | ErrorCode::ProviderTimeout | ErrorCode::ProviderBadReply => {
            Error::new(ErrorCode::StorageUnavailable, error.message())
        }
        _ => error,
    }
}

fn batch_object(batch: &WriteBatch) -> JsValue {
    let put = |(store, entry): &(Store, Entry)| {
        let value = Uint8Array::from(entry.value.as_slice());
        object(&[("store", store.as_str().into()), ("key", entry.key.as_str().into()), ("value", value.into())])
    };
    let puts: Array = batch.puts.iter().map(put).collect();
    let deletes: Array = batch.deletes.iter().map(range_object).collect();
    let durability = match batch.durability {
        Durability::Relaxed => "relaxed",
        Durability::Strict => "strict",
    };
    object(&[("puts", puts.into()), ("deletes", deletes.into()), ("durability", durability.into())])
}

fn range_object(range: &KeyRange) -> JsValue {
    object(&[
        ("store", range.store.as_str().into()),
        ("from", range.from.as_str().into()),
        ("to", range.to.as_str().into()),
    ])
}

fn entry_of(entry: &JsValue) -> Result<Entry> {
    let key = get(entry, "key").as_string();
    let value = get(entry, "value").dyn_into::<Uint8Array>().ok();
    key.zip(value).map(|(key, value)| Entry { key, value: value.to_vec() }).ok_or_else(bad_entry)
}

fn bad_entry() -> Error {
    Error::new(
        ErrorCode::StorageUnavailable,
        "the storage engine returned something other than an array of {key, value: Uint8Array}",
    )
}
