//! Texts that hold the question, or a phrase it quotes, word for word.

use super::fuse::Visible;
use super::query::{Query, is_word};
use super::rank::TextOf;
use super::weights::{EXACT_QUOTED, EXACT_WHOLE, EXACT_WITHIN};
use crate::index::Index;
use crate::index::bm25::Field;
use crate::order::Greatest;
use crate::text::{for_each_token, is_unspaced, stem};

/// Stems of a question that are tracked by turn; more of them would only narrow the candidates further.
pub(crate) const TRACKED: usize = 64;
/// Turns whose text is read for a question. Beyond it the shorter texts are preferred: the question fills more of them.
const MAX_READ: usize = 64;
/// Characters of an unspaced script, or two words, from which a question found inside a longer text is more than chance.
const MIN_UNSPACED: usize = 3;

/// Value of the feature by atom handle; `None` when it is 0 everywhere. `held` tells by place which of the first
/// [`TRACKED`] stems the turn holds.
pub(crate) fn exact(
    index: &Index,
    query: &Query<'_>,
    held: &[u64],
    visible: &Visible,
    read: &TextOf<'_>,
) -> Option<Vec<f32>> {
    let mut values = None;
    let whole = Phrase { normal: Normal::new(query.text), value: EXACT_WITHIN };
    let mut phrases = vec![(mask(query, None), whole)];
    for quote in &query.understanding.quotes {
        phrases.push((mask(query, Some(quote)), Phrase { normal: Normal::new(quote), value: EXACT_QUOTED }));
    }
    for (mask, phrase) in phrases {
        let Some(mask) = mask.filter(|_| !phrase.normal.text.is_empty()) else { continue };
        for place in candidates(index, held, visible, mask) {
            let turn = index.layout().order()[place as usize];
            read(index.id(turn), &mut |text| {
                for (span, value) in phrase.matches(text) {
                    let values = values.get_or_insert_with(|| vec![0f32; index.atoms.cues.len()]);
                    for atom in index.atoms_of(turn) {
                        let (start, end) = index.atoms.span[atom as usize];
                        if (start as usize) < span.end && span.start < end as usize {
                            let old = &mut values[atom as usize];
                            *old = old.max(value);
                        }
                    }
                }
            });
        }
    }
    values
}

/// The stems a candidate must hold, as bits; `None` when one of them is in no text. `phrase` is a part of the question;
/// without one, the whole.
fn mask(query: &Query<'_>, phrase: Option<&str>) -> Option<u64> {
    let tracked = &query.stems[..query.stems.len().min(TRACKED)];
    let mut mask = Some(0u64);
    let mut need = |position: usize, known: bool| {
        mask = if known { mask.map(|mask| mask | 1 << position) } else { None };
    };
    if let Some(phrase) = phrase {
        for_each_token(phrase, &mut |token| {
            let name = stem(token.text);
            if let Some(at) = tracked.iter().position(|stem| stem.name == name || stem.name == token.text) {
                need(at, tracked[at].term.is_some());
            }
        });
    } else {
        tracked.iter().enumerate().for_each(|(at, stem)| need(at, stem.term.is_some()));
    }
    mask
}

/// Places of visible turns that hold all stems of `mask`; for a phrase of stop words alone, of turns with an atom of
/// stop words alone.
fn candidates(index: &Index, held: &[u64], visible: &Visible, mask: u64) -> Vec<u32> {
    let layout = index.layout();
    let atoms = |place: usize| index.atoms_of(layout.order()[place]);
    let length = |atom: u32| index.lexical.length(Field::Stems, atom);
    let mut shortest = Greatest::new(MAX_READ);
    for (place, &held) in held.iter().enumerate() {
        let holds = if mask == 0 { atoms(place).any(|atom| length(atom) == 0) } else { held & mask == mask };
        if holds && visible.has(place) {
            shortest.push(-(atoms(place).map(length).sum::<u32>() as f32), place as u32);
        }
    }
    shortest.into_numbers()
}

