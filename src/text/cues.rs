//! Ranking cues of an atom and of a question: matchers equal to the recipe's regular expressions.
//!
//! Written by hand because a regular-expression engine would be a large part of the wasm module. A word is a longest
//! run of Unicode letters, numbers and underscores, which is what `\b` means in the recipe.

use crate::model::Cues;

use super::category::{Category, category};
use super::script::{is_space, is_word};

/// Words of time (retrieval recipe, `TIME_WORDS`), sorted; a number of four digits is one too.
const TIME_WORDS: [&str; 33] = [
    "ago",
    "april",
    "august",
    "december",
    "february",
    "friday",
    "january",
    "july",
    "june",
    "last",
    "march",
    "may",
    "monday",
    "month",
    "next",
    "november",
    "october",
    "recently",
    "saturday",
    "september",
    "since",
    "sunday",
    "thursday",
    "today",
    "tomorrow",
    "tonight",
    "tuesday",
    "wednesday",
    "week",
    "weekend",
    "year",
    "years",
    "yesterday",
];

/// Chinese ways to ask for a time. Beyond the recipe: they let a Chinese question find English atoms that hold a date.
const ZH_WHEN: [&str; 8] = ["什么时候", "什麼時候", "何时", "何時", "哪天", "哪年", "几月", "几号"];
/// Chinese ways to ask for a name or a place.
const ZH_NAME: [&str; 9] = ["谁", "誰", "哪里", "哪裡", "哪儿", "哪个", "哪個", "名字", "叫什么"];

/// The cues of an atom's text.
///
/// The recipe's English words only: Chinese words of time and person would change its measured scores.
pub fn cues(atom: &str) -> Cues {
    let mut out = Cues::default();
    if atom.trim_end_matches(is_space).ends_with(['?', '？', '؟']) {
        out = out.with(Cues::QUESTION);
    }
    for_each_word(&atom.to_lowercase(), &mut |_, _, word| {
        if matches!(word, "i" | "my" | "we" | "our") {
            out = out.with(Cues::FIRST_PERSON);
        }
        if TIME_WORDS.binary_search(&word).is_ok() || is_year(word) {
            out = out.with(Cues::TIME);
        }
    });
    out = out.with_capitals(n_capitals(atom));
    if has_capital(atom) { out.with(Cues::CAPITAL) } else { out }
}

/// Whether a question asks for a time: when, how long, what date, year, month or day, since.
pub fn asks_when(question: &str) -> bool {
    let lower = question.to_lowercase();
    let (mut found, mut previous) = (false, (0, ""));
    for_each_word(&lower, &mut |start, gap, word| {
        let pair = if gap == " " { previous.1 } else { "" };
        found |= matches!(word, "when" | "since")
            || matches!((pair, word), ("how", "long") | ("what", "date" | "year" | "month" | "day"));
        previous = (start, word);
    });
    found || ZH_WHEN.iter().any(|ask| question.contains(ask))
}

/// Whether a question asks for a name or a place: who, where, which, name, title, called.
pub fn asks_name(question: &str) -> bool {
    let mut found = false;
    for_each_word(&question.to_lowercase(), &mut |_, _, word| {
        found |= matches!(word, "who" | "where" | "which" | "name" | "title" | "called");
    });
    found || ZH_NAME.iter().any(|ask| question.contains(ask))
}

/// Whether a question asks for several things, by the look of its words: English alone.
pub fn asks_for_several(question: &str) -> bool {
    let lower = question.to_lowercase();
    let (mut found, mut last, mut before_last) = (false, "", "");
    for_each_word(&lower, &mut |_, _, word| {
        let asks = |word: &str| matches!(word, "what" | "which");
        let is_plural = word.len() >= 5
            && word.bytes().all(|b| b.is_ascii_lowercase())
            && word.ends_with('s')
            && !word.ends_with("ss");
        found |=
            matches!(word, "both" | "common" | "all" | "kind" | "kinds" | "type" | "types" | "sort" | "sorts" | "list")
                || matches!((last, word), (_, "besides" | "ways") | ("how", "many"))
                || (asks(last) && matches!(word, "has" | "have" | "do" | "does"))
                || (is_plural && (asks(last) || asks(before_last)));
        (before_last, last) = (last, word);
    });
    found
}

