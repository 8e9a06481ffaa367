//! Texts of a reply, cleaned before they are kept.

/// How refusals begin, lower-case. They are looked for where a summary or a profile is expected, which speaks of others and
/// never in the first person.
const REFUSALS: [&str; 17] = [
    "i'm sorry",
    "i am sorry",
    "sorry, i",
    "sorry, but",
    "i apologize",
    "i cannot",
    "i can't",
    "i'm unable",
    "i am unable",
    "i'm not able",
    "as an ai",
    "as a language model",
    "\u{62b1}\u{6b49}",
    "\u{5f88}\u{62b1}\u{6b49}",
    "\u{5bf9}\u{4e0d}\u{8d77}",
    "\u{6211}\u{65e0}\u{6cd5}",
    "\u{4f5c}\u{4e3a}ai",
];
/// How reports of an outage or of a spent quota begin.
const OUTAGES: [&str; 15] = [
    "error:",
    "http 4",
    "http 5",
    "rate limit exceeded",
    "rate limit reached",
    "quota exceeded",
    "you exceeded your",
    "you have exceeded",
    "insufficient quota",
    "insufficient_quota",
    "service unavailable",
    "service temporarily",
    "too many requests",
    "internal server error",
    "the server is",
];

/// Whether `text` is a refusal or an outage in place of what was asked.
pub fn refuses(text: &str) -> bool {
    begins_with(text, &REFUSALS) || reports_outage(text)
}

/// Whether `text` reports an outage in place of what was asked.
pub(super) fn reports_outage(text: &str) -> bool {
    begins_with(text, &OUTAGES)
}

fn begins_with(text: &str, beginnings: &[&str]) -> bool {
    let start: String = text
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .chars()
        .take(24)
        .map(|c| if c == '\u{2019}' { '\'' } else { c.to_ascii_lowercase() })
        .collect();
    beginnings.iter().any(|beginning| start.starts_with(beginning))
}

/// Shortest text that can be told to be copied.
const ECHO_LEAST_CHARS: usize = 12;

/// Whether `text` stands word for word in the instructions: a model that is too weak for a step copies them, and that is no
/// memory.
pub fn echoes(text: &str, instructions: &str) -> bool {
    let text = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    text.chars().count() >= ECHO_LEAST_CHARS && instructions.to_lowercase().contains(&text)
}

/// `text` on one line, of at most `most` characters: runs of white space and control characters become one space, and a longer
/// text ends with an ellipsis.
pub fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    for word in words {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    if let Some((end, _)) = out.char_indices().nth(most) {
        let cut = out[..end].char_indices().next_back().map_or(0, |(last, _)| last);
        out.truncate(cut);
        out.push('\u{2026}');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_09_refusals_and_outages_are_known_by_their_beginnings() {
        for text in
            ["I\u{2019}m sorry, but I can't help.", "**Error:** 500", "抱歉，我不能", "Service unavailable", "HTTP 503"]
        {
            assert!(refuses(text), "{text}");
        }
        for text in ["Error handling in Rust", "Quota planning", "The user is sorry for a friend.", "她对不起朋友", ""]
        {
            assert!(!refuses(text), "{text}");
        }
    }

    #[test]
    fn a_line_is_one_line_of_bounded_length() {
        assert_eq!(one_line(" a\n\tb\u{0}c ", 10), "a b c");
        assert_eq!(one_line("茶茶茶茶", 3), "茶茶…");
        assert_eq!(one_line("", 3), "");
    }
}
