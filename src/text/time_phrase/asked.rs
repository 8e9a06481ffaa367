//! Phrases of time in a question, against the moment at which it is asked.
//!
//! A question looks back: what a phrase leaves open ("on Friday", "since March", "between 3 and 9 May") is the latest that has
//! begun. A season without a year is a habit as often as a time and is left out; so is what lies wholly ahead.

use jiff::civil::Date;

use super::token::{Token, tokens};
use super::when::{Lean, When, Which, range};
use crate::time::{DAY_MS, Timestamp};

/// A phrase of time in a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its bytes.
    pub bytes: core::ops::Range<usize>,
    /// What it asks about.
    pub about: About,
}

/// What a phrase asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A month with the day and the year that are named beside it.
    Month(u8, Option<u8>, Option<i32>),
    /// A year.
    Year(i32),
    /// Days from the first to the one before the second; `None` is an open end.
    Days(Option<Date>, Option<Date>),
}

/// Tokens of the longest phrase there is.
const LONGEST: usize = 9;
/// Tokens that are read: what is longer is a text with a question in front, if any.
const MOST_TOKENS: usize = 2_000;

/// The phrases of `question`, in order, and whether it holds nothing else. Without `now` only named months and years are read.
pub fn asked(question: &str, now: Option<Timestamp>) -> (Vec<Asked>, bool) {
    let mut tokens = tokens(question);
    let (mut found, mut at, mut rest) = (Vec::new(), 0, tokens.len() > MOST_TOKENS);
    tokens.truncate(MOST_TOKENS);
    while at < tokens.len() {
        match phrase(&tokens, at, now) {
            Some((end, about)) => {
                found.push(Asked { bytes: tokens[at].start..tokens[end - 1].end, about });
                at = end;
            }
            None => {
                let word = tokens[at].text.as_str();
                rest |= word.starts_with(char::is_alphanumeric) && !matches!(word, "on" | "in" | "of" | "the" | "at");
                at += 1;
            }
        }
    }
    (found, !rest)
}

/// The phrase at `at`: the token after it, and what it asks about.
fn phrase(tokens: &[Token], at: usize, now: Option<Timestamp>) -> Option<(usize, About)> {
    let plain = super::read(tokens, at, false);
    if let Some(found) = now.and_then(|now| bounded(tokens, at, plain, now)) {
        return Some(found);
    }
    let (end, when) = plain?;
    let year = |which| match which {
        Which::Of(year) => Some(Some(year)),
        Which::Nearest => Some(None),
        _ => None,
    };
    // 2023-05-03 names no month.
    let is_named =
        || tokens[at..end].iter().any(|token| !token.text.starts_with(|c: char| c.is_ascii_digit() || c == '-'));
    let about = match when {
        When::Month(month, which) if year(which).is_some() => About::Month(month, None, year(which)?),
        When::Date(month, day, which) if year(which).is_some() && is_named() => {
            About::Month(month, Some(day), year(which)?)
        }
        When::Year(year) => About::Year(year),
        When::Season(_, Which::Nearest) => return None,
        when => {
            let now = now?;
            let meant = range(&when, now, Lean::Back).filter(|meant| meant.start.epoch_ms <= now.epoch_ms)?;
            About::Days(meant.start.local_date(), meant.end.local_date())
        }
    };
    Some((end, about))
}

