//! Plain data: what memory is made of, without behaviour of its own.

mod unit;

pub use unit::{Atom, Cues, TurnUnits};
