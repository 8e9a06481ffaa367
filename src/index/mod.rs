//! Search indexes: vectors and words. They take ids, vectors and text, and know no tier.

pub mod arena;
mod best;
pub mod bits;
pub mod bm25;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod bm25_test;
pub mod codes;
mod columns;
mod corpus;
mod dictionary;
pub mod filter;
pub mod flat;
pub mod graph;
pub(crate) mod kernel;
pub(crate) mod layout;
mod lexical;
pub mod planner;
mod session;
#[cfg(test)]
mod synthetic;
mod vector;

pub use arena::Arena;
pub use best::Neighbour;
pub use codes::Codes;
pub use columns::is_personal_name;
pub use corpus::{Index, NewTurn};
pub(crate) use vector::WINDOWS;
