//! Slots: which facts speak of the same thing.
//!
//! Two facts can contradict each other only within one slot: the same subject and the same normalised attribute. How both
//! are normalised is decided here, and it errs towards telling apart: a wrong merge loses knowledge, a missed one repeats it.
//!
//! - Case, CJK width and composition are folded, runs of white space are one space.
//! - In an attribute `_`, `-` and other punctuation are spaces: "Home_City" is "home city". What stands after its first
//!   colon is an object and normalised like a value: "pet: Rex", "preference: C++".
//! - In a value punctuation counts ("C++" is not "C"), but for quotation marks around it and a full stop after it.
//! - Whatever is empty afterwards has no slot and is never merged.
//!
//! **Preferences** have a slot for each object: "loves: jazz", ("likes", "jazz"), and ("preference", "hates jazz") are all
//! "preference: jazz", so that a later aversion closes the liking and no other preference.
//!
//! **Multi-valued** attributes hold several values at once; their slot includes the value, so equal values are one fact and
//! different ones never meet. They are: every event; attributes that end in an English plural ("hobbies", "pets"); and those
//! named in `SETS`, English and Chinese. Everything else has one value at a time.

use crate::model::{FactKind, Subject};
use crate::text::for_each_composed;

/// What makes two facts speak of the same thing. Equal slots, one open fact.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    subject: Subject,
    attribute: String,
    /// The value, where the attribute holds several at once.
    member: Option<String>,
}

/// Attributes that are written differently and are one: static profile fields (MemoryOS, 3.1: name, gender, birth year).
const SYNONYMS: [(&str, &[&str]); 3] = [
    ("name", &["full name", "user name", "姓名", "名字"]),
    ("gender", &["sex", "性别"]),
    ("birth year", &["year of birth", "birthyear", "出生年份", "出生年"]),
];

/// Singular attributes that hold several values at once; matched as the last word, in Chinese as the end.
const SETS: [&str; 36] = [
    "hobby",
    "interest",
    "skill",
    "language",
    "pet",
    "child",
    "children",
    "sibling",
    "brother",
    "sister",
    "friend",
    "allergy",
    "goal",
    "plan",
    "event",
    "trip",
    "activity",
    "experience",
    "knowledge",
    "recommendation",
    "suggestion",
    "preference",
    "family",
    "possession",
    "爱好",
    "兴趣",
    "技能",
    "语言",
    "宠物",
    "孩子",
    "朋友",
    "过敏",
    "目标",
    "计划",
    "经历",
    "偏好",
];

/// Verbs and nouns of liking and of its opposite, as an attribute or before the object in a value. Longer ones first.
const LIKINGS: [&str; 35] = [
    "does not like",
    "doesn't like",
    "doesn t like",
    "don't like",
    "can't stand",
    "can t stand",
    "is not fond of",
    "is fond of",
    "is into",
    "no longer likes",
    "preference",
    "likes",
    "like",
    "loves",
    "love",
    "enjoys",
    "enjoy",
    "adores",
    "prefers",
    "prefer",
    "dislikes",
    "dislike",
    "hates",
    "hate",
    "detests",
    "avoids",
    "不喜欢",
    "不爱",
    "喜欢",
    "喜爱",
    "热爱",
    "偏好",
    "讨厌",
    "厌恶",
    "爱",
];

/// Folds case, width and composition; white space becomes single spaces.
fn fold(text: &str, to_space: fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for_each_composed(text, &mut |c| {
        let c = narrow(c);
        if c.is_whitespace() || c.is_control() || to_space(c) {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else {
            out.extend(c.to_lowercase());
        }
    });
    out.truncate(out.trim_end().len());
    out
}

/// The ASCII character of a full-width one.
fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        '’' => '\'',
        _ => c,
    }
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '\u{a1}' | '\u{bf}' | '\u{2010}'..='\u{2027}' | '\u{3001}'..='\u{3011}' | '·')
}

fn keeps_all(_: char) -> bool {
    false
}

/// A value as it is compared; empty for one that says nothing.
pub fn normal_value(value: &str) -> String {
    let folded = fold(value, keeps_all);
    let is_wrapping = |c: char| matches!(c, '"' | '\'' | '“' | '”' | '‘' | '「' | '」' | '《' | '》' | ' ');
    let is_stop = |c: char| matches!(c, '.' | '!' | '?' | ',' | ';' | '。' | '、' | '…');
    let value = folded.trim_end_matches(|c| is_stop(c) || is_wrapping(c)).trim_start_matches(is_wrapping);
    // What is punctuation alone says nothing.
    if value.chars().all(|c| is_punctuation(c) || c == ' ') { String::new() } else { value.into() }
}

