//! Lexical tokens: what the two fields of the keyword index hold.
//!
//! Field rule. The stems field takes [`stem`](super::stem) of every [`TokenKind::Word`], and every `Bigram`, `Unigram` and `Lone`.
//! The grams field takes the 4-grams ([`for_each_gram`]) of every `Word`, and every `Bigram` and `Lone`.

use super::canonical::{for_each_composed, for_each_part};
use super::category::{Category, category};
use super::script::{is_emoji, is_mark, is_unspaced};

/// Longest word in characters; a longer run of letters (encoded bytes, mostly) is cut into words of this length.
pub const MAX_WORD_CHARS: usize = 128;

/// Length of a character gram (retrieval recipe).
const GRAM: usize = 4;

/// English words that carry no topic (retrieval recipe, `STOP`), sorted.
pub(super) const STOP: [&str; 86] = [
    "a", "about", "am", "an", "and", "are", "at", "be", "been", "being", "but", "by", "can", "could", "d", "did", "do",
    "does", "doing", "for", "from", "had", "has", "have", "having", "he", "her", "him", "his", "how", "i", "if", "in",
    "is", "it", "its", "just", "ll", "m", "me", "my", "no", "not", "of", "off", "on", "or", "our", "out", "over", "re",
    "s", "she", "should", "so", "t", "than", "that", "the", "their", "them", "then", "these", "they", "this", "those",
    "to", "too", "under", "ve", "very", "was", "we", "were", "what", "when", "where", "which", "who", "whom", "why",
    "will", "with", "would", "you", "your",
];

/// What a token is, and with it which fields of the index take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A word of a script that spaces its words, not stemmed; or one emoji.
    Word,
    /// Two neighbouring characters of an unspaced run.
    Bigram,
    /// One character of an unspaced run of two or more.
    Unigram,
    /// The only character of an unspaced run.
    Lone,
}

/// A token of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Folded text: lower case, without diacritics. Never empty; valid during the call.
    pub text: &'a str,
    /// What it is.
    pub kind: TokenKind,
}

/// Calls `f` with every token of `text`, in the order of the text (of an unspaced run: all bigrams, then all characters).
///
/// ASCII words are the recipe's: lower-cased runs of `[a-z0-9]` without English stop words. Beyond the recipe: words of
/// every spaced script, with diacritics folded (U+0300 to U+036F, Arabic and Hebrew vowel points; café = cafe; й stays a
/// letter because the Russian stemmer reads it), full-width ASCII and Arabic digits read as ASCII; every unspaced script
/// ([`is_unspaced`]) by n-grams, a base letter with its marks being one character; an emoji without its skin tone, each
/// part of a joined one, and a flag as one term each. Linear in the length of the text.
pub fn for_each_token(text: &str, f: &mut dyn FnMut(Token<'_>)) {
    let mut scanner = Scanner { word: String::new(), run: String::new(), starts: Vec::new(), flag: None, f };
    if text.is_ascii() {
        text.bytes().for_each(|b| scanner.push_ascii(b));
    } else {
        // composed first, so that kana with a detached voicing mark and whole syllables are one character again
        for_each_composed(text, &mut |c| scanner.push(c));
    }
    scanner.flush();
}

/// [`STOP`] as numbers in the same order: comparing these takes a fraction of the time, and every word is compared.
const STOP_CODES: [u64; STOP.len()] = {
    let mut codes = [0; STOP.len()];
    let mut at = 0;
    while at < STOP.len() {
        codes[at] = code(STOP[at]);
        at += 1;
    }
    codes
};

/// The first eight bytes of a word as a number that sorts as the word does.
const fn code(word: &str) -> u64 {
    let bytes = word.as_bytes();
    let (mut code, mut at) = (0, 0);
    while at < 8 {
        code = code << 8 | if at < bytes.len() { bytes[at] as u64 } else { 0 };
        at += 1;
    }
    code
}

/// Whether `word`, lower-case, is an English stop word that [`for_each_token`] leaves out.
pub fn is_stop_word(word: &str) -> bool {
    word.len() <= 7 && STOP_CODES.binary_search(&code(word)).is_ok()
}

/// Calls `f` with the 4-grams of `_word_`; a word of one character gives the whole `_w_`.
pub fn for_each_gram(word: &str, f: &mut dyn FnMut(&str)) {
    let padded = format!("_{word}_");
    let ends = padded.char_indices().map(|(i, _)| i).skip(GRAM).chain([padded.len()]);
    for ((start, _), end) in padded.char_indices().zip(ends) {
        f(&padded[start..end]);
    }
}

struct Scanner<'f> {
    /// The open word, folded.
    word: String,
    /// The open unspaced run.
    run: String,
    /// Byte at which each character (with its marks) of `run` begins.
    starts: Vec<usize>,
    /// The first half of a flag.
    flag: Option<char>,
    f: &'f mut dyn FnMut(Token<'_>),
}

