//! The Chinese grammar. Traditional characters are simplified by the tokeniser.

use super::token::Token;
use super::when::{Unit, When, Which};

const DAYS: [(&str, i32); 19] = [
    ("大前天", -3),
    ("前天", -2),
    ("前晚", -2),
    ("昨天", -1),
    ("昨日", -1),
    ("昨晚", -1),
    ("昨夜", -1),
    ("今天", 0),
    ("今日", 0),
    ("今晚", 0),
    ("今早", 0),
    ("今晨", 0),
    ("今夜", 0),
    ("明天", 1),
    ("明日", 1),
    ("明早", 1),
    ("明晚", 1),
    ("后天", 2),
    ("大后天", 3),
];
const YEARS: [(&str, i32); 8] =
    [("大前年", -3), ("前年", -2), ("去年", -1), ("今年", 0), ("本年", 0), ("明年", 1), ("来年", 1), ("后年", 2)];
const SHIFTS: [(&str, i32); 8] =
    [("上上", -2), ("上", -1), ("这", 0), ("本", 0), ("下下", 2), ("下", 1), ("当", 0), ("这一", 0)];
const WEEKS: [&str; 3] = ["周", "星期", "礼拜"];
const SEASONS: [&str; 4] = ["春", "夏", "秋", "冬"];
/// What a number before 号 counts if this follows: not days.
const NOT_DAYS: [&str; 10] = ["线", "楼", "门", "机", "店", "院", "码", "馆", "房", "桌"];

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl Reader<'_> {
    /// The character so many tokens ahead.
    fn ahead(&self, n: usize) -> &str {
        self.tokens.get(self.at + n).map_or("", |token| &token.text)
    }

    /// Takes `word`, character by character, or nothing.
    fn take(&mut self, word: &str) -> bool {
        let n_chars = word.chars().count();
        let whole = word.chars().enumerate().all(|(n, c)| {
            let token = self.ahead(n);
            token.len() == c.len_utf8() && token.starts_with(c)
        });
        self.at += if whole { n_chars } else { 0 };
        whole
    }

    fn any(&mut self, words: &[&str]) -> bool {
        words.iter().any(|word| self.take(word))
    }

    /// The longest word of a table that is here.
    fn of(&mut self, table: &[(&str, i32)]) -> Option<i32> {
        let start = self.at;
        let mut best = None;
        for (word, n) in table {
            self.at = start;
            if self.take(word) && best.is_none_or(|(end, _)| self.at > end) {
                best = Some((self.at, *n));
            }
        }
        self.at = best.map_or(start, |(end, _)| end);
        best.map(|(_, n)| n)
    }

    /// A number in digits, or up to 99 in characters.
    fn number(&mut self) -> Option<i32> {
        if let Some(n) = self.tokens.get(self.at).and_then(Token::number) {
            self.at += 1;
            return Some(n);
        }
        let tens = self.digit();
        if !self.take("十") {
            return tens;
        }
        Some(tens.unwrap_or(1) * 10 + self.digit().unwrap_or(0))
    }

    fn digit(&mut self) -> Option<i32> {
        let found = "一二三四五六七八九".chars().position(|c| self.take(c.encode_utf8(&mut [0; 4])));
        found.map(|at| at as i32 + 1).or_else(|| self.take("两").then_some(2))
    }

    fn in_range(&mut self, most: i32) -> Option<u8> {
        self.number().filter(|n| (1..=most).contains(n)).map(|n| n as u8)
    }

    /// 0 for Monday; 日 and 天 are Sunday.
    fn weekday(&mut self) -> Option<u8> {
        if self.any(&["日", "天"]) {
            return Some(6);
        }
        "一二三四五六".chars().position(|c| self.take(c.encode_utf8(&mut [0; 4]))).map(|at| at as u8)
    }

    fn unit(&mut self) -> Option<Unit> {
        self.take("个");
        if self.any(&["天", "日"]) {
            Some(Unit::Day)
        } else if self.any(&WEEKS) {
            Some(Unit::Week)
        } else if self.take("月") {
            Some(Unit::Month)
        } else if self.take("年") {
            Some(Unit::Year)
        } else {
            None
        }
    }

    /// 3日, 三号: the day after a month.
    fn day(&mut self) -> Option<u8> {
        let start = self.at;
        let day = self.in_range(31).filter(|_| self.any(&["日", "号"]));
        if day.is_none() {
            self.at = start;
        }
        day
    }

    /// 三月, 5月3日.
    fn month(&mut self, which: Which) -> Option<When> {
        let month = self.in_range(12).filter(|_| self.any(&["月份", "月"]))?;
        Some(self.day().map_or(When::Month(month, which), |day| When::Date(month, day, which)))
    }

    fn season(&mut self) -> Option<u8> {
        let season = SEASONS.iter().position(|season| self.take(season))?;
        self.any(&["天", "季"]).then_some(season as u8)
    }
}

