//! A question, read once.

use super::date::DateQuery;
use super::rank::Request;
use super::weights::{Feature, Profile, Strategy};
use crate::index::Index;
use crate::index::bm25::Field;
use crate::order::sort;
use crate::text::{
    StaticTable, TokenKind, asks_name, asks_when, for_each_gram, for_each_token, is_unspaced, readable, stem,
};

/// What was understood of a question, for an inspector.
#[derive(Clone, Debug, PartialEq)]
pub struct Understanding {
    /// The strategy in effect, after `auto` was resolved. `Auto` here means: all signals.
    pub strategy: Strategy,
    /// The weights in effect.
    pub profile: Profile,
    /// Speakers named in the question, in lower case.
    pub names: Vec<String>,
    /// The question without speakers' names, as the lexical signals and max-sim read it.
    pub bare: String,
    /// Words that are looked up, as stems.
    pub words: Vec<String>,
    /// Dates.
    pub dates: DateQuery,
    /// Phrases in quotation marks.
    pub quotes: Vec<String>,
    /// Whether it asks for a time.
    pub asks_when: bool,
    /// Whether it asks for a name or a place.
    pub asks_name: bool,
    /// Whether the static table reads its script; if not, the table's signals are silent.
    pub readable: bool,
}

/// A question with the terms it looks up.
#[derive(Debug)]
pub(crate) struct Query<'a> {
    pub(crate) text: &'a str,
    /// The speaker whose turns count more, and as what: the one who is named, or the first of several of whom the question does
    /// not ask what they have in common.
    pub(crate) speaker: Option<(u32, Feature)>,
    /// Distinct terms of the stems field.
    pub(crate) stems: Vec<Stem>,
    /// Terms of the 4-gram field that the index knows, distinct.
    pub(crate) grams: Vec<u32>,
    /// Distinct 4-grams, known or not.
    pub(crate) n_grams: usize,
    /// Distinct table rows of the bare question, in its order.
    pub(crate) rows: Vec<u16>,
    pub(crate) understanding: Understanding,
}

/// A term of the stems field.
#[derive(Debug)]
pub(crate) struct Stem {
    pub(crate) name: String,
    /// Its number; `None` when no text holds it.
    pub(crate) term: Option<u32>,
    /// Whether finding it alone is finding a word of the question: not so for one character out of an unspaced run.
    pub(crate) is_word: bool,
}

impl<'a> Query<'a> {
    pub(crate) fn read(index: &Index, table: Option<&StaticTable>, request: &Request<'a>, profile: Profile) -> Self {
        let text = request.text;
        let lower = text.to_lowercase();
        let names = index.speakers.names().filter_map(|(speaker, name)| Some((place_of(&lower, name)?, speaker, name)));
        let mut named: Vec<(usize, u32, &str)> = names.collect();
        sort(&mut named);
        let speaker = match named[..] {
            [] => None,
            [(_, speaker, _)] => Some((speaker, Feature::Spk)),
            [(_, first, a), (_, _, b), ..] => (!asks_of_both(&lower, a, b)).then_some((first, Feature::Spk2)),
        };
        let names: Vec<String> = named.iter().map(|(_, _, name)| (*name).to_owned()).collect();
        let bare = bare(text, &index.speakers.names().map(|(_, name)| name).collect::<Vec<_>>());
        let dates = DateQuery::read(text, request.now);
        let quotes = quotes(text);
        let strategy = resolve(request.strategy, &lower, &dates, &quotes);
        // A question that is only a name looks that name up; the recipe leaves it without lexical terms.
        let (mut stems, mut grams) = terms(index, &bare);
        if stems.is_empty() {
            (stems, grams) = terms(index, text);
        }
        let n_grams = grams.len();
        let words = stems.iter().filter(|stem| stem.is_word).map(|stem| stem.name.clone()).collect();
        let mut rows = Vec::new();
        for row in table.map_or_else(Vec::new, |table| table.rows(&bare)) {
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        Self {
            text,
            speaker,
            stems,
            grams: grams.into_iter().flatten().collect(),
            n_grams,
            rows,
            understanding: Understanding {
                strategy,
                profile,
                names,
                bare,
                words,
                dates,
                quotes,
                asks_when: asks_when(text),
                asks_name: asks_name(text),
                readable: readable(text),
            },
        }
    }
}

impl Query<'_> {
    /// Whether the question can be compared with the index's vectors: the caller gave its vector, or they are the table's and the
    /// table reads it. An outside embedder may read what the table does not.
    pub(crate) fn has_vector(&self, index: &Index, table: Option<&StaticTable>, request: &Request<'_>) -> bool {
        let is_its = |table: &StaticTable| index.space().is_some_and(|space| space.model == table.model_id());
        request.vector.is_some() || (self.understanding.readable && table.is_some_and(is_its))
    }

