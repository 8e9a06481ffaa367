//! Keywords of a group of texts, in the form in which they stand there.

use hashbrown::{HashMap, HashSet};

use super::script::{is_hiragana, is_mark, is_unspaced, is_word};
use super::tokenize::{TokenKind, for_each_token, stem};

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
        let idf = |key: &str| {
            let share = document_frequency(key);
            (1.01 / (if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) } + 0.01)).ln()
        };
        *frequencies.entry_ref(key).or_insert_with(|| idf(key))
    };
    let mut ranked: Vec<(f32, Candidate)> = found
        .candidates
        .into_values()
        .filter(|c| c.keys.len() < 2 || c.count > 1 || c.names > 0 || c.weight > 1.2 || !c.surface.contains(' '))
        .map(|mut c| {
            let idf = c.keys.iter().map(|key| rarity(key)).sum::<f32>() / c.keys.len() as f32;
            let name = if c.names > 0 { 1.5 } else { 1.0 };
            if c.names == 0 {
                c.surface = c.surface.to_lowercase();
            }
            ((1.0 + (c.count as f32).ln()) * idf * c.weight * name, c)
        })
        .collect();
    ranked.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.first.cmp(&y.first)).then_with(|| x.surface.cmp(&y.surface)));
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
            self.add(surface, vec![first.key.clone(), second.key.clone()], name, 1.2);
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
            self.add_gram(part, 1.25);
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
        let new = |_: &String| Candidate {
            surface: surface.to_string(),
            keys: keys.clone(),
            count: 0,
            first,
            names: 0,
            weight,
        };
        let id = keys.join(" ");
        let entry = self.candidates.entry(id);
        let candidate = entry.or_insert_with_key(new);
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