/// Attribute and value in the form in which a fact keeps them and slots compare them: `(attribute, object, value)`.
fn parts(kind: FactKind, attribute: &str, value: &str) -> (String, Option<String>, String) {
    let (head, object) = match attribute.split_once([':', '：']) {
        Some((head, object)) => (head, Some(normal_value(object))),
        None => (attribute, None),
    };
    let mut head = fold(head, is_punctuation);
    let mut value = normal_value(value);
    for (name, others) in SYNONYMS {
        if others.contains(&head.as_str()) {
            head = name.into();
        }
    }
    if kind != FactKind::Preference || !LIKINGS.contains(&head.as_str()) {
        return (head, object, value);
    }
    match object {
        // "loves: jazz" with whatever value: the verb is the value if that says nothing of its own.
        Some(object) => {
            if head != "preference" && head != "偏好" && LIKINGS.iter().all(|verb| !begins_with(&value, verb)) {
                value = head;
            }
            ("preference".into(), Some(object), value)
        }
        None => {
            // ("preference", "hates jazz") or ("hates", "jazz").
            let verb = LIKINGS.iter().find(|verb| begins_with(&value, verb)).copied();
            let (verb, object) = match verb {
                Some(verb) if head == "preference" || head == "偏好" => {
                    (verb.into(), normal_value(&value[verb.len()..]))
                }
                _ => (head, value),
            };
            ("preference".into(), Some(object), verb)
        }
    }
}

/// Whether `text` begins with the words of `verb`, and goes on.
fn begins_with(text: &str, verb: &str) -> bool {
    text.strip_prefix(verb).is_some_and(|rest| !verb.is_ascii() || rest.is_empty() || rest.starts_with(' '))
}

/// The value as it is compared within a slot: of a preference, the verb or stance.
pub fn compared_value(kind: FactKind, attribute: &str, value: &str) -> String {
    parts(kind, attribute, value).2
}

/// The slot of a fact; `None` where subject, attribute, object or value is empty once normalised: it is never merged.
pub fn slot(subject: &Subject, kind: FactKind, attribute: &str, value: &str) -> Option<Slot> {
    let subject = match subject {
        Subject::Named(name) => Subject::Named(Some(fold(name, is_punctuation)).filter(|name| !name.is_empty())?),
        other => other.clone(),
    };
    let (head, object, value) = parts(kind, attribute, value);
    if head.is_empty() || value.is_empty() || object.as_ref().is_some_and(String::is_empty) {
        return None;
    }
    let (attribute, member) = match object {
        Some(object) if kind == FactKind::Event => (format!("{head}: {object}"), Some(value)),
        Some(object) => (format!("{head}: {object}"), None),
        None if kind == FactKind::Event || holds_several(&head) => (singular(&head), Some(value)),
        None => (head, None),
    };
    Some(Slot { subject, attribute, member })
}

impl Slot {
    /// The normalised attribute: "home city", "preference: jazz".
    pub fn attribute(&self) -> &str {
        &self.attribute
    }

    /// Whether its attribute holds several values at once.
    pub fn is_multi_valued(&self) -> bool {
        self.member.is_some()
    }
}

fn holds_several(attribute: &str) -> bool {
    let last = attribute.rsplit(' ').next().unwrap_or(attribute);
    is_plural(last) || SETS.iter().any(|set| if set.is_ascii() { last == *set } else { attribute.ends_with(set) })
}

fn is_plural(word: &str) -> bool {
    let ends_otherwise = ["ss", "us", "is", "as", "os"].iter().any(|end| word.ends_with(end));
    word.is_ascii() && word.len() > 3 && word.ends_with('s') && !ends_otherwise
}

