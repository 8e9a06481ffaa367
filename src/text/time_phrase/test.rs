//! Phrases and the days they mean, as data.

#![allow(clippy::unwrap_used)]

use jiff::civil::{DateTime, date};
use proptest::prelude::*;

use super::*;

/// A moment "2023-05-24T22:30" at an offset in hours.
fn at(local: &str, offset_hours: i16) -> Timestamp {
    let local: DateTime = local.parse().unwrap();
    let since = local.date().since(date(1970, 1, 1)).unwrap().get_days();
    let minutes = i64::from(since) * 1_440 + i64::from(local.hour()) * 60 + i64::from(local.minute());
    Timestamp { epoch_ms: (minutes - i64::from(offset_hours) * 60) * 60_000, offset_minutes: offset_hours * 60 }
}

/// `expected` is "first day, day after the last, precision", or "-" for nothing.
#[track_caller]
fn check(said: Timestamp, cases: &[(&str, &str)]) {
    for (phrase, expected) in cases {
        let day = |moment: Timestamp| {
            let local = moment.epoch_ms + i64::from(moment.offset_minutes) * 60_000;
            assert_eq!(local.rem_euclid(86_400_000), 0, "{phrase}: not a local midnight");
            assert_eq!(moment.offset_minutes, said.offset_minutes, "{phrase}");
            moment.local_date().unwrap().to_string()
        };
        let found =
            resolve(phrase, said).map(|range| format!("{} {} {:?}", day(range.start), day(range.end), range.precision));
        assert_eq!(found.as_deref().unwrap_or("-"), *expected, "{phrase}");
    }
}

#[test]
fn case_25_english_phrases_are_those_of_the_messages_date() {
    check(
        at("2023-05-24T12:00", 0),
        &[
            ("today", "2023-05-24 2023-05-25 Day"),
            ("this morning", "2023-05-24 2023-05-25 Day"),
            ("tonight", "2023-05-24 2023-05-25 Day"),
            ("yesterday", "2023-05-23 2023-05-24 Day"),
            ("Yesterday evening", "2023-05-23 2023-05-24 Day"),
            ("last night", "2023-05-23 2023-05-24 Day"),
            ("the day before yesterday", "2023-05-22 2023-05-23 Day"),
            ("tomorrow", "2023-05-25 2023-05-26 Day"),
            ("the day after tomorrow", "2023-05-26 2023-05-27 Day"),
            ("last week", "2023-05-15 2023-05-22 Week"),
            ("sometime last week", "2023-05-15 2023-05-22 Week"),
            ("this week", "2023-05-22 2023-05-29 Week"),
            ("next week", "2023-05-29 2023-06-05 Week"),
            ("the week before last", "2023-05-08 2023-05-15 Week"),
            ("the week after next", "2023-06-05 2023-06-12 Week"),
            ("last month", "2023-04-01 2023-05-01 Month"),
            ("next month", "2023-06-01 2023-07-01 Month"),
            ("this year", "2023-01-01 2024-01-01 Year"),
            ("last year", "2022-01-01 2023-01-01 Year"),
            ("three days ago", "2023-05-21 2023-05-22 Day"),
            ("a week ago", "2023-05-15 2023-05-22 Week"),
            ("two weeks ago", "2023-05-08 2023-05-15 Week"),
            ("two months ago", "2023-03-01 2023-04-01 Month"),
            ("a couple of months ago", "2023-03-01 2023-04-01 Month"),
            ("10 years ago", "2013-01-01 2014-01-01 Year"),
            ("half a year ago", "2022-11-01 2022-12-01 Month"),
            ("in three days", "2023-05-27 2023-05-28 Day"),
            ("in a week", "2023-05-29 2023-06-05 Week"),
            ("two weeks from now", "2023-06-05 2023-06-12 Week"),
            ("the past three days", "2023-05-21 2023-05-25 Day"),
            ("over the last 2 weeks", "2023-05-10 2023-05-25 Week"),
            ("the past month", "2023-04-24 2023-05-25 Month"),
            ("last Friday", "2023-05-19 2023-05-20 Day"),
            ("last Wednesday", "2023-05-17 2023-05-18 Day"),
            ("last Tuesday", "2023-05-23 2023-05-24 Day"),
            ("next Friday", "2023-06-02 2023-06-03 Day"),
            ("this Friday", "2023-05-26 2023-05-27 Day"),
            ("on Friday", "2023-05-26 2023-05-27 Day"),
            ("on Mon", "2023-05-22 2023-05-23 Day"),
            ("Tuesday of last week", "2023-05-16 2023-05-17 Day"),
            ("last week on Monday", "2023-05-15 2023-05-16 Day"),
            ("last weekend", "2023-05-20 2023-05-22 Day"),
            ("this past weekend", "2023-05-20 2023-05-22 Day"),
            ("over the weekend", "2023-05-27 2023-05-29 Day"),
            ("next weekend", "2023-06-03 2023-06-05 Day"),
            ("in March", "2023-03-01 2023-04-01 Month"),
            ("in December", "2022-12-01 2023-01-01 Month"),
            ("in October", "2023-10-01 2023-11-01 Month"),
            ("last March", "2023-03-01 2023-04-01 Month"),
            ("last May", "2022-05-01 2022-06-01 Month"),
            ("next March", "2024-03-01 2024-04-01 Month"),
            ("this March", "2023-03-01 2023-04-01 Month"),
            ("in March last year", "2022-03-01 2022-04-01 Month"),
            ("May 2021", "2021-05-01 2021-06-01 Month"),
            ("may", "2023-05-01 2023-06-01 Month"),
            ("in 2021", "2021-01-01 2022-01-01 Year"),
            ("2021", "2021-01-01 2022-01-01 Year"),
            ("on the 5th", "2023-05-05 2023-05-06 Day"),
            ("the 5th of last month", "2023-04-05 2023-04-06 Day"),
            ("May 3", "2023-05-03 2023-05-04 Day"),
            ("on 3 May 2022", "2022-05-03 2022-05-04 Day"),
            ("March 3rd, 2020", "2020-03-03 2020-03-04 Day"),
            ("the 7th of June", "2023-06-07 2023-06-08 Day"),
            ("Dec. 25", "2022-12-25 2022-12-26 Day"),
            ("Sept 9", "2023-09-09 2023-09-10 Day"),
            ("2023-05-03", "2023-05-03 2023-05-04 Day"),
            ("2022/5/3", "2022-05-03 2022-05-04 Day"),
            ("2023-05-03T10:00", "2023-05-03 2023-05-04 Day"),
            ("last summer", "2022-06-01 2022-09-01 Season"),
            ("this summer", "2023-06-01 2023-09-01 Season"),
            ("next spring", "2024-03-01 2024-06-01 Season"),
            ("last winter", "2022-12-01 2023-03-01 Season"),
            ("in the fall of 2021", "2021-09-01 2021-12-01 Season"),
            ("the other day", "-"),
            ("recently", "-"),
            ("the 5th floor", "-"),
            ("the 5th", "2023-05-05 2023-05-06 Day"),
            ("February 30", "-"),
            ("2023-13-01", "-"),
            ("0 days ago", "-"),
            ("", "-"),
        ],
    );
}

