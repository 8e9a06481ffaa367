//! Characters with and without their marks, and what Unicode holds for equal.

use unicode_normalization::char::{compose, decompose_canonical};

/// Calls `f` with the characters of `text`, their marks joined on, and compatibility ideographs as the ones they stand for. This
/// is what form NFC does for text in its usual order; the tables of the whole of it would cost the wasm file 50 KB gzipped.
pub fn for_each_composed(text: &str, f: &mut dyn FnMut(char)) {
    let mut pending = None;
    for c in text.chars() {
        let c = match c {
            '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}' => {
                let mut unified = c;
                decompose_canonical(c, |c| unified = c);
                unified
            }
            c => c,
        };
        pending = match pending.and_then(|before| compose(before, c)) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
