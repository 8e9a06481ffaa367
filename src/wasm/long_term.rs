//! Long-term memory and the scheduler, as JavaScript calls them.

use core::str::FromStr;

use js_sys::Promise;
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use super::WasmMemory;
use super::convert::{js_error, known_names, named, read, to_js};
use super::host::object;
use crate::error::{Error, ErrorCode, Result};
use crate::id::Side;
use crate::model::{FactKind, Subject};
use crate::op::{Act, FactInput, FactsWanted, Manner, Settings};
use crate::time::Timestamp;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FactArgs {
    #[serde(default)]
    subject: Option<String>,
    #[serde(default)]
    subject_name: Option<String>,
    #[serde(default)]
    attribute: Option<String>,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    valid_from_ms: Option<f64>,
    #[serde(default)]
    offset_minutes: Option<i16>,
}

impl FactArgs {
    fn into_input(self) -> Result<FactInput> {
        let subject = match (self.subject.as_deref(), self.subject_name) {
            (None, None) => None,
            (Some("user"), _) => Some(Subject::User),
            (Some("assistant"), _) => Some(Subject::Assistant),
            (None | Some("other"), Some(name)) => Some(Subject::Named(name)),
            (Some("other"), None) => return Err(Error::invalid("a fact about another needs subjectName")),
            (Some(other), _) => return Err(Error::invalid(format!("subject has no {other:?}"))),
        };
        let kind = |name: String| {
            let kind = match name.as_str() {
                "knowledge" => Some(FactKind::Knowledge),
                "preference" => Some(FactKind::Preference),
                "event" => Some(FactKind::Event),
                _ => None,
            };
            named("kind", &name, kind)
        };
        let time = self.valid_from_ms.filter(|ms| ms.is_finite()).map(|ms| Timestamp {
            epoch_ms: ms as i64,
            offset_minutes: self.offset_minutes.unwrap_or(0).clamp(-1_080, 1_080),
        });
        Ok(FactInput {
            subject,
            attribute: self.attribute,
            value: self.value,
            kind: self.kind.map(kind).transpose()?,
            // An offset without a time says that the time is unknown.
            valid_from: (time.is_some() || self.offset_minutes.is_some()).then_some(time),
        })
    }
}

/// An id that JavaScript gave; one that is malformed names nothing here.
fn known<T: FromStr>(what: &str, id: &str) -> Result<T> {
    id.parse().map_err(|_| Error::new(ErrorCode::NotFound, format!("no {what} {id:?} in this memory")))
}

