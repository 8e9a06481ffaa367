//! Characters with and without their marks, and what Unicode holds for equal (canonical equivalence).
//!
//! `canonical.bin` has the mappings in 8 KB, so that the wasm file does without the tables of every normal form; it is unpacked
//! at the first question. The file is a list of mappings in order of the character, three numbers each:
//!
//! ```text
//! character, less that of the mapping before; times two, plus one if its parts are not joined to it again
//! first part, less that of the mapping before, zigzag
//! second part, less that of the mapping before, zigzag; it is 0 if there is none
//! ```

use std::sync::LazyLock;

use super::category::numbers;

/// Characters a block of [`Blocks`].
const BLOCK: usize = 64;

// Syllables of Hangul are made of consecutive letters (Unicode, 3.12).
const SYLLABLES: u32 = 0xac00;
const LEADS: u32 = 0x1100;
const VOWELS: u32 = 0x1161;
/// One before the first: a syllable without a tail has number 0.
const TAILS: u32 = 0x11a7;
const N_LEADS: u32 = 19;
const N_VOWELS: u32 = 21;
const N_TAILS: u32 = 28;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::unpack(include_bytes!("canonical.bin")));

/// Calls `f` with the characters that `c` is made of, or with `c` itself.
pub(super) fn for_each_part(c: char, f: &mut dyn FnMut(char)) {
    if c < '\u{c0}' {
        return f(c);
    }
    match split(c) {
        Some((first, second)) => {
            for_each_part(first, f);
            if second != '\0' {
                f(second);
            }
        }
        None => f(c),
    }
}

/// The one or two characters that `c` stands for; of one the second is NUL.
fn split(c: char) -> Option<(char, char)> {
    let syllable = u32::from(c).wrapping_sub(SYLLABLES);
    if syllable < N_LEADS * N_VOWELS * N_TAILS {
        return Some(match (syllable / N_TAILS, syllable % N_TAILS) {
            (open, 0) => (character(LEADS + open / N_VOWELS), character(VOWELS + open % N_VOWELS)),
            (open, tail) => (character(SYLLABLES + open * N_TAILS), character(TAILS + tail)),
        });
    }
    let block = TABLE.parts.block(c);
    let at = block.binary_search_by_key(&c, |&(c, ..)| c).ok()?;
    Some((block[at].1, block[at].2))
}

/// The character that `first` and `second` make together.
fn join(first: char, second: char) -> Option<char> {
    let of = |c: char, start: u32, n: u32| Some(u32::from(c).wrapping_sub(start)).filter(|&at| at < n);
    if let (Some(lead), Some(vowel)) = (of(first, LEADS, N_LEADS), of(second, VOWELS, N_VOWELS)) {
        return Some(character(SYLLABLES + (lead * N_VOWELS + vowel) * N_TAILS));
    }
    if let (Some(syllable), Some(tail @ 1..)) =
        (of(first, SYLLABLES, N_LEADS * N_VOWELS * N_TAILS), of(second, TAILS, N_TAILS))
    {
        return (syllable % N_TAILS == 0).then(|| character(u32::from(first) + tail));
    }
    let block = TABLE.wholes.block(second);
    let at = block.binary_search_by_key(&(second, first), |&(second, first, _)| (second, first)).ok()?;
    Some(block[at].2)
}

/// Calls `f` with the characters of `text`, their marks joined on, and compatibility ideographs as the ones they stand for. This
/// is what form NFC does for text in its usual order.
pub fn for_each_composed(text: &str, f: &mut dyn FnMut(char)) {
    let mut pending = None;
    for c in text.chars() {
        let c = match c {
            '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}' => split(c).map_or(c, |(unified, _)| unified),
            c => c,
        };
        pending = match pending.and_then(|before| join(before, c)) {
            Some(joined) => Some(joined),
            None => {
                if let Some(before) = pending {
                    f(before);
                }
                Some(c)
            }
        };
    }
    if let Some(last) = pending {
        f(last);
    }
}

