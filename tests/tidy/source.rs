//! Reading Rust source just well enough for the rules: code without comments and literals, and the paths in it.

/// The code with comments, strings and character literals blanked; line breaks stay, so line numbers hold.
pub(crate) fn code_of(source: &str) -> String {
    let s: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut i = 0;
    while i < s.len() {
        let next = s.get(i + 1).copied().unwrap_or(' ');
        let end = match s[i] {
            '/' if next == '/' => position(&s, i, |rest| rest[0] == '\n'),
            '/' if next == '*' => block_comment_end(&s, i),
            '"' => string_end(&s, i + 1),
            'r' if (next == '"' || next == '#') && !follows_word(&s, i) => match raw_string_end(&s, i + 1) {
                Some(end) => end,
                None => i,
            },
            // A lifetime has no closing quote within reach.
            '\'' if next == '\\' => position(&s, i + 3, |rest| rest[0] == '\'') + 1,
            '\'' if s.get(i + 2) == Some(&'\'') => i + 3,
            _ => i,
        }
        .min(s.len());
        if end == i {
            out.push(s[i]);
            i += 1;
        } else {
            out.extend(s[i..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            i = end;
        }
    }
    out
}

fn position(s: &[char], from: usize, found: impl Fn(&[char]) -> bool) -> usize {
    (from..s.len()).find(|&i| found(&s[i..])).unwrap_or(s.len())
}

fn follows_word(s: &[char], i: usize) -> bool {
    i > 0 && is_word(s[i - 1]) && s[i - 1] != 'b'
}

fn block_comment_end(s: &[char], from: usize) -> usize {
    let (mut depth, mut i) = (0, from);
    while i < s.len() {
        match (s[i], s.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            break;
        }
    }
    i
}

fn string_end(s: &[char], mut i: usize) -> usize {
    while i < s.len() && s[i] != '"' {
        i += if s[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// `from` is behind the `r`. `None` for a raw identifier.
fn raw_string_end(s: &[char], from: usize) -> Option<usize> {
    let hashes = s[from..].iter().take_while(|&&c| c == '#').count();
    if s.get(from + hashes) != Some(&'"') {
        return None;
    }
    let closing = |rest: &[char]| rest[0] == '"' && rest[1..].iter().take_while(|&&c| c == '#').count() >= hashes;
    Some(position(s, from + hashes + 1, closing) + 1 + hashes)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Words and single punctuation marks with their line, counted from 1; `::` is one token.
pub(crate) fn tokens(code: &str) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = Vec::new();
    for (n, line) in code.lines().enumerate() {
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            let mut token = c.to_string();
            if is_word(c) {
                while let Some(d) = chars.next_if(|&d| is_word(d)) {
                    token.push(d);
                }
            } else if c == ':' && chars.next_if_eq(&':').is_some() {
                token.push(':');
            } else if c.is_whitespace() {
                continue;
            }
            out.push((n + 1, token));
        }
    }
    out
}

/// Paths from the crate's root, with the line each is on: those that begin with `crate::`, and those that climb to the
/// root through `super::`. Groups are spread out, so `crate::{a, b::{c, d}}` gives `a`, `b::c` and `b::d`.
/// `depth` is the number of modules the file lies in: 1 for `src/a.rs` and `src/a/mod.rs`, 2 for `src/a/b.rs`.
pub(crate) fn root_paths(code: &str, depth: usize) -> Vec<(usize, Vec<String>)> {
    let t = tokens(code);
    let is = |i: usize, want: &str| t.get(i).is_some_and(|(_, x)| x == want);
    let (mut out, mut inline, mut braces) = (Vec::new(), Vec::new(), 0usize);
    let mut i = 0;
    while i < t.len() {
        match t[i].1.as_str() {
            "{" => {
                braces += 1;
                if i >= 2 && is(i - 2, "mod") {
                    inline.push(braces);
                }
            }
            "}" => {
                if inline.last() == Some(&braces) {
                    inline.pop();
                }
                braces = braces.saturating_sub(1);
            }
            "crate" if is(i + 1, "::") && !(i > 0 && is(i - 1, "$")) => {
                i = spread(&t, i + 2, &[], &mut out);
                continue;
            }
            "super" if is(i + 1, "::") => {
                let mut climbed = 0;
                while is(i, "super") && is(i + 1, "::") {
                    (climbed, i) = (climbed + 1, i + 2);
                }
                if climbed >= depth + inline.len() {
                    i = spread(&t, i, &[], &mut out);
                }
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    out
}

/// Collects the path that starts at token `i` behind `prefix`; returns where it ends.
fn spread(t: &[(usize, String)], mut i: usize, prefix: &[String], out: &mut Vec<(usize, Vec<String>)>) -> usize {
    let word = |i: usize| t.get(i).map_or("", |(_, x)| x.as_str());
    let (line, mut path) = (t.get(i).map_or(0, |x| x.0), prefix.to_vec());
    loop {
        if word(i) == "{" {
            i += 1;
            while i < t.len() && word(i) != "}" {
                let end = spread(t, i, &path, out);
                i = end.max(i + usize::from(end == i));
                if word(i) == "as" {
                    i += 2;
                }
                if word(i) == "," {
                    i += 1;
                }
            }
            return i + 1;
        }
        if !word(i).starts_with(is_word) {
            break;
        }
        path.push(word(i).to_string());
        i += 1;
        if word(i) != "::" {
            break;
        }
        i += 1;
    }
    if path.len() > prefix.len() || path.is_empty() {
        out.push((line, path));
    }
    i
}
