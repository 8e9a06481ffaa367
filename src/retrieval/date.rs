//! The dates a question names, in English and Chinese, and how well a day fits them.

use jiff::civil::Date;

use crate::text::time_phrase::{About, asked, day_number};
use crate::time::Timestamp;

/// Days that turns lose as they lie further from a range that is asked for.
const NEAR_DAYS: i64 = 10;

/// What a question says about when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DateQuery {
    /// Months that are named, 1 to 12.
    pub months: Vec<i8>,
    /// Days of a month, 1 to 31.
    pub days: Vec<i8>,
    /// Years; without a month they are ranges.
    pub years: Vec<i16>,
    /// Whether the month is written 月: its day is then taken at its word.
    pub chinese: bool,
    /// Days that are meant: "last week", "since March", 昨天.
    pub ranges: Vec<DayRange>,
    /// Whether the question is nothing but dates.
    pub alone: bool,
}

/// Local days, half-open: each turn is held against it by the day on which it was said where it was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayRange {
    /// The words that mean it.
    pub phrase: String,
    /// The first day; `None` is the beginning.
    pub from: Option<Date>,
    /// The day after the last; `None` is no end.
    pub to: Option<Date>,
}

impl DayRange {
    /// 1 on its days, outside them from .5 down to 0 in ten days.
    fn fit(&self, date: Date) -> f32 {
        let day = day_number(date);
        let before = self.from.map_or(0, |from| day_number(from) - day);
        let after = self.to.map_or(0, |to| day - day_number(to) + 1);
        let outside = before.max(after).clamp(0, NEAR_DAYS);
        if outside == 0 { 1.0 } else { 0.5 * (NEAR_DAYS - outside) as f32 / NEAR_DAYS as f32 }
    }
}

impl DateQuery {
    /// Reads `question`. Ranges are those of a question that is asked at `now`; without it there are none.
    pub(crate) fn read(question: &str, now: Option<Timestamp>) -> Self {
        let (phrases, alone) = asked(question, now);
        let mut dates = Self { alone, ..Self::default() };
        let mut years: Vec<DayRange> = Vec::new();
        for found in phrases {
            let phrase = &question[found.bytes];
            let range = |from, to| DayRange { phrase: phrase.to_owned(), from, to };
            match found.about {
                About::Month(month, day, year) => {
                    dates.chinese |= phrase.contains('月');
                    dates.months.push(month as i8);
                    if let Some(day) = day {
                        dates.days.push(day as i8);
                    }
                    if let Some(year) = year {
                        dates.years.push(year as i16);
                    }
                }
                About::Year(year) => {
                    let year = year as i16;
                    dates.years.push(year);
                    years.push(range(Date::new(year, 1, 1).ok(), Date::new(year + 1, 1, 1).ok()));
                }
                About::Days(from, to) => dates.ranges.push(range(from, to)),
            }
        }
        if dates.months.is_empty() && now.is_some() {
            dates.ranges.append(&mut years);
        }
        dates
    }

    /// Whether nothing is named that a day could fit.
    pub fn is_empty(&self) -> bool {
        self.months.is_empty() && self.ranges.is_empty()
    }

    /// How well `date` fits, 0 to 1: 1 in the month asked for (and the year, if one is), less with each day from the day
    /// asked for; .4 in the first ten days of the month after. Source: eval/prototype/recipe.py, `date_match`. Likewise 1 in a
    /// range that is asked for, and less with each day from it.
    pub fn fit(&self, date: Date) -> f32 {
        let near = self.ranges.iter().map(|range| range.fit(date)).fold(0.0, f32::max);
        near.max(self.fit_month(date))
    }