/// What may be changed while a memory is open.
const SETTINGS: [&str; 3] = ["updatePolicy", "dailyCalls", "dailyTokens"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SettingsArgs {
    #[serde(default)]
    update_policy: Option<String>,
    #[serde(default)]
    daily_calls: Option<f64>,
    #[serde(default)]
    daily_tokens: Option<f64>,
}

fn settings(given: JsValue) -> Result<Settings> {
    known_names("settings", &given, &SETTINGS)?;
    let args: SettingsArgs = read(given, "settings")?;
    let limit = |name: &str, of: Option<f64>| match of {
        Some(of) if !(of.is_finite() && of >= 0.0) => Err(Error::invalid(format!("settings.{name} is {of}, below 0"))),
        of => Ok(of.map(|of| of as u64)),
    };
    Ok(Settings {
        update_policy: args.update_policy,
        daily_calls: limit("dailyCalls", args.daily_calls)?,
        daily_tokens: limit("dailyTokens", args.daily_tokens)?,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MannerArgs {
    #[serde(default)]
    style: Option<String>,
    #[serde(default)]
    relationship: Option<String>,
    budget_tokens: u32,
}

impl From<MannerArgs> for Manner {
    fn from(args: MannerArgs) -> Self {
        Self { style: args.style, relationship: args.relationship, budget_tokens: args.budget_tokens }
    }
}

#[wasm_bindgen]
impl WasmMemory {
    /// The prompt of an answer, without asking for it.
    pub fn merge(&self, query: String, options: JsValue) -> Promise {
        self.promise(move |this| async move {
            let manner = read::<MannerArgs>(options, "options")?.into();
            let now_ms = this.outside.host.now_ms();
            let merged = this.run(this.memory.merge(query, manner, now_ms)).await?;
            Ok(object(&[
                ("system", merged.system.as_str().into()),
                ("messages", super::outside::messages(&merged.messages).into()),
                ("context", merged.recall.context.as_str().into()),
                ("contextTokens", merged.recall.context_tokens.into()),
                ("recall", to_js(&merged.recall)?),
            ]))
        })
    }

    /// Analyses all that waits for it.
    pub fn analyse(&self) -> Promise {
        self.promise(move |this| async move {
            let done = this.run(this.memory.analyse(this.outside.host.now_ms())).await?;
            Ok(object(&[("pages", (done.pages as f64).into()), ("changes", (done.changes as f64).into())]))
        })
    }

    /// No background work until `resume`.
    pub fn pause(&self) {
        self.memory.set_paused(true);
        self.tell_events();
    }

    /// Background work goes on.
    pub fn resume(&self) {
        self.memory.set_paused(false);
        self.tell_events();
    }

    /// Changes policy and limits.
    pub fn configure(&self, given: JsValue) -> core::result::Result<(), JsValue> {
        settings(given).and_then(|settings| self.memory.configure(&settings)).map_err(|error| js_error(&error))
    }

    /// Facts; `subject` "" is every subject.
    pub fn facts(
        &self,
        subject: String,
        closed: bool,
        as_of_ms: Option<f64>,
    ) -> core::result::Result<JsValue, JsValue> {
        let wanted = FactsWanted { subject, closed, as_of_ms: as_of_ms.map(|ms| ms as i64) };
        to_js(&self.memory.facts(&wanted)).map_err(|error| js_error(&error))
    }

    /// The profiles.
    pub fn profile(&self) -> core::result::Result<JsValue, JsValue> {
        to_js(&self.memory.profile()).map_err(|error| js_error(&error))
    }

    /// The traits that are known.
    pub fn traits(&self) -> core::result::Result<JsValue, JsValue> {
        to_js(&self.memory.traits()).map_err(|error| js_error(&error))
    }

    /// Changes of long-term memory, newest first.
    pub fn history(&self, id: String, offset: usize, limit: usize) -> core::result::Result<JsValue, JsValue> {
        to_js(&self.memory.history(&id, offset, limit)).map_err(|error| js_error(&error))
    }

    /// What the models took.
    pub fn ledger(&self) -> core::result::Result<JsValue, JsValue> {
        to_js(&self.memory.ledger(self.outside.host.now_ms())).map_err(|error| js_error(&error))
    }

    /// Takes a change back.
    pub fn undo(&self, change: String) -> Promise {
        self.promise(move |this| async move {
            let now_ms = this.outside.host.now_ms();
            let undone = this.run(this.memory.undo(known("change", &change)?, now_ms)).await?;
            Ok(undone.to_string().into())
        })
    }

    /// Enters a fact.
    #[wasm_bindgen(js_name = addFact)]
    pub fn add_fact(&self, input: JsValue) -> Promise {
        self.act(move || Ok(Act::Add(read::<FactArgs>(input, "fact")?.into_input()?)))
    }

    /// Corrects a fact.
    #[wasm_bindgen(js_name = editFact)]
    pub fn edit_fact(&self, id: String, changes: JsValue) -> Promise {
        self.act(move || Ok(Act::Edit(known("fact", &id)?, read::<FactArgs>(changes, "changes")?.into_input()?)))
    }

    /// Closes a fact.
    #[wasm_bindgen(js_name = retractFact)]
    pub fn retract_fact(&self, id: String) -> Promise {
        self.act(move || Ok(Act::Retract(known("fact", &id)?)))
    }

    /// Pins a fact, or takes the pin out.
    #[wasm_bindgen(js_name = pinFact)]
    pub fn pin_fact(&self, id: String, pinned: bool) -> Promise {
        self.act(move || Ok(Act::Pin(known("fact", &id)?, pinned)))
    }

    /// Keeps a page or a fact out of every recall.
    #[wasm_bindgen(js_name = setNeverRecall)]
    pub fn set_never_recall(&self, id: String, never: bool) -> Promise {
        if id.starts_with("fact_") {
            return self.act(move || Ok(Act::NeverRecall(known("fact", &id)?, never)));
        }
        self.promise(move |this| async move {
            this.run(this.memory.never_recall_page(known("page", &id)?, never)).await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    /// Writes a profile by hand.
    #[wasm_bindgen(js_name = setProfile)]
    pub fn set_profile(&self, of: String, text: String) -> Promise {
        self.promise(move |this| async move {
            let side = match of.as_str() {
                "user" => Some(Side::User),
                "assistant" => Some(Side::Agent),
                _ => None,
            };
            let side = named("of", &of, side)?;
            this.run(this.memory.set_profile(side, text, this.outside.host.now_ms())).await?;
            Ok(JsValue::UNDEFINED)
        })
    }
}

impl WasmMemory {
    fn act(&self, what: impl FnOnce() -> Result<Act> + 'static) -> Promise {
        let what = what();
        self.promise(move |this| async move {
            let now_ms = this.outside.host.now_ms();
            to_js(&this.run(this.memory.act(what?, now_ms)).await?)
        })
    }

    fn tell_events(&self) {
        for event in self.memory.take_events() {
            if let Ok(event) = to_js(&event) {
                self.outside.host.tell("emit", &event);
            }
        }
    }
}
