//! The browser, in a dedicated worker, where memories usually live.
#![cfg(target_arch = "wasm32")]

mod web;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
