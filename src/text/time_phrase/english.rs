//! The English grammar.

use super::token::Token;
use super::when::{Unit, When, Which};

/// Names of the months, lower case.
pub(crate) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const NUMBERS: [&str; 13] =
    ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
/// Words before a month, a season, a date or a year that tell it from a name or a verb.
const PREPOSITIONS: [&str; 15] = [
    "in", "on", "during", "since", "until", "till", "by", "of", "from", "around", "before", "after", "early", "late",
    "mid",
];

/// A reader of tokens that remembers how far it came.
struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| &token.text)
    }

    /// Takes the next token if it is one of `words`.
    fn take(&mut self, words: &[&str]) -> bool {
        let found = !self.peek().is_empty() && words.contains(&self.peek());
        self.at += usize::from(found);
        found
    }

    /// Takes all `words` or nothing.
    fn phrase(&mut self, words: &str) -> bool {
        let start = self.at;
        let whole = words.split(' ').all(|word| self.take(&[word]));
        if !whole {
            self.at = start;
        }
        whole
    }

    /// Takes the next token if `read` makes something of it.
    fn map<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let found = read(self.peek())?;
        self.at += 1;
        Some(found)
    }

    /// What `read` reads; otherwise nothing is taken.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.at;
        let found = read(self);
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn number(&mut self) -> Option<i32> {
        if self.phrase("a couple of") || self.phrase("couple of") {
            return Some(2);
        }
        if self.take(&["a", "an"]) {
            return Some(1);
        }
        let token = self.tokens.get(self.at)?;
        let word = NUMBERS.iter().skip(1).position(|word| *word == token.text).map(|at| at as i32 + 1);
        let found = word.or_else(|| token.number().filter(|n| *n > 0))?;
        self.at += 1;
        Some(found)
    }

    fn unit(&mut self) -> Option<Unit> {
        self.map(|word| match word {
            "day" | "days" => Some(Unit::Day),
            "week" | "weeks" => Some(Unit::Week),
            "month" | "months" => Some(Unit::Month),
            "year" | "years" => Some(Unit::Year),
            _ => None,
        })
    }

    fn weekday(&mut self, short: bool) -> Option<u8> {
        self.map(|word| {
            let is = |day: &str| day == word || (short && is_short(day, word) && !matches!(word, "sun" | "sat"));
            WEEKDAYS.iter().position(|day| is(day)).map(|at| at as u8)
        })
    }

    fn month(&mut self) -> Option<u8> {
        let month = self.map(|word| {
            let is = |month: &str| month == word || word == &month[..3] || (word == "sept" && month == "september");
            MONTHS.iter().position(|month| is(month)).map(|at| at as u8 + 1)
        })?;
        if self.tokens[self.at - 1].text.len() < 5 && self.tokens.get(self.at).is_some_and(|next| next.text == ".") {
            self.at += 1;
        }
        Some(month)
    }

    fn season(&mut self) -> Option<u8> {
        self.map(|word| match word {
            "spring" => Some(0),
            "summer" => Some(1),
            "autumn" | "fall" => Some(2),
            "winter" => Some(3),
            _ => None,
        })
    }

    /// 1 to 31, with or without an ordinal's ending.
    fn day(&mut self, ordinal: bool) -> Option<u8> {
        self.map(|word| {
            let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let ending = &word[digits.len()..];
            let fits = matches!(ending, "st" | "nd" | "rd" | "th") || (ending.is_empty() && !ordinal);
            digits.parse().ok().filter(|day| fits && digits.len() <= 2 && (1..=31).contains(day))
        })
    }

    fn year_number(&mut self) -> Option<i32> {
        let year = self.tokens.get(self.at)?.number().filter(|year| (1_800..=2_199).contains(year))?;
        self.at += 1;
        Some(year)
    }

    /// ", 2023", "of 2023", "of last year": the year of a month or a season.
    fn year(&mut self) -> Option<Which> {
        self.attempt(|reader| {
            reader.take(&["of", "in", ","]);
            if let Some(year) = reader.year_number() {
                // "May 2023-05": the year belongs to another date.
                return (reader.peek() != "-").then_some(Which::Of(year));
            }
            let n = reader.map(shift)?;
            reader.take(&["year"]).then_some(Which::InYear(n))
        })
    }
}

fn is_short(day: &str, word: &str) -> bool {
    (3..=5).contains(&word.len()) && day.starts_with(word)
}

/// "last", "this", "next" as a number of units.
fn shift(word: &str) -> Option<i32> {
    match word {
        "last" | "previous" => Some(-1),
        "this" | "current" => Some(0),
        "next" | "following" => Some(1),
        _ => None,
    }
}