impl Scanner<'_> {
    fn push_ascii(&mut self, b: u8) {
        if b.is_ascii_alphanumeric() {
            self.push_letter(char::from(b.to_ascii_lowercase()));
        } else {
            self.flush();
        }
    }

    fn push(&mut self, c: char) {
        if let Ok(b @ 0..0x80) = u8::try_from(c) {
            return self.push_ascii(b);
        }
        match c {
            // Joiners, variation selectors, soft hyphen, direction marks, skin tones: not part of any term.
            '\u{ad}'
            | '\u{200c}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{1f3fb}'..='\u{1f3ff}'
            | '\u{e0001}'..='\u{e01ef}' => {}
            '\u{1f1e6}'..='\u{1f1ff}' => self.push_flag(c),
            c if is_emoji(c) => {
                self.flush();
                self.emit_char(c);
            }
            c if is_unspaced(c) => {
                self.flush_word();
                if !is_mark(c) || self.run.is_empty() {
                    self.starts.push(self.run.len());
                }
                self.run.push(c);
            }
            // й would decompose into и and a breve
            '\u{439}' | '\u{419}' => self.push_letter('\u{439}'),
            _ => c.to_lowercase().for_each(|c| for_each_part(c, &mut |c| self.push_folded(c))),
        }
    }

    /// A character of a spaced script, lower-case and decomposed.
    fn push_folded(&mut self, c: char) {
        match c {
            'a'..='z' | '0'..='9' => self.push_letter(c),
            '\u{300}'..='\u{36f}' => {}
            // Hebrew points; Arabic vowel signs, hamza above and below, and the stretching stroke
            '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}'..='\u{5c2}' | '\u{5c4}'..='\u{5c5}' | '\u{5c7}' => {}
            '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6ed}' => {}
            'ς' => self.push_letter('σ'),
            'ø' => self.push_letter('o'),
            'ł' => self.push_letter('l'),
            'đ' => self.push_letter('d'),
            'ı' => self.push_letter('i'),
            'ß' => self.push_letters("ss"),
            'æ' => self.push_letters("ae"),
            'œ' => self.push_letters("oe"),
            // ligatures that PDF files paste
            'ﬀ' => self.push_letters("ff"),
            'ﬁ' => self.push_letters("fi"),
            'ﬂ' => self.push_letters("fl"),
            '\u{660}'..='\u{669}' => self.push_digit(c, '\u{660}'),
            '\u{6f0}'..='\u{6f9}' => self.push_digit(c, '\u{6f0}'),
            '\u{ff10}'..='\u{ff19}' => self.push_digit(c, '\u{ff10}'),
            '\u{ff41}'..='\u{ff5a}' => self.push_letter(char::from((u32::from(c) - 0xff41) as u8 + b'a')),
            c => match category(c) {
                Category::Letter | Category::Digit | Category::LetterNumber => self.push_letter(c),
                Category::NonspacingMark | Category::OtherMark if !self.word.is_empty() => self.word.push(c),
                Category::NonspacingMark | Category::OtherMark if !self.run.is_empty() => self.run.push(c),
                _ => self.flush(),
            },
        }
    }

    fn push_digit(&mut self, c: char, zero: char) {
        self.push_letter(char::from((u32::from(c) - u32::from(zero)) as u8 + b'0'));
    }

    fn push_letters(&mut self, letters: &str) {
        letters.chars().for_each(|c| self.push_letter(c));
    }

    fn push_letter(&mut self, c: char) {
        self.flush_run();
        self.word.push(c);
    }

    /// Regional indicators come in pairs; one alone is a term too.
    fn push_flag(&mut self, c: char) {
        match self.flag.take() {
            Some(first) => {
                let pair: String = [first, c].into_iter().collect();
                (self.f)(Token { text: &pair, kind: TokenKind::Word });
            }
            None => {
                self.flush();
                self.flag = Some(c);
            }
        }
    }

    fn emit_char(&mut self, c: char) {
        (self.f)(Token { text: c.encode_utf8(&mut [0; 4]), kind: TokenKind::Word });
    }

    fn flush(&mut self) {
        self.flush_word();
        self.flush_run();
    }

    fn flush_word(&mut self) {
        if let Some(c) = self.flag.take() {
            self.emit_char(c);
        }
        let mut rest = self.word.as_str();
        while !rest.is_empty() {
            // most words are shorter in bytes already
            let end = if rest.len() <= MAX_WORD_CHARS { None } else { rest.char_indices().nth(MAX_WORD_CHARS) };
            let (head, tail) = rest.split_at(end.map_or(rest.len(), |(i, _)| i));
            if !is_stop_word(head) {
                (self.f)(Token { text: head, kind: TokenKind::Word });
            }
            rest = tail;
        }
        self.word.clear();
    }

    fn flush_run(&mut self) {
        if let Some(c) = self.flag.take() {
            self.emit_char(c);
        }
        let (run, n) = (self.run.as_str(), self.starts.len());
        if n == 0 {
            return;
        }
        if n == 1 {
            (self.f)(Token { text: run, kind: TokenKind::Lone });
        } else {
            self.starts.push(run.len());
            for (kind, len) in [(TokenKind::Bigram, 2), (TokenKind::Unigram, 1)] {
                for ends in self.starts.windows(len + 1) {
                    (self.f)(Token { text: &run[ends[0]..ends[len]], kind });
                }
            }
        }
        self.run.clear();
        self.starts.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::super::recipe_test::{grams, stems};
    use super::super::stem;
    use super::*;

    #[test]
    fn stop_words_are_sorted_for_the_search() {
        assert!(STOP.is_sorted());
        assert!(STOP.iter().all(|word| is_stop_word(word)));
        assert!(!is_stop_word("memory"));
    }

    /// A query of a few characters shares a token with the sentence in both fields.
    #[test]
    fn b10_case_18_short_queries_of_every_script_find_their_sentence() {
        for (sentence, queries) in [
            ("我更喜欢看电影和喝茶。", &["喝茶", "电影", "茶"][..]),
            ("東京タワーに行きました", &["東京", "タワー", "行き"]),
            ("か\u{3099}くせいです", &["がく", "学生 がくせい"]),
            ("ฉันชอบกินข้าวผัด", &["ข้าว", "กิน"]),
            ("أعيش في القاهِرة مع عائلتي", &["القاهرة", "عائلتى عائلتي"]),
            ("Мы гуляли по набережной", &["набережная", "гулять"]),
            ("나는 어제 학교에 갔다", &["학교", "어제"]),
            ("We won 🏆🎉 👍🏽 in 🇯🇵", &["🎉", "👍", "🇯🇵", "🏆️"]),
            ("मैं दिल्ली में रहता हूँ", &["दिल्ली"]),
            ("Un café à Zürich", &["cafe", "zurich", "CAFÉ", "cafe\u{301}"]),
            ("ＡＢＣ１２ の ﬁnal", &["abc12", "final"]),
        ] {
            let fields = [stems, grams].map(|field| field(sentence).into_iter().collect::<HashSet<_>>());
            for query in queries {
                assert!(stems(query).iter().any(|token| fields[0].contains(token)), "{query} in {sentence}: stems");
                // a character inside a longer run is found by the stems field alone
                let single = query.chars().count() == 1 && !is_emoji(query.chars().next().unwrap_or_default());
                assert!(
                    single || grams(query).iter().any(|token| fields[1].contains(token)),
                    "{query} in {sentence}: grams"
                );
            }
        }
    }

    /// Case 20: names of JavaScript's own properties are ordinary words.
    #[test]
    fn names_of_object_members_are_ordinary_words() {
        assert_eq!(stems("constructor, __proto__ and toString"), ["constructor", "proto", "tostr"]);
        assert_eq!(grams("__proto__"), ["_pro", "prot", "roto", "oto_"]);
    }

    #[test]
    fn kinds_follow_the_length_of_a_run() {
        let mut out = Vec::new();
        for_each_token("猫 iPhone手机 🇯🇵🇯", &mut |token| out.push((token.text.to_string(), token.kind)));
        let expected = [
            ("猫", TokenKind::Lone),
            ("iphone", TokenKind::Word),
            ("手机", TokenKind::Bigram),
            ("手", TokenKind::Unigram),
            ("机", TokenKind::Unigram),
            ("🇯🇵", TokenKind::Word),
            ("🇯", TokenKind::Word),
        ];
        assert_eq!(out, expected.map(|(text, kind)| (text.to_string(), kind)));
    }

    #[test]
    fn an_endless_word_is_cut() {
        let mut lengths = Vec::new();
        for_each_token(&"x".repeat(300), &mut |token| lengths.push(token.text.len()));
        assert_eq!(lengths, [MAX_WORD_CHARS, MAX_WORD_CHARS, 300 - 2 * MAX_WORD_CHARS]);
    }

    proptest! {
        #[test]
        fn no_string_breaks_a_token(text in any::<String>()) {
            for_each_token(&text, &mut |token| {
                assert!(!token.text.is_empty());
                assert!(!stem(token.text).is_empty());
            });
            let _ = grams(&text);
        }

        #[test]
        fn no_word_breaks_a_stemmer(
            words in "([a-z0-9']{0,12} |[а-яёѐ-ӿ]{0,12} |[ء-ي]{0,12} |[ا-ي]{1,3}(ات|ون|ين|ها|كم) ){1,20}"
        ) {
            words.split(' ').for_each(|word| assert_eq!(stem(word).is_empty(), word.is_empty()));
        }

        #[test]
        fn ascii_words_are_the_recipes(text in "[ -~\n]{0,80}") {
            let mut ours = Vec::new();
            for_each_token(&text, &mut |token| ours.push(token.text.to_string()));
            let lower = text.to_lowercase();
            let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
            let expected: Vec<_> = words.filter(|word| !word.is_empty() && !STOP.contains(word)).collect();
            prop_assert_eq!(ours, expected);
        }
    }
}
