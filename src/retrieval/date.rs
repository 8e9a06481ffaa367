//! The dates a question names, in English and Chinese, and how well a day fits them.

use jiff::civil::Date;

use super::query::{is_word, words};
use crate::text::time_phrase::MONTHS;

/// Months, days and years named in a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DateQuery {
    /// 1 to 12.
    pub months: Vec<i8>,
    /// 1 to 31; they count only together with a month.
    pub days: Vec<i8>,
    /// 2000 to 2099; they count only together with a month.
    pub years: Vec<i16>,
    /// Whether the month is written 月: its day is then taken at its word.
    pub chinese: bool,
}

impl DateQuery {
    /// Reads `question`. `lower` is the question in lower case.
    ///
    /// Deviation: a year written 2023年 counts as a year; the recipe's word boundary misses it.
    pub(crate) fn read(question: &str, lower: &str) -> Self {
        let mut dates = Self::default();
        for (number, name) in (1..).zip(MONTHS) {
            let whole = words(lower).any(|(_, word)| word == name);
            if whole || words(lower).any(|(end, word)| word == &name[..3] && a_day_follows(&lower[end..])) {
                dates.months.push(number);
            }
        }
        for (_, word) in words(lower) {
            let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
            match (digits.len(), &word[digits.len()..]) {
                (1 | 2, "" | "st" | "nd" | "rd" | "th") => {
                    dates.days.extend(number(digits).filter(|d| (1..=31).contains(d)))
                }
                (4, "") if digits.starts_with("20") => dates.years.extend(digits.parse::<i16>()),
                _ => {}
            }
        }
        dates.read_chinese(question);
        dates
    }

    fn read_chinese(&mut self, question: &str) {
        let mut days = Vec::new();
        for (at, _) in question.match_indices('月') {
            let Some(month) = trailing_number(&question[..at]) else { continue };
            self.chinese = true;
            self.months.push(month);
            let rest = &question[at + '月'.len_utf8()..];
            let n_digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
            if rest[n_digits..].starts_with(['日', '号', '號']) {
                days.extend(number(&rest[..n_digits]));
            }
        }
        if self.chinese {
            self.days = days;
            for (at, _) in question.match_indices('年') {
                let digits = question[..at].len() - question[..at].trim_end_matches(|c: char| c.is_ascii_digit()).len();
                if digits == 4 {
                    self.years.extend(question[at - 4..at].parse::<i16>());
                }
            }
        }
    }

    /// Whether a month is named, without which nothing fits.
    pub fn is_empty(&self) -> bool {
        self.months.is_empty()
    }

    /// How well `date` fits, 0 to 1: 1 in the month asked for (and the year, if one is), less with each day from the day
    /// asked for; .4 in the first ten days of the month after. Source: eval/prototype/recipe.py, `date_match`.
    pub fn fit(&self, date: Date) -> f32 {
        if self.is_empty() || !(self.years.is_empty() || self.years.contains(&date.year())) {
            return 0.0;
        }
        let (floor, span) = if self.chinese { (0.2, 1.0) } else { (0.5, 10.0) };
        if self.months.contains(&date.month()) {
            let nearest = self.days.iter().map(|&day| (date.day() - day).abs()).min();
            nearest.map_or(1.0, |distance| (1.0 - f32::from(distance) / span).max(floor))
        } else if !self.chinese && date.day() <= 10 && self.months.iter().any(|&month| date.month() == month % 12 + 1) {
            0.4
        } else {
            0.0
        }
    }
}

/// Whether a short month name is one: after "may", "." or not, comes " 7".
fn a_day_follows(rest: &str) -> bool {
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    rest.strip_prefix(' ').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn number(digits: &str) -> Option<i8> {
    digits.parse().ok()
}

/// The number of one or two digits that `text` ends with.
fn trailing_number(text: &str) -> Option<i8> {
    let n_digits = text.bytes().rev().take(2).take_while(u8::is_ascii_digit).count();
    number(&text[text.len() - n_digits..])
}

/// Whether the text is nothing but a date: words of months, numbers, and what stands between them.
pub(crate) fn is_only_a_date(lower: &str) -> bool {
    let of_dates = |word: &str| {
        MONTHS.iter().any(|month| *month == word || (word.len() == 3 && month.starts_with(word)))
            || matches!(word, "on" | "in" | "of" | "the" | "at")
            || word.chars().all(|c| c.is_ascii_digit() || matches!(c, '年' | '月' | '日' | '号' | '號'))
            || ["st", "nd", "rd", "th"].iter().any(|ordinal| word.strip_suffix(ordinal).and_then(number).is_some())
    };
    words(lower).all(|(_, word)| of_dates(word)) && lower.chars().any(is_word)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(question: &str) -> (Vec<i8>, Vec<i8>, Vec<i16>) {
        let dates = DateQuery::read(question, &question.to_lowercase());
        (dates.months, dates.days, dates.years)
    }

    #[test]
    fn english_dates() {
        assert_eq!(read("What did we do in June 2023?"), (vec![6], vec![], vec![2023]));
        assert_eq!(read("on 7 May"), (vec![5], vec![7], vec![]));
        assert_eq!(read("Oct. 13th, or Nov 2nd"), (vec![10, 11], vec![13, 2], vec![]));
        assert_eq!(read("the juneau 99 octopus"), (vec![], vec![], vec![]));
        assert_eq!(read("Mar the day"), (vec![], vec![], vec![]));
    }

    #[test]
    fn chinese_dates() {
        assert_eq!(read("5月3日我们聊了什么"), (vec![5], vec![3], vec![]));
        assert_eq!(read("2023年12月"), (vec![12], vec![], vec![2023]));
        assert_eq!(read("月亮很大"), (vec![], vec![], vec![]));
        assert_eq!(read("4月5号和6月"), (vec![4, 6], vec![5], vec![]));
    }

    #[test]
    fn fit_falls_with_the_distance() {
        let day = |m, d| Date::new(2023, m, d).unwrap();
        let of = |question: &str| DateQuery::read(question, &question.to_lowercase());
        let june = of("June 10");
        assert_eq!([june.fit(day(6, 10)), june.fit(day(6, 13)), june.fit(day(6, 30))], [1.0, 0.7, 0.5]);
        assert_eq!([june.fit(day(7, 10)), june.fit(day(7, 11)), june.fit(day(5, 10))], [0.4, 0.0, 0.0]);
        assert_eq!(of("June 2022").fit(day(6, 10)), 0.0);
        let zh = of("6月10日");
        assert_eq!([zh.fit(day(6, 10)), zh.fit(day(6, 11)), zh.fit(day(7, 1))], [1.0, 0.2, 0.0]);
        assert_eq!(of("December").fit(day(1, 3)), 0.4);
    }

    #[test]
    fn a_date_alone_is_told_from_a_question_about_one() {
        for only in ["may 2023", "on the 7th of june", "2023年5月3日", "5月"] {
            assert!(is_only_a_date(only), "{only}");
        }
        for more in ["what happened in may", "", "?"] {
            assert!(!is_only_a_date(more), "{more}");
        }
    }
}