    /// Whether the table reads the question, so that it can be compared row by row.
    pub(crate) fn has_max_sim(&self, table: Option<&StaticTable>) -> bool {
        table.is_some() && self.understanding.readable && !self.rows.is_empty()
    }
}

/// Distinct stems and distinct grams (their numbers where known) of a text.
fn terms(index: &Index, text: &str) -> (Vec<Stem>, Vec<Option<u32>>) {
    let (mut stems, mut grams): (Vec<Stem>, Vec<String>) = (Vec::new(), Vec::new());
    for_each_token(text, &mut |token| {
        let name = if token.kind == TokenKind::Word { stem(token.text).into_owned() } else { token.text.to_owned() };
        let is_word = token.kind != TokenKind::Unigram;
        match stems.iter_mut().find(|known| known.name == name) {
            Some(known) => known.is_word |= is_word,
            None => stems.push(Stem { term: index.lexical.term(Field::Stems, &name), name, is_word }),
        }
        let mut add = |gram: &str| {
            if !grams.iter().any(|known| known == gram) {
                grams.push(gram.to_owned());
            }
        };
        match token.kind {
            TokenKind::Word => for_each_gram(token.text, &mut add),
            TokenKind::Bigram | TokenKind::Lone => add(token.text),
            TokenKind::Unigram => {}
        }
    });
    let grams = grams.iter().map(|gram| index.lexical.term(Field::Grams, gram)).collect();
    (stems, grams)
}

/// What `auto` means for this question.
fn resolve(asked: Strategy, lower: &str, dates: &DateQuery, quotes: &[String]) -> Strategy {
    let trimmed = lower.trim();
    match asked {
        Strategy::Auto if is_id(trimmed) => Strategy::Keyword,
        Strategy::Auto if quotes.len() == 1 && trimmed.chars().count() == quotes[0].chars().count() + 2 => {
            Strategy::Keyword
        }
        Strategy::Auto if !dates.is_empty() && dates.alone => Strategy::Temporal,
        asked => asked,
    }
}

/// One word that holds a digit and a letter or a joint, such as `ERR-4417-b`.
fn is_id(text: &str) -> bool {
    let body = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '#' | '/' | ':');
    text.len() >= 4
        && text.chars().all(body)
        && text.chars().any(|c| c.is_ascii_digit())
        && text.chars().any(|c| !c.is_ascii_digit())
}

/// Phrases between quotation marks, not empty ones.
fn quotes(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close) in [('"', '"'), ('“', '”'), ('「', '」')] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((phrase, beyond)) = after.split_once(close) else { break };
            if phrase.chars().any(is_word) {
                found.push(phrase.to_owned());
            }
            rest = beyond;
        }
    }
    found
}

/// A word character: a letter, a number, an underscore.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a question that names `first` and then `second` asks what both have, do or did.
fn asks_of_both(lower: &str, first: &str, second: &str) -> bool {
    let together = |word: &str| matches!(word, "both" | "common" | "share" | "together");
    lower.split(|c| !is_word(c)).any(together)
        || lower.contains("each other")
        || lower.contains(&[first, " and ", second].concat())
}

