//! The outside world: the host object that JavaScript hands over, and the store.

use core::cell::RefCell;

use js_sys::{Array, Float32Array, Function, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::convert::{OpenInput, error_of, js_error};
use super::idb::Database;
use crate::effect::{ChatReply, ChatRequest, ChatRole, Effect, EmbedKind, EmbedReply, EmbedRequest, FinishReason, Reply, Usage};
use crate::error::{Error, ErrorCode, Result};
use crate::storage::{Durability, Entry, KeyRange, MemoryStore, WriteBatch};

enum Backend {
    IndexedDb(Database),
    Memory(RefCell<MemoryStore>),
    Host,
}

/// Whoever carries out effects.
pub(super) struct Outside {
    host: JsValue,
    backend: Backend,
}

impl Outside {
    pub(super) async fn open(input: &OpenInput, host: JsValue) -> Result<Self> {
        let backend = match input.storage.as_str() {
            "indexeddb" => Backend::IndexedDb(Database::open(&input.name).await?),
            "memory" => Backend::Memory(RefCell::default()),
            "host" => Backend::Host,
            other => return Err(Error::invalid(format!("storage {other:?} is none of indexeddb, memory, host"))),
        };
        Ok(Self { host, backend })
    }

    /// The host's time.
    pub(super) fn now_ms(&self) -> i64 {
        let now = self.method("now").and_then(|now| now.call0(&self.host).ok()).and_then(|now| now.as_f64());
        now.unwrap_or_else(js_sys::Date::now) as i64
    }

    /// Tells the host what happened. A listener that throws breaks nothing.
    pub(super) fn emit(&self, event: JsValue) {
        if let Some(emit) = self.method("emit") {
            let _ = emit.call1(&self.host, &event);
        }
    }

    pub(super) fn close(&self) {
        if let Backend::IndexedDb(database) = &self.backend {
            database.close();
        }
    }

    pub(super) async fn perform(&self, effect: Effect) -> Reply {
        match effect {
            Effect::Chat(request) => Reply::Chat(self.chat(request).await),
            Effect::Embed(request) => Reply::Embed(self.embed(request).await),
            Effect::Read(range) => Reply::Read(self.read(range).await),
            Effect::Commit(batch) => Reply::Commit(self.commit(batch).await),
        }
    }

    fn method(&self, name: &str) -> Option<Function> {
        Reflect::get(&self.host, &name.into()).ok()?.dyn_into().ok()
    }

    async fn call(&self, name: &str, first: &JsValue, second: &JsValue) -> Result<JsValue> {
        let method = self.method(name);
        let method = method.ok_or_else(|| Error::new(ErrorCode::NotOpen, format!("the host has no {name}()")))?;
        let returned = method.call2(&self.host, first, second).map_err(|thrown| error_of(&thrown))?;
        JsFuture::from(Promise::resolve(&returned)).await.map_err(|thrown| error_of(&thrown))
    }

    async fn chat(&self, request: ChatRequest) -> Result<ChatReply> {
        let messages = Array::new();
        for message in &request.messages {
            let role = match message.role {
                ChatRole::System => "system",
                ChatRole::User => "user",
                ChatRole::Assistant => "assistant",
            };
            messages.push(&object(&[("role", role.into()), ("content", message.content.as_str().into())]));
        }
        let js = object(&[("messages", messages.into())]);
        if let Some(most) = request.max_output_tokens {
            set(&js, "maxOutputTokens", most.into());
        }
        let call_id = request.stream_to.map_or(JsValue::UNDEFINED, JsValue::from);
        let reply = self.call("chat", &js, &call_id).await?;
        let text = get(&reply, "text").as_string();
        let text = text.ok_or_else(|| Error::new(ErrorCode::ProviderBadReply, "the chat model's result has no text"))?;
        let finish_reason = match get(&reply, "finishReason").as_string().as_deref() {
            Some("stop") => FinishReason::Stop,
            Some("length") => FinishReason::Length,
            Some("tool-calls") => FinishReason::ToolCalls,
            Some("content-filter") => FinishReason::ContentFilter,
            Some("error") => FinishReason::Error,
            _ => FinishReason::Unknown,
        };
        Ok(ChatReply { text, finish_reason, usage: usage(&reply) })
    }

    async fn embed(&self, request: EmbedRequest) -> Result<EmbedReply> {
        let kind = match request.kind {
            EmbedKind::Query => "query",
            EmbedKind::Passage => "passage",
        };
        let texts: Array = request.texts.iter().map(|text| JsValue::from_str(text)).collect();
        let js = object(&[("texts", texts.into()), ("kind", kind.into())]);
        let reply = self.call("embed", &js, &JsValue::UNDEFINED).await?;
        let vectors = get(&reply, "vectors");
        let bad = || Error::new(ErrorCode::ProviderBadReply, "the embedding model's result has no array of vectors");
        if !Array::is_array(&vectors) {
            return Err(bad());
        }
        let vectors = Array::from(&vectors);
        let vectors = vectors.iter().map(|vector| match vector.dyn_into::<Float32Array>() {
            Ok(vector) => Ok(vector.to_vec()),
            Err(_) => Err(Error::new(ErrorCode::ProviderBadReply, "a vector is no Float32Array")),
        });
        Ok(EmbedReply { vectors: vectors.collect::<Result<_>>()?, usage: usage(&reply) })
    }

    async fn read(&self, range: KeyRange) -> Result<Vec<Entry>> {
        match &self.backend {
            Backend::IndexedDb(database) => database.read(&range).await,
            Backend::Memory(store) => Ok(store.borrow().read(&range)),
            Backend::Host => {
                let entries = self.call("read", &range_object(&range), &JsValue::UNDEFINED).await?;
                Array::from(&entries).iter().map(|entry| entry_of(&entry)).collect()
            }
        }
    }

    async fn commit(&self, batch: WriteBatch) -> Result<()> {
        match &self.backend {
            Backend::IndexedDb(database) => database.commit(&batch).await,
            Backend::Memory(store) => {
                store.borrow_mut().commit(batch);
                Ok(())
            }
            Backend::Host => {
                let puts: Array = batch
                    .puts
                    .iter()
                    .map(|(store, entry)| {
                        let value = Uint8Array::from(entry.value.as_slice());
                        object(&[("store", store.as_str().into()), ("key", entry.key.as_str().into()), ("value", value.into())])
                    })
                    .collect();
                let deletes: Array = batch.deletes.iter().map(range_object).collect();
                let durability = match batch.durability {
                    Durability::Relaxed => "relaxed",
                    Durability::Strict => "strict",
                };
                let js = object(&[("puts", puts.into()), ("deletes", deletes.into()), ("durability", durability.into())]);
                self.call("commit", &js, &JsValue::UNDEFINED).await.map(|_| ())
            }
        }
    }
}

fn range_object(range: &KeyRange) -> JsValue {
    object(&[("store", range.store.as_str().into()), ("from", range.from.as_str().into()), ("to", range.to.as_str().into())])
}

fn entry_of(entry: &JsValue) -> Result<Entry> {
    let key = get(entry, "key").as_string();
    let value = get(entry, "value").dyn_into::<Uint8Array>().ok();
    key.zip(value)
        .map(|(key, value)| Entry { key, value: value.to_vec() })
        .ok_or_else(|| Error::new(ErrorCode::StorageUnavailable, "the storage engine returned something other than {key, value: Uint8Array}"))
}

fn usage(reply: &JsValue) -> Usage {
    let usage = get(reply, "usage");
    let tokens = |name| get(&usage, name).as_f64().filter(|tokens| *tokens >= 0.0).map(|tokens| tokens as u64);
    Usage { input_tokens: tokens("inputTokens"), output_tokens: tokens("outputTokens") }
}

/// A property; `undefined` where there is none.
pub(super) fn get(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &name.into()).unwrap_or(JsValue::UNDEFINED)
}

pub(super) fn set(object: &JsValue, name: &str, value: JsValue) {
    let _ = Reflect::set(object, &name.into(), &value);
}

pub(super) fn object(properties: &[(&str, JsValue)]) -> JsValue {
    let object: JsValue = Object::new().into();
    for (name, value) in properties {
        set(&object, name, value.clone());
    }
    object
}

impl From<&Error> for JsValue {
    fn from(error: &Error) -> Self {
        js_error(error)
    }
}
