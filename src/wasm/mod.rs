//! The core in a browser, a worker or Node: bindings, the driver that plays the outside world, IndexedDB. The only place that
//! names JavaScript.
//!
//! Invariant: exported methods take `&self` and return a Promise; no borrow is held across an await or a call into
//! JavaScript, so calls may overlap freely.
//! Invariant: no view of wasm memory leaves this module; bytes are copied out.

mod convert;
mod driver;
mod fields;
mod host;
mod idb;
mod json;
mod long_term;
mod outside;
mod panic;
mod storage;

use core::pin::Pin;
use std::rc::Rc;

use js_sys::{Promise, Uint8Array};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use self::convert::{
    Ids, OpenInput, bytes, ids, js_error, new_page, new_pages, respond_input, responded, retrieve_input, shown, to_js,
};
use self::driver::run;
use self::host::Host;
use self::outside::Outside;
use self::panic::{Watched, watch};
use crate::effect::Task;
use crate::error::{Error, ErrorCode, Result};
use crate::memory_os::MemoryOs;
use crate::op::Added;

pub use self::storage::Storage;

/// One open memory, as `pkg-js` drives it. Its contract is `pkg-js/src/engine/contract.ts`.
#[wasm_bindgen]
pub struct WasmMemory {
    memory: MemoryOs,
    outside: Rc<Outside>,
    _watched: Watched,
}

#[derive(Serialize)]
struct AddedView {
    id: String,
    status: &'static str,
}

impl From<Added> for AddedView {
    fn from(added: Added) -> Self {
        let status = match added {
            Added::Stored(_) => "stored",
            Added::Duplicate(_) => "duplicate",
        };
        Self { id: added.page().to_string(), status }
    }
}

#[wasm_bindgen]
impl WasmMemory {
    /// Opens a memory: `(options: WasmOpenOptions, host: Host) => Promise<WasmMemory>`.
    pub fn open(options: JsValue, host: JsValue) -> Promise {
        promise_of(Box::pin(async move {
            let host = Host::new(host);
            let watched = watch(host.clone());
            let input = OpenInput::new(options)?;
            let outside = Rc::new(Outside::open(&input, host).await?);
            let memory = run(MemoryOs::open(input.options()?), &outside).await?;
            for name in input.retrievers()? {
                memory.register_outside(name)?;
            }
            Ok(Self { memory, outside, _watched: watched }.into())
        }))
    }

    /// Stores one turn.
    pub fn add(&self, input: JsValue) -> Promise {
        self.promise(move |this| async move {
            let new = new_page(input)?;
            let now_ms = this.outside.host.now_ms();
            let added = this.run(this.memory.add(vec![new], now_ms)).await?;
            added.first().copied().map(AddedView::from).map(|view| to_js(&view)).unwrap_or(Ok(JsValue::NULL))
        })
    }

    /// Stores turns in one transaction.
    #[wasm_bindgen(js_name = addMany)]
    pub fn add_many(&self, inputs: JsValue) -> Promise {
        self.promise(move |this| async move {
            let new = new_pages(&inputs)?;
            let now_ms = this.outside.host.now_ms();
            let added = this.run(this.memory.add(new, now_ms)).await?;
            to_js(&added.into_iter().map(AddedView::from).collect::<Vec<_>>())
        })
    }

    /// Finds what answers a question.
    pub fn retrieve(&self, query: String, options: JsValue) -> Promise {
        self.promise(move |this| async move {
            let input = retrieve_input(query, options)?;
            let now_ms = this.outside.host.now_ms();
            to_js(&this.run(this.memory.retrieve(input, now_ms)).await?)
        })
    }

    /// What a search may find: turns that the filter of its options lets through.
    pub fn candidates(&self, options: JsValue) -> core::result::Result<JsValue, JsValue> {
        let found = retrieve_input(String::new(), options).and_then(|input| self.memory.candidates(&input));
        shown(&found.map_err(|error| js_error(&error))?)
    }

    /// Answers, and remembers the exchange.
    pub fn respond(&self, query: String, input: JsValue) -> Promise {
        self.promise(move |this| async move {
            let input = respond_input(query, input)?;
            let now_ms = this.outside.host.now_ms();
            responded(&this.run(this.memory.respond(input, now_ms)).await?)
        })
    }

    /// Deletes pages and facts for good.
    pub fn forget(&self, pages: JsValue) -> Promise {
        self.promise(move |this| async move {
            let Ids { pages, facts, malformed } = ids(&pages)?;
            let now_ms = this.outside.host.now_ms();
            let forgotten = this.run(this.memory.forget(pages, facts, now_ms)).await?;
            convert::forgotten(forgotten, malformed)
        })
    }

