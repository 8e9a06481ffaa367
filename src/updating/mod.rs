//! Updating (module 2 of MemoryOS): pure rules, (state, input, now) to a delta. Nothing here awaits, reads a clock or knows
//! how things are stored or searched.

pub mod conflict;
pub mod event_time;
pub mod heat;
pub mod history;
pub mod lifecycle;
pub mod long_term;
pub mod mid_term;
pub mod offline;
pub mod promotion;
pub mod short_term;
pub mod slot;
pub mod traits;
pub mod unlearn;

#[cfg(test)]
mod history_test;
#[cfg(test)]
mod long_term_test;