#[test]
fn case_25_chinese_phrases_are_those_of_the_messages_date() {
    check(
        at("2023-05-24T12:00", 8),
        &[
            ("今天", "2023-05-24 2023-05-25 Day"),
            ("昨天", "2023-05-23 2023-05-24 Day"),
            ("昨天晚上", "2023-05-23 2023-05-24 Day"),
            ("前天", "2023-05-22 2023-05-23 Day"),
            ("大前天", "2023-05-21 2023-05-22 Day"),
            ("明天", "2023-05-25 2023-05-26 Day"),
            ("後天", "2023-05-26 2023-05-27 Day"),
            ("上周", "2023-05-15 2023-05-22 Week"),
            ("上個禮拜", "2023-05-15 2023-05-22 Week"),
            ("上上周", "2023-05-08 2023-05-15 Week"),
            ("这周", "2023-05-22 2023-05-29 Week"),
            ("下星期", "2023-05-29 2023-06-05 Week"),
            ("上周五", "2023-05-19 2023-05-20 Day"),
            ("下周五", "2023-06-02 2023-06-03 Day"),
            ("这个星期天", "2023-05-28 2023-05-29 Day"),
            ("周五", "2023-05-26 2023-05-27 Day"),
            ("上周末", "2023-05-20 2023-05-22 Day"),
            ("上个月", "2023-04-01 2023-05-01 Month"),
            ("本月", "2023-05-01 2023-06-01 Month"),
            ("下个月3号", "2023-06-03 2023-06-04 Day"),
            ("三天前", "2023-05-21 2023-05-22 Day"),
            ("十二天前", "2023-05-12 2023-05-13 Day"),
            ("２天后", "2023-05-26 2023-05-27 Day"),
            ("两周前", "2023-05-08 2023-05-15 Week"),
            ("三个月前", "2023-02-01 2023-03-01 Month"),
            ("五年前", "2018-01-01 2019-01-01 Year"),
            ("半年前", "2022-11-01 2022-12-01 Month"),
            ("最近三天", "2023-05-21 2023-05-25 Day"),
            ("去年", "2022-01-01 2023-01-01 Year"),
            ("前年", "2021-01-01 2022-01-01 Year"),
            ("明年", "2024-01-01 2025-01-01 Year"),
            ("今年三月", "2023-03-01 2023-04-01 Month"),
            ("去年十二月", "2022-12-01 2023-01-01 Month"),
            ("去年夏天", "2022-06-01 2022-09-01 Season"),
            ("三月", "2023-03-01 2023-04-01 Month"),
            ("5月3日", "2023-05-03 2023-05-04 Day"),
            ("五月三号", "2023-05-03 2023-05-04 Day"),
            ("2021年", "2021-01-01 2022-01-01 Year"),
            ("2021年5月", "2021-05-01 2021-06-01 Month"),
            ("2021年5月3日", "2021-05-03 2021-05-04 Day"),
            ("5号", "2023-05-05 2023-05-06 Day"),
            ("夏天", "2023-06-01 2023-09-01 Season"),
            ("去年冬天", "2022-12-01 2023-03-01 Season"),
            ("2月30日", "-"),
            ("13月", "-"),
            ("5号线", "-"),
            ("每周五", "-"),
            ("不久前", "-"),
        ],
    );
}