/// The longest phrase at `at`: the token after it, and what it means.
pub(super) fn read(tokens: &[Token], at: usize, alone: bool) -> Option<(usize, When)> {
    let rules: [fn(&mut Reader<'_>, bool) -> Option<When>; 8] =
        [fixed, shifted, counted, past, weekday, date, season, numeric];
    let mut best: Option<(usize, When)> = None;
    for rule in rules {
        let mut reader = Reader { tokens, at };
        if let Some(when) = rule(&mut reader, alone)
            && best.is_none_or(|(end, _)| reader.at > end)
        {
            best = Some((reader.at, when));
        }
    }
    best
}

fn fixed(r: &mut Reader<'_>, _: bool) -> Option<When> {
    const WORDS: [(&str, When); 18] = [
        ("the day before yesterday", When::Calendar(Unit::Day, -2)),
        ("day before yesterday", When::Calendar(Unit::Day, -2)),
        ("the day after tomorrow", When::Calendar(Unit::Day, 2)),
        ("day after tomorrow", When::Calendar(Unit::Day, 2)),
        ("yesterday", When::Calendar(Unit::Day, -1)),
        ("last night", When::Calendar(Unit::Day, -1)),
        ("last evening", When::Calendar(Unit::Day, -1)),
        ("today", When::Calendar(Unit::Day, 0)),
        ("tonight", When::Calendar(Unit::Day, 0)),
        ("this morning", When::Calendar(Unit::Day, 0)),
        ("this afternoon", When::Calendar(Unit::Day, 0)),
        ("this evening", When::Calendar(Unit::Day, 0)),
        ("tomorrow", When::Calendar(Unit::Day, 1)),
        ("the week before last", When::Calendar(Unit::Week, -2)),
        ("the month before last", When::Calendar(Unit::Month, -2)),
        ("the year before last", When::Calendar(Unit::Year, -2)),
        ("the week after next", When::Calendar(Unit::Week, 2)),
        ("half a year ago", When::Calendar(Unit::Month, -6)),
    ];
    let when = WORDS.iter().find(|(words, _)| r.phrase(words)).map(|(_, when)| *when)?;
    if matches!(when, When::Calendar(Unit::Day, _)) {
        r.take(&["morning", "afternoon", "evening", "night"]);
    }
    Some(when)
}

/// "last week", "this past weekend", "next Friday", "last summer".
fn shifted(r: &mut Reader<'_>, _: bool) -> Option<When> {
    let n = match r.peek() {
        "coming" | "upcoming" => Some(1),
        word => shift(word),
    }?;
    r.at += 1;
    let n = match (n, r.peek()) {
        (0, "past") => -1,
        (0, "coming") => 1,
        _ => n,
    };
    r.take(&["past", "coming"]);
    let which = [Which::Last, Which::Nearest, Which::Next][(n + 1) as usize];
    if let Some(unit) = r.unit() {
        let more = if unit == Unit::Week {
            r.attempt(|r| {
                r.take(&["on"]);
                r.weekday(false)
            })
        } else {
            None
        };
        return Some(more.map_or(When::Calendar(unit, n), |day| When::Weekday(day, n)));
    }
    if r.take(&["weekend"]) {
        return Some(When::Weekend(n));
    }
    if let Some(day) = r.weekday(true) {
        r.take(&["morning", "afternoon", "evening", "night"]);
        return Some(if n < 0 { When::LastWeekday(day) } else { When::Weekday(day, n) });
    }
    if let Some(season) = r.season() {
        return Some(When::Season(season, which));
    }
    let month = r.month()?;
    let which = if n == 0 { Which::InYear(0) } else { which };
    Some(r.day(false).map_or(When::Month(month, which), |day| When::Date(month, day, which)))
}

/// "three days ago", "a week from now", "in two months".
fn counted(r: &mut Reader<'_>, _: bool) -> Option<When> {
    let ahead = r.take(&["in"]);
    let n = r.number()?;
    let unit = r.unit()?;
    if ahead {
        // "in a day-long test" is no time.
        return (r.peek() != "-").then_some(When::Calendar(unit, n));
    }
    if r.take(&["ago", "back"]) {
        return Some(When::Calendar(unit, -n));
    }
    let from = r.phrase("from now") || r.phrase("from today");
    from.then_some(When::Calendar(unit, n))
}

/// "the past three weeks", "over the last 2 months".
fn past(r: &mut Reader<'_>, _: bool) -> Option<When> {
    r.take(&["in", "over", "during", "for", "within"]);
    let the = r.take(&["the"]);
    let past = r.peek() == "past";
    if !r.take(&["past", "last"]) {
        return None;
    }
    let n = r.number();
    let unit = r.unit()?;
    // "the last week" is a calendar week, "the past week" the last seven days.
    match n {
        Some(n) => Some(When::Past(unit, n)),
        None if past => Some(When::Past(unit, 1)),
        None => the.then_some(When::Calendar(unit, -1)),
    }
}

/// "on Friday", "Friday", "Tuesday of last week", "over the weekend".
fn weekday(r: &mut Reader<'_>, _: bool) -> Option<When> {
    let on = r.take(&["on"]);
    if on || r.take(&["over", "at", "during", "for"]) {
        r.take(&["the"]);
        if r.take(&["weekend"]) {
            return Some(When::Weekend(0));
        }
    }
    let day = r.weekday(on)?;
    r.take(&["morning", "afternoon", "evening", "night"]);
    let week = r.attempt(|r| {
        r.take(&["of"]);
        let n = r.map(shift)?;
        r.take(&["week"]).then_some(n)
    });
    Some(week.map_or(When::NearestWeekday(day), |n| When::Weekday(day, n)))
}

/// "in March", "March 3rd, 2022", "the 5th of May", "on the 5th", "in 2021".
fn date(r: &mut Reader<'_>, alone: bool) -> Option<When> {
    let start = r.at;
    let mut led = r.take(&PREPOSITIONS);
    r.take(&["-"]);
    let the = r.take(&["the"]);
    if let Some(month) = r.attempt(|r| r.month()) {
        let is_whole = MONTHS.iter().any(|name| *name == r.tokens[r.at - 1].text);
        let is_verb = matches!(r.tokens[r.at - 1].text.as_str(), "may" | "march" | "mar");
        led |= is_whole && !is_verb;
        let day = r.attempt(|r| {
            r.attempt(|r| {
                r.take(&["the"]);
                r.day(true)
            })
            .or_else(|| r.day(false))
        });
        let year = r.year();
        let which = year.unwrap_or(Which::Nearest);
        let is_all = alone && start == 0 && r.at == r.tokens.len();
        return match day {
            Some(day) => Some(When::Date(month, day, which)),
            None => (led || year.is_some() || is_all).then_some(When::Month(month, which)),
        };
    }
    if let Some(year) = r.attempt(Reader::year_number) {
        let is_all = alone && start == 0 && r.at == r.tokens.len();
        return ((led && r.peek() != "-") || is_all).then_some(When::Year(year));
    }
    let ordinal = r.attempt(|r| r.day(true));
    let day = ordinal.or_else(|| r.day(false))?;
    let of = r.take(&["of"]);
    if let Some(month) = r.attempt(Reader::month) {
        return Some(When::Date(month, day, r.year().unwrap_or(Which::Nearest)));
    }
    let month = r.attempt(|r| {
        let n = r.map(shift)?;
        r.take(&["month"]).then_some(n)
    });
    match month {
        Some(n) if of => Some(When::DayOfMonth(day, n)),
        // "the 5th" is a day; "the 5th floor" is not, but "on the 5th" is.
        _ => {
            r.at -= usize::from(of);
            let is_all = alone && start == 0 && r.at == r.tokens.len();
            (ordinal.is_some() && the && (led || is_all)).then_some(When::DayOfMonth(day, 0))
        }
    }
}

/// "in the summer", "summer of 2022", "winter last year".
fn season(r: &mut Reader<'_>, alone: bool) -> Option<When> {
    let led = r.take(&PREPOSITIONS);
    r.take(&["-"]);
    r.take(&["the"]);
    let season = r.season()?;
    let year = r.year();
    (led || year.is_some() || alone).then_some(When::Season(season, year.unwrap_or(Which::Nearest)))
}

/// "2023-05-03", "2023/5/3".
fn numeric(r: &mut Reader<'_>, _: bool) -> Option<When> {
    let year = r.year_number()?;
    let separator = ["-", "/", "."].into_iter().find(|separator| r.take(&[separator]))?;
    let month = r.map(|word| word.parse().ok().filter(|month| (1..=12).contains(month) && word.len() <= 2))?;
    if !r.take(&[separator]) {
        return None;
    }
    // "2023-05-03T10:00": the day is the start of a longer token.
    let day = r.map(|word| {
        let digits = word.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok().filter(|day| (1..=31).contains(day) && digits.len() <= 2)
    })?;
    Some(When::Date(month, day, Which::Of(year)))
}
