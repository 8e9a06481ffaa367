//! Values across the boundary. Ids are strings, vectors `Float32Array`, times milliseconds since the epoch.

use js_sys::{Array, Object, Uint8Array};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::fields::Fields;
use super::host::{get, object, set};
use super::json::{Failed, Json};
use crate::config::{Config, KnowledgeEviction, SegmentEviction};
use crate::effect::FinishReason;
use crate::error::{Error, ErrorCode, Result};
use crate::id::{FactId, PageId, Side};
use crate::model::{Metadata, Scope, Space, Tier, Value};
use crate::op::{
    Embedder, Filter, Forgotten, Imported, Manner, Mode, OpenOptions, Policies, RespondInput, Responded, RetrieveInput,
    Test, Worked,
};
use crate::retrieval::{Profile, Strategy};
use crate::updating::short_term::NewPage;

/// Makes a plain JavaScript value: maps become objects, nothing becomes `null`.
pub(super) fn to_js<T: Serialize + ?Sized>(value: &T) -> Result<JsValue> {
    let mut json = String::new();
    parsed(value.serialize(Json { out: &mut json }), &json)
}

/// Compiled once, not for every type.
fn parsed(written: core::result::Result<(), Failed>, json: &str) -> Result<JsValue> {
    let failed = |why: String| Error::internal(format!("a result does not convert: {why}"));
    written.map_err(|why| failed(why.0))?;
    js_sys::JSON::parse(json).map_err(|error| failed(format!("{error:?}")))
}

/// A picture of the state, for a method that answers at once.
pub(super) fn shown<T: Serialize + ?Sized>(value: &T) -> core::result::Result<JsValue, JsValue> {
    to_js(value).map_err(|error| js_error(&error))
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

/// How JavaScript wants a memory to be opened.
pub(super) struct OpenInput(Fields);

impl OpenInput {
    pub(super) fn new(options: JsValue) -> Result<Self> {
        Fields::of("options", options).map(Self)
    }

    /// Name of the database.
    pub(super) fn name(&self) -> Result<String> {
        self.0.needed_text("name")
    }

    /// Kind of the store.
    pub(super) fn storage(&self) -> Result<String> {
        self.0.needed_text("storage")
    }

    /// Retrievers that the host answers for.
    pub(super) fn retrievers(&self) -> Result<Vec<String>> {
        self.0.texts("retrievers")
    }

    pub(super) fn options(&self) -> Result<OpenOptions> {
        let Self(given) = self;
        let embedder = match given.given("embedder").map(|model| Fields::of("embedder", model)).transpose()? {
            Some(model) => {
                let dimensions = model.count("dimensions")?;
                if !(1..=4_096).contains(&dimensions) {
                    return Err(Error::invalid(format!("embedder.dimensions is {dimensions}, outside 1 to 4,096")));
                }
                let texts_per_call = model.number("maxEmbeddingsPerCall")?.unwrap_or(64.0).max(1.0) as usize;
                Embedder::External { space: Space { model: model.needed_text("id")?, dimensions }, texts_per_call }
            }
            None if given.flag("builtinEmbedder") => Embedder::Builtin,
            None => Embedder::None,
        };
        Ok(OpenOptions {
            scope: Scope::new(&given.needed_text("userId")?, &given.needed_text("assistantId")?)?,
            config: config(given.given("config").unwrap_or(JsValue::UNDEFINED))?,
            embedder,
            chat_model: given.text("chatModel")?,
            counts_tokens: given.flag("countsTokens"),
            paused: given.flag("paused"),
            policies: Policies::default(),
            seed: given.count("seed")?,
        })
    }
}

/// Reads parameters; one that is not known is a mistake and not ignored.
fn config(given: JsValue) -> Result<Config> {
    if !given.is_object() {
        return Ok(Config::default());
    }
    known_names("config", &given, &Config::NAMES)?;
    let given = Fields::of("config", given)?;
    let mut config = Config::default();
    let counts: [(&str, &mut usize); 8] = [
        ("shortTermCapacity", &mut config.short_term_capacity),
        ("consolidationBatch", &mut config.consolidation_batch),
        ("midTermCapacity", &mut config.mid_term_capacity),
        ("knowledgeCapacity", &mut config.knowledge_capacity),
        ("closuresPerWrite", &mut config.closures_per_write),
        ("historyCapacity", &mut config.history_capacity),
        ("promotionBatch", &mut config.promotion_batch),
        ("sealThresholdBytes", &mut config.seal_threshold_bytes),
    ];
    for (name, field) in counts {
        // What does not fit into 32 bits is out of every range.
        *field = given.whole(name)?.map_or(*field, |count| count.min(u64::from(u32::MAX)) as usize);
    }
    let numbers: [(&str, &mut f64); 5] = [
        ("heatThreshold", &mut config.heat_threshold),
        ("heatAlpha", &mut config.heat_alpha),
        ("heatBeta", &mut config.heat_beta),
        ("heatGamma", &mut config.heat_gamma),
        ("heatTimeConstantHours", &mut config.heat_time_constant_hours),
    ];
    for (name, field) in numbers {
        *field = given.number(name)?.unwrap_or(*field);
    }
    if let Some(threshold) = given.number("similarityThreshold")? {
        config.similarity_threshold = threshold as f32;
    }
    let minutes = given.whole("sessionGapMinutes")?.unwrap_or(u64::from(config.session_gap_minutes));
    config.session_gap_minutes = minutes.min(u64::from(u32::MAX)) as u32;
    config.daily_calls = given.whole("dailyCalls")?.unwrap_or(config.daily_calls);
    config.daily_tokens = given.whole("dailyTokens")?.unwrap_or(config.daily_tokens);
    config.update_policy = given.text("updatePolicy")?.unwrap_or(config.update_policy);
    if let Some(name) = given.text("segmentEviction")? {
        let order = match name.as_str() {
            "lowestHeat" => Some(SegmentEviction::LowestHeat),
            "leastFrequentlyUsed" => Some(SegmentEviction::LeastFrequentlyUsed),
            _ => None,
        };
        config.segment_eviction = named("config.segmentEviction", &name, order)?;
    }
    if let Some(name) = given.text("knowledgeEviction")? {
        let order = match name.as_str() {
            "leastUseful" => Some(KnowledgeEviction::LeastUseful),
            "firstIn" => Some(KnowledgeEviction::FirstIn),
            _ => None,
        };
        config.knowledge_eviction = named("config.knowledgeEviction", &name, order)?;
    }
    Ok(config)
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

/// Reads a turn.
pub(super) fn new_page(given: JsValue) -> Result<NewPage> {
    let given = Fields::of("turn", given)?;
    let text = |name| given.text(name).map(Option::unwrap_or_default);
    Ok(NewPage {
        client_id: given.text("clientId")?,
        user_input: text("userInput")?,
        agent_response: text("agentResponse")?,
        user_name: text("userName")?,
        agent_name: text("agentName")?,
        time: given.moment()?,
        session: given.text("session")?,
        metadata: given.metadata("metadata")?,
    })
}

/// Reads turns.
pub(super) fn new_pages(list: &JsValue) -> Result<Vec<NewPage>> {
    if !Array::is_array(list) {
        return Err(Error::invalid(format!("{list:?} is no array of turns")));
    }
    Array::from(list).iter().map(new_page).collect()
}

/// Reads a search.
pub(super) fn retrieve_input(query: String, options: JsValue) -> Result<RetrieveInput> {
    let given = Fields::of("options", options)?;
    let name = given.needed_text("strategy")?;
    let strategy = Strategy::ALL.into_iter().find(|known| known.as_str() == name);
    let profiles = [Profile::Chat, Profile::Assistant, Profile::Preference];
    let profile = match given.needed_text("profile")?.as_str() {
        "auto" => None,
        name => Some(named("profile", name, profiles.into_iter().find(|profile| profile.as_str() == name))?),
    };
    Ok(RetrieveInput {
        query,
        top_k: given.count("topK")? as usize,
        budget_tokens: given.count("budgetTokens")?,
        strategy: strategy.unwrap_or_default(),
        retriever: strategy.is_none().then_some(name),
        profile,
        asked: given.moment()?,
        as_of_ms: given.number("asOfMs")?.map(|ms| ms as i64),
        call_id: given.text("callId")?,
        filter: match given.given("filter") {
            Some(conditions) => filter(&Fields::of("filter", conditions)?)?,
            None => Filter::default(),
        },
    })
}

fn filter(given: &Fields) -> Result<Filter> {
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
        tiers: given.texts("tiers")?.iter().map(tier).collect::<Result<_>>()?,
        sides: given.texts("roles")?.iter().map(side).collect::<Result<_>>()?,
        from_ms: given.number("fromMs")?.map(|ms| ms as i64),
        to_ms: given.number("toMs")?.map(|ms| ms as i64),
        sessions: given.texts("sessions")?,
        metadata: given.metadata("metadata")?,
        tests: tests(given.metadata("where")?)?,
        not: given
            .list("not")?
            .into_iter()
            .map(|not| filter(&Fields::of("filter.not", not)?))
            .collect::<Result<_>>()?,
        // An id that is none of ours excludes nothing.
        exclude: given.texts("exclude")?.iter().filter_map(|id| id.parse().ok()).collect(),
        ..Filter::default()
    })
}