/// A code point of a table, which has characters alone.
fn character(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

struct Table {
    /// Character, first part, second part.
    parts: Blocks,
    /// Second part, first part, the character they make.
    wholes: Blocks,
}

impl Table {
    fn unpack(packed: &[u8]) -> Table {
        let (mut parts, mut wholes) = (Vec::new(), Vec::new());
        let (mut whole, mut first, mut second) = (0, 0, 0);
        let mut numbers = numbers(packed);
        while let (Some(step), Some(a), Some(b)) = (numbers.next(), numbers.next(), numbers.next()) {
            whole += step / 2;
            first = unzigzag(first, a);
            second = unzigzag(second, b);
            parts.push((character(whole), character(first), character(second)));
            if step % 2 == 0 {
                wholes.push((character(second), character(first), character(whole)));
            }
        }
        crate::order::sort(&mut wholes);
        Table { parts: Blocks::new(parts), wholes: Blocks::new(wholes) }
    }
}

fn unzigzag(before: u32, step: u32) -> u32 {
    before.wrapping_add((step >> 1) ^ (step & 1).wrapping_neg())
}

/// Rows in order of their first character, found by its block.
struct Blocks {
    rows: Vec<(char, char, char)>,
    /// Where the rows of each block begin; the last is where all end.
    starts: Vec<u16>,
}

impl Blocks {
    fn new(rows: Vec<(char, char, char)>) -> Blocks {
        let mut starts = vec![0];
        for (at, &(c, ..)) in rows.iter().enumerate() {
            starts.resize(starts.len().max(c as usize / BLOCK + 1), at as u16);
        }
        starts.push(rows.len() as u16);
        Blocks { rows, starts }
    }

    fn block(&self, c: char) -> &[(char, char, char)] {
        match self.starts.get(c as usize / BLOCK..) {
            Some(&[start, end, ..]) => &self.rows[usize::from(start)..usize::from(end)],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::category::check_packed;
    use super::*;
    use unicode_normalization::char::{compose, decompose_canonical};

    fn expected_parts(c: char) -> String {
        let mut parts = String::new();
        decompose_canonical(c, |c| parts.push(c));
        parts
    }

    /// Every character that has parts, but syllables of Hangul, with its first and second part.
    fn mappings() -> Vec<(char, char, char)> {
        let mut whole_of = std::collections::HashMap::new();
        let mut mappings = Vec::new();
        for c in ('\0'..=char::MAX).filter(|c| !matches!(c, '\u{ac00}'..='\u{d7a3}')) {
            let parts = expected_parts(c);
            whole_of.entry(parts.clone()).or_insert(c);
            let mut before = parts.chars();
            let last = before.next_back().expect("never empty");
            match before.as_str() {
                "" if last == c => {}
                "" => mappings.push((c, last, '\0')),
                _ => mappings.push((c, '\0', last)),
            }
        }
        for (c, first, _) in mappings.iter_mut().filter(|&&mut (_, first, _)| first == '\0') {
            let mut parts = expected_parts(*c);
            parts.pop();
            *first = *whole_of.get(&parts).unwrap_or_else(|| panic!("{c:?} does not begin with one character"));
        }
        mappings
    }

    #[test]
    fn the_packed_table_is_unicodes() {
        let zigzag = |before: char, c: char| {
            let step = c as i32 - before as i32;
            (step << 1 ^ step >> 31) as u32
        };
        let mut numbers = Vec::new();
        let mut before = ('\0', '\0', '\0');
        for (c, first, second) in mappings() {
            let stays_apart = u32::from(compose(first, second) != Some(c));
            numbers.push((u32::from(c) - u32::from(before.0)) * 2 + stays_apart);
            numbers.extend([zigzag(before.1, first), zigzag(before.2, second)]);
            before = (c, first, second);
        }
        check_packed("canonical.bin", &numbers);
    }

    #[test]
    fn every_character_has_its_parts() {
        for c in '\0'..=char::MAX {
            let mut parts = String::new();
            for_each_part(c, &mut |part| parts.push(part));
            assert_eq!(parts, expected_parts(c), "{c:?}");
        }
    }

    #[test]
    fn every_pair_makes_what_it_should() {
        let mappings = mappings();
        let set = |part: fn(&(char, char, char)) -> char, others: &[char]| -> std::collections::BTreeSet<char> {
            mappings.iter().map(part).chain(others.iter().copied()).collect()
        };
        let hangul = ['\u{1100}', '\u{1112}', '\u{1161}', '\u{1175}', '\u{11a7}', '\u{11a8}', '\u{11c2}', '\u{11c3}'];
        let syllables = ['\u{ac00}', '\u{ac01}', '\u{d788}', '\u{d7a3}'];
        for first in set(|m| m.1, &[&hangul[..], &syllables].concat()) {
            for &second in &set(|m| m.2, &hangul) {
                assert_eq!(join(first, second), compose(first, second), "{first:?} {second:?}");
            }
        }
        for &(c, ..) in &mappings {
            assert_eq!(join('a', c), compose('a', c));
            assert_eq!(join(c, '\u{301}'), compose(c, '\u{301}'));
        }
    }

    #[test]
    fn marks_are_joined_on_and_ideographs_unified() {
        for (text, expected) in [
            ("cafe\u{301} ole", "café ole"),
            ("か\u{3099}", "が"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("\u{f900}", "豈"),
            ("\u{301}", "\u{301}"),
        ] {
            let mut composed = String::new();
            for_each_composed(text, &mut |c| composed.push(c));
            assert_eq!(composed, expected, "{text}");
        }
    }
}
