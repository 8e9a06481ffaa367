//! MemoryOS module 3: from a question to scored atoms.
//!
//! Signals on words, character 4-grams, vectors and dates, each taken at the scales where it helps (atom, turn, window,
//! session), scaled to 0..1 over what the caller may see, and added up with shipped weights. The measurements and the
//! reference are eval/RETRIEVAL.md and eval/prototype/recipe.py; feature names are theirs.

mod candidates;
mod date;
mod exact;
mod fuse;
mod max_sim;
mod query;
mod rank;
mod weights;

pub use date::{DateQuery, DayRange};
pub use query::Understanding;
pub use rank::{RankedTurn, Ranking, Request, ScoredAtom, TextOf, rank};
pub use weights::{Feature, Profile, Strategy, Weights};
