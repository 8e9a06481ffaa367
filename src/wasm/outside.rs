//! The outside world: the models and the store, behind the host object that JavaScript hands over.

use js_sys::{Array, Float32Array};
use wasm_bindgen::prelude::*;

use super::convert::OpenInput;
use super::host::{Host, get, object, set};
use super::storage::Storage;
use crate::effect::{
    ChatReply, ChatRequest, ChatRole, Effect, EmbedKind, EmbedReply, EmbedRequest, FinishReason, Reply, Usage,
};
use crate::error::{Error, ErrorCode, Result};

/// Whoever carries out effects.
pub(super) struct Outside {
    pub(super) host: Host,
    storage: Storage,
}

impl Outside {
    pub(super) async fn open(input: &OpenInput, host: Host) -> Result<Self> {
        let storage = Storage::of(&input.storage, &input.name, host.clone()).await?;
        Ok(Self { host, storage })
    }

    pub(super) fn close(&self) {
        self.storage.close();
    }

    pub(super) async fn perform(&self, effect: Effect) -> Reply {
        match effect {
            Effect::Chat(request) => Reply::Chat(self.chat(request).await),
            Effect::Embed(request) => Reply::Embed(self.embed(request).await),
            Effect::Read(range) => Reply::Read(self.storage.read(&range).await),
            Effect::Commit(batch) => Reply::Commit(self.storage.commit(batch).await),
        }
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
        let reply = self.host.call("chat", &js, &call_id).await?;
        let text = get(&reply, "text").as_string();
        let text =
            text.ok_or_else(|| Error::new(ErrorCode::ProviderBadReply, "the chat model's result has no text"))?;
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
        let reply = self.host.call("embed", &js, &JsValue::UNDEFINED).await?;
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
}

fn usage(reply: &JsValue) -> Usage {
    let usage = get(reply, "usage");
    let tokens = |name| get(&usage, name).as_f64().filter(|tokens| *tokens >= 0.0).map(|tokens| tokens as u64);
    Usage { input_tokens: tokens("inputTokens"), output_tokens: tokens("outputTokens") }
}
