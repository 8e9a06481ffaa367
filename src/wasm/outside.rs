//! The outside world: the models and the store, behind the host object that JavaScript hands over.

use js_sys::{Array, Float32Array};
use wasm_bindgen::prelude::*;

use super::convert::OpenInput;
use super::host::{Host, get, object, set};
use super::storage::Storage;
use crate::effect::{
    ChatMessage, ChatReply, ChatRequest, ChatRole, Effect, EmbedKind, EmbedReply, EmbedRequest, FinishReason,
    RankRequest, Reply, Usage,
};
use crate::error::{Error, ErrorCode, Result};
use crate::id::TurnId;
use crate::model::OutputMode;

/// Whoever carries out effects.
pub(super) struct Outside {
    pub(super) host: Host,
    storage: Storage,
}

impl Outside {
    pub(super) async fn open(input: &OpenInput, host: Host) -> Result<Self> {
        let storage = Storage::of(&input.storage()?, &input.name()?, host.clone()).await?;
        Ok(Self { host, storage })
    }

    pub(super) fn close(&self) {
        self.storage.close();
    }

    pub(super) async fn perform(&self, effect: Effect) -> Reply {
        match effect {
            Effect::Chat(request) => Reply::Chat(self.chat(request).await),
            Effect::Embed(request) => Reply::Embed(self.embed(request).await),
            Effect::Count(texts) => Reply::Count(self.count(texts).await),
            Effect::Rank(request) => Reply::Rank(self.rank(request).await),
            Effect::Read(range) => Reply::Read(self.storage.read(&range).await),
            Effect::Commit(batch) => Reply::Commit(self.storage.commit(batch).await),
        }
    }

    async fn chat(&self, request: ChatRequest) -> Result<ChatReply> {
        let js = object(&[("messages", messages(&request.messages).into())]);
        if let Some(format) = request.format {
            let schema = object(&[("name", format.name.into()), ("schema", format.schema.into())]);
            set(&js, "responseSchema", schema);
            set(&js, "outputMode", mode_name(format.mode).into());
        }
        if let Some(most) = request.max_output_tokens {
            set(&js, "maxOutputTokens", most.into());
        }
        let call_id = request.stream_to.map_or(JsValue::UNDEFINED, JsValue::from);
        let asked_ms = self.host.now_ms();
        let reply = self.host.call("chat", &js, &call_id).await?;
        let elapsed_ms = self.host.now_ms().saturating_sub(asked_ms).max(0) as u64;
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
        let mode = get(&reply, "outputMode").as_string();
        let mode = mode.and_then(|name| OutputMode::ALL.into_iter().find(|mode| mode_name(*mode) == name));
        Ok(ChatReply { text, finish_reason, usage: Usage { elapsed_ms, ..usage(&reply) }, mode })
    }

    async fn count(&self, texts: Vec<String>) -> Result<Vec<u32>> {
        let js: Array = texts.iter().map(|text| JsValue::from_str(text)).collect();
        let counts = self.host.call("count", &js.into(), &JsValue::UNDEFINED).await?;
        let bad = || Error::invalid("countTokens gave no number");
        if !Array::is_array(&counts) {
            return Err(bad());
        }
        let counts = Array::from(&counts);
        counts.iter().map(|count| count.as_f64().map(|count| count.max(0.0) as u32).ok_or_else(bad)).collect()
    }

    async fn rank(&self, request: RankRequest) -> Result<Vec<(TurnId, f64)>> {
        let js = object(&[
            ("retriever", request.retriever.into()),
            ("query", request.query.into()),
            ("limit", (request.limit as f64).into()),
            ("callId", request.call_id.map_or(JsValue::UNDEFINED, JsValue::from)),
        ]);
        let ranked = self.host.call("rank", &js, &JsValue::UNDEFINED).await?;
        if !Array::is_array(&ranked) {
            return Err(Error::new(ErrorCode::ProviderBadReply, "it gave no array"));
        }
        // An id that is none of ours names nothing.
        let turn = |ranked: JsValue| {
            let id = get(&ranked, "id").as_string()?.parse().ok()?;
            Some((id, get(&ranked, "score").as_f64().unwrap_or(f64::NAN)))
        };
        Ok(Array::from(&ranked).iter().filter_map(turn).collect())
    }

    async fn embed(&self, request: EmbedRequest) -> Result<EmbedReply> {
        let kind = match request.kind {
            EmbedKind::Query => "query",
            EmbedKind::Passage => "passage",
        };
        let texts: Array = request.texts.iter().map(|text| JsValue::from_str(text)).collect();
        let js = object(&[("texts", texts.into()), ("kind", kind.into())]);
        let asked_ms = self.host.now_ms();
        let reply = self.host.call("embed", &js, &JsValue::UNDEFINED).await?;
        let elapsed_ms = self.host.now_ms().saturating_sub(asked_ms).max(0) as u64;
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
        Ok(EmbedReply { vectors: vectors.collect::<Result<_>>()?, usage: Usage { elapsed_ms, ..usage(&reply) } })
    }
}

/// Messages as a provider takes them.
pub(super) fn messages(messages: &[ChatMessage]) -> Array {
    let message = |message: &ChatMessage| {
        let role = match message.role {
            ChatRole::System => "system",
            ChatRole::User => "user",
            ChatRole::Assistant => "assistant",
        };
        object(&[("role", role.into()), ("content", message.content.as_str().into())])
    };
    messages.iter().map(message).collect()
}

const fn mode_name(mode: OutputMode) -> &'static str {
    match mode {
        OutputMode::Schema => "json_schema",
        OutputMode::JsonObject => "json_object",
        OutputMode::ToolCall => "tool_call",
        OutputMode::Plain => "plain",
    }
}

fn usage(reply: &JsValue) -> Usage {
    let usage = get(reply, "usage");
    let tokens = |name| get(&usage, name).as_f64().filter(|tokens| *tokens >= 0.0).map(|tokens| tokens as u64);
    Usage { input_tokens: tokens("inputTokens"), output_tokens: tokens("outputTokens"), elapsed_ms: 0 }
}
