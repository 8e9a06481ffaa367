//! From text to what is indexed and ranked: atoms, tokens, cues, rows of the static table, costs, keywords.
//!
//! Nothing here keeps state or reads a clock: equal text gives equal results. What a turn goes through is linear in
//! its length. The rules are those of the measured retrieval recipe; where a function goes beyond it (other scripts,
//! diacritics, huge inputs) its documentation says so.

mod budget;
mod canonical;
mod category;
mod cues;
mod keywords;
mod script;
mod sentences;
mod stem;
mod summary;
mod table;
mod tensors;
pub mod time_phrase;
mod tokenize;
mod units;
mod vocabulary;

#[cfg(test)]
mod recipe_test;

pub use budget::estimate_tokens;
pub use canonical::for_each_composed;
pub use cues::{asks_for_several, asks_name, asks_when, cues};
pub use keywords::keywords;
pub use script::{is_cjk, is_emoji, is_unspaced, readable};
pub use sentences::{MAX_ATOM_CHARS, atom_text, atoms};
pub use stem::stem;
pub use summary::extractive_summary;
pub use table::StaticTable;
pub use tokenize::{MAX_WORD_CHARS, Token, TokenKind, for_each_gram, for_each_token, is_stop_word};
pub use units::units;
