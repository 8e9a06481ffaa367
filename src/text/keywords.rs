//! Keywords of a group of texts, in the form in which they stand there.

use super::script::{is_hiragana, is_mark, is_unspaced, is_word};
use super::stem::stem;
use super::tokenize::{TokenKind, for_each_token};
use crate::map::{HashMap, HashSet};
use crate::order::sort_by;

/// Words that name no topic though they are not stop words: what is left of contractions, and talk about talking.
const WEAK: [&str; 78] = [
    "actually",
    "ain",
    "all",
    "also",
    "always",
    "any",
    "anything",
    "aren",
    "because",
    "bit",
    "came",
    "come",
    "couldn",
    "didn",
    "doesn",
    "don",
    "done",
    "else",
    "even",
    "ever",
    "every",
    "everything",
    "get",
    "getting",
    "go",
    "going",
    "gone",
    "good",
    "got",
    "great",
    "hadn",
    "hasn",
    "haven",
    "hello",
    "here",
    "hey",
    "hi",
    "isn",
    "kind",
    "know",
    "let",
    "like",
    "lot",
    "made",
    "make",
    "many",
    "maybe",
    "more",
    "most",
    "much",
    "never",
    "now",
    "oh",
    "ok",
    "okay",
    "one",
    "only",
    "please",
    "really",
    "said",
    "say",
    "shouldn",
    "some",
    "something",
    "still",
    "sure",
    "thank",
    "thanks",
    "there",
    "thing",
    "things",
    "think",
    "wasn",
    "well",
    "weren",
    "won",
    "wow",
    "yes",
];

/// Chinese characters that are grammar almost wherever they stand; a run is cut at them before n-grams are taken.
const ZH_GRAMMAR: &str =
    "的了是在我你您他她它们們这這那和与與就不也都很吗嗎呢吧啊呀哦嗯着著把被但而或没沒还還又再太更最";
/// Korean particles that end a noun.
const KO_PARTICLES: &str = "은는이가을를에의도와과로";

/// Longest n-gram that is taken for a word inside a longer unspaced run, in characters.
const MAX_GRAM: usize = 4;
/// Longest unspaced run that is a keyword as a whole where its script is not Han, in characters.
const MAX_WHOLE: usize = 12;
/// Longest word that is a keyword, in characters; what is longer is no word.
const MAX_KEYWORD: usize = 40;

/// Worth of a pair of words beside one word.
const PHRASE: f32 = 1.2;
/// Worth of a whole unspaced run beside one word.
const WHOLE: f32 = 1.25;

struct Candidate {
    /// The form shown.
    surface: String,
    /// Stems of its words or bigrams of its characters; no two keywords share one.
    keys: Vec<String>,
    count: u32,
    /// When it was first seen, counted over all texts.
    first: usize,
    /// Times it was written as a name: a capital inside a sentence, or capitals only.
    names: u32,
    /// What its kind is worth beside a plain word.
    weight: f32,
    /// Two words, which may stand side by side by chance.
    phrase: bool,
}

/// The best `limit` keywords and short phrases of `texts`, best first.
///
/// Score: (1 + ln count) x inverse document frequency, more for names, for phrases and for whole unspaced runs.
/// `document_frequency` gives the share (0 to 1) of all documents that hold a stem, or a bigram of an unspaced script.
/// Words of spaced scripts, pairs of them that are names or recur; runs of Han cut at grammatical characters and, where
/// still long, their n-grams of two to four characters; whole Katakana and Hangul runs. Never empty, a stop word or a bare
/// number of fewer than four digits; no two share a stem or a bigram. Equal input gives equal output.
pub fn keywords(texts: &[&str], limit: usize, document_frequency: &dyn Fn(&str) -> f32) -> Vec<String> {
    let mut found = Found::default();
    for text in texts {
        found.read(text);
    }
    let mut frequencies: HashMap<String, f32> = HashMap::new();
    let mut rarity = |key: &str| {
        if let Some(&known) = frequencies.get(key) {
            return known;
        }
        let share = document_frequency(key);
        let idf = (1.01 / (if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) } + 0.01)).ln();
        frequencies.insert(key.into(), idf);
        idf
    };
    let mut ranked: Vec<(f32, Candidate)> = found
        .candidates
        .into_values()
        .filter(|c| !c.phrase || c.count > 1 || c.names > 0)
        .map(|mut c| {
            let idf = c.keys.iter().map(|key| rarity(key)).sum::<f32>() / c.keys.len() as f32;
            let name = if c.names > 0 { 1.5 } else { 1.0 };
            if c.names == 0 {
                c.surface = c.surface.to_lowercase();
            }
            ((1.0 + (c.count as f32).ln()) * idf * c.weight * name, c)
        })
        .collect();
    sort_by(&mut ranked, |(a, x), (b, y)| {
        b.total_cmp(a).then(x.first.cmp(&y.first)).then_with(|| x.surface.cmp(&y.surface))
    });
    let (mut out, mut taken) = (Vec::new(), HashSet::new());
    for (_, candidate) in ranked {
        if out.len() == limit {
            break;
        }
        if candidate.keys.iter().any(|key| taken.contains(key)) {
            continue;
        }
        taken.extend(candidate.keys);
        out.push(candidate.surface);
    }
    out
}