#[test]
fn case_26_a_late_evening_belongs_to_its_local_day() {
    // 22:30 in UTC-4 is the next day in UTC.
    check(
        at("2023-05-24T22:30", -4),
        &[
            ("today", "2023-05-24 2023-05-25 Day"),
            ("yesterday", "2023-05-23 2023-05-24 Day"),
            ("last week", "2023-05-15 2023-05-22 Week"),
        ],
    );
    let yesterday = resolve("yesterday", at("2023-05-24T22:30", -4)).unwrap();
    assert_eq!(yesterday.start, at("2023-05-23T00:00", -4));
    assert_eq!(yesterday.end, at("2023-05-24T00:00", -4));
    // An early morning east of Greenwich is still the day before in UTC.
    check(at("2023-05-22T00:10", 9), &[("昨天", "2023-05-21 2023-05-22 Day"), ("上周", "2023-05-15 2023-05-22 Week")]);
}

#[test]
fn case_25_ends_of_months_and_years_and_leap_days() {
    check(
        at("2024-03-31T09:00", 1),
        &[
            ("last month", "2024-02-01 2024-03-01 Month"),
            ("the past month", "2024-02-29 2024-04-01 Month"),
            ("tomorrow", "2024-04-01 2024-04-02 Day"),
            ("February 29", "2024-02-29 2024-03-01 Day"),
            ("the 30th of last month", "-"),
            ("last Sunday", "2024-03-24 2024-03-25 Day"),
        ],
    );
    check(
        at("2023-03-01T09:00", 0),
        &[
            ("yesterday", "2023-02-28 2023-03-01 Day"),
            ("February 29", "2024-02-29 2024-03-01 Day"),
            ("last winter", "2022-12-01 2023-03-01 Season"),
            ("on the 31st", "2023-03-31 2023-04-01 Day"),
        ],
    );
    check(
        at("2024-01-01T00:00", 0),
        &[
            ("last week", "2023-12-25 2024-01-01 Week"),
            ("last month", "2023-12-01 2024-01-01 Month"),
            ("December 25", "2023-12-25 2023-12-26 Day"),
            ("this winter", "2023-12-01 2024-03-01 Season"),
            ("上周日", "2023-12-31 2024-01-01 Day"),
            ("two months ago", "2023-11-01 2023-12-01 Month"),
        ],
    );
    check(
        at("2023-12-31T23:59", 0),
        &[("next month", "2024-01-01 2024-02-01 Month"), ("the past year", "2022-12-31 2024-01-01 Year")],
    );
}