/// What is looked for.
struct Phrase {
    normal: Normal,
    value: f32,
}

impl Phrase {
    /// Where `text` holds the phrase, in bytes of `text`, and what that is worth.
    fn matches(&self, text: &str) -> Vec<(core::ops::Range<usize>, f32)> {
        let (phrase, original, text) = (self.normal.text.as_str(), text, Normal::new(text));
        if text.text == phrase {
            let value = if self.value == EXACT_WITHIN { EXACT_WHOLE } else { self.value };
            return vec![(0..usize::MAX, value)];
        }
        let n_unspaced = phrase.chars().filter(|&c| is_unspaced(c)).count();
        if n_unspaced < MIN_UNSPACED && !phrase.contains(' ') {
            return Vec::new();
        }
        let glued = |c: Option<char>| c.is_some_and(|c| c != ' ' && !is_unspaced(c));
        let boundary = |before: Option<char>, after: Option<char>| !(glued(before) && glued(after));
        text.text
            .match_indices(phrase)
            .filter(|&(start, _)| {
                let (head, tail) = (&text.text[..start], &text.text[start + phrase.len()..]);
                boundary(head.chars().next_back(), phrase.chars().next())
                    && boundary(phrase.chars().next_back(), tail.chars().next())
            })
            .map(|(start, _)| {
                let last = text.source[start + phrase.len() - 1] as usize;
                let end = last + original[last..].chars().next().map_or(0, char::len_utf8);
                (text.source[start] as usize..end, self.value)
            })
            .collect()
    }
}

/// A text in lower case, with one space for each run of white space and punctuation, none at the ends.
struct Normal {
    text: String,
    /// By byte of `text`: the byte of the original character.
    source: Vec<u32>,
}

impl Normal {
    fn new(original: &str) -> Self {
        let mut normal =
            Self { text: String::with_capacity(original.len()), source: Vec::with_capacity(original.len()) };
        let mut gap = false;
        for (at, c) in original.char_indices() {
            if is_separator(c) {
                gap = true;
                continue;
            }
            if core::mem::take(&mut gap) && !normal.text.is_empty() {
                normal.text.push(' ');
                normal.source.push(at as u32);
            }
            for c in c.to_lowercase() {
                normal.text.push(c);
                normal.source.resize(normal.text.len(), at as u32);
            }
        }
        normal
    }
}

/// White space and punctuation of the blocks where text has it. Marks, emoji and other symbols are part of a text.
fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || (c < '\u{c0}' && !is_word(c))
        || matches!(c, '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}'
            | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}' | '\u{ff5b}'..='\u{ff65}' | '؟' | '،' | '؛')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(phrase: &str, text: &str) -> Vec<(String, f32)> {
        let phrase = Phrase { normal: Normal::new(phrase), value: EXACT_WITHIN };
        let matches = phrase.matches(text).into_iter();
        matches.map(|(span, value)| (text[span.start..span.end.min(text.len())].to_owned(), value)).collect()
    }

    #[test]
    fn words_match_whole_and_whatever_stands_between() {
        assert_eq!(
            found("the Red-House", "In the red  house. the redhouses"),
            [("the red  house".to_owned(), EXACT_WITHIN)]
        );
        assert_eq!(found("red house", "hundred houses"), []);
        assert_eq!(found("house", "a house"), [], "one word inside a text is no quotation");
        assert_eq!(found("House!", "house"), [("house".to_owned(), EXACT_WHOLE)]);
    }

    #[test]
    fn unspaced_scripts_match_inside_a_run() {
        assert_eq!(found("科幻小说", "借了一本科幻小说。").len(), 1);
        assert_eq!(found("科幻", "借了一本科幻小说。"), []);
        assert_eq!(found("👍", "👍"), [("👍".to_owned(), EXACT_WHOLE)]);
    }
}
