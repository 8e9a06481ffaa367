//! A parser of what models call JSON.
//!
//! Written here rather than taken from a crate: the core has almost no room, strict parsers refuse what models write, and the
//! value type is the one that metadata already brings along, so this costs little more than its own loop.

use litemap::LiteMap;

use super::field::Json;

/// Deepest nesting that is read; more is refused, so that no reply can exhaust the stack.
const MAX_DEPTH: usize = 32;

/// What reading a value at some place gave.
pub(super) struct Parsed {
    /// The value; `None` if there is none.
    pub(super) value: Option<Json>,
    /// One past the last byte read.
    pub(super) end: usize,
    /// Whether the text ended, after a whole value, before every bracket was closed.
    pub(super) unclosed: bool,
    /// Whether at least one member of an object was read: what failed after it was meant as JSON.
    pub(super) had_members: bool,
}

/// Reads the value that begins at byte `at`.
///
/// Beyond JSON it takes: trailing and doubled commas, strings in single or typographic quotes, line breaks and unescaped quotes
/// within strings, keys without quotes, `True`, `False`, `None`, `undefined`, `NaN`, numbers with a sign or a bare dot,
/// comments, and brackets that are missing at the very end. A lone surrogate escape becomes U+FFFD.
pub(super) fn parse_at(text: &str, at: usize) -> Parsed {
    let mut parser = Parser { text, at, unclosed: false, had_members: false };
    let value = parser.value(0);
    Parsed { value, end: parser.at, unclosed: parser.unclosed, had_members: parser.had_members }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    unclosed: bool,
    had_members: bool,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    /// Skips white space and comments.
    fn space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            let comment = if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                0
            };
            self.at += rest.len() - trimmed.len() + comment;
            if comment == 0 {
                return;
            }
        }
    }

    /// Whether nothing follows: the end of the text, or of the fence around it.
    fn at_end(&self) -> bool {
        self.rest().is_empty() || self.rest().starts_with("```")
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        self.space();
        match self.peek()? {
            '{' if depth < MAX_DEPTH => self.object(depth + 1),
            '[' if depth < MAX_DEPTH => self.array(depth + 1),
            c if closing_quote(c).is_some() => self.string().map(Json::Text),
            c if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            _ => self.word(),
        }
    }

    /// After a value: whether another follows (`Some(true)`), the bracket closes, or neither.
    fn goes_on(&mut self, close: char) -> Option<bool> {
        self.space();
        let mut commas = false;
        while self.take(',') {
            commas = true;
            self.space();
        }
        if self.take(close) {
            return Some(false);
        }
        if self.at_end() {
            self.unclosed = true;
            return Some(false);
        }
        // A comma that a line break stands for is missing often enough.
        (commas || matches!(self.peek(), Some('{' | '[' | '"'))).then_some(true)
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        self.at += 1;
        let mut map = LiteMap::new();
        self.space();
        let mut more = !self.take('}');
        while more {
            self.space();
            let key = match self.peek()? {
                c if closing_quote(c).is_some() => self.string()?,
                _ => self.bare(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))?,
            };
            self.space();
            if !self.take(':') && !self.take('\u{ff1a}') && !self.take('=') {
                return None;
            }
            let value = self.value(depth)?;
            self.had_members = true;
            map.insert(key, value);
            more = !self.unclosed && self.goes_on('}')?;
        }
        Some(Json::Map(map))
    }

    fn array(&mut self, depth: usize) -> Option<Json> {
        self.at += 1;
        let mut list = Vec::new();
        self.space();
        let mut more = !self.take(']');
        while more {
            list.push(self.value(depth)?);
            more = !self.unclosed && self.goes_on(']')?;
        }
        Some(Json::List(list))
    }

    fn bare(&mut self, of: impl Fn(char) -> bool) -> Option<String> {
        let rest = self.rest();
        let word = rest[..rest.find(|c| !of(c)).unwrap_or(rest.len())].to_owned();
        self.at += word.len();
        (!word.is_empty()).then_some(word)
    }

    fn word(&mut self) -> Option<Json> {
        let start = self.at;
        let value = match self.bare(|c| c.is_alphanumeric())?.to_ascii_lowercase().as_str() {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            "null" | "none" | "nil" | "undefined" | "nan" => Json::Null,
            _ => {
                self.at = start;
                return None;
            }
        };
        Some(value)
    }

    fn number(&mut self) -> Option<Json> {
        let start = self.at;
        let digits = self.bare(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.' | '_'))?;
        let number = decimal(&digits).map(Json::Number);
        if number.is_none() {
            self.at = start;
        }
        number
    }

    fn string(&mut self) -> Option<String> {
        let open = self.peek()?;
        let close = closing_quote(open)?;
        self.at += open.len_utf8();
        let mut out = String::new();
        loop {
            let c = self.peek()?;
            self.at += c.len_utf8();
            if c == '\\' {
                self.escape(&mut out)?;
            } else if c == close && self.ends_string(close) {
                return Some(out);
            } else {
                out.push(c);
            }
        }
    }

    /// Whether the quote just read ends its string: what follows is structure. Valid JSON has nothing else there; a quote
    /// within a string that the model forgot to escape is followed by text.
    fn ends_string(&self, close: char) -> bool {
        let rest = self.rest();
        let trimmed = rest.trim_start();
        match trimmed.chars().next() {
            None | Some(',' | ':' | '}' | ']' | '#' | '\u{ff1a}') => true,
            Some('/') => trimmed.starts_with("//") || trimmed.starts_with("/*"),
            Some('`') => trimmed.starts_with("```"),
            Some(c) => rest[..rest.len() - trimmed.len()].contains('\n') && (c == close || c == '{'),
        }
    }

    fn escape(&mut self, out: &mut String) -> Option<()> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        out.push(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => self.unicode(),
            '\n' => return Some(()),
            other => other,
        });
        Some(())
    }

    /// The character of an escape, after its `u`. A surrogate without its other half is U+FFFD.
    fn unicode(&mut self) -> char {
        let Some(high) = self.hex() else { return char::REPLACEMENT_CHARACTER };
        if let 0xd800..0xdc00 = high
            && self.rest().starts_with("\\u")
        {
            let back = self.at;
            self.at += 2;
            if let Some(low @ 0xdc00..0xe000) = self.hex() {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            }
            self.at = back;
        }
        char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let code = u32::from_str_radix(digits, 16).ok();
        self.at += 4;
        code
    }
}

/// A decimal number. The standard library's parser is exact to the last bit and brings tables for it; no reply needs that.
pub(super) fn decimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().ok().filter(|e: &i32| e.abs() < 300)?;
    let negative = mantissa.starts_with('-');
    let digits = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
    let (mut value, mut scale, mut point, mut any) = (0.0_f64, exponent, false, false);
    for c in digits.chars() {
        match c.to_digit(10) {
            Some(digit) => {
                value = value * 10.0 + f64::from(digit);
                scale -= i32::from(point);
                any = true;
            }
            None if c == '.' && !point => point = true,
            None if c == '_' => {}
            None => return None,
        }
    }
    let mut power = 1.0;
    for _ in 0..scale.unsigned_abs().min(400) {
        power *= 10.0;
    }
    value = if scale < 0 { value / power } else { value * power };
    (any && value.is_finite()).then_some(if negative { -value } else { value })
}

/// The quote that ends a string begun by `c`; `None` if `c` begins none.
fn closing_quote(c: char) -> Option<char> {
    match c {
        '"' | '\'' => Some(c),
        '\u{201c}' => Some('\u{201d}'),
        _ => None,
    }
}