    /// Does the next thing that is due.
    pub fn work(&self) -> Promise {
        self.promise(move |this| async move {
            let worked = this.run(this.memory.work(this.outside.host.now_ms())).await?;
            convert::worked(worked)
        })
    }

    /// Does everything that waits.
    pub fn flush(&self) -> Promise {
        self.promise(move |this| async move {
            this.run(this.memory.flush(this.outside.host.now_ms())).await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    /// Puts a failed job back into the queue.
    #[wasm_bindgen(js_name = retryJob)]
    pub fn retry_job(&self, id: String) -> Promise {
        self.promise(move |this| async move {
            this.run(this.memory.retry(id.parse()?)).await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    /// Counts of everything.
    pub fn stats(&self) -> core::result::Result<JsValue, JsValue> {
        shown(&self.memory.stats())
    }

    /// The tiers, heat as of now.
    pub fn tiers(&self) -> core::result::Result<JsValue, JsValue> {
        shown(&self.memory.tiers(self.outside.host.now_ms()))
    }

    /// The job queue.
    pub fn jobs(&self) -> core::result::Result<JsValue, JsValue> {
        shown(&self.memory.jobs(self.outside.host.now_ms()))
    }

    /// Pages, the newest first.
    pub fn pages(&self, offset: usize, limit: usize) -> core::result::Result<JsValue, JsValue> {
        shown(&self.memory.pages(offset, limit))
    }

    /// A page by its id or its caller's; null when it is not there.
    pub fn page(&self, id: &str) -> core::result::Result<JsValue, JsValue> {
        shown(&self.memory.page(id))
    }

    /// Stores the answer of a page that has none.
    pub fn complete(&self, id: String, answer: String) -> Promise {
        self.promise(move |this| async move {
            this.run(this.memory.complete(id, answer)).await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    /// Writes everything into one file.
    #[wasm_bindgen(js_name = exportAll)]
    pub fn export_all(&self) -> Promise {
        self.promise(move |this| async move {
            let file = this.run(this.memory.export()).await?;
            Ok(Uint8Array::from(file.as_slice()).into())
        })
    }

    /// Merges an exported file into this memory.
    #[wasm_bindgen(js_name = importAll)]
    pub fn import_all(&self, file: JsValue) -> Promise {
        self.promise(move |this| async move {
            let imported = this.run(this.memory.import(bytes(file, "the file")?)).await?;
            convert::imported(imported)
        })
    }

    /// Deletes everything of this scope.
    pub fn clear(&self) -> Promise {
        self.promise(move |this| async move {
            this.run(this.memory.clear()).await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    /// Hands over the bytes of the embedding table.
    #[wasm_bindgen(js_name = installTable)]
    pub fn install_table(&self, table: JsValue) -> core::result::Result<(), JsValue> {
        let installed = bytes(table, "the table").and_then(|table| self.memory.install_table(&table));
        installed.map_err(|error| js_error(&error))
    }

    /// Ends it; later calls reject with CLOSED.
    pub fn close(&self) -> Promise {
        self.promise(move |this| async move {
            this.memory.close();
            this.outside.close();
            Ok(JsValue::UNDEFINED)
        })
    }
}

/// What a running call holds on to.
struct This {
    memory: MemoryOs,
    outside: Rc<Outside>,
}

impl This {
    async fn run<T>(&self, task: Task<Result<T>>) -> Result<T> {
        let result = run(task, &self.outside).await;
        self.tell_events()?;
        result
    }

    fn tell_events(&self) -> Result<()> {
        for event in self.memory.take_events() {
            self.outside.host.tell("emit", &to_js(&event)?);
        }
        Ok(())
    }
}

impl WasmMemory {
    fn promise<F>(&self, call: impl FnOnce(This) -> F + 'static) -> Promise
    where
        F: Future<Output = Result<JsValue>> + 'static,
    {
        let this = This { memory: self.memory.clone(), outside: self.outside.clone() };
        promise_of(Box::pin(call(this)))
    }
}

/// The promise of a call; boxed, so that what makes one of a future is compiled once.
fn promise_of(call: Pin<Box<dyn Future<Output = Result<JsValue>>>>) -> Promise {
    future_to_promise(async move { call.await.map_err(|error| js_error(&error)) })
}

/// Version of the package.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}

/// An error that says what a browser lacks.
fn missing(what: &str) -> Error {
    Error::new(
        ErrorCode::StorageUnavailable,
        format!("this environment has no {what}; open with storage \"memory\" or an engine of your own"),
    )
}
