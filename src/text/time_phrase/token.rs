//! Text as tokens, for both grammars.

/// A run of ASCII letters or digits, or any other single character that is no white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// In lower case; simplified and half-width where the grammar knows the character.
    pub(super) text: String,
    /// First byte in the source.
    pub(super) start: usize,
    /// Byte after the last.
    pub(super) end: usize,
}

impl Token {
    /// It as a number, where it is nothing but one to four digits.
    pub(super) fn number(&self) -> Option<i32> {
        let is_number = self.text.len() <= 4 && self.text.bytes().all(|b| b.is_ascii_digit());
        if is_number { self.text.parse().ok() } else { None }
    }
}

/// "5th" is one token, "3月" two, "it's" is "it" and "'" and "s".
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        let c = plain(c);
        if c.is_whitespace() {
            continue;
        }
        match tokens.last_mut() {
            Some(last) if c.is_ascii_alphanumeric() && last.end == start && ends_in_word(&last.text) => {
                last.text.push(c);
                last.end = end;
            }
            _ => tokens.push(Token { text: c.into(), start, end }),
        }
    }
    tokens
}

fn ends_in_word(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_alphanumeric())
}

/// Lower case, half width, simplified.
fn plain(c: char) -> char {
    match c {
        '\u{ff10}'..='\u{ff19}' => char::from(b'0' + (c as u32 - 0xff10) as u8),
        '後' => '后',
        '週' => '周',
        '個' => '个',
        '號' => '号',
        '禮' => '礼',
        '這' => '这',
        '兩' => '两',
        '過' => '过',
        '來' => '来',
        _ => c.to_ascii_lowercase(),
    }
}