/// The attribute with its last word in the singular, so that "hobbies" and "hobby" are one.
fn singular(attribute: &str) -> String {
    let at = attribute.rfind(' ').map_or(0, |space| space + 1);
    let word = match &attribute[at..] {
        "children" => "child".into(),
        word if is_plural(word) && word.ends_with("ies") => format!("{}y", &word[..word.len() - 3]),
        word if is_plural(word) => word[..word.len() - 1].into(),
        word => String::from(word),
    };
    format!("{}{word}", &attribute[..at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use FactKind::{Event, Knowledge, Preference};

    fn of(kind: FactKind, attribute: &str, value: &str) -> Option<Slot> {
        slot(&Subject::User, kind, attribute, value)
    }

    #[test]
    fn writings_of_one_attribute_share_a_slot() {
        for (a, b) in [
            ("Home_City", "home  city"),
            ("home-city", "ＨＯＭＥ　ｃｉｔｙ"),
            ("Full name", "姓名"),
            ("Year of birth", "birth year"),
            ("cafe\u{301}", "Café"),
        ] {
            assert_eq!(of(Knowledge, a, "x"), of(Knowledge, b, "x"), "{a} {b}");
        }
        assert_eq!(normal_value(" “Lisbon”. "), "lisbon");
        assert_eq!(normal_value("ｌｉｓｂｏｎ　ＰＴ"), "lisbon pt");
        assert_ne!(normal_value("C++"), normal_value("C"));
        assert_ne!(of(Knowledge, "name", "x"), of(Knowledge, "nickname", "x"));
        assert_ne!(of(Knowledge, "pet: Rex", "dog"), of(Knowledge, "pet: Tom", "cat"));
    }

    #[test]
    fn b10_one_fact_in_two_writings_is_one_in_every_script() {
        for (a, b) in [
            ("喜欢的ＡＰＰ", "喜欢的app"),
            ("か\u{3099}っこう", "がっこう"),
            ("\u{1112}\u{1161}\u{11a8}\u{1100}\u{116d}", "학교"),
            ("เมืองเกิด", "เมืองเกิด"),
            ("المدينة", "المدينة "),
            ("Родной Город", "родной город"),
            ("🎉 party", "🎉  Party"),
        ] {
            assert_eq!(of(Knowledge, a, "x"), of(Knowledge, b, "x"), "{a} {b}");
            assert_eq!(normal_value(a), normal_value(b), "{a} {b}");
        }
        for (a, b) in [
            ("北京", "东京"),
            ("서울", "부산"),
            ("เชียงใหม่", "กรุงเทพ"),
            ("القاهرة", "دمشق"),
            ("Казань", "Омск"),
            ("🎉", "🥳"),
        ] {
            assert_ne!(normal_value(a), normal_value(b));
        }
    }

    #[test]
    fn case_28_preferences_have_a_slot_for_each_object() {
        let jazz = of(Preference, "preference: jazz", "loves");
        assert!(jazz.is_some());
        for (attribute, value) in [
            ("loves", "Jazz"),
            ("hates", "jazz."),
            ("preference", "hates jazz"),
            ("Preference：Jazz", "不喜欢"),
            ("dislikes: jazz", "since school"),
            ("preference", "does not like jazz"),
            ("preference", "Doesn’t like jazz"),
        ] {
            assert_eq!(of(Preference, attribute, value), jazz, "{attribute} {value}");
        }
        assert_eq!(of(Preference, "喜欢", "爵士"), of(Preference, "偏好", "讨厌爵士"));
        for (attribute, value) in [("loves", "jazz dance"), ("preference: tea", "loves"), ("favourite colour", "blue")]
        {
            assert_ne!(of(Preference, attribute, value), jazz, "{attribute} {value}");
        }
        assert_eq!(compared_value(Preference, "hates", "jazz"), "hates");
        assert_eq!(compared_value(Preference, "preference", "hates jazz"), "hates");
    }

    #[test]
    fn case_30_sets_hold_several_values_and_single_attributes_one() {
        for several in ["hobby", "Hobbies", "pets", "spoken languages", "爱好", "用户的宠物"] {
            assert_ne!(of(Knowledge, several, "a"), of(Knowledge, several, "b"), "{several}");
        }
        assert_eq!(of(Knowledge, "hobbies", "Chess"), of(Knowledge, "hobby", "chess"));
        assert_ne!(of(Event, "travelled", "Rome"), of(Event, "travelled", "Oslo"));
        for one in ["home city", "address", "marital status", "boss", "diagnosis", "职业", "现居地", "employer"] {
            assert_eq!(of(Knowledge, one, "a"), of(Knowledge, one, "b"), "{one}");
        }
    }

    #[test]
    fn case_19_empty_keys_have_no_slot() {
        for (attribute, value) in
            [("???", "a"), ("！！", "a"), (" ", "a"), ("city", "..."), ("city", ""), ("pet: ", "dog")]
        {
            assert_eq!(of(Knowledge, attribute, value), None, "{attribute:?} {value:?}");
        }
        assert_eq!(slot(&Subject::Named("--".into()), Knowledge, "city", "Rome"), None);
    }

    #[test]
    fn case_13_a_friend_is_another_subject() {
        let jack = slot(&Subject::Named("Jack".into()), Preference, "dislikes", "football");
        assert!(jack.is_some() && jack != of(Preference, "dislikes", "football"));
        assert_eq!(jack, slot(&Subject::Named(" JACK".into()), Preference, "loves", "football"));
    }
}
