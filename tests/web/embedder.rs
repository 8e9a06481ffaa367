//! The built-in embedder, and retrieval with it, give in wasm what they give natively.

use memstrata::text::StaticTable;
use wasm_bindgen_test::wasm_bindgen_test;

use super::golden;
use super::world::TABLE;

#[wasm_bindgen_test]
fn golden_scores_and_packs() {
    golden::check(&StaticTable::from_bytes(TABLE).expect("a sound table"));
}
