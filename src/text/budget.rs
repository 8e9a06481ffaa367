//! Token estimate for prompts when no table is loaded.

use super::script::{is_emoji, is_mark, is_space, is_unspaced, is_word};

/// Letters a token holds once a word is longer than one token.
const LETTERS_PER_TOKEN: u32 = 5;
/// Letters that are still one token.
const ONE_TOKEN_LETTERS: u32 = 8;

/// About how many tokens `text` costs in a prompt: a character of an unspaced script 1, a word of up to eight letters 1,
/// of more one per five letters begun (of two-byte scripts: per two), punctuation and emoji 1 each.
pub fn estimate_tokens(text: &str) -> u32 {
    let (mut total, mut letters, mut wide) = (0u32, 0u32, false);
    let close = |letters: &mut u32, wide: &mut bool| {
        let n = core::mem::take(letters);
        let foreign = core::mem::take(wide);
        match n {
            0 => 0,
            n if foreign => n.div_ceil(2),
            n if n <= ONE_TOKEN_LETTERS => 1,
            n => n.div_ceil(LETTERS_PER_TOKEN),
        }
    };
    for c in text.chars() {
        if is_unspaced(c) || is_emoji(c) {
            total = total.saturating_add(close(&mut letters, &mut wide) + 1);
        } else if is_word(c) && c != '_' {
            letters += 1;
            wide |= c >= '\u{250}';
        } else if !is_mark(c) {
            total = total.saturating_add(close(&mut letters, &mut wide) + u32::from(!is_space(c)));
        }
    }
    total.saturating_add(close(&mut letters, &mut wide))
}

#[cfg(test)]
mod tests {
    use super::super::units::tests::shipped;
    use super::*;

    #[test]
    fn parts_are_counted_by_their_kind() {
        for (text, tokens) in
            [("", 0), ("  \n", 0), ("We hiked.", 3), ("我喝茶。", 4), ("internationalisation", 4), ("🎉🎉", 2)]
        {
            assert_eq!(estimate_tokens(text), tokens, "{text}");
        }
    }

    #[test]
    fn an_estimate_is_near_the_tables_count() {
        let table = shipped();
        for text in [
            "I adopted a puppy from the shelter yesterday, and her name is Luna; she loves the river near our cottage.",
            "我上周去了图书馆，借了一本科幻小说。书名叫《三体》，非常好看！",
            "The quarterly infrastructure retrospective covered Kubernetes autoscaling, observability and budgeting.",
        ] {
            let (ours, table) = (f64::from(estimate_tokens(text)), f64::from(table.count(text)));
            assert!((0.8..1.3).contains(&(ours / table)), "{ours} for {table}: {text}");
        }
    }
}