    fn fit_month(&self, date: Date) -> f32 {
        if self.months.is_empty() || !(self.years.is_empty() || self.years.contains(&date.year())) {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Noon of Wednesday, 24 May 2023, in UTC-4.
    const NOW: Timestamp = Timestamp { epoch_ms: 1_684_944_000_000, offset_minutes: -240 };

    fn read(question: &str) -> (Vec<i8>, Vec<i8>, Vec<i16>) {
        let dates = DateQuery::read(question, None);
        assert!(dates.ranges.is_empty(), "{question}");
        (dates.months, dates.days, dates.years)
    }

    /// The ranges of a question as "from to", and its months.
    fn ranges(question: &str) -> (Vec<String>, Vec<i8>) {
        let dates = DateQuery::read(question, Some(NOW));
        let bound = |date: Option<Date>| date.map_or("-".to_owned(), |date| date.to_string());
        let text = |range: &DayRange| format!("{} {} {}", range.phrase, bound(range.from), bound(range.to));
        (dates.ranges.iter().map(text).collect(), dates.months)
    }

    #[test]
    fn english_dates() {
        assert_eq!(read("What did we do in June 2023?"), (vec![6], vec![], vec![2023]));
        assert_eq!(read("on 7 May"), (vec![5], vec![7], vec![]));
        assert_eq!(read("Oct. 13th, or Nov 2nd"), (vec![10, 11], vec![13, 2], vec![]));
        assert_eq!(read("What 3 things did she do in May?"), (vec![5], vec![], vec![]));
        assert_eq!(read("In 2022, what came in May or the June after?"), (vec![5, 6], vec![], vec![2022]));
        assert_eq!(read("the juneau 99 octopus"), (vec![], vec![], vec![]));
        assert_eq!(read("Mar the day, may I, march on"), (vec![], vec![], vec![]));
    }

    #[test]
    fn chinese_dates() {
        assert_eq!(read("5月3日我们聊了什么"), (vec![5], vec![3], vec![]));
        assert_eq!(read("2023年12月"), (vec![12], vec![], vec![2023]));
        assert_eq!(read("月亮很大"), (vec![], vec![], vec![]));
        assert_eq!(read("4月5号和6月"), (vec![4, 6], vec![5], vec![]));
        assert_eq!(read("三月"), (vec![3], vec![], vec![]));
    }

    #[test]
    fn phrases_are_ranges_of_days_before_the_question() {
        for (question, expected) in [
            ("What did I say yesterday?", "yesterday 2023-05-23 2023-05-24"),
            ("and two days ago?", "two days ago 2023-05-22 2023-05-23"),
            ("what was it last week", "last week 2023-05-15 2023-05-22"),
            ("in the last three days", "in the last three days 2023-05-21 2023-05-25"),
            ("whom did I meet on Friday", "on Friday 2023-05-19 2023-05-20"),
            ("on Wednesday", "on Wednesday 2023-05-24 2023-05-25"),
            ("over the weekend", "over the weekend 2023-05-20 2023-05-22"),
            ("on the 28th", "on the 28th 2023-04-28 2023-04-29"),
            ("between 3 and 9 May", "between 3 and 9 May 2023-05-03 2023-05-10"),
            ("between May 3rd and 9", "between May 3rd and 9 2023-05-03 2023-05-10"),
            ("the trip of 3–9 July 2022", "3–9 July 2022 2022-07-03 2022-07-10"),
            ("from March to May", "from March to May 2023-03-01 2023-06-01"),
            ("from November to February", "from November to February 2022-11-01 2023-03-01"),
            ("between March and May 2021", "between March and May 2021 2021-03-01 2021-06-01"),
            ("from October 2021 to May", "from October 2021 to May 2021-10-01 2022-06-01"),
            ("between last Monday and yesterday", "between last Monday and yesterday 2023-05-22 2023-05-24"),
            ("between 2019 and 2021", "between 2019 and 2021 2019-01-01 2022-01-01"),
            ("since March", "since March 2023-03-01 -"),
            ("since last week", "since last week 2023-05-15 -"),
            ("since the 5th", "since the 5th 2023-05-05 -"),
            ("before June 2023", "before June 2023 - 2023-06-01"),
            ("where was he the week before 16 April 2023", "before 16 April 2023 2023-04-09 2023-04-17"),
            ("the puppy she got two weeks before April 16", "before April 16 2023-04-02 2023-04-17"),
            ("the day after 3 May", "after 3 May 2023-05-03 2023-05-05"),
            ("until April 2023", "until April 2023 - 2023-05-01"),
            ("after 3 May", "after 3 May 2023-05-04 -"),
            ("what happened in 2021", "in 2021 2021-01-01 2022-01-01"),
            ("2023-05-03", "2023-05-03 2023-05-03 2023-05-04"),
            ("last May", "last May 2022-05-01 2022-06-01"),
            ("last summer", "last summer 2022-06-01 2022-09-01"),
            ("昨天聊了什么", "昨天 2023-05-23 2023-05-24"),
            ("上周我们去了哪里", "上周 2023-05-15 2023-05-22"),
            ("前天", "前天 2023-05-22 2023-05-23"),
            ("去年发生了什么", "去年 2022-01-01 2023-01-01"),
            ("去年三月", "去年三月 2022-03-01 2022-04-01"),
            ("三月到五月我学了什么", "三月到五月 2023-03-01 2023-06-01"),
            ("从去年十一月到二月", "从去年十一月到二月 2022-11-01 2023-03-01"),
            ("5月3日至9日", "5月3日至9日 2023-05-03 2023-05-10"),
            ("自从三月以来", "自从三月以来 2023-03-01 -"),
            ("从三月开始", "从三月开始 2023-03-01 -"),
            ("四月之前", "四月之前 - 2023-04-01"),
            ("去年以后", "去年以后 2023-01-01 -"),
            ("三天前", "三天前 2023-05-21 2023-05-22"),
            ("過去兩週", "過去兩週 2023-05-10 2023-05-25"),
        ] {
            assert_eq!(ranges(question), (vec![expected.to_owned()], vec![]), "{question}");
        }
    }

    #[test]
    fn what_is_no_range_is_none() {
        for question in [
            "What will I do tomorrow?",
            "What does she like in the summer?",
            "夏天喜欢吃什么",
            "the report from Anna",
            "before the meeting, 3 and 9 people",
            "since I moved",
            "the 5th floor to 7",
            "between you and me",
            "从上海到北京",
            "比赛前后",
            "5号线",
        ] {
            assert_eq!(ranges(question), (vec![], vec![]), "{question}");
        }
        assert_eq!(ranges("last week, or in March"), (vec!["last week 2023-05-15 2023-05-22".to_owned()], vec![3]));
        assert_eq!(ranges("from March"), (vec![], vec![3]));
    }

    #[test]
    fn fit_falls_with_the_distance() {
        let day = |m, d| Date::new(2023, m, d).unwrap();
        let of = |question: &str| DateQuery::read(question, Some(NOW));
        let june = of("June 10");
        assert_eq!([june.fit(day(6, 10)), june.fit(day(6, 13)), june.fit(day(6, 30))], [1.0, 0.7, 0.5]);
        assert_eq!([june.fit(day(7, 10)), june.fit(day(7, 11)), june.fit(day(5, 10))], [0.4, 0.0, 0.0]);
        assert_eq!(of("June 2022").fit(day(6, 10)), 0.0);
        let zh = of("6月10日");
        assert_eq!([zh.fit(day(6, 10)), zh.fit(day(6, 11)), zh.fit(day(7, 1))], [1.0, 0.2, 0.0]);
        assert_eq!(of("December").fit(day(1, 3)), 0.4);
        let week = of("last week");
        assert_eq!([week.fit(day(5, 15)), week.fit(day(5, 21))], [1.0, 1.0]);
        assert_eq!([week.fit(day(5, 14)), week.fit(day(5, 22)), week.fit(day(5, 26))], [0.45, 0.45, 0.25]);
        assert_eq!([week.fit(day(5, 5)), week.fit(day(5, 31)), week.fit(day(1, 1))], [0.0, 0.0, 0.0]);
        let since = of("since 10 May or in March");
        assert_eq!(
            [since.fit(day(5, 10)), since.fit(day(9, 1)), since.fit(day(5, 8)), since.fit(day(3, 2))],
            [1.0, 1.0, 0.4, 1.0]
        );
    }

    #[test]
    fn a_date_alone_is_told_from_a_question_about_one() {
        for only in ["May 2023", "on the 7th of June", "2023年5月3日", "5月", "yesterday?", "上周", "since March"]
        {
            assert!(of(only), "{only}");
        }
        for more in ["what happened in May", "", "?", "2023", "上周呢我们"] {
            assert!(!of(more), "{more}");
        }
        fn of(question: &str) -> bool {
            let dates = DateQuery::read(question, Some(NOW));
            dates.alone && !dates.is_empty()
        }
    }
}
