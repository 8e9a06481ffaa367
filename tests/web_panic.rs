//! A panic, in an instance of its own: it is not to be entered again.
#![cfg(target_arch = "wasm32")]

#[allow(dead_code)]
#[path = "web/world.rs"]
mod world;

use js_sys::{Array, Function, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use world::{Memory, host_that_listens, options};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
async fn every_host_hears_of_a_panic_before_the_instance_traps() {
    let hosts = [host_that_listens(), host_that_listens(), host_that_listens()];
    let open = async |host| Memory::open(&options("memory", "panic"), host).await.expect("opens");
    let _first = open(&hosts[0]).await;
    let _second = open(&hosts[1]).await;
    open(&hosts[2]).await.free();
    let panics: Function = Closure::once_into_js(|| -> () { panic!("on purpose") }).unchecked_into();
    assert!(panics.call0(&JsValue::UNDEFINED).is_err(), "the instance traps");
    let heard = |host: &JsValue| -> Vec<String> {
        let heard = Reflect::get(host, &"heard".into()).expect("a list");
        Array::from(&heard).iter().filter_map(|message| message.as_string()).collect()
    };
    for host in &hosts[..2] {
        let heard = heard(host);
        assert!(heard.len() == 1 && heard[0].contains("on purpose"), "{heard:?}");
    }
    assert!(heard(&hosts[2]).is_empty(), "a memory that is gone waits for nothing");
}
