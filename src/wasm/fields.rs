//! Objects that JavaScript gives, read field by field. (Derived readers would be compiled for every type, which costs the wasm
//! file ten kilobytes.)

use js_sys::{Array, Object};
use wasm_bindgen::prelude::*;

use super::host::get;
use crate::error::{Error, Result};
use crate::model::{Metadata, Value};
use crate::time::Timestamp;

/// An object and what it stands for, which errors name.
pub(super) struct Fields {
    what: &'static str,
    object: JsValue,
}

impl Fields {
    pub(super) fn of(what: &'static str, object: JsValue) -> Result<Self> {
        if object.is_object() {
            return Ok(Self { what, object });
        }
        Err(Error::invalid(format!("{what} is {object:?}, no object")))
    }

    /// A field that is there; `null` and `undefined` are none.
    pub(super) fn given(&self, name: &str) -> Option<JsValue> {
        Some(get(&self.object, name)).filter(|value| !value.is_null() && !value.is_undefined())
    }

    fn wrong(&self, name: &str, value: &JsValue, wanted: &str) -> Error {
        Error::invalid(format!("{}.{name} is {value:?}, no {wanted}", self.what))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>> {
        let Some(value) = self.given(name) else { return Ok(None) };
        value.as_string().map(Some).ok_or_else(|| self.wrong(name, &value, "text"))
    }

    pub(super) fn needed_text(&self, name: &str) -> Result<String> {
        self.text(name)?.ok_or_else(|| Error::invalid(format!("{} has no {name}", self.what)))
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>> {
        let Some(value) = self.given(name) else { return Ok(None) };
        value.as_f64().map(Some).ok_or_else(|| self.wrong(name, &value, "number"))
    }

    /// A whole number.
    pub(super) fn whole(&self, name: &str) -> Result<Option<u64>> {
        match self.number(name)? {
            Some(number) if number.fract() != 0.0 || !(0.0..9e15).contains(&number) => {
                Err(self.wrong(name, &number.into(), "whole number"))
            }
            number => Ok(number.map(|number| number as u64)),
        }
    }

    /// A whole number of 32 bits that must be there.
    pub(super) fn count(&self, name: &str) -> Result<u32> {
        let number = self.whole(name)?.and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.wrong(name, &get(&self.object, name), "whole number of 32 bits"))
    }

    /// Minutes east of UTC; `None` if it is not there.
    pub(super) fn offset_minutes(&self) -> Result<Option<i16>> {
        Ok(self.number("offsetMinutes")?.map(|minutes| minutes.clamp(-1_080.0, 1_080.0) as i16))
    }

    /// A moment, and where it is.
    pub(super) fn moment(&self) -> Result<Option<Timestamp>> {
        let epoch_ms = self.number("epochMs")?.filter(|ms| ms.is_finite() && ms.abs() <= 8.64e15);
        let offset_minutes = self.offset_minutes()?.unwrap_or(0);
        Ok(epoch_ms.map(|ms| Timestamp { epoch_ms: ms as i64, offset_minutes }))
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        get(&self.object, name).is_truthy()
    }

    pub(super) fn list(&self, name: &str) -> Result<Vec<JsValue>> {
        let Some(value) = self.given(name) else { return Ok(Vec::new()) };
        if !Array::is_array(&value) {
            return Err(self.wrong(name, &value, "list"));
        }
        Ok(Array::from(&value).iter().collect())
    }

    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>> {
        let texts = self.list(name)?.into_iter();
        texts.map(|text| text.as_string().ok_or_else(|| self.wrong(name, &text, "text"))).collect()
    }

    /// Keys and values of the caller.
    pub(super) fn metadata(&self, name: &'static str) -> Result<Metadata> {
        let Some(given) = self.given(name) else { return Ok(Metadata::new()) };
        match value_of(&given, 0) {
            Some(Value::Map(map)) => Ok(map),
            _ => Err(self.wrong(name, &given, "object of JSON values")),
        }
    }
}

/// Deepest nesting of a value; deeper ones would exhaust the stack.
const MOST_DEPTH: usize = 64;

/// A JSON-like value; `None` for anything else.
fn value_of(given: &JsValue, depth: usize) -> Option<Value> {
    let of = |value: JsValue| value_of(&value, depth + 1);
    if given.is_null() || given.is_undefined() {
        Some(Value::Null)
    } else if let Some(value) = given.as_bool() {
        Some(Value::Bool(value))
    } else if let Some(value) = given.as_f64() {
        Some(Value::Number(value))
    } else if let Some(value) = given.as_string() {
        Some(Value::Text(value))
    } else if !given.is_object() || depth > MOST_DEPTH {
        None
    } else if Array::is_array(given) {
        Array::from(given).iter().map(of).collect::<Option<_>>().map(Value::List)
    } else {
        let mut map = Metadata::new();
        for name in Object::keys(given.unchecked_ref::<Object>()).iter() {
            let name = name.as_string()?;
            let value = of(get(given, &name))?;
            map.insert(name, value);
        }
        Some(Value::Map(map))
    }
}