/// Word of a spaced script as it stands in a text.
struct Seen {
    surface: String,
    key: String,
    name: bool,
    /// Byte after it.
    end: usize,
}

#[derive(Default)]
struct Found {
    candidates: HashMap<String, Candidate>,
    seen: usize,
}

impl Found {
    fn read(&mut self, text: &str) {
        let (mut previous, mut opens): (Option<Seen>, bool) = (None, true);
        let mut rest = text.char_indices().peekable();
        while let Some((start, c)) = rest.next() {
            if is_unspaced(c) {
                let mut end = start + c.len_utf8();
                while let Some((i, c)) = rest.next_if(|&(_, c)| is_unspaced(c) || is_mark(c)) {
                    end = i + c.len_utf8();
                }
                self.read_unspaced(&text[start..end]);
                (previous, opens) = (None, false);
            } else if is_word(c) {
                let mut end = start + c.len_utf8();
                while let Some((i, c)) = rest.next_if(|&(_, c)| (is_word(c) || is_mark(c)) && !is_unspaced(c)) {
                    end = i + c.len_utf8();
                }
                let word = see(&text[start..end], opens, end);
                if let (Some(first), Some(second)) = (&previous, &word)
                    && matches!(&text[first.end..start], " " | "-")
                    && first.key != second.key
                {
                    self.add_phrase(&text[first.end - first.surface.len()..end], first, second);
                }
                if let Some(word) = &word {
                    self.add(&word.surface, vec![word.key.clone()], word.name, weight_of(&word.surface));
                }
                (previous, opens) = (word, false);
            } else if matches!(c, '.' | '!' | '?' | '\n' | ':' | '"' | '“' | '。' | '！' | '？') {
                opens = true;
            }
        }
    }

    fn add_phrase(&mut self, surface: &str, first: &Seen, second: &Seen) {
        let name = first.name && second.name;
        // a phrase that is half a name cuts names in two
        if first.name == second.name {
            self.add(surface, vec![first.key.clone(), second.key.clone()], name, PHRASE);
        }
    }

    fn read_unspaced(&mut self, run: &str) {
        let grammar = |c: char| is_hiragana(c) || c == '々' || ZH_GRAMMAR.contains(c);
        for chunk in run.split(grammar) {
            // one script at a time: 東京タワー is two words
            let chars: Vec<char> = chunk.chars().collect();
            for part in chars.chunk_by(|&a, &b| Writing::of(a) == Writing::of(b)) {
                self.read_part(part);
            }
        }
    }

    fn read_part(&mut self, part: &[char]) {
        let part = match part {
            [stem @ .., last]
                if Writing::of(*last) == Writing::Hangul && KO_PARTICLES.contains(*last) && stem.len() > 1 =>
            {
                stem
            }
            _ => part,
        };
        let writing = part.first().map(|&c| Writing::of(c));
        let longest = if writing == Some(Writing::Han) { MAX_GRAM } else { MAX_WHOLE };
        if (2..=longest).contains(&part.len()) {
            self.add_gram(part, WHOLE);
        }
        if writing == Some(Writing::Han) || part.len() > longest {
            for n in 2..=MAX_GRAM.min(part.len().saturating_sub(1)) {
                part.windows(n).for_each(|gram| self.add_gram(gram, 0.7 + 0.1 * n as f32));
            }
        }
    }

    fn add_gram(&mut self, gram: &[char], weight: f32) {
        let surface: String = gram.iter().collect();
        let mut keys = Vec::new();
        for_each_token(&surface, &mut |token| {
            if matches!(token.kind, TokenKind::Bigram | TokenKind::Lone) {
                keys.push(token.text.to_string());
            }
        });
        if !keys.is_empty() {
            self.add(&surface, keys, false, weight);
        }
    }

    fn add(&mut self, surface: &str, keys: Vec<String>, name: bool, weight: f32) {
        self.seen += 1;
        let first = self.seen;
        let phrase = keys.len() == 2 && weight == PHRASE;
        let new = || Candidate {
            surface: surface.to_string(),
            keys: keys.clone(),
            count: 0,
            first,
            names: 0,
            weight,
            phrase,
        };
        let candidate = self.candidates.get_or_insert_with(keys.join(" "), new);
        candidate.count += 1;
        candidate.weight = candidate.weight.max(weight);
        if name {
            if candidate.names == 0 {
                candidate.surface = surface.to_string();
            }
            candidate.names += 1;
        }
    }
}

