//! Generation (module 4 of MemoryOS): from recalled memory to a prompt.

mod context;
mod pack;
pub mod prompt;
pub mod reply;
pub mod structured;

pub use context::{FACTS_HEADING, Passage, fact_line, heading, render};
pub use pack::{Candidate, LEAST_TOKENS, LeftOut, P, POOL, Packed, PackedGroup, REP, REP_LIST, pack};
pub use prompt::{Exchange, Front, Prompt, respond_prompt};
