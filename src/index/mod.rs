//! Search indexes: vectors and words. They take ids, vectors and text, and know no tier.

pub mod arena;
pub mod bm25;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod bm25_test;
mod columns;
mod corpus;
mod dictionary;
pub mod flat;
pub(crate) mod kernel;
pub(crate) mod layout;
mod lexical;
mod session;
mod vector;

pub use arena::Arena;
pub use columns::is_personal_name;
pub use corpus::{Index, NewTurn};
pub(crate) use vector::WINDOWS;
