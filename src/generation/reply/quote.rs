//! Finds a model's quotation in the text it claims to quote.

use core::ops::Range;

use crate::text::is_unspaced;

/// Letters or digits that a quotation must have; a single one stands everywhere.
const LEAST_CHARS: usize = 2;

/// Where `quote` stands in `text`, so that what is kept are the text's own words and never the model's.
///
/// Taken as equal: any run of white space, any quotation mark, any dash, `…` and `...`, angle brackets and what a fence makes
/// of them, upper and lower case of ASCII letters. Quotation marks and dots around the quotation need not be in the text. A quotation
/// begins and ends with a word, in scripts that have spaces, and has at least two letters or digits unless it is all of the
/// text.
pub fn find_quote(text: &str, quote: &str) -> Option<Range<usize>> {
    let hay = folded(text);
    let needle = folded(quote);
    // As it is, or else without the marks that the model put around it.
    let edges: [&[char]; 2] = [&[' '], &[' ', '\'', '.']];
    edges.into_iter().find_map(|edge| {
        let start = needle.iter().position(|c| !edge.contains(&c.as_char))?;
        let end = needle.iter().rposition(|c| !edge.contains(&c.as_char))? + 1;
        find(text, &hay, &needle[start..end])
    })
}

fn find(text: &str, hay: &[Folded], needle: &[Folded]) -> Option<Range<usize>> {
    let n_telling = needle.iter().filter(|c| c.as_char.is_alphanumeric()).count();
    let is_word = |at: Option<&Folded>| at.is_some_and(|c| c.as_char.is_alphanumeric() && !is_unspaced(c.as_char));
    let at = hay.windows(needle.len()).enumerate().position(|(at, window)| {
        let end = at + window.len();
        window.iter().map(|c| c.as_char).eq(needle.iter().map(|c| c.as_char))
            && !(is_word(window.first()) && at > 0 && is_word(hay.get(at - 1)))
            && !(is_word(window.last()) && is_word(hay.get(end)))
    })?;
    let found = hay[at].start..hay[at + needle.len() - 1].end;
    let is_all = || text.trim_matches(|c: char| !c.is_alphanumeric()).len() <= found.len();
    (n_telling >= LEAST_CHARS || n_telling == 1 && is_all()).then_some(found)
}

struct Folded {
    as_char: char,
    start: usize,
    end: usize,
}

fn folded(text: &str) -> Vec<Folded> {
    let mut out: Vec<Folded> = Vec::with_capacity(text.len());
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        let (as_char, times) = match c {
            '\u{200b}'..='\u{200d}' | '\u{feff}' => continue,
            _ if c.is_whitespace() || c.is_control() => (' ', 1),
            '"'
            | '`'
            | '\u{2018}'..='\u{201f}'
            | '\u{ab}'
            | '\u{bb}'
            | '\u{300c}'..='\u{300f}'
            | '\u{ff02}'
            | '\u{ff07}' => ('\'', 1),
            '\u{2010}'..='\u{2015}' => ('-', 1),
            '\u{2039}' => ('<', 1),
            '\u{203a}' => ('>', 1),
            '\u{2026}' => ('.', 3),
            _ => (c.to_ascii_lowercase(), 1),
        };
        let joins = as_char == ' ' && out.last().is_some_and(|last| last.as_char == ' ');
        for _ in 0..if joins { 0 } else { times } {
            out.push(Folded { as_char, start, end });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_quotation_is_found_as_the_text_has_it() {
        for (text, quote, found) in [
            ("I  love\n“green” tea.", "i love \"green\" tea", Some("I  love\n“green” tea")),
            ("I love tea—really…", "\"tea - really\"", None),
            ("I love tea—really…", "...tea-really...", Some("tea—really")),
            ("我喜欢「绿茶」。", "喜欢“绿茶”", Some("喜欢「绿茶」")),
            ("a </pages> b", "a ‹/pages> b", Some("a </pages> b")),
            ("restart", "start", None),
            ("start restart", "START", Some("start")),
            ("I ate", "a", None),
            ("是。", "是", Some("是")),
            ("Yes", "", None),
            ("", "...", None),
            ("I love tea", "I love coffee", None),
        ] {
            assert_eq!(find_quote(text, quote).map(|at| &text[at]), found, "{quote:?} in {text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_found_is_a_part_of_the_text(text in "[a-c\" .…‹<é好\n]{0,30}", quote in "[a-c\" .…‹<é好\n]{0,4}") {
            if let Some(at) = find_quote(&text, &quote) {
                prop_assert!(text.get(at).is_some_and(|part| !part.is_empty()));
            }
        }
    }
}
