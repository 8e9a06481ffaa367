//! The object that JavaScript hands over, and the few ways of touching a JavaScript object at all.

use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::convert::error_of;
use crate::error::{Error, ErrorCode, Result};

/// The host of `contract.ts`. Clones are the same object.
#[derive(Clone)]
pub(super) struct Host(JsValue);

impl Host {
    pub(super) fn new(host: JsValue) -> Self {
        Self(host)
    }

    /// The host's time.
    pub(super) fn now_ms(&self) -> i64 {
        let now = self.method("now").and_then(|now| now.call0(&self.0).ok()).and_then(|now| now.as_f64());
        now.unwrap_or_else(js_sys::Date::now) as i64
    }

    /// Tells the host something. One that does not listen, or throws, breaks nothing; says whether it listened.
    pub(super) fn tell(&self, name: &str, what: &JsValue) -> bool {
        self.method(name).is_some_and(|method| method.call1(&self.0, what).is_ok())
    }

    /// Calls a method and waits for what it promises.
    pub(super) async fn call(&self, name: &str, first: &JsValue, second: &JsValue) -> Result<JsValue> {
        let method = self.method(name);
        let method = method.ok_or_else(|| Error::new(ErrorCode::NotOpen, format!("the host has no {name}()")))?;
        let returned = method.call2(&self.0, first, second).map_err(|thrown| error_of(&thrown))?;
        JsFuture::from(Promise::resolve(&returned)).await.map_err(|thrown| error_of(&thrown))
    }

    fn method(&self, name: &str) -> Option<Function> {
        Reflect::get(&self.0, &name.into()).ok()?.dyn_into().ok()
    }
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