/// The longest phrase at `at`: the token after it, and what it means.
pub(super) fn read(tokens: &[Token], at: usize, _alone: bool) -> Option<(usize, When)> {
    // A phrase begins with a character of this grammar or a number.
    let first = &tokens[at].text;
    if first.is_ascii() && !first.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let before = at.checked_sub(1).map_or("", |before| &tokens[before].text);
    let rules: [fn(&mut Reader<'_>, &str) -> Option<When>; 7] = [day, week, month, year, counted, past, bare];
    let mut best: Option<(usize, When)> = None;
    for rule in rules {
        let mut reader = Reader { tokens, at };
        if let Some(when) = rule(&mut reader, before)
            && best.is_none_or(|(end, _)| reader.at > end)
        {
            best = Some((reader.at, when));
        }
    }
    best
}

/// 昨天, 大后天.
fn day(r: &mut Reader<'_>, _: &str) -> Option<When> {
    let n = r.of(&DAYS)?;
    r.any(&["早上", "上午", "中午", "下午", "晚上", "夜里"]);
    Some(When::Calendar(Unit::Day, n))
}

/// 上周, 下周五, 这个周末.
fn week(r: &mut Reader<'_>, _: &str) -> Option<When> {
    let n = r.of(&SHIFTS)?;
    r.take("个");
    if !r.any(&WEEKS) {
        return None;
    }
    if r.take("末") {
        return Some(When::Weekend(n));
    }
    Some(r.weekday().map_or(When::Calendar(Unit::Week, n), |day| When::Weekday(day, n)))
}

/// 上个月, 本月, 下月3号.
fn month(r: &mut Reader<'_>, _: &str) -> Option<When> {
    let n = r.of(&SHIFTS)?;
    r.take("个");
    if !r.take("月") {
        return None;
    }
    r.take("的");
    Some(r.day().map_or(When::Calendar(Unit::Month, n), |day| When::DayOfMonth(day, n)))
}

/// 去年, 今年三月, 去年夏天, 2023年5月3日.
fn year(r: &mut Reader<'_>, _: &str) -> Option<When> {
    let (which, alone) = match r.of(&YEARS) {
        Some(n) => (Which::InYear(n), When::Calendar(Unit::Year, n)),
        None => {
            let year = r.number().filter(|year| (1_800..=2_199).contains(year) && r.take("年"))?;
            (Which::Of(year), When::Year(year))
        }
    };
    let end = r.at;
    r.take("的");
    let start = r.at;
    if let Some(when) = r.month(which) {
        return Some(when);
    }
    r.at = start;
    if let Some(season) = r.season() {
        return Some(When::Season(season, which));
    }
    r.at = end;
    Some(alone)
}

/// 三天前, 两个星期后, 半年前.
fn counted(r: &mut Reader<'_>, _: &str) -> Option<When> {
    let (n, unit) = match r.take("半年") {
        true => (6, Unit::Month),
        false => (r.number()?, r.unit()?),
    };
    // 四月之前 is before April, 四个月之前 four months ago.
    if unit == Unit::Month && !matches!(r.tokens[r.at - 2].text.as_str(), "个" | "半") {
        return None;
    }
    r.any(&["之", "以"]);
    if r.take("前") {
        return Some(When::Calendar(unit, -n));
    }
    r.take("后").then_some(When::Calendar(unit, n))
}

/// 最近三天, 过去两周.
fn past(r: &mut Reader<'_>, _: &str) -> Option<When> {
    if !r.any(&["最近", "过去", "近"]) {
        return None;
    }
    r.take("的");
    let n = r.number().filter(|n| *n > 0)?;
    Some(When::Past(r.unit()?, n))
}

/// 周五, 周末, 三月, 5月3日, 5号, 夏天.
fn bare(r: &mut Reader<'_>, before: &str) -> Option<When> {
    let start = r.at;
    if r.any(&WEEKS) {
        // 一周一次, 每周五: a week that is counted.
        let counted =
            before == "每" || before == "个" || "一二三四五六七八九十两几".contains(before) && !before.is_empty();
        if counted || before.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        return if r.take("末") { Some(When::Weekend(0)) } else { r.weekday().map(When::NearestWeekday) };
    }
    if let Some(season) = r.season() {
        return Some(When::Season(season, Which::Nearest));
    }
    r.at = start;
    if let Some(when) = r.month(Which::Nearest) {
        return Some(when);
    }
    r.at = start;
    let day = r.day()?;
    (!NOT_DAYS.contains(&r.ahead(0))).then_some(When::DayOfMonth(day, 0))
}
