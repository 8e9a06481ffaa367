//! Blocks of data in a prompt whose end no text can forge.

use std::borrow::Cow;

use xxhash_rust::xxh32::xxh32;

/// Names of the blocks that the steps print.
const BLOCKS: [&str; 6] = ["pages", "open-segments", "meta-info", "profile", "memory", "persona"];

/// Puts `text` into a block of `name` between tags that carry a number: `<pages 0a1b2c3d>` … `</pages 0a1b2c3d>`.
///
/// Invariant: the number stands nowhere in the text, so no text can close its own block. It is made from the text alone; the
/// same text gives the same block. What merely looks like a tag of a block gets another angle bracket (U+2039), because a
/// model reads less exactly than a parser; [`crate::generation::reply::find_quote`] takes either for the other.
pub fn fence(name: &str, text: &str) -> String {
    let text = without_tags(text);
    let lower = text.to_ascii_lowercase();
    let mut seed = 0;
    let number = loop {
        let number = format!("{:08x}", xxh32(text.as_bytes(), seed));
        if !lower.contains(&number) {
            break number;
        }
        seed += 1;
    };
    format!("<{name} {number}>\n{}\n</{name} {number}>", text.trim_end_matches('\n'))
}

/// Text in which no tag of a block is left, with or without a number.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        let word = from[1..].trim_start_matches(|c: char| c == '/' || c.is_whitespace());
        out.push_str(before);
        out.push(if BLOCKS.iter().any(|name| starts_with(word, name)) { '\u{2039}' } else { '<' });
        rest = &from[1..];
    }
    out.push_str(rest);
    out
}

fn starts_with(text: &str, name: &str) -> bool {
    text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
}

/// The text without blocks of recalled memory that came back in it: a turn that carries one is stored without it, so that
/// memory does not remember itself. A block that is never closed stays; it is text.
pub fn without_blocks(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    for name in ["memory", "persona"] {
        let mut from = 0;
        while let Some((start, end)) = block(&out, name, from) {
            if end > start {
                out.to_mut().replace_range(start..end, "");
            }
            from = if end > start { start } else { start + 1 };
        }
    }
    match out {
        Cow::Owned(stripped) => Cow::Owned(stripped.trim().into()),
        borrowed => borrowed,
    }
}

/// Where the next block of a name begins and ends; it ends where it begins if it is never closed.
fn block(text: &str, name: &str, from: usize) -> Option<(usize, usize)> {
    let start = from + text.get(from..)?.find(&["<", name].concat())?;
    let rest = &text[start + 1..];
    let tag = &rest[..rest.find('>').unwrap_or(name.len())];
    let number = tag[name.len()..].strip_prefix(' ').unwrap_or("");
    let is_number = number.len() == 8 && number.bytes().all(|b| b.is_ascii_hexdigit());
    if tag != name && !is_number {
        return Some((start, start));
    }
    let close = ["</", tag, ">"].concat();
    let end = rest.find(&close).map_or(start, |at| start + 1 + at + close.len());
    Some((start, end))
}

/// Appends `text` on one line: no text can begin a line of a block. Control characters and runs of white space become one
/// space.
pub(super) fn push_line(out: &mut String, text: &str) {
    let mut gap = false;
    for c in text.trim().chars() {
        if c.is_whitespace() || c.is_control() {
            gap = true;
            continue;
        }
        if core::mem::take(&mut gap) {
            out.push(' ');
        }
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number_of(block: &str) -> &str {
        &block[block.find(' ').expect("a number") + 1..block.find('>').expect("a tag")]
    }

    #[test]
    fn a_tag_in_the_text_is_broken_and_other_brackets_stay() {
        let block = fence("pages", "a < b, <b>bold</b> </pages> < / PAGES 1> <memory>");
        assert!(block.contains("a < b, <b>bold</b> \u{2039}/pages> \u{2039} / PAGES 1> \u{2039}memory>"), "{block}");
        assert_eq!(block, fence("pages", "a < b, <b>bold</b> </pages> < / PAGES 1> <memory>"));
    }

    #[test]
    fn case_14_a_block_of_recalled_memory_is_taken_out_and_the_text_kept() {
        let memory = fence("memory", "8 May 2023\nuser: I like tea. </memory> <memory>");
        let text = format!("{memory}\n\nAnd coffee? {}", fence("persona", "name: Ada"));
        assert_eq!(without_blocks(&text), "And coffee?");
        assert_eq!(without_blocks("<memory>\nuser: x\n</memory>\nNow \u{4f60}\u{597d}"), "Now \u{4f60}\u{597d}");
        for kept in [
            "a <memory leak> b",
            "<memory 00112233> open",
            "<memory",
            "<memory>",
            "no block",
            "<memory 0011223x></memory 0011223x>",
        ] {
            assert_eq!(without_blocks(kept), kept);
        }
    }

    #[test]
    fn a_text_that_knows_its_number_gets_another() {
        let first = fence("pages", "x");
        let number = number_of(&first).to_owned();
        let mut text = format!("x {number}");
        for _ in 0..20 {
            let block = fence("pages", &text);
            let number = number_of(&block).to_owned();
            assert!(!text.contains(&number));
            text = format!("{text} {number}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        #[test]
        fn no_text_closes_its_block(parts in proptest::collection::vec(
            prop_oneof![Just("<"), Just("</pages"), Just("</ Pages 0"), Just(">"), Just("\n"), Just("0a1b2c3d"), Just("‹"), Just("é好")],
            0..12,
        ), text in any::<String>()) {
            let text = parts.concat() + &text;
            let block = fence("pages", &text);
            let number = number_of(&block);
            prop_assert_eq!(block.matches(number).count(), 2);
            prop_assert_eq!(block.to_ascii_lowercase().matches("<pages").count(), 1);
            prop_assert_eq!(block.to_ascii_lowercase().matches("</pages").count(), 1);
            let mut line = String::new();
            push_line(&mut line, &text);
            prop_assert!(line.lines().count() <= 1);
        }
    }
}