/// A phrase that is two, or has an open end: "between 3 and 9 May", "since March", 五月之前.
fn bounded(tokens: &[Token], at: usize, plain: Option<(usize, When)>, now: Timestamp) -> Option<(usize, About)> {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let is_joint = |at| matches!(word(at), "to" | "through" | "until" | "till" | "-" | "–" | "—" | "到" | "至");
    let lead = word(at);
    let led = match lead {
        "between" | "from" | "since" | "before" | "after" | "until" | "till" | "从" => 1,
        "自" => 1 + usize::from(word(at + 1) == "从"),
        _ => 0,
    };
    let first = if led > 0 { operand(tokens, at + led) } else { plain.or_else(|| bare_day(tokens, at)) };
    let (end, first) = first?;
    if (is_joint(end) || (word(end), lead) == ("and", "between"))
        && let Some((end, second)) = operand(tokens, end + 1)
        && let Some((from, to)) = between(first, second, now)
    {
        return Some((end, About::Days(from.local_date(), to.local_date())));
    }
    let (n, since, at_start) = match (lead, word(end), word(end + 1)) {
        ("since", ..) => (0, true, true),
        ("after", ..) => (0, true, false),
        ("before", ..) => (0, false, true),
        ("until" | "till", ..) => (0, false, false),
        (_, "以", "来") | (_, "开", "始") => (2, true, true),
        (_, "以" | "之", "后") => (2, true, false),
        (_, "以" | "之", "前") => (2, false, true),
        _ => return None,
    };
    if matches!(first, When::DayOfMonth(..)) && bare_day(tokens, at + led).is_some_and(|(bare, _)| bare == end) {
        return None;
    }
    let meant = range(&first, now, Lean::Back)?;
    if let Some(n_days) = stretch(tokens, at).filter(|_| matches!(lead, "before" | "after")) {
        let shifted =
            |time: Timestamp, n_days: i64| Timestamp { epoch_ms: time.epoch_ms + n_days * DAY_MS, ..time }.local_date();
        let (from, to) = if since { (0, n_days) } else { (-n_days, 0) };
        return Some((end + n, About::Days(shifted(meant.start, from), shifted(meant.end, to))));
    }
    let bound = if at_start { meant.start } else { meant.end }.local_date();
    Some((end + n, if since { About::Days(bound, None) } else { About::Days(None, bound) }))
}

/// Days of the stretch of time that ends before `at`: "the week [before …]", "two weeks [before …]". It reaches up to the day that is
/// named, which is when it is told as often as not.
fn stretch(tokens: &[Token], at: usize) -> Option<i64> {
    let text = |back: usize| at.checked_sub(back).map_or("", |at| tokens[at].text.as_str());
    let unit = text(1);
    let n_days = match unit.strip_suffix('s').unwrap_or(unit) {
        "day" | "night" | "evening" | "morning" => 1,
        "week" | "weekend" | "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday" => 7,
        "month" => 31,
        "year" => 366,
        _ => return None,
    };
    let count = match text(2) {
        "two" | "couple" => 2,
        "three" | "few" => 3,
        "four" => 4,
        digits => digits.parse().ok().filter(|n| (1..=100).contains(n)).unwrap_or(1),
    };
    Some(count * n_days)
}

/// From the start of one phrase to the end of another. What one leaves open is decided by the other.
fn between(first: When, second: When, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
    let in_month_of = |when: When, other: When| match (when, other) {
        (When::DayOfMonth(day, 0), When::Date(month, _, which)) => When::Date(month, day, which),
        _ => when,
    };
    let (first, second) = (in_month_of(first, second), in_month_of(second, first));
    let is_open = |when: &When| {
        let which = match when {
            When::Month(_, which) | When::Date(_, _, which) | When::Season(_, which) => *which,
            When::NearestWeekday(_) | When::DayOfMonth(_, 0) => Which::Nearest,
            _ => Which::Last,
        };
        which == Which::Nearest
    };
    let (from, to) = if is_open(&second) && !is_open(&first) {
        let from = range(&first, now, Lean::Back)?.start;
        (from, range(&second, from, Lean::Ahead)?.end)
    } else {
        let to = range(&second, now, Lean::Back)?;
        let from = range(&first, if is_open(&first) { to.start } else { now }, Lean::Back)?;
        (from.start, to.end)
    };
    (from.epoch_ms < to.epoch_ms).then_some((from, to))
}

/// A phrase beside a word that asks for one, or a bare day of the month.
fn operand(tokens: &[Token], at: usize) -> Option<(usize, When)> {
    for end in (at + 1..=(at + LONGEST).min(tokens.len())).rev() {
        if let Some((n, when)) = super::read(&tokens[at..end], 0, true)
            && at + n == end
        {
            return Some((end, when));
        }
    }
    bare_day(tokens, at)
}

fn bare_day(tokens: &[Token], at: usize) -> Option<(usize, When)> {
    let day = tokens.get(at)?.number().filter(|day| (1..=31).contains(day))?;
    Some((at + 1, When::DayOfMonth(day as u8, 0)))
}
