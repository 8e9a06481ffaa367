//! A memory as JavaScript has it, and the databases under it.

use core::fmt;

use js_sys::{Array, Function, JSON, Promise, Reflect};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/tests/web/world.js")]
extern "C" {
    #[wasm_bindgen(js_name = hostWithStore)]
    pub(crate) fn host_with_store(database: &str) -> JsValue;
    #[wasm_bindgen(js_name = hostThatRanks)]
    pub(crate) fn host_that_ranks() -> JsValue;
    #[wasm_bindgen(js_name = hostThatListens)]
    pub(crate) fn host_that_listens() -> JsValue;
    #[wasm_bindgen(js_name = buffersOf)]
    pub(crate) fn buffers_of(host: &JsValue) -> Vec<f64>;
    #[wasm_bindgen(js_name = hostThat)]
    pub(crate) fn host_that(source: &str) -> JsValue;
    #[wasm_bindgen(js_name = deleteDatabase, catch)]
    pub(crate) async fn delete_database(name: &str) -> Result<(), JsValue>;
    #[wasm_bindgen(js_name = databaseExists)]
    async fn database_exists_js(name: &str) -> JsValue;
    #[wasm_bindgen(catch)]
    pub(crate) async fn interrupt(name: &str) -> Result<(), JsValue>;
    #[wasm_bindgen(catch)]
    pub(crate) async fn upgrade(name: &str, version: u32) -> Result<(), JsValue>;
    #[wasm_bindgen(js_name = failNextPut)]
    pub(crate) fn fail_next_put(kind: &str);
    #[wasm_bindgen(js_name = refuseToOpen)]
    pub(crate) fn refuse_to_open() -> JsValue;
    #[wasm_bindgen(js_name = openAgain)]
    pub(crate) fn open_again();
}

/// The embedding table, as the package ships it.
pub(crate) const TABLE: &[u8] = include_bytes!("../../pkg-js/table/table-128-int4.safetensors");

pub(crate) async fn database_exists(name: &str) -> bool {
    database_exists_js(name).await.is_truthy()
}

/// A name that no other test has, not even in an earlier run of the same browser profile.
pub(crate) fn unique(purpose: &str) -> String {
    format!("memstrata-{purpose}-{}-{}", js_sys::Date::now(), js_sys::Math::random())
}

pub(crate) fn js(value: &Value) -> JsValue {
    JSON::parse(&value.to_string()).expect("JSON")
}

fn json_of(value: &JsValue) -> Value {
    let text = JSON::stringify(value).ok().and_then(|text| text.as_string());
    text.map_or(Value::Null, |text| serde_json::from_str(&text).expect("JSON"))
}

/// A rejection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) code: String,
    pub(crate) message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

fn refused(thrown: &JsValue) -> Refused {
    assert!(thrown.is_instance_of::<js_sys::Error>(), "rejected with {thrown:?}, which is no Error");
    let text = |name: &str| Reflect::get(thrown, &name.into()).ok().and_then(|text| text.as_string());
    Refused {
        code: text("code").unwrap_or_else(|| panic!("{thrown:?} has no code")),
        message: text("message").unwrap_or_default(),
    }
}

/// A `WasmMemory`, called through the names that `pkg-js` uses.
pub(crate) struct Memory(JsValue);

impl Memory {
    /// Opens with the options of [`options`], or of a test's own.
    pub(crate) async fn open(options: &Value, host: &JsValue) -> Result<Self, Refused> {
        let opened = memstrata::wasm::WasmMemory::open(js(options), host.clone());
        JsFuture::from(opened).await.map(Self).map_err(|thrown| refused(&thrown))
    }

    /// Opens an IndexedDB memory with the built-in table in place.
    pub(crate) async fn in_database(name: &str) -> Self {
        let memory = Self::open(&options("indexeddb", name), &host_with_store(name)).await.expect("opens");
        memory.install_table();
        memory
    }

    pub(crate) fn install_table(&self) {
        self.method("installTable").call1(&self.0, &js_sys::Uint8Array::from(TABLE)).expect("the table is sound");
    }

    /// Begins a call, which later ones may overlap.
    pub(crate) fn begin(&self, method: &str, args: &[JsValue]) -> Promise {
        let args: Array = args.iter().collect();
        self.method(method).apply(&self.0, &args).expect("an exported method does not throw").unchecked_into()
    }

    pub(crate) async fn call(&self, method: &str, args: &[JsValue]) -> Result<Value, Refused> {
        let done = JsFuture::from(Promise::resolve(&self.begin(method, args))).await;
        done.map(|value| json_of(&value)).map_err(|thrown| refused(&thrown))
    }

    pub(crate) async fn add(&self, user: &str, agent: &str) -> Result<Value, Refused> {
        self.call("add", &[js(&turn(user, agent))]).await
    }

    pub(crate) async fn find(&self, query: &str, strategy: &str) -> Value {
        let options = json!({
            "topK": 10, "budgetTokens": 1_024, "strategy": strategy, "profile": "auto", "filter": {},
        });
        self.call("retrieve", &[query.into(), js(&options)]).await.expect("answered")
    }

    pub(crate) async fn n_pages(&self) -> u64 {
        self.call("stats", &[]).await.expect("counted")["pages"].as_u64().expect("a count")
    }

    pub(crate) async fn close(&self) {
        self.call("close", &[]).await.expect("closed");
    }

    /// What the finalizer does, or `pkg-js` after closing.
    pub(crate) fn free(self) {
        self.method("free").call0(&self.0).expect("freed");
    }

    fn method(&self, name: &str) -> Function {
        Reflect::get(&self.0, &name.into()).ok().and_then(|method| method.dyn_into().ok()).expect(name)
    }
}

pub(crate) fn options(storage: &str, name: &str) -> Value {
    json!({
        "name": name, "userId": "ada", "assistantId": "helper", "storage": storage, "config": {}, "seed": 7,
        "builtinEmbedder": true, "chatModel": null, "countsTokens": false,
    })
}

pub(crate) fn turn(user: &str, agent: &str) -> Value {
    json!({
        "userInput": user, "agentResponse": agent, "epochMs": 1_717_243_200_000_u64, "offsetMinutes": 0, "metadata": {},
    })
}
