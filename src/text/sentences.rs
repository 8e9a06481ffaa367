//! Atoms: the sentences of a turn, the smallest things that retrieval scores and packs.

use std::borrow::Cow;
use std::ops::Range;

use super::script::{is_space, is_unspaced, strip};

/// Longest atom in characters; a longer sentence is split, and no gluing goes beyond it.
///
/// Source: chosen; the longest sentence of the evaluation sets has under 1,000 characters.
pub const MAX_ATOM_CHARS: usize = 2_000;

/// A piece shorter than this many words (unspaced scripts: characters) is glued to its neighbour (retrieval recipe).
const MIN_PIECE: usize = 4;

/// Caption marker that opens an atom of its own (retrieval recipe).
const PHOTO: &str = "[shares a photo";

/// The atoms of `text` as byte ranges: ascending, never overlapping, on character boundaries, together covering
/// everything but white space. A blank text has none.
///
/// Cut after `.` `!` `?` before white space, after `。！？；`, at line ends and before a photo caption; then pieces of
/// fewer than four words (a piece that begins in an unspaced script: characters) are glued to the previous one, and a
/// short leading piece to the next one. Beyond the recipe: the sentence marks of other scripts cut too, kana, Hangul and
/// the like are counted as Chinese is, and no atom exceeds [`MAX_ATOM_CHARS`]. Linear in the length of the text.
pub fn atoms(text: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    // characters from the start of the last atom to its end, kept so that gluing need not count again
    let mut chars = 0;
    for_each_piece(text, &mut |piece| {
        for part in split_long(text, piece) {
            let body = &text[part.clone()];
            let gap = out.last().map_or(0, |last| text[last.end..part.start].chars().count());
            let len = body.chars().count();
            if let Some(last) = out.last_mut()
                && is_short(body)
                && chars + gap + len <= MAX_ATOM_CHARS
            {
                last.end = part.end;
                chars += gap + len;
            } else {
                out.push(part);
                chars = len;
            }
        }
    });
    if let [first, second, ..] = out.as_slice() {
        let head = &text[first.clone()];
        let joined = first.start..second.end;
        if !leads_unspaced(head)
            && count_words(&atom_text(text, first), MIN_PIECE) < MIN_PIECE
            && text[joined.clone()].chars().count() <= MAX_ATOM_CHARS
        {
            out.splice(..2, [joined]);
        }
    }
    out
}

/// The text of an atom: its pieces joined by one space, as it is tokenised, costed and printed.
///
/// Borrowed unless two glued pieces are set apart by something other than exactly one space. `atom` must come from
/// [`atoms`] of the same text; a range that is not in it gives an empty text.
pub fn atom_text<'a>(text: &'a str, atom: &Range<usize>) -> Cow<'a, str> {
    let Some(body) = text.get(atom.clone()) else {
        return Cow::Borrowed("");
    };
    let (mut plain, mut end, mut pieces) = (true, None, Vec::new());
    for_each_piece(body, &mut |piece| {
        plain &= end.is_none_or(|end| &body[end..piece.start] == " ");
        end = Some(piece.end);
        pieces.push(piece);
    });
    if plain {
        return Cow::Borrowed(body);
    }
    let mut out = String::with_capacity(body.len() + pieces.len());
    for piece in pieces {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&body[piece]);
    }
    Cow::Owned(out)
}

/// Calls `f` with every piece between two cuts, without the white space around it; empty ones are left out.
///
/// Whether a place is a cut depends on the characters beside it alone, so a piece of a piece has no new cuts and
/// [`atom_text`] finds the same ones as [`atoms`].
fn for_each_piece(text: &str, f: &mut dyn FnMut(Range<usize>)) {
    let mut from = 0;
    let mut piece = |from: usize, to: usize| {
        let raw = &text[from..to];
        let body = strip(raw);
        if !body.is_empty() {
            let start = from + (raw.len() - raw.trim_start_matches(is_space).len());
            f(start..start + body.len());
        }
    };
    let mut end = 0;
    while end < text.len() {
        let i = end;
        end += 1;
        // Letters and spaces of ASCII, which most text consists of, are passed over by the byte.
        if text.as_bytes()[i].is_ascii_alphanumeric() || text.as_bytes()[i] == b' ' {
            continue;
        }
        let Some(c) = text[i..].chars().next() else { break };
        end = i + c.len_utf8();
        let (after, next) = (end, text[end..].chars().next());
        let cut = match c {
            '。' | '！' | '？' | '；' | '\n' => Some(after),
            '.' | '!' | '?' => next.is_some_and(is_space).then_some(after),
            // In these scripts the mark alone ends the sentence; a run of marks is one end.
            '؟' | '۔' | '।' | '॥' | '｡' | '։' | '።' | '။' | '។' => {
                next.is_some_and(|next| !next.is_ascii_punctuation() && !is_mark_of_end(next)).then_some(after)
            }
            '[' => text[i..].starts_with(PHOTO).then_some(i),
            _ => None,
        };
        if let Some(cut) = cut {
            piece(from, cut);
            from = cut;
        }
    }
    piece(from, text.len());
}

