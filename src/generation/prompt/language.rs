//! The language that a model is asked to write in.

use crate::text::{is_cjk, is_stop_word, is_unspaced};

/// Share of words, one in this many, that must be English function words; English prose has about one in two.
const ENGLISH_ONE_IN: usize = 4;

/// The language of a conversation, as far as its script tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Latin letters and English function words.
    English,
    /// Mostly Han characters, without kana.
    Chinese,
    /// Anything else; the model sees it better than a rule does.
    Other,
}

impl Language {
    /// How a prompt names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "Chinese",
            Self::Other => "the language of the pages",
        }
    }
}

/// The language of `texts` taken together.
pub fn language<'a>(texts: impl Iterator<Item = &'a str>) -> Language {
    let (mut han, mut unspaced, mut latin, mut other) = (0_usize, 0_usize, 0_usize, 0_usize);
    let (mut words, mut english) = (0_usize, 0_usize);
    for text in texts {
        for c in text.chars().filter(|c| c.is_alphabetic()) {
            match c {
                _ if is_cjk(c) => han += 1,
                _ if is_unspaced(c) => unspaced += 1,
                _ if c < '\u{250}' => latin += 1,
                _ => other += 1,
            }
        }
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            words += 1;
            english += usize::from(is_stop_word(&word.to_ascii_lowercase()));
        }
    }
    // A Han character carries about as much as two to three Latin letters; Japanese shows by its kana.
    if han > 10 * unspaced && han * 2 > latin.max(other) {
        Language::Chinese
    } else if latin > han + unspaced + other && english * ENGLISH_ONE_IN >= words {
        Language::English
    } else {
        Language::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_and_function_words_tell_the_language() {
        for (text, expected) in [
            ("I adopted a puppy from the shelter yesterday.", Language::English),
            ("我上周去了图书馆，借了一本 iPhone 摄影的书。", Language::Chinese),
            ("昨日は友達と映画を見に行きました。", Language::Other),
            ("Ayer fui con mis amigos al cine y vimos una película muy larga.", Language::Other),
            ("Gestern war ich mit Freunden im Kino.", Language::Other),
            ("Вчера я ходил в кино.", Language::Other),
            ("", Language::Other),
        ] {
            assert_eq!(language([text].into_iter()), expected, "{text}");
        }
    }
}
