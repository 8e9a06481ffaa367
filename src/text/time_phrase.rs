//! Phrases of time in English and Chinese, resolved against the moment and the place at which they were said.
//!
//! A phrase means days of the speaker's calendar: "yesterday" is the local day before the message's, from midnight to midnight
//! at the message's offset, whatever the time of import (CASES 25 and 26). Weeks begin on Monday. What a phrase leaves open is
//! decided by rule, so that equal text gives equal ranges:
//!
//! - "N units ago" and "in N units" are as exact as their unit: "two months ago" is the calendar month two before.
//! - "last Friday" is the latest Friday before the day itself, "next Friday" and 下周五 that of the next week, "this Friday"
//!   that of this week; "on Friday" is the nearest.
//! - A month, a date without a year, or a season is the nearest one, ties to the past; with "last" the latest that is over,
//!   with "next" the first that has not begun. A bare day ("on the 5th", 5号) is of the message's month.
//! - "the past three weeks" ends with the day itself.
//! - Seasons are the meteorological ones of the northern hemisphere; a winter is named by the year it begins in.
//!
//! The offset is the message's at both ends: the core has no time-zone database, so a change to summer time within the phrase's
//! reach moves its bounds by an hour. Vague phrases ("the other day", "recently") resolve to nothing.

mod asked;
mod chinese;
mod english;
mod token;
mod when;

#[cfg(test)]
mod test;

use core::ops::Range;

use self::token::{Token, tokens};
use self::when::{Lean, When};
use crate::time::Timestamp;

pub use self::asked::{About, Asked, asked};
pub use self::when::day_number;

/// How exact a phrase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Precision {
    /// One day, or a few ("last weekend").
    Day,
    /// Weeks from Monday.
    Week,
    /// Calendar months.
    Month,
    /// Three months.
    Season,
    /// Calendar years.
    Year,
}

/// The days that a phrase means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    /// Midnight at the start of the first day.
    pub start: Timestamp,
    /// Midnight after the last day; exclusive.
    pub end: Timestamp,
    /// How exact the phrase is.
    pub precision: Precision,
}

/// The days that `phrase` means in a message of `said`: those of its longest phrase of time, or of the first of equal length.
/// `None` if it holds none, or names a day that does not exist.
pub fn resolve(phrase: &str, said: Timestamp) -> Option<TimeRange> {
    let tokens = tokens(phrase);
    let found = spans(&tokens, true).into_iter();
    // Of equal ones the first: `max_by_key` would take the last.
    let (_, when) = found.rev().max_by_key(|(range, _)| range.len())?;
    when::range(&when, said, Lean::Nearest)
}

/// The phrases of time in `text`, as ranges of bytes, in order and without overlap.
pub fn find(text: &str) -> Vec<Range<usize>> {
    let tokens = tokens(text);
    let found = spans(&tokens, false).into_iter();
    found.map(|(range, _)| tokens[range.start].start..tokens[range.end - 1].end).collect()
}

/// Phrases as ranges of tokens, the longest at each place. `alone` says that the text is a phrase rather than a sentence, in
/// which "may" is no month.
fn spans(tokens: &[Token], alone: bool) -> Vec<(Range<usize>, When)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match read(tokens, at, alone) {
            Some((end, when)) if end > at => {
                found.push((at..end, when));
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

/// The longest phrase at `at`, in either language.
fn read(tokens: &[Token], at: usize, alone: bool) -> Option<(usize, When)> {
    let english = english::read(tokens, at, alone);
    let longer = |(end, _): &(usize, When)| english.is_none_or(|(other, _)| *end > other);
    chinese::read(tokens, at, alone).filter(longer).or(english)
}
