//! Fields of a reply, found and converted tolerantly.

use super::parse::decimal;

/// A value of a reply.
pub type Json = crate::model::Value;

/// The first field of an object that goes by one of `names`, which are lower-case letters and digits alone: `pageIds`,
/// `page_ids` and `Page IDs` are all `pageids`. Earlier names win.
pub fn field<'a>(json: &'a Json, names: &[&str]) -> Option<&'a Json> {
    let Json::Map(map) = json else { return None };
    names.iter().find_map(|name| map.iter().find(|(key, _)| same_name(key, name)).map(|(_, value)| value))
}

fn same_name(key: &str, name: &str) -> bool {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).eq(name.chars())
}

/// The items of a list; a single item stands for a list of one, nothing for an empty one.
pub fn items(json: Option<&Json>) -> &[Json] {
    match json {
        Some(Json::List(list)) => list,
        None | Some(Json::Null) => &[],
        Some(single) => core::slice::from_ref(single),
    }
}

/// A text that is not blank, without white space at its ends. Numbers and booleans are spelt out.
pub fn text(json: Option<&Json>) -> Option<String> {
    let text = match json? {
        Json::Text(text) => text.trim().to_owned(),
        Json::Number(number) => number.to_string(),
        Json::Bool(value) => value.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Texts of a list, or of one text with separators between them.
pub fn texts(json: Option<&Json>) -> Vec<String> {
    match json {
        Some(Json::Text(joined)) => {
            let parts = joined.split([',', '\u{ff0c}', '\u{3001}', ';', '\u{ff1b}', '\n']);
            parts.map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        }
        other => items(other).iter().filter_map(|item| text(Some(item))).collect(),
    }
}

/// A number, also as text and as per cent.
pub fn number(json: Option<&Json>) -> Option<f64> {
    match json? {
        Json::Number(number) => Some(*number),
        Json::Text(text) => {
            let (digits, scale) = text.trim().strip_suffix('%').map_or((text.trim(), 1.0), |digits| (digits, 100.0));
            decimal(digits.trim()).map(|number| number / scale)
        }
        _ => None,
    }
}

/// A truth value, also as a word or a number.
pub fn boolean(json: Option<&Json>) -> Option<bool> {
    match json? {
        Json::Bool(value) => Some(*value),
        Json::Number(number) => Some(*number != 0.0),
        Json::Text(text) => {
            let word: String = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
            match word.as_str() {
                "true" | "yes" | "y" | "1" | "continuous" | "continues" | "\u{662f}" | "\u{662f}\u{7684}" => Some(true),
                "false" | "no" | "n" | "0" | "none" | "discontinuous" | "\u{5426}" | "\u{4e0d}\u{662f}" => Some(false),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The number of a local id of the kind `letter` (p for pages, s for segments): of `p3`, `P3`, `[p3]`, `page 3`, `3`.
pub fn local_id(json: &Json, letter: char, word: &str) -> Option<usize> {
    let text = text(Some(json))?.to_lowercase();
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    let rest = text.strip_prefix(word).or_else(|| text.strip_prefix(letter)).unwrap_or(text);
    let digits = rest.trim_start_matches([' ', '_', '-', '#']);
    // Not "+3", and not the long digits of a stored id.
    let well_formed = digits.len() <= 3 && digits.bytes().all(|b| b.is_ascii_digit());
    well_formed.then(|| digits.parse::<u16>().ok())?.map(usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        super::super::parse::parse_at(text, 0).value.expect("a value")
    }

    #[test]
    fn fields_are_found_by_any_spelling() {
        let value = json("{'Page IDs': 1, other: 2}");
        assert_eq!(field(&value, &["pages", "pageids"]), Some(&Json::Number(1.0)));
        assert_eq!(field(&value, &["ids"]), None);
        assert_eq!(field(&json("[1]"), &["ids"]), None);
    }

    #[test]
    fn values_are_converted() {
        assert_eq!(texts(Some(&json("'tea, hiking、 茶'"))), ["tea", "hiking", "茶"]);
        assert_eq!(texts(Some(&json("['a', 2, null, '']"))), ["a", "2"]);
        assert_eq!(number(Some(&json("'90 %'"))), Some(0.9));
        assert_eq!(number(Some(&json("'high'"))), None);
        for (text, expected) in
            [("true", Some(true)), ("'Yes.'", Some(true)), ("0", Some(false)), ("'是'", Some(true)), ("'maybe'", None)]
        {
            assert_eq!(boolean(Some(&json(text))), expected, "{text}");
        }
    }

    #[test]
    fn local_ids_are_numbers_of_their_kind() {
        for text in ["'p3'", "'[P3]'", "'page 3'", "3", "'page_3'"] {
            assert_eq!(local_id(&json(text), 'p', "page"), Some(3), "{text}");
        }
        for text in ["'s3'", "'p'", "''", "'p-3x'", "'3.5'", "-3.5", "null", "'page_0000000000000003'", "'p+3'"] {
            assert_eq!(local_id(&json(text), 'p', "page"), None, "{text}");
        }
    }
}