fn tests(given: Metadata) -> Result<Vec<(String, Test)>> {
    let mut tests = Vec::new();
    for (key, value) in given.iter() {
        let Value::Map(of_key) = value else {
            return Err(Error::invalid(format!("filter.where.{key} is no object of tests")));
        };
        for (name, value) in of_key.iter() {
            let test = match (name.as_str(), value.clone()) {
                ("in", Value::List(values)) => Test::In(values),
                ("exists", Value::Bool(wanted)) => Test::Exists(wanted),
                ("from", bound @ (Value::Number(_) | Value::Text(_))) => Test::From(bound),
                ("to", bound @ (Value::Number(_) | Value::Text(_))) => Test::To(bound),
                _ => return Err(Error::invalid(format!("filter.where.{key} has no test {name:?} of this value"))),
            };
            tests.push((key.clone(), test));
        }
    }
    Ok(tests)
}

pub(super) fn named<T>(what: &str, name: &str, found: Option<T>) -> Result<T> {
    found.ok_or_else(|| Error::invalid(format!("{what} has no {name:?}")))
}

/// Reads how to answer.
pub(super) fn manner(given: &Fields) -> Result<Manner> {
    Ok(Manner {
        style: given.text("style")?,
        relationship: given.text("relationship")?,
        budget_tokens: given.count("budgetTokens")?,
        asked: given.moment()?,
    })
}

/// Reads what to answer: the user's turn, and how.
pub(super) fn respond_input(query: String, input: JsValue) -> Result<RespondInput> {
    let given = Fields::of("options", input.clone())?;
    let page = NewPage { user_input: query, agent_response: String::new(), ..new_page(input)? };
    Ok(RespondInput { page, manner: manner(&given)?, call_id: Some(given.needed_text("callId")?) })
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
