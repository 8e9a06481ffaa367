//! Values across the boundary. Ids are strings, vectors `Float32Array`, times milliseconds since the epoch.

use js_sys::{Array, Object, Uint8Array};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use super::host::{get, object, set};
use super::json::to_json;
use super::long_term::MannerArgs;
use crate::config::Config;
use crate::effect::FinishReason;
use crate::error::{Error, ErrorCode, Result};
use crate::id::{FactId, PageId, Side};
use crate::model::{Metadata, Scope, Space, Tier};
use crate::op::{
    Embedder, Filter, Forgotten, Imported, Mode, OpenOptions, Policies, RespondInput, Responded, RetrieveInput, Worked,
};
use crate::retrieval::{Profile, Strategy};
use crate::time::Timestamp;
use crate::updating::short_term::NewPage;

/// Reads an argument.
pub(super) fn read<T: DeserializeOwned>(value: JsValue, name: &str) -> Result<T> {
    serde_wasm_bindgen::from_value(value).map_err(|error| Error::invalid(format!("{name}: {error}")))
}

/// Makes a plain JavaScript value: maps become objects, nothing becomes `null`.
pub(super) fn to_js<T: Serialize + ?Sized>(value: &T) -> Result<JsValue> {
    js_sys::JSON::parse(&to_json(value)?)
        .map_err(|error| Error::internal(format!("a result does not convert: {error:?}")))
}

/// An error as JavaScript gets it: an `Error` with `code`.
pub(super) fn js_error(error: &Error) -> JsValue {
    let js: JsValue = js_sys::Error::new(error.message()).into();
    set(&js, "code", error.code().as_str().into());
    js
}

