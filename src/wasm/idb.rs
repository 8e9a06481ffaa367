//! IndexedDB: one database of four object stores with keys of its own order. One transaction a batch.

use core::cell::{Cell, RefCell};
use std::rc::Rc;

use gloo::events::EventListener;
use js_sys::{Array, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{IdbDatabase, IdbFactory, IdbKeyRange, IdbObjectStore, IdbOpenDbRequest, IdbRequest, IdbTransaction};

use super::convert::error_of;
use super::host::{get, object};
use crate::error::{Error, ErrorCode, Result};
use crate::order::sort_and_dedup;
use crate::storage::{Durability, Entry, KeyRange, Store, WriteBatch};

/// Version of the object stores' layout; the format of values has its own, in the manifest.
const SCHEMA_VERSION: u32 = 1;

#[wasm_bindgen]
extern "C" {
    /// `IDBDatabase.transaction` with its options, which web-sys does not bind.
    #[wasm_bindgen(extends = IdbDatabase)]
    type DatabaseWithOptions;
    #[wasm_bindgen(method, catch, js_name = transaction)]
    fn transaction_with_options(
        this: &DatabaseWithOptions,
        stores: &Array,
        mode: &str,
        options: &JsValue,
    ) -> core::result::Result<IdbTransaction, JsValue>;
}

/// An open database.
pub(super) struct Database {
    name: String,
    connection: RefCell<Connection>,
    closed: Cell<bool>,
}

struct Connection {
    database: IdbDatabase,
    /// Lets go when another context wants to upgrade or delete the database.
    _on_version_change: EventListener,
}

impl Drop for Connection {
    /// A connection without its listener would hold up whoever wants to upgrade or delete the database, until it is
    /// collected. Transactions under way still come to their end.
    fn drop(&mut self) {
        self.database.close();
    }
}

impl Database {
    /// Opens or creates it.
    pub(super) async fn open(name: &str) -> Result<Self> {
        let connection = connect(name, Missing::Create).await?;
        Ok(Self { name: name.into(), connection: RefCell::new(connection), closed: Cell::new(false) })
    }

    pub(super) fn close(&self) {
        self.closed.set(true);
        self.connection.borrow().database.close();
    }

    /// Entries of a range in key order.
    pub(super) async fn read(&self, range: &KeyRange) -> Result<Vec<Entry>> {
        let Some(bounds) = bounds(range)? else {
            return Ok(Vec::new());
        };
        let transaction = self.transaction(&[range.store], "readonly", Durability::Relaxed).await?;
        let store = transaction.object_store(range.store.as_str()).map_err(|error| storage_error(&error))?;
        let keys = store.get_all_keys_with_key(&bounds).map_err(|error| storage_error(&error))?;
        let values = store.get_all_with_key(&bounds).map_err(|error| storage_error(&error))?;
        let keys = Array::from(&result_of(&keys).await?);
        let values = Array::from(&result_of(&values).await?);
        keys.iter()
            .zip(values.iter())
            .map(|(key, value)| {
                let key = key.as_string().ok_or_else(|| Error::corrupt("a key in the database is no text"))?;
                let value =
                    value.dyn_into::<Uint8Array>().map_err(|_| Error::corrupt(format!("{key} holds no bytes")))?;
                Ok(Entry { key, value: value.to_vec() })
            })
            .collect()
    }

    /// Carries out a batch in one transaction; done when the database says so.
    pub(super) async fn commit(&self, batch: &WriteBatch) -> Result<()> {
        let mut stores: Vec<Store> = batch.puts.iter().map(|(store, _)| *store).collect();
        stores.extend(batch.deletes.iter().map(|range| range.store));
        sort_and_dedup(&mut stores);
        if stores.is_empty() {
            return Ok(());
        }
        let transaction = self.transaction(&stores, "readwrite", batch.durability).await?;
        let done = Outcome::of(&transaction);
        if let Err(error) = request_all(&transaction, batch) {
            let _ = transaction.abort();
            return Err(error);
        }
        done.wait().await
    }

    /// Begins a transaction. A connection that was closed from outside is opened again, once: nothing has been asked of it yet.
    async fn transaction(&self, stores: &[Store], mode: &str, durability: Durability) -> Result<IdbTransaction> {
        match self.begin(stores, mode, durability) {
            Err(error) if error.code() == ErrorCode::StorageUnavailable && !self.closed.get() => {
                let connection = connect(&self.name, Missing::Refuse).await?;
                if self.closed.get() {
                    return Err(Error::new(ErrorCode::Closed, "this memory has been closed; open it again"));
                }
                *self.connection.borrow_mut() = connection;
                self.begin(stores, mode, durability)
            }
            begun => begun,
        }
    }

    fn begin(&self, stores: &[Store], mode: &str, durability: Durability) -> Result<IdbTransaction> {
        let names: Array = stores.iter().map(|store| JsValue::from_str(store.as_str())).collect();
        let durability = match durability {
            Durability::Relaxed => "relaxed",
            Durability::Strict => "strict",
        };
        let connection = self.connection.borrow();
        let database: &DatabaseWithOptions = connection.database.unchecked_ref();
        let options = object(&[("durability", durability.into())]);
        database.transaction_with_options(&names, mode, &options).map_err(|error| storage_error(&error))
    }
}

fn request_all(transaction: &IdbTransaction, batch: &WriteBatch) -> Result<()> {
    let store = |store: Store| transaction.object_store(store.as_str()).map_err(|error| storage_error(&error));
    for range in &batch.deletes {
        if let Some(bounds) = bounds(range)? {
            store(range.store)?.delete(&bounds.into()).map_err(|error| storage_error(&error))?;
        }
    }
    for (to, entry) in &batch.puts {
        let value = Uint8Array::from(entry.value.as_slice());
        store(*to)?.put_with_key(&value, &entry.key.as_str().into()).map_err(|error| storage_error(&error))?;
    }
    Ok(())
}

/// What to do about a database that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// It is new.
    Create,
    /// It was deleted behind an open memory, which must not go on in an empty one as if nothing had happened.
    Refuse,
}

