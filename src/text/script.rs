//! Classes of characters.

use super::category::{Category, category};

/// Share of letters outside Latin and CJK above which [`readable`] is false (retrieval recipe, `FOREIGN`).
const FOREIGN: f64 = 0.3;

/// Whether the static table has rows for `c` as Chinese: U+3400 to U+9FFF, as the table was built.
pub fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}')
}

/// Whether `c` belongs to a script that is tokenised by character n-grams: Han with extensions and compatibility forms,
/// Hiragana, Katakana, Bopomofo, Hangul, Thai, Lao, Khmer and Myanmar, with their vowel signs but not their digits.
///
/// Hangul is written with spaces, but its particles are glued to the noun; bigrams find the noun all the same.
pub fn is_unspaced(c: char) -> bool {
    c >= '\u{e01}'
        && matches!(c,
            // Thai, Lao, Myanmar, Hangul letters, Khmer
            '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' | '\u{e81}'..='\u{ecf}' | '\u{edc}'..='\u{edf}'
            | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' | '\u{109a}'..='\u{109d}' | '\u{1100}'..='\u{11ff}'
            | '\u{1780}'..='\u{17d3}' | '\u{17d7}' | '\u{17dc}'..='\u{17dd}' | '\u{a960}'..='\u{a97f}'
            | '\u{a9e0}'..='\u{a9ef}' | '\u{aa60}'..='\u{aa7f}' | '\u{ac00}'..='\u{d7ff}'
            // Han radicals, iteration mark and zero; kana, Bopomofo, compatibility letters; Han
            | '\u{2e80}'..='\u{2fd5}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{303b}'
            | '\u{3041}'..='\u{309a}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}'
            | '\u{3105}'..='\u{318e}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}' | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3fffd}')
}

/// Whether `c` is a pictograph that stands as a term of its own.
pub fn is_emoji(c: char) -> bool {
    c >= '\u{231a}'
        && matches!(c,
            '\u{231a}' | '\u{231b}' | '\u{23e9}'..='\u{23fa}' | '\u{2600}'..='\u{27bf}' | '\u{2b05}'..='\u{2b07}'
            | '\u{2b1b}' | '\u{2b1c}' | '\u{2b50}' | '\u{2b55}' | '\u{1f000}'..='\u{1f0ff}' | '\u{1f170}'..='\u{1faff}')
}

/// Hiragana, which writes the grammar of a Japanese sentence more than its nouns.
pub(super) fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}')
}

/// White space as Python's `str.isspace` has it, the rule of the recipe: Unicode's plus the four ASCII separators.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// `text` without white space at both ends, as Python's `str.strip` has it.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// A word character of Python's `re`: letter, number or underscore (the base of `\b`).
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    matches!(category(c), Category::Letter | Category::Digit | Category::LetterNumber | Category::OtherNumber)
}

/// A letter of any script (general category L).
pub(super) fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    category(c) == Category::Letter
}

/// A combining mark (general category M).
pub(super) fn is_mark(c: char) -> bool {
    c >= '\u{300}' && matches!(category(c), Category::NonspacingMark | Category::OtherMark)
}

/// Whether the built-in table can read `text`: at most 30 % of its letters are outside Latin and CJK.
///
/// Where it is false the vector signals of a question say nothing and are dropped. A text without letters is readable.
pub fn readable(text: &str) -> bool {
    let (mut letters, mut foreign) = (0u32, 0u32);
    for c in text.chars().filter(|&c| is_letter(c)) {
        letters += 1;
        foreign += u32::from(c >= '\u{250}' && !is_cjk(c));
    }
    f64::from(foreign) <= FOREIGN * f64::from(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_is_shut_for_scripts_without_rows() {
        for text in ["", "123 !?", "When did Anna get her dog?", "你读过什么书？", "Café Beyoncé"] {
            assert!(readable(text), "{text}");
        }
        for text in ["Что любит Бен?", "أين تعيش؟", "これはペンです", "ฉันชอบแมว"]
        {
            assert!(!readable(text), "{text}");
        }
    }

    #[test]
    fn classes_do_not_overlap() {
        for c in ('\0'..=char::MAX).filter(|&c| is_unspaced(c)) {
            assert!(!is_emoji(c) && !is_space(c), "{c:?}");
        }
        assert!(('\u{3400}'..='\u{9fff}').all(|c| is_cjk(c) && is_unspaced(c)));
    }
}
