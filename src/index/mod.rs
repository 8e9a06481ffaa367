//! Search indexes: vectors and words. They take ids, vectors and text, and know no tier.

pub mod arena;
pub mod bm25;
mod corpus;
mod dictionary;
pub mod flat;
mod kernel;
mod layout;
mod lexical;
mod session;
mod vector;

pub use arena::Arena;
pub use corpus::{Index, NewTurn};
pub use vector::EmbeddingSpace;