/// Where `name`, lower-case, first stands in `lower` as a word of its own; of an unspaced script, anywhere.
fn place_of(lower: &str, name: &str) -> Option<usize> {
    if name.starts_with(is_unspaced) {
        return lower.find(name);
    }
    let boundary =
        |before: Option<char>, after: Option<char>| before.is_some_and(is_word) != after.is_some_and(is_word);
    let mut places = lower.match_indices(name).map(|(start, _)| start);
    places.find(|&start| {
        let (head, tail) = (&lower[..start], &lower[start + name.len()..]);
        boundary(head.chars().next_back(), name.chars().next())
            && boundary(name.chars().next_back(), tail.chars().next())
    })
}

/// The question without speakers' names and possessive endings (recipe.py, `bare`).
///
/// Deviation: `'s` goes only where a word ends, so that 'sunny' keeps its first letter.
fn bare(text: &str, names: &[&str]) -> String {
    let mut text = text.to_owned();
    for name in names.iter().filter(|name| name.starts_with(is_unspaced)) {
        text = text.replace(name, " ");
    }
    for ending in ["'s", "’s"] {
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((head, tail)) = rest.split_once(ending) {
            out.push_str(head);
            out.push_str(if tail.starts_with(is_word) { ending } else { " " });
            rest = tail;
        }
        out.push_str(rest);
        text = out;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let of_name = |c: char| is_word(c) || matches!(c, '-' | '&' | '$' | '%');
        let end = if of_name(c) { rest.find(|c| !of_name(c)).unwrap_or(rest.len()) } else { c.len_utf8() };
        let (piece, tail) = rest.split_at(end);
        if of_name(c) {
            out.push_str(if names.contains(&piece.to_lowercase().as_str()) { " " } else { piece });
        } else if stands_alone(c) {
            out.extend([' ', c, ' ']);
        } else {
            out.push(c);
        }
        rest = tail;
    }
    out
}

/// Symbols that the table's tokeniser would glue to the word beside them and the recipe's `bare` sets apart: £ in £5.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{a1}'..='\u{bf}' | '\u{d7}' | '\u{f7}' | '\u{20a0}'..='\u{20cf}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_their_endings_leave_the_question() {
        let words = |text: &str| bare(text, &["ben", "anna", "小明"]).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words("What is Ben's hobby?"), "What is hobby?");
        assert_eq!(words("What’s ANNA’s dog, Benny's dog"), "What dog, Benny dog");
        assert_eq!(words("小明喜欢什么"), "喜欢什么");
        assert_eq!(words("a 'sunny' day costs £5"), "a 'sunny' day costs £ 5");
    }

    #[test]
    fn a_name_is_a_word() {
        assert_eq!((place_of("did ben's dog", "ben"), place_of("ben", "ben")), (Some(4), Some(0)));
        assert_eq!(place_of("benny and the urban_ben", "ben"), None);
        assert_eq!(place_of("问小明吧", "小明"), Some(3));
    }

    #[test]
    fn what_two_have_in_common_is_told_from_what_one_does_to_the_other() {
        let both = |question: &str| asks_of_both(question, "ben", "anna");
        assert!(both("what do ben and anna like?") && both("which hobby do ben, anna share?"));
        assert!(both("how do ben's and anna's mothers know each other?"));
        assert!(!both("what did ben give anna?") && !both("where did ben meet anna's commonplace brother?"));
    }

    #[test]
    fn auto_reads_ids_quotations_and_dates() {
        let strategy = |text: &str| {
            let lower = text.to_lowercase();
            resolve(Strategy::Auto, &lower, &DateQuery::read(text, None), &quotes(text))
        };
        assert_eq!(strategy("ERR-4417-b"), Strategy::Keyword);
        assert_eq!(strategy(" “the whole phrase” "), Strategy::Keyword);
        assert_eq!(strategy("May 2023"), Strategy::Temporal);
        for all in ["When did Anna get her dog?", "covid", "2023", "said \"no\" twice", "What happened in May 2023?"] {
            assert_eq!(strategy(all), Strategy::Auto, "{all}");
        }
    }

    #[test]
    fn quotations_of_three_kinds() {
        assert_eq!(quotes("“one” and \"two\" and 「三」, \"\" \"open"), ["two", "one", "三"]);
    }
}