/// Calls `f` with every word, the byte it begins at and the text between it and the word before.
fn for_each_word<'a>(text: &'a str, f: &mut dyn FnMut(usize, &'a str, &'a str)) {
    let (mut gap, mut open) = (0, None);
    for (i, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (open, is_word(c)) {
            (None, true) => open = Some(i),
            (Some(start), false) => {
                f(start, &text[gap..start], &text[start..i]);
                (gap, open) = (i, None);
            }
            _ => {}
        }
    }
}

fn is_year(word: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit() || (!c.is_ascii() && category(c) == Category::Digit);
    word.chars().take(5).count() == 4 && word.chars().all(is_digit)
}

/// A capitalised word after a lower-case letter or comma and a space, or a capital that opens a quotation.
fn has_capital(text: &str) -> bool {
    let bytes = text.as_bytes();
    let name = |w: &[u8]| {
        (w[0].is_ascii_lowercase() || w[0] == b',')
            && w[1] == b' '
            && w[2].is_ascii_uppercase()
            && w[3].is_ascii_lowercase()
    };
    bytes.windows(4).any(name) || bytes.windows(2).any(|w| w[0] == b'"' && w[1].is_ascii_uppercase())
}

/// Words of an ASCII capital and a small letter that begin neither the text nor a sentence.
fn n_capitals(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_name = |at: usize| {
        let (before, after) = (&text[..at], bytes.get(at + 1));
        let begins_sentence = before.strip_suffix(' ').is_some_and(|before| before.ends_with(['.', '!', '?']));
        after.is_some_and(u8::is_ascii_lowercase) && !before.ends_with(is_word) && !begins_sentence
    };
    (1..bytes.len()).filter(|&at| bytes[at].is_ascii_uppercase() && is_name(at)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_time_are_sorted_for_the_search() {
        assert!(TIME_WORDS.is_sorted());
    }

    #[test]
    fn a_question_asks_when_or_who() {
        for (question, when, name) in [
            ("When did Anna get her dog?", true, false),
            ("How long have you lived there?", true, false),
            ("how  long", false, false),
            ("Whenever?", false, false),
            ("Who is Ben's teacher?", false, true),
            ("What is the title?", false, true),
            ("你什么时候搬家的？", true, false),
            ("谁喜欢喝茶？", false, true),
            ("", false, false),
        ] {
            assert_eq!((asks_when(question), asks_name(question)), (when, name), "{question}");
        }
    }

    #[test]
    fn questions_for_several_things() {
        for several in [
            "What are Anna's hobbies, all of them?",
            "Which cities has Ben seen?",
            "what recipes did she try",
            "How many dogs are there?",
            "What do they have in common?",
            "What does Ben do besides pottery?",
        ] {
            assert!(asks_for_several(several), "{several}");
        }
        for one in ["When did Anna get her dog?", "What was the class about?", "Whats up", "你有什么爱好？", ""]
        {
            assert!(!asks_for_several(one), "{one}");
        }
    }

    #[test]
    fn cues_are_independent_bits() {
        let all = cues("last May I saw Luna, did I not?");
        assert!(
            all.has(Cues::QUESTION) && all.has(Cues::FIRST_PERSON) && all.has(Cues::TIME) && all.has(Cues::CAPITAL)
        );
        assert_eq!(cues("nothing to see"), Cues::default());
        assert_eq!(cues("in 2023"), Cues::TIME);
        assert_eq!(cues("in 20231"), Cues::default());
    }

    #[test]
    fn names_inside_are_counted_to_three() {
        for (text, n) in [
            ("Luna", 0),
            ("my dog Luna", 1),
            ("Yes. Then “Luna” and McDonald, OK", 2),
            ("at Rome, Paris, Oslo and Bern", 3),
            ("", 0),
        ] {
            assert_eq!(cues(text).n_capitals(), n, "{text}");
        }
    }
}