#[test]
fn phrases_are_found_in_sentences() {
    for (text, expected) in [
        ("I may march on. Last week we met, and on the 5th I left!", vec!["Last week", "on the 5th"]),
        ("We moved in March 2022, three years ago.", vec!["in March 2022", "three years ago"]),
        ("The 5th floor has 2023 rooms; a spring broke in a day-long test.", vec![]),
        ("我昨天去了上海，下周五回来，5号线很挤。", vec!["昨天", "下周五"]),
        ("我们一周一次，2021年5月3日开始", vec!["2021年5月3日"]),
        ("nothing here — ever", vec![]),
    ] {
        let found: Vec<_> = find(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn absurd_moments_and_numbers_are_harmless() {
    assert_eq!(resolve("yesterday", Timestamp::utc(i64::MAX)), None);
    assert_eq!(resolve("yesterday", Timestamp { epoch_ms: 0, offset_minutes: i16::MAX }), None);
    let first_days = Timestamp::utc(-377_705_023_201_000);
    for phrase in ["9999 years ago", "9999 weeks ago", "last year", "9999年前", "in 9999 years", "过去9999年"] {
        let _ = resolve(phrase, first_days);
        let _ = resolve(phrase, at("9999-12-30T00:00", 0));
    }
}

#[test]
fn b10_a_question_is_read_in_chinese_and_english_and_in_no_other_language() {
    let now = at("2023-05-24T12:00", 8);
    let days = |question: &str| {
        let (phrases, alone) = asked(question, Some(now));
        let text = |bound: Option<jiff::civil::Date>| bound.map_or_else(|| "-".to_owned(), |day| day.to_string());
        let of = |about: About| match about {
            About::Days(from, to) => format!("{} {}", text(from), text(to)),
            About::Month(month, day, year) => format!("{month} {day:?} {year:?}"),
            About::Year(year) => format!("{year}"),
        };
        (phrases.into_iter().map(|phrase| of(phrase.about)).collect::<Vec<_>>().join(", "), alone)
    };
    for (question, expected, alone) in [
        ("昨天我们聊了什么？", "2023-05-23 2023-05-24", false),
        ("上個禮拜", "2023-05-15 2023-05-22", true),
        ("５月３日或者去年", "5 Some(3) None, 2022-01-01 2023-01-01", false),
        ("2021年", "2021", true),
        ("四月之前", "- 2023-04-01", true),
        ("四个月之前", "2023-01-01 2023-02-01", true),
        ("自三月以来去了哪里", "2023-03-01 -", false),
        ("yesterday 🎉", "2023-05-23 2023-05-24", true),
        ("昨日は何を飲みましたか", "2023-05-23 2023-05-24", false),
        ("어제 어디에 갔어요?", "", false),
        ("เมื่อวานฉันกินอะไร", "", false),
        ("ماذا فعلت أمس؟", "", false),
        ("Что я делал вчера?", "", false),
        ("🎉", "", true),
    ] {
        assert_eq!(days(question), (expected.to_owned(), alone), "{question}");
    }
    let long = "上周说了什么 ".repeat(100_000);
    assert!(asked(&long, Some(now)).0.len() < 1_000, "a long text is read at its beginning");
}

proptest! {
    #[test]
    fn arbitrary_questions_never_panic_and_ranges_begin_before_they_end(
        question in "(\\PC|[0-9一二十天周月年号前后上下个去今从自到至以之来]|since |between |and |to |before |until |last |may |week |5th |-|\\.){0,40}",
        epoch_ms in any::<i64>(),
        near_ms in -60_000_000_000_000_i64..250_000_000_000_000,
        offset_minutes in -1_080_i16..1_081,
    ) {
        let _ = asked(&question, Some(Timestamp { epoch_ms, offset_minutes }));
        let (without, _) = asked(&question, None);
        prop_assert!(!without.iter().any(|phrase| matches!(phrase.about, About::Days(..))));
        let mut last = 0;
        for phrase in asked(&question, Some(Timestamp { epoch_ms: near_ms, offset_minutes })).0 {
            prop_assert!(phrase.bytes.start >= last && phrase.bytes.start < phrase.bytes.end);
            last = phrase.bytes.end;
            prop_assert!(question.get(phrase.bytes).is_some());
            if let About::Days(from, to) = phrase.about {
                prop_assert!(from.is_some() || to.is_some());
                prop_assert!(from.is_none_or(|from| to.is_none_or(|to| from < to)));
            }
        }
    }

    #[test]
    fn arbitrary_text_never_panics_and_spans_are_in_order(
        text in "(\\PC|[0-9一二十天周月年号前后上下个去今]|last |next |in |the |may |week |5th |of |-|\\.){0,40}",
        epoch_ms in any::<i64>(),
        near_ms in -60_000_000_000_000_i64..250_000_000_000_000,
        offset_minutes in -1_080_i16..1_081,
    ) {
        let _ = resolve(&text, Timestamp { epoch_ms, offset_minutes });
        let said = Timestamp { epoch_ms: near_ms, offset_minutes };
        if let Some(range) = resolve(&text, said) {
            prop_assert!(range.start.epoch_ms < range.end.epoch_ms);
        }
        let mut last = 0;
        for span in find(&text) {
            prop_assert!(span.start >= last && span.start < span.end);
            last = span.end;
            prop_assert!(text.get(span).is_some());
        }
    }
}
