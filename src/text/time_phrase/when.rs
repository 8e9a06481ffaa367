//! What a phrase means, and the days it comes to.
//!
//! Days are counted from 1970-01-01 in the proleptic Gregorian calendar, by the algorithms of H. Hinnant ("chrono-compatible
//! low-level date algorithms"): a few lines, where a calendar library's arithmetic would be kilobytes.

use jiff::civil::Date;

use super::{Precision, TimeRange};
use crate::time::{DAY_MS, Timestamp};

/// Years that a range may reach.
const YEARS: core::ops::RangeInclusive<i32> = -9_999..=9_999;

/// A unit of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// Which year, or which of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// The nearest, ties to the past.
    Nearest,
    /// The latest that is over.
    Last,
    /// The first that has not begun.
    Next,
    /// Of the year so many after the message's.
    InYear(i32),
    /// Of this year.
    Of(i32),
}

/// The meaning of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// The unit that holds the day, moved by so many.
    Calendar(Unit, i32),
    /// So many units that end with the day.
    Past(Unit, i32),
    /// A weekday, 0 for Monday, of the week so many after.
    Weekday(u8, i32),
    /// The latest weekday before the day.
    LastWeekday(u8),
    /// The weekday nearest to the day.
    NearestWeekday(u8),
    /// Saturday and Sunday of the week so many after.
    Weekend(i32),
    /// A month, 1 to 12.
    Month(u8, Which),
    /// A day of a month.
    Date(u8, u8, Which),
    /// A day of the month so many after.
    DayOfMonth(u8, i32),
    /// 0 for spring to 3 for winter.
    Season(u8, Which),
    /// A year by number.
    Year(i32),
}

/// Where to look for what a phrase leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lean {
    /// The nearest.
    Nearest,
    /// The latest that has begun.
    Back,
    /// The first that begins on the day or later.
    Ahead,
}

/// Days from 1970-01-01 to a date.
pub fn day_number(date: Date) -> i64 {
    days(i32::from(date.year()), date.month() as u8, date.day() as u8)
}