fn is_mark_of_end(c: char) -> bool {
    matches!(c, '؟' | '۔' | '।' | '॥' | '｡' | '։' | '።' | '။' | '។' | '」' | '』' | '”' | '»')
}

/// Parts of a piece of at most [`MAX_ATOM_CHARS`] characters, cut at white space in the second half of a part or, where
/// there is none, at its end.
fn split_long(text: &str, piece: Range<usize>) -> Vec<Range<usize>> {
    // a character has at most four bytes, so most pieces need no counting
    if piece.len() <= MAX_ATOM_CHARS {
        return vec![piece];
    }
    let (mut out, mut rest) = (Vec::new(), piece);
    loop {
        let body = &text[rest.clone()];
        let Some((limit, _)) = body.char_indices().nth(MAX_ATOM_CHARS) else {
            out.push(rest);
            return out;
        };
        let cut = body[..limit].char_indices().rev().take(MAX_ATOM_CHARS / 2).find(|&(_, c)| is_space(c));
        let cut = cut.map_or(limit, |(i, _)| i);
        let head = strip(&body[..cut]);
        out.push(rest.start..rest.start + head.len());
        let tail = body[cut..].trim_start_matches(is_space);
        rest.start = rest.end - tail.len();
        if rest.is_empty() {
            return out;
        }
    }
}

fn leads_unspaced(piece: &str) -> bool {
    piece.chars().next().is_some_and(is_unspaced)
}

fn is_short(piece: &str) -> bool {
    if leads_unspaced(piece) {
        piece.chars().take(MIN_PIECE).count() < MIN_PIECE
    } else {
        count_words(piece, MIN_PIECE) < MIN_PIECE
    }
}

/// Number of runs without white space, counted up to `limit`.
fn count_words(text: &str, limit: usize) -> usize {
    text.split(is_space).filter(|word| !word.is_empty()).take(limit).count()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<Cow<'_, str>> {
        atoms(text).iter().map(|atom| atom_text(text, atom)).collect()
    }

    #[test]
    fn a_blank_text_has_no_atoms() {
        for text in ["", " ", "\n\n\t", "\u{3000}\u{a0}\u{1c}"] {
            assert!(atoms(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn sentence_marks_of_other_scripts_cut() {
        for (text, n) in [
            ("أين تعيش الآن يا صديقي؟ أعيش في القاهرة مع عائلتي.", 2),
            ("यह मेरा नया घर है। वह उसका पुराना घर है॥", 2),
            ("これはペンです｡あれは本です｡", 2),
            ("ما هذا الشيء الغريب هناك؟! لا أعرف ما هو هذا.", 2),
            ("میں لاہور میں رہتا ہوں۔ وہ کراچی میں رہتی ہے۔", 2),
        ] {
            assert_eq!(texts(text).len(), n, "{:?}", texts(text));
        }
    }

    #[test]
    fn pieces_that_touch_are_joined_by_a_space() {
        let text = "真的吗？！ 太好了\n\n对。";
        assert_eq!(texts(text), ["真的吗？ ！ 太好了 对。"]);
        assert!(matches!(atom_text("One two three four. Five.", &(0..25)), Cow::Borrowed(_)));
        assert_eq!(atom_text("abc", &(2..9)), "");
    }

    #[test]
    fn a_huge_text_is_cut_in_linear_time() {
        for unit in ["x", "word ", "Ok. ", "！", "字", "🏆", "\n.", "[shares a photo ", "a "] {
            let text = unit.repeat(200_000 / unit.chars().count());
            let began = Instant::now();
            let found = atoms(&text);
            let whole: usize = found.iter().map(|atom| atom_text(&text, atom).len()).sum();
            assert!(whole >= text.chars().filter(|c| !c.is_whitespace()).count());
            assert!(found.iter().all(|atom| text[atom.clone()].chars().count() <= MAX_ATOM_CHARS), "{unit:?}");
            // quadratic work would take minutes
            assert!(began.elapsed().as_secs() < 5, "{unit:?} took {:?}", began.elapsed());
        }
        let words = "seven letters ".repeat(400);
        assert!(texts(&words).iter().all(|atom| atom.ends_with("letters") || atom.ends_with("seven")));
    }

    proptest! {
        #[test]
        fn atoms_cover_the_text_in_order(text in "(\\PC|[ .!?。！\n\t]|Ok\\. |字|\\[shares a photo ){0,120}") {
            let found = atoms(&text);
            let mut end = 0;
            for atom in &found {
                prop_assert!(end <= atom.start && atom.start < atom.end && atom.end <= text.len());
                prop_assert!(text[end..atom.start].chars().all(is_space));
                let (body, printed) = (&text[atom.clone()], atom_text(&text, atom));
                prop_assert_eq!(strip(body), body);
                let solid = |text: &str| text.chars().filter(|&c| !is_space(c)).collect::<String>();
                prop_assert_eq!(solid(body), solid(&printed));
                end = atom.end;
            }
            prop_assert!(text[end..].chars().all(is_space));
            prop_assert_eq!(found.is_empty(), text.chars().all(is_space));
        }
    }
}
