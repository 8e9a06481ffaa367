//! The browser, in a page.
#![cfg(target_arch = "wasm32")]

mod web;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
