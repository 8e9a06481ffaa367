//! What builds a graph over vectors, by itself. With the feature `graph` it takes the place of the whole module `wasm`: a
//! wasm file of its own, for a Worker that can be ended at any time, because building blocks for minutes.

use wasm_bindgen::prelude::*;

use crate::index::graph::{build, rows};

/// From the bytes of codes to those of a graph over them.
#[wasm_bindgen(js_name = buildGraph)]
pub fn build_graph(codes: &[u8]) -> Result<Vec<u8>, JsError> {
    let built = rows::decode(codes).and_then(|codes| build::build(&codes, build::EF_CONSTRUCTION));
    built.map_err(|error| JsError::new(&error.to_string()))
}
