//! Long-term memory and the scheduler, as JavaScript calls them.

use core::str::FromStr;

use js_sys::Promise;
use wasm_bindgen::prelude::*;

use super::WasmMemory;
use super::convert::{js_error, known_names, manner, named, shown, to_js};
use super::fields::Fields;
use super::host::object;
use crate::error::{Error, ErrorCode, Result};
use crate::id::Side;
use crate::model::{FactKind, Subject};
use crate::op::{Act, FactInput, FactsWanted, Settings};
use crate::time::Timestamp;

/// Reads a fact, or what of one is to change.
fn fact_input(what: &'static str, given: JsValue) -> Result<FactInput> {
    let given = Fields::of(what, given)?;
    let subject = match (given.text("subject")?.as_deref(), given.text("subjectName")?) {
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
    let offset_minutes = given.offset_minutes()?;
    let time = given.number("validFromMs")?.filter(|ms| ms.is_finite());
    let time = time.map(|ms| Timestamp { epoch_ms: ms as i64, offset_minutes: offset_minutes.unwrap_or(0) });
    Ok(FactInput {
        subject,
        attribute: given.text("attribute")?,
        value: given.text("value")?,
        kind: given.text("kind")?.map(kind).transpose()?,
        // An offset without a time says that the time is unknown.
        valid_from: (time.is_some() || offset_minutes.is_some()).then_some(time),
    })
}

/// An id that JavaScript gave; one that is malformed names nothing here.
fn known<T: FromStr>(what: &str, id: &str) -> Result<T> {
    id.parse().map_err(|_| Error::new(ErrorCode::NotFound, format!("no {what} {id:?} in this memory")))
}

/// What may be changed while a memory is open.
const SETTINGS: [&str; 3] = ["updatePolicy", "dailyCalls", "dailyTokens"];

fn settings(given: JsValue) -> Result<Settings> {
    known_names("settings", &given, &SETTINGS)?;
    let given = Fields::of("settings", given)?;
    let limit = |name: &str| match given.number(name)? {
        Some(of) if !(of.is_finite() && of >= 0.0) => Err(Error::invalid(format!("settings.{name} is {of}, below 0"))),
        of => Ok(of.map(|of| of as u64)),
    };
    Ok(Settings {
        update_policy: given.text("updatePolicy")?,
        daily_calls: limit("dailyCalls")?,
        daily_tokens: limit("dailyTokens")?,
    })
}

#[wasm_bindgen]
impl WasmMemory {
    /// The prompt of an answer, without asking for it.
    pub fn merge(&self, query: String, options: JsValue) -> Promise {
        self.promise(move |this| async move {
            let manner = manner(&Fields::of("options", options)?)?;
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
        shown(&self.memory.facts(&wanted))
    }

    /// The profiles.
    pub fn profile(&self) -> core::result::Result<JsValue, JsValue> {
        shown(&self.memory.profile())
    }

    /// The traits that are known.
    pub fn traits(&self) -> core::result::Result<JsValue, JsValue> {
        shown(&self.memory.traits())
    }

    /// Changes of long-term memory, newest first.
    pub fn history(&self, id: String, offset: usize, limit: usize) -> core::result::Result<JsValue, JsValue> {
        shown(&self.memory.history(&id, offset, limit))
    }

    /// What the models took.
    pub fn ledger(&self) -> core::result::Result<JsValue, JsValue> {
        shown(&self.memory.ledger(self.outside.host.now_ms()))
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
        self.act(move || Ok(Act::Add(fact_input("fact", input)?)))
    }

    /// Corrects a fact.
    #[wasm_bindgen(js_name = editFact)]
    pub fn edit_fact(&self, id: String, changes: JsValue) -> Promise {
        self.act(move || Ok(Act::Edit(known("fact", &id)?, fact_input("changes", changes)?)))
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