/// An error that JavaScript threw: its own code if it has one of ours, else by the name of a DOMException.
pub(super) fn error_of(thrown: &JsValue) -> Error {
    let message =
        get(thrown, "message").as_string().or_else(|| thrown.as_string()).unwrap_or_else(|| format!("{thrown:?}"));
    let code = get(thrown, "code").as_string().as_deref().and_then(ErrorCode::parse);
    let by_name = || match get(thrown, "name").as_string().as_deref() {
        Some("QuotaExceededError") => ErrorCode::StorageQuota,
        Some("AbortError") => ErrorCode::Aborted,
        Some("TimeoutError") => ErrorCode::ProviderTimeout,
        Some("InvalidStateError" | "UnknownError" | "NotFoundError" | "TransactionInactiveError" | "DataError") => {
            ErrorCode::StorageUnavailable
        }
        _ => ErrorCode::ProviderFailed,
    };
    Error::new(code.unwrap_or_else(by_name), message)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenInput {
    pub(super) name: String,
    user_id: String,
    assistant_id: String,
    pub(super) storage: String,
    #[serde(default, with = "serde_wasm_bindgen::preserve")]
    config: JsValue,
    seed: u32,
    #[serde(default)]
    embedder: Option<ExternalEmbedder>,
    builtin_embedder: bool,
    #[serde(default)]
    chat_model: Option<String>,
    #[serde(default)]
    counts_tokens: bool,
    #[serde(default)]
    paused: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExternalEmbedder {
    id: String,
    dimensions: u32,
    #[serde(default)]
    max_embeddings_per_call: Option<usize>,
}

impl OpenInput {
    pub(super) fn into_options(self) -> Result<OpenOptions> {
        let embedder = match self.embedder {
            Some(model) if !(1..=4_096).contains(&model.dimensions) => {
                return Err(Error::invalid(format!("embedder.dimensions is {}, outside 1 to 4,096", model.dimensions)));
            }
            Some(model) => Embedder::External {
                space: Space { model: model.id, dimensions: model.dimensions },
                texts_per_call: model.max_embeddings_per_call.unwrap_or(64).max(1),
            },
            None if self.builtin_embedder => Embedder::Builtin,
            None => Embedder::None,
        };
        Ok(OpenOptions {
            scope: Scope::new(&self.user_id, &self.assistant_id)?,
            config: config(self.config)?,
            embedder,
            chat_model: self.chat_model,
            counts_tokens: self.counts_tokens,
            paused: self.paused,
            policies: Policies::default(),
            seed: self.seed,
        })
    }
}

/// Reads parameters; one that is not known is a mistake and not ignored.
fn config(given: JsValue) -> Result<Config> {
    if !given.is_object() {
        return Ok(Config::default());
    }
    known_names("config", &given, &Config::NAMES)?;
    read(given, "config")
}

/// Refuses an object with a name that is none of these; one that is misspelt would be ignored otherwise.
pub(super) fn known_names(what: &str, given: &JsValue, names: &[&str]) -> Result<()> {
    if !given.is_object() {
        return Err(Error::invalid(format!("{what} is {given:?}, no object")));
    }
    for name in Object::keys(given.unchecked_ref::<Object>()).iter().filter_map(|name| name.as_string()) {
        if !names.contains(&name.as_str()) {
            return Err(Error::invalid(format!("{what} has no {name:?}; it has {}", names.join(", "))));
        }
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AddInput {
    #[serde(default)]
    user_input: String,
    #[serde(default)]
    agent_response: String,
    #[serde(default)]
    epoch_ms: Option<f64>,
    #[serde(default)]
    offset_minutes: i16,
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    client_id: Option<String>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    user_name: Option<String>,
    #[serde(default)]
    agent_name: Option<String>,
}

impl From<AddInput> for NewPage {
    fn from(input: AddInput) -> Self {
        let time = input.epoch_ms.filter(|ms| ms.is_finite() && ms.abs() <= 8.64e15);
        let offset_minutes = input.offset_minutes.clamp(-1_080, 1_080);
        Self {
            client_id: input.client_id,
            user_input: input.user_input,
            agent_response: input.agent_response,
            user_name: input.user_name.unwrap_or_default(),
            agent_name: input.agent_name.unwrap_or_default(),
            time: time.map(|ms| Timestamp { epoch_ms: ms as i64, offset_minutes }),
            session: input.session,
            metadata: input.metadata,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RetrieveArgs {
    top_k: usize,
    budget_tokens: u32,
    strategy: String,
    profile: String,
    #[serde(default)]
    filter: FilterArgs,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct FilterArgs {
    tiers: Vec<String>,
    roles: Vec<String>,
    from_ms: Option<f64>,
    to_ms: Option<f64>,
    sessions: Vec<String>,
    metadata: Metadata,
    exclude: Vec<String>,
}

impl RetrieveArgs {
    pub(super) fn into_input(self, query: String) -> Result<RetrieveInput> {
        let strategies = [Strategy::Auto, Strategy::Semantic, Strategy::Keyword, Strategy::Temporal];
        let strategy = strategies.into_iter().find(|strategy| strategy.as_str() == self.strategy);
        let profiles = [Profile::Chat, Profile::Assistant, Profile::Preference];
        let profile = match self.profile.as_str() {
            "auto" => None,
            name => Some(named("profile", name, profiles.into_iter().find(|profile| profile.as_str() == name))?),
        };
        Ok(RetrieveInput {
            query,
            top_k: self.top_k,
            budget_tokens: self.budget_tokens,
            strategy: named("strategy", &self.strategy, strategy)?,
            profile,
            filter: self.filter.into_filter()?,
        })
    }
}

impl FilterArgs {
    fn into_filter(self) -> Result<Filter> {
        let tier = |name: &String| {
            let tier = match name.as_str() {
                "short" => Some(Tier::Short),
                "mid" => Some(Tier::Mid),
                "archive" => Some(Tier::Archive),
                _ => None,
            };
            named("filter.tiers", name, tier)
        };
        let side = |name: &String| {
            let side = match name.as_str() {
                "user" => Some(Side::User),
                "assistant" => Some(Side::Agent),
                _ => None,
            };
            named("filter.roles", name, side)
        };
        Ok(Filter {
            tiers: self.tiers.iter().map(tier).collect::<Result<_>>()?,
            sides: self.roles.iter().map(side).collect::<Result<_>>()?,
            from_ms: self.from_ms.map(|ms| ms as i64),
            to_ms: self.to_ms.map(|ms| ms as i64),
            sessions: self.sessions,
            metadata: self.metadata,
            // An id that is none of ours excludes nothing.
            exclude: self.exclude.iter().filter_map(|id| id.parse().ok()).collect(),
            ..Filter::default()
        })
    }
}

pub(super) fn named<T>(what: &str, name: &str, found: Option<T>) -> Result<T> {
    found.ok_or_else(|| Error::invalid(format!("{what} has no {name:?}")))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RespondArgs {
    call_id: String,
}

/// Reads what to answer: the user's turn, and how.
pub(super) fn respond_input(query: String, input: JsValue) -> Result<RespondInput> {
    let args: RespondArgs = read(input.clone(), "options")?;
    let manner: MannerArgs = read(input.clone(), "options")?;
    let turn: AddInput = read(input, "options")?;
    let page = NewPage { user_input: query, agent_response: String::new(), ..turn.into() };
    Ok(RespondInput { page, manner: manner.into(), call_id: Some(args.call_id) })
}

pub(super) fn responded(answer: &Responded) -> Result<JsValue> {
    let mode = match answer.mode {
        Mode::Model => "model",
        Mode::MemoryOnly => "memory-only",
    };
    let finish_reason = match answer.finish_reason {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool-calls",
        FinishReason::ContentFilter => "content-filter",
        FinishReason::Error => "error",
        FinishReason::Unknown => "unknown",
    };
    let usage = object(&[]);
    for (name, tokens) in [("inputTokens", answer.usage.input_tokens), ("outputTokens", answer.usage.output_tokens)] {
        if let Some(tokens) = tokens {
            set(&usage, name, (tokens as f64).into());
        }
    }
    Ok(object(&[
        ("text", answer.text.as_str().into()),
        ("pageId", answer.page.to_string().into()),
        ("mode", mode.into()),
        ("recall", to_js(&answer.recall)?),
        ("finishReason", finish_reason.into()),
        ("usage", usage),
    ]))
}

/// Bytes, copied. What is none would throw past us when touched, and leave the caller waiting for ever.
pub(super) fn bytes(value: JsValue, name: &str) -> Result<Vec<u8>> {
    match value.dyn_into::<Uint8Array>() {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(value) => Err(Error::invalid(format!("{name} is {value:?}, no Uint8Array"))),
    }
}

/// Ids of pages and facts, and the texts that are none.
#[derive(Default)]
pub(super) struct Ids {
    pub(super) pages: Vec<PageId>,
    pub(super) facts: Vec<FactId>,
    pub(super) malformed: Vec<String>,
}

pub(super) fn ids(list: &JsValue) -> Result<Ids> {
    if !Array::is_array(list) {
        return Err(Error::invalid(format!("{list:?} is no array of ids")));
    }
    let mut ids = Ids::default();
    for id in Array::from(list).iter() {
        let text = id.as_string().ok_or_else(|| Error::invalid(format!("{id:?} is no id")))?;
        if let Ok(page) = text.parse() {
            ids.pages.push(page);
        } else if let Ok(fact) = text.parse() {
            ids.facts.push(fact);
        } else {
            ids.malformed.push(text);
        }
    }
    Ok(ids)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ForgottenView {
    pages: Vec<String>,
    not_found: Vec<String>,
    segments_rewritten: Vec<String>,
    segments_removed: Vec<String>,
    facts: Vec<String>,
    facts_rewritten: Vec<String>,
    profiles_removed: bool,
}

pub(super) fn forgotten(forgotten: Forgotten, malformed: Vec<String>) -> Result<JsValue> {
    let mut not_found = strings(&forgotten.not_found);
    not_found.extend(strings(&forgotten.facts_not_found));
    not_found.extend(malformed);
    to_js(&ForgottenView {
        pages: strings(&forgotten.pages),
        not_found,
        segments_rewritten: strings(&forgotten.segments_rewritten),
        segments_removed: strings(&forgotten.segments_removed),
        facts: strings(&forgotten.facts),
        facts_rewritten: strings(&forgotten.facts_rewritten),
        profiles_removed: forgotten.profiles_removed,
    })
}

fn strings<T: ToString>(ids: &[T]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

pub(super) fn worked(worked: Worked) -> Result<JsValue> {
    let next_due = worked.next_due_ms.map_or(JsValue::NULL, |ms| (ms as f64).into());
    Ok(object(&[("ran", worked.ran.into()), ("nextDueMs", next_due)]))
}

pub(super) fn imported(imported: Imported) -> Result<JsValue> {
    Ok(object(&[("added", (imported.added as f64).into()), ("duplicates", (imported.duplicates as f64).into())]))
}