fn days(year: i32, month: u8, day: u8) -> i64 {
    let (year, month) = (i64::from(year) - i64::from(month <= 2), i64::from(month));
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The first day of the month `months` after January of year 0.
fn month_start(months: i32) -> i64 {
    days(months.div_euclid(12), months.rem_euclid(12) as u8 + 1, 1)
}

/// Months since January of year 0.
fn month_number(year: i32, month: u8) -> i32 {
    year.saturating_mul(12).saturating_add(i32::from(month) - 1)
}

fn months_from(months: i32, n: i32) -> (i64, i64) {
    (month_start(months), month_start(months.saturating_add(n)))
}

/// A day of a month as a range; `None` for a day it does not have.
fn day_in(months: i32, day: u8) -> Option<(i64, i64)> {
    let (start, end) = months_from(months, 1);
    let at = start + i64::from(day) - 1;
    (day > 0 && at < end).then_some((at, at + 1))
}

/// The range of days that `when` means in a message of `said`; `None` for a day that does not exist or lies too far off.
pub(super) fn range(when: &When, said: Timestamp, lean: Lean) -> Option<TimeRange> {
    let date = said.local_date()?;
    let (year, month) = (i32::from(date.year()), date.month() as u8);
    let today = day_number(date);
    let monday = today - (today + 3).rem_euclid(7);
    let this_month = month_number(year, month);
    let week = |n: i32| monday + 7 * i64::from(n);
    let one_day = |day: i64| (day, day + 1);
    let by_year = |which: &Which, of: &dyn Fn(i32) -> Option<(i64, i64)>| choose(which, lean, year, today, of);
    let ((start, end), precision) = match when {
        When::Calendar(Unit::Day, n) => (one_day(today + i64::from(*n)), Precision::Day),
        When::Calendar(Unit::Week, n) => ((week(*n), week(*n) + 7), Precision::Week),
        When::Calendar(Unit::Month, n) => (months_from(this_month.saturating_add(*n), 1), Precision::Month),
        When::Calendar(Unit::Year, n) => (months_from(month_number(year + n, 1), 12), Precision::Year),
        When::Past(unit, n) => {
            let (from, precision) = match unit {
                Unit::Day => (today - i64::from(*n), Precision::Day),
                Unit::Week => (today - 7 * i64::from(*n), Precision::Week),
                Unit::Month => (same_day(this_month.saturating_sub(*n), date.day()), Precision::Month),
                Unit::Year => (same_day(this_month.saturating_sub(n.saturating_mul(12)), date.day()), Precision::Year),
            };
            ((from, today + 1), precision)
        }
        When::Weekday(day, n) => (one_day(week(*n) + i64::from(*day)), Precision::Day),
        When::LastWeekday(day) => {
            (one_day(today - 1 - (today - 1 - monday - i64::from(*day)).rem_euclid(7)), Precision::Day)
        }
        When::NearestWeekday(day) => {
            let first = today - [3, 6, 0][lean as usize];
            (one_day(first + (monday + i64::from(*day) - first).rem_euclid(7)), Precision::Day)
        }
        When::Weekend(0) if lean == Lean::Back && today < week(0) + 5 => ((week(0) - 2, week(0)), Precision::Day),
        When::Weekend(n) => ((week(*n) + 5, week(*n) + 7), Precision::Day),
        When::Month(month, which) => {
            (by_year(which, &|year| Some(months_from(month_number(year, *month), 1)))?, Precision::Month)
        }
        When::Date(month, day, which) => {
            (by_year(which, &|year| day_in(month_number(year, *month), *day))?, Precision::Day)
        }
        When::DayOfMonth(day, 0) if lean == Lean::Back && i64::from(*day) > i64::from(date.day()) => {
            (day_in(this_month - 1, *day)?, Precision::Day)
        }
        When::DayOfMonth(day, n) => (day_in(this_month.saturating_add(*n), *day)?, Precision::Day),
        When::Season(season, which) => {
            (by_year(which, &|year| Some(months_from(month_number(year, 3 + 3 * season), 3)))?, Precision::Season)
        }
        When::Year(year) => (months_from(month_number(*year, 1), 12), Precision::Year),
    };
    let bounds = days(*YEARS.start(), 1, 1)..=days(*YEARS.end(), 12, 31);
    let at = |day: i64| Timestamp { epoch_ms: day * DAY_MS - i64::from(said.offset_minutes) * 60_000, ..said };
    (bounds.contains(&start) && bounds.contains(&end)).then(|| TimeRange { start: at(start), end: at(end), precision })
}

/// The same day of another month, or its last.
fn same_day(months: i32, day: i8) -> i64 {
    let (start, end) = months_from(months, 1);
    (start + i64::from(day) - 1).min(end - 1)
}

/// The range of the year that `which` means. Years without one (29 February) are passed over.
fn choose(
    which: &Which,
    lean: Lean,
    year: i32,
    today: i64,
    of: &dyn Fn(i32) -> Option<(i64, i64)>,
) -> Option<(i64, i64)> {
    let mut near = (year - 8..=year + 8).filter_map(of);
    match which {
        Which::Of(year) => of(*year),
        Which::InYear(n) => of(year + n),
        Which::Last => near.filter(|(_, end)| *end <= today).last(),
        Which::Next => near.find(|(start, _)| *start > today),
        Which::Nearest if lean == Lean::Back => near.filter(|(start, _)| *start <= today).last(),
        Which::Nearest if lean == Lean::Ahead => near.find(|(start, _)| *start >= today),
        Which::Nearest => {
            near.min_by_key(
                |(start, end)| if today < *start { 2 * (start - today) } else { 2 * (today - end + 1).max(0) - 1 },
            )
        }
    }
}
