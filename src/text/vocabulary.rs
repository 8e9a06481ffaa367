//! Names of the static table's rows, and the tokenizer that finds them in a text.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::canonical::for_each_part;
use super::category::{Category, category};
use super::script::{is_cjk, is_space};

/// A word longer than this many characters is unknown (BERT's tokenizer).
const MAX_PIECED_CHARS: usize = 100;

/// From names to rows: one blob of text, the end of each name in it, and hash tables of row numbers alone.
pub(super) struct Vocabulary {
    names: String,
    ends: Vec<u32>,
    /// WordPieces that begin a word, those that go on with one (their names without `##`), Chinese names.
    maps: [HashTable<u16>; 3],
    hasher: DefaultHashBuilder,
    /// Longest WordPiece in bytes, longest Chinese name in characters.
    longest: (usize, usize),
}

const HEAD: usize = 0;
const TAIL: usize = 1;
const CHINESE: usize = 2;

impl Vocabulary {
    /// From newline-joined WordPieces and Chinese names; the error says what is wrong with them.
    pub(super) fn new(pieces: &str, zh: &str) -> Result<Self, String> {
        let mut new = Self {
            names: String::with_capacity(pieces.len() + zh.len()),
            ends: Vec::new(),
            maps: [HashTable::new(), HashTable::new(), HashTable::new()],
            hasher: DefaultHashBuilder::default(),
            longest: (0, 0),
        };
        let lines = |text: &str| text.bytes().filter(|&b| b == b'\n').count() + 1;
        let (n_pieces, n_zh) = (lines(pieces), lines(zh));
        new.ends.reserve(n_pieces + n_zh);
        for (map, n) in [(HEAD, n_pieces), (TAIL, n_pieces / 4), (CHINESE, n_zh)] {
            new.maps[map].reserve(n, |_| 0);
        }
        for name in pieces.split('\n').filter(|name| !name.is_empty()) {
            match name.strip_prefix("##") {
                Some(tail) if !tail.is_empty() => new.insert(TAIL, tail)?,
                _ => new.insert(HEAD, name)?,
            }
            new.longest.0 = new.longest.0.max(name.len());
        }
        for name in zh.split('\n').filter(|name| !name.is_empty()) {
            new.insert(CHINESE, name)?;
            new.longest.1 = new.longest.1.max(name.chars().count());
        }
        Ok(new)
    }

    /// Number of names, which is the number of rows.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn insert(&mut self, map: usize, name: &str) -> Result<(), String> {
        let row = u16::try_from(self.ends.len()).map_err(|_| "more than 65,536 rows".to_string())?;
        if self.find(map, name).is_some() {
            return Err(format!("{name:?} is listed twice"));
        }
        self.names.push_str(name);
        self.ends.push(u32::try_from(self.names.len()).map_err(|_| "names over 4 GiB".to_string())?);
        let hash = self.hasher.hash_one(name);
        let Self { names, ends, maps, hasher, .. } = self;
        maps[map].insert_unique(hash, row, |&row| hasher.hash_one(name_of(names, ends, row)));
        Ok(())
    }

    fn find(&self, map: usize, name: &str) -> Option<u16> {
        let hash = self.hasher.hash_one(name);
        self.maps[map].find(hash, |&row| name_of(&self.names, &self.ends, row) == name).copied()
    }

    /// Greedy longest match; calls `f` with the rows of a known word. Returns the number of pieces, 1 for an unknown word.
    pub(super) fn word_pieces(&self, word: &str, f: &mut dyn FnMut(u16)) -> u32 {
        if word.len() > MAX_PIECED_CHARS && word.chars().nth(MAX_PIECED_CHARS).is_some() {
            return 1;
        }
        let (mut rows, mut n, mut from) = ([0; MAX_PIECED_CHARS], 0, 0);
        while from < word.len() {
            let map = if from == 0 { HEAD } else { TAIL };
            let mut end = word.len().min(from + self.longest.0);
            let found = loop {
                if end == from {
                    return 1;
                }
                if word.is_char_boundary(end)
                    && let Some(row) = self.find(map, &word[from..end])
                {
                    break row;
                }
                end -= 1;
            };
            (rows[n], n, from) = (found, n + 1, end);
        }
        rows[..n].iter().for_each(|&row| f(row));
        n as u32
    }

    /// Calls `f` with the row of every listed substring of every run of Chinese characters, by start, then length.
    pub(super) fn chinese(&self, text: &str, f: &mut dyn FnMut(u16)) {
        for (start, c) in text.char_indices().filter(|&(_, c)| is_cjk(c)) {
            let mut end = start;
            for c in core::iter::once(c).chain(text[start + c.len_utf8()..].chars()).take(self.longest.1) {
                if !is_cjk(c) {
                    break;
                }
                end += c.len_utf8();
                if let Some(row) = self.find(CHINESE, &text[start..end]) {
                    f(row);
                }
            }
        }
    }
}

fn name_of<'a>(names: &'a str, ends: &[u32], row: u16) -> &'a str {
    let row = usize::from(row);
    let start = if row == 0 { 0 } else { ends[row - 1] as usize };
    &names[start..ends[row] as usize]
}

/// BERT's pre-tokenizer: without controls and accents, lower-case, split at white space, punctuation and Chinese characters.
pub(super) fn for_each_bert_word(text: &str, f: &mut dyn FnMut(&str)) {
    let mut word = String::new();
    let mut push = |c: char| {
        let alone = if is_space(c) {
            false
        } else if c.is_ascii() {
            if c.is_ascii_control() {
                return;
            }
            !c.is_ascii_alphanumeric()
        } else {
            match category(c) {
                _ if c == '\u{fffd}' => return,
                Category::NonspacingMark | Category::Control => return,
                category => is_cjk(c) || category == Category::Punctuation,
            }
        };
        if !alone && !is_space(c) {
            word.push(c);
            return;
        }
        if !word.is_empty() {
            f(&word);
            word.clear();
        }
        if alone {
            f(c.encode_utf8(&mut [0; 4]));
        }
    };
    if text.is_ascii() {
        text.chars().for_each(|c| push(c.to_ascii_lowercase()));
    } else {
        // Character by character: marks that a whole-text normalisation would reorder are dropped all the same.
        for c in text.chars() {
            for_each_part(c, &mut |c| c.to_lowercase().for_each(&mut push));
        }
    }
    if !word.is_empty() {
        f(&word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_listed_twice_is_refused() {
        assert!(Vocabulary::new("a\nb\n##a", "字").is_ok());
        assert!(Vocabulary::new("a\nb\na", "").is_err());
    }

    #[test]
    fn the_longest_piece_wins_and_a_rest_without_one_makes_the_word_unknown() {
        let vocabulary = Vocabulary::new("un\nunder\n##stand\n##s\nq", "").expect("names");
        let pieces = |word: &str| {
            let mut rows = Vec::new();
            (vocabulary.word_pieces(word, &mut |row| rows.push(row)), rows)
        };
        assert_eq!(pieces("understands"), (3, vec![1, 2, 3]));
        assert_eq!(pieces("unq"), (1, vec![]));
        assert_eq!(pieces(&format!("un{}", "s".repeat(98))).0, 99);
        assert_eq!(pieces(&format!("un{}", "s".repeat(99))), (1, vec![]));
    }
}