/// A word of a spaced script, unless it cannot be a keyword. `opens`: it begins a sentence, so its capital says nothing.
fn see(surface: &str, opens: bool, end: usize) -> Option<Seen> {
    let (mut words, mut n) = (String::new(), 0);
    for_each_token(surface, &mut |token| {
        words.push_str(token.text);
        n += 1;
    });
    let chars = surface.chars().count();
    let number = words.bytes().all(|b| b.is_ascii_digit());
    if n != 1
        || !(2..=MAX_KEYWORD).contains(&chars)
        || (number && chars < 4)
        || WEAK.binary_search(&words.as_str()).is_ok()
    {
        return None;
    }
    let capitals = surface.chars().filter(|c| c.is_uppercase()).count();
    let name = capitals > 1 || (capitals == 1 && !opens && surface.starts_with(char::is_uppercase));
    Some(Seen { surface: surface.to_string(), key: stem(&words).into_owned(), name, end })
}

fn weight_of(surface: &str) -> f32 {
    let number = surface.bytes().all(|b| b.is_ascii_digit());
    if number || surface.chars().count() < 3 { 0.5 } else { 1.0 }
}

/// Scripts that are cut from one another inside an unspaced run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    Han,
    Katakana,
    Hangul,
    Other,
}

impl Writing {
    fn of(c: char) -> Self {
        match c {
            '\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}' => Self::Katakana,
            '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7ff}' => Self::Hangul,
            '\u{2e80}'..='\u{3029}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'.. => Self::Han,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::is_stop_word;
    use super::*;

    const TEXTS: [&str; 4] = [
        "I started a pottery class in June. The pottery class is in Lisbon, near the river.",
        "Do you like the pottery class? My friend Grace Okafor teaches it.",
        "我上周去了图书馆，借了一本科幻小说。",
        "图书馆的科幻小说很多。東京タワーに行きました。",
    ];

    fn none(_: &str) -> f32 {
        0.0
    }

    #[test]
    fn weak_words_are_sorted_for_the_search() {
        assert!(WEAK.is_sorted());
    }

    #[test]
    fn names_phrases_and_unspaced_words_come_out_as_written() {
        let found = keywords(&TEXTS, 20, &none);
        assert_eq!(found[0], "pottery class");
        for wanted in ["Grace Okafor", "Lisbon", "图书馆", "东京塔", "東京", "タワー"] {
            assert_eq!(found.iter().any(|word| word == wanted), wanted != "东京塔", "{wanted} in {found:?}");
        }
        for absent in ["the", "you", "like", "class", "的"] {
            assert!(!found.iter().any(|word| word == absent), "{absent} in {found:?}");
        }
    }

    #[test]
    fn b10_every_script_has_keywords() {
        for (text, wanted) in [
            ("我上周在图书馆借了一本科幻小说。", "图书馆"),
            ("昨日は京都で抹茶を飲みました。", "抹茶"),
            ("어제 서울에서 친구를 만났어요.", "친구를"),
            ("ฉันชอบกินข้าวเหนียวมะม่วง", "มะม่วง"),
            ("أحب شرب القهوة في الصباح", "القهوة"),
            ("Моя сестра переехала в Казань", "Казань"),
        ] {
            let found = keywords(&[text], 20, &none);
            assert!(
                found.iter().any(|word| word.contains(wanted) || wanted.contains(word.as_str())),
                "{wanted} in {found:?}"
            );
        }
    }

    #[test]
    fn a_word_of_every_document_sinks() {
        let common = |key: &str| if key == "potteri" { 1.0 } else { 0.01 };
        let found = keywords(&["pottery pottery river"], 2, &common);
        assert_eq!(found, ["river", "pottery"]);
    }

    #[test]
    fn nothing_gives_nothing() {
        assert!(keywords(&[], 5, &none).is_empty());
        assert!(keywords(&["the and of", "", "12 7"], 5, &none).is_empty());
        assert!(keywords(&TEXTS, 0, &none).is_empty());
        assert_eq!(keywords(&["constructor __proto__"], 5, &|_| f32::NAN).len(), 2);
    }

    proptest! {
        #[test]
        fn keywords_are_distinct_and_say_something(
            texts in prop::collection::vec("(\\PC|the |run |running |Luna |猫|的|图书馆|[a-zA-Z]{1,6} ){0,30}", 0..5),
            limit in 0usize..12,
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let found = keywords(&texts, limit, &none);
            prop_assert!(found.len() <= limit);
            prop_assert_eq!(&found, &keywords(&texts, limit, &none));
            let mut keys = HashSet::new();
            for word in &found {
                prop_assert!(!word.trim().is_empty() && !is_stop_word(word));
                let held = texts.iter().any(|text| text.contains(word.as_str()) || text.to_lowercase().contains(word.as_str()));
                prop_assert!(held, "{}", word);
                let mut own = HashSet::new();
                for_each_token(word, &mut |token| {
                    if token.kind != TokenKind::Unigram {
                        own.insert(stem(token.text).into_owned());
                    }
                });
                prop_assert!(own.iter().all(|key| !keys.contains(key)), "{word} shares a stem in {found:?}");
                keys.extend(own.iter().cloned());
            }
        }
    }
}
