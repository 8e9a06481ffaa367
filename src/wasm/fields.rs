//! Objects that JavaScript gives, read field by field. (Derived readers would be compiled for every type, which costs the wasm
//! file ten kilobytes.)

use js_sys::Array;
use serde::de::DeserializeOwned;
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

    /// A whole number that must be there.
    pub(super) fn count(&self, name: &str) -> Result<u32> {
        let number = self.number(name)?.unwrap_or(f64::NAN);
        if number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number) {
            return Ok(number as u32);
        }
        Err(self.wrong(name, &get(&self.object, name), "whole number"))
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
        let Some(value) = self.given(name) else { return Ok(Metadata::new()) };
        match read(value.clone(), name)? {
            Value::Map(map) => Ok(map),
            _ => Err(self.wrong(name, &value, "object")),
        }
    }
}

/// Reads a value whose shape is not fixed here.
pub(super) fn read<T: DeserializeOwned>(value: JsValue, name: &str) -> Result<T> {
    serde_wasm_bindgen::from_value(value).map_err(|error| Error::invalid(format!("{name}: {error}")))
}