async fn connect(name: &str, missing: Missing) -> Result<Connection> {
    let factory = Reflect::get(&js_sys::global(), &"indexedDB".into()).ok().filter(|factory| factory.is_object());
    let factory: IdbFactory = factory.ok_or_else(|| super::missing("IndexedDB"))?.unchecked_into();
    let request = factory.open_with_u32(name, SCHEMA_VERSION).map_err(|error| storage_error(&error))?;
    let refused = Rc::new(Cell::new(false));
    let _on_upgrade = EventListener::once(&request, "upgradeneeded", {
        let (request, refused) = (request.clone(), refused.clone());
        move |_| match missing {
            Missing::Create => create_stores(&request),
            Missing::Refuse => {
                refused.set(true);
                // Leaves no empty database behind.
                let _ = request.transaction().map(|upgrade| upgrade.abort());
            }
        }
    });
    let opened = result_of(&request).await;
    if refused.get() {
        return Err(Error::new(ErrorCode::StorageUnavailable, format!("the database {name:?} was deleted meanwhile")));
    }
    let database: IdbDatabase = opened.map_err(|error| not_opened(&request, error))?.unchecked_into();
    let _on_version_change = EventListener::once(&database, "versionchange", {
        let database = database.clone();
        move |_| database.close()
    });
    Ok(Connection { database, _on_version_change })
}

fn create_stores(request: &IdbOpenDbRequest) {
    if let Ok(database) = request.result() {
        let database: IdbDatabase = database.unchecked_into();
        for store in Store::ALL {
            let _: core::result::Result<IdbObjectStore, _> = database.create_object_store(store.as_str());
        }
    }
}

fn not_opened(request: &IdbOpenDbRequest, error: Error) -> Error {
    let name = request.error().ok().flatten().map(|error| error.name());
    match error.code() {
        ErrorCode::StorageQuota => error,
        _ if name.as_deref() == Some("VersionError") => Error::new(
            ErrorCode::VersionTooNew,
            "a later version of memstrata has changed the layout of this database; update the package",
        ),
        _ => Error::new(ErrorCode::StorageUnavailable, format!("the database does not open: {}", error.message())),
    }
}

/// The keys of a range; `None` for one that holds no key, which IndexedDB refuses to express.
fn bounds(range: &KeyRange) -> Result<Option<IdbKeyRange>> {
    if range.from >= range.to {
        return Ok(None);
    }
    let (from, to) = (range.from.as_str().into(), range.to.as_str().into());
    let bounds = IdbKeyRange::bound_with_lower_open_and_upper_open(&from, &to, false, true);
    bounds.map(Some).map_err(|error| storage_error(&error))
}

/// Waits for a request.
async fn result_of(request: &IdbRequest) -> Result<JsValue> {
    let mut listeners = Vec::new();
    let promise = Promise::new(&mut |resolve, reject| {
        let settled = request.clone();
        listeners.push(EventListener::once(request, "success", move |_| {
            let _ = resolve.call1(&JsValue::UNDEFINED, &settled.result().unwrap_or(JsValue::UNDEFINED));
        }));
        let failed = request.clone();
        listeners.push(EventListener::once(request, "error", move |_| {
            let error = failed.error().ok().flatten().map_or(JsValue::UNDEFINED, JsValue::from);
            let _ = reject.call1(&JsValue::UNDEFINED, &error);
        }));
    });
    let result = JsFuture::from(promise).await.map_err(|error| storage_error(&error));
    drop(listeners);
    result
}

/// The end of a transaction, listened for from its beginning.
struct Outcome {
    promise: Promise,
    _listeners: Rc<Vec<EventListener>>,
}

impl Outcome {
    fn of(transaction: &IdbTransaction) -> Self {
        let mut listeners = Vec::new();
        let promise = Promise::new(&mut |resolve, reject| {
            listeners.push(EventListener::once(transaction, "complete", move |_| {
                let _ = resolve.call0(&JsValue::UNDEFINED);
            }));
            let aborted = transaction.clone();
            listeners.push(EventListener::once(transaction, "abort", move |_| {
                let error = aborted.error().map_or(JsValue::UNDEFINED, JsValue::from);
                let _ = reject.call1(&JsValue::UNDEFINED, &error);
            }));
        });
        Self { promise, _listeners: Rc::new(listeners) }
    }

    async fn wait(self) -> Result<()> {
        JsFuture::from(self.promise.clone()).await.map(|_| ()).map_err(|error| storage_error(&error))
    }
}

/// An IndexedDB error. Only a full disk has a code of its own; whatever else went wrong, the store is not available.
fn storage_error(error: &JsValue) -> Error {
    // A transaction that was aborted by a script has no error.
    if error.is_null() || error.is_undefined() {
        return Error::new(ErrorCode::StorageUnavailable, "the transaction was aborted");
    }
    let named = error_of(error);
    match named.code() {
        ErrorCode::StorageQuota => Error::new(
            ErrorCode::StorageQuota,
            "there is no room left for this site; delete something or free space on the disk",
        ),
        _ => {
            let name = get(error, "name").as_string().unwrap_or_else(|| "an error".into());
            Error::new(ErrorCode::StorageUnavailable, format!("{name}: {}", named.message()))
        }
    }
}
