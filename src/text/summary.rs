//! A summary without a model: sentences chosen from the texts themselves.

use super::script::{is_cjk, is_space};
use super::stem::stem;
use super::tokenize::{TokenKind, for_each_token};
use super::{atom_text, atoms};
use crate::map::HashSet;

/// Worth of a keyword that an earlier sentence already covers.
const AGAIN: f32 = 0.2;
/// Worth of standing first in a text; falls with the position.
const LEAD: f32 = 0.3;
/// What a question is worth beside a statement.
const QUESTION: f32 = 0.5;

struct Sentence {
    text: String,
    chars: usize,
    /// Numbers of the keywords it holds.
    covers: Vec<usize>,
    lead: f32,
    factor: f32,
}

/// The sentences of `texts` that cover the most of `keywords` (best first) in at most `budget_chars` characters, in their
/// own order; what is covered already counts little, and early sentences win ties.
///
/// Where no sentence fits, the best one is cut and ends in `…`. Empty when there is no text or no budget.
pub fn extractive_summary(texts: &[&str], keywords: &[String], budget_chars: usize) -> String {
    let wanted: Vec<HashSet<String>> = keywords.iter().map(|keyword| terms(keyword, false)).collect();
    let mut sentences = Vec::new();
    for text in texts {
        for (i, range) in atoms(text).iter().enumerate() {
            let body = one_line(&atom_text(text, range));
            let held = terms(&body, true);
            let covers = (0..wanted.len())
                .filter(|&k| !wanted[k].is_empty() && wanted[k].iter().all(|term| held.contains(term)))
                .collect();
            let factor = if body.ends_with(['?', '？', '؟']) { QUESTION } else { 1.0 };
            let chars = body.chars().count();
            sentences.push(Sentence { text: body, chars, covers, lead: LEAD / (i + 1) as f32, factor });
        }
    }
    let mut covered = vec![false; keywords.len()];
    let (mut chosen, mut used) = (vec![false; sentences.len()], 0);
    while let Some(best) = best(&sentences, &chosen, &covered, budget_chars.saturating_sub(used)) {
        // what holds no keyword is there only for want of anything else
        if used > 0 && !keywords.is_empty() && sentences[best].covers.is_empty() {
            break;
        }
        chosen[best] = true;
        // room for the space that may join it
        used += sentences[best].chars + 1;
        sentences[best].covers.iter().for_each(|&k| covered[k] = true);
    }
    let mut out = String::new();
    for sentence in sentences.iter().zip(&chosen).filter_map(|(sentence, &chosen)| chosen.then_some(sentence)) {
        let closed = out.chars().next_back().is_none_or(|c| is_cjk(c) || matches!(c, '。' | '！' | '？' | '；'));
        if !closed {
            out.push(' ');
        }
        out.push_str(&sentence.text);
    }
    if out.is_empty() && budget_chars > 0 {
        let none = vec![false; sentences.len()];
        if let Some(best) = best(&sentences, &none, &covered, usize::MAX) {
            return cut(&sentences[best].text, budget_chars);
        }
    }
    out
}

/// The unchosen sentence of at most `room` characters with the highest gain; the earlier of equals.
fn best(sentences: &[Sentence], chosen: &[bool], covered: &[bool], room: usize) -> Option<usize> {
    let mut best: Option<(usize, f32)> = None;
    for (i, sentence) in sentences.iter().enumerate().filter(|&(i, sentence)| !chosen[i] && sentence.chars <= room) {
        let worth = |&k: &usize| (if covered[k] { AGAIN } else { 1.0 }) / (1.0 + k as f32 / 4.0);
        let gain = sentence.covers.iter().map(worth).sum::<f32>() + sentence.lead;
        let gain = gain * sentence.factor / (20.0 + sentence.chars as f32).sqrt();
        if best.is_none_or(|(_, best)| gain > best) {
            best = Some((i, gain));
        }
    }
    best.map(|(i, _)| i)
}

/// Stems and bigrams of a text; with `all` its single unspaced characters too, which a keyword of one character needs.
fn terms(text: &str, all: bool) -> HashSet<String> {
    let mut out = HashSet::new();
    for_each_token(text, &mut |token| {
        match token.kind {
            TokenKind::Word => out.insert(stem(token.text).into_owned()),
            TokenKind::Unigram if !all => false,
            _ => out.insert(token.text.to_string()),
        };
    });
    out
}

fn one_line(text: &str) -> String {
    text.split(is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// `text` in at most `budget` characters, cut at a space in the second half where there is one.
fn cut(text: &str, budget: usize) -> String {
    let Some((limit, _)) = text.char_indices().nth(budget) else {
        return text.to_string();
    };
    let head: String = text[..limit].chars().take(budget - 1).collect();
    let end = head.rfind(' ').filter(|&i| i > head.len() / 2).unwrap_or(head.len());
    format!("{}…", head[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXTS: [&str; 3] = [
        "Hello there, how are you today? I started a pottery class in Lisbon. It rained all day and nothing else happened.",
        "我上周去了图书馆，借了一本科幻小说。天气很好啊真的。",
        "The class meets near the river on Mondays.",
    ];

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_string()).collect()
    }

    #[test]
    fn sentences_with_keywords_stand_in_their_own_order() {
        let keywords = words(&["图书馆", "pottery class", "river"]);
        let summary = extractive_summary(&TEXTS, &keywords, 110);
        assert_eq!(
            summary,
            "I started a pottery class in Lisbon. 我上周去了图书馆，借了一本科幻小说。The class meets near the river on Mondays."
        );
    }

    #[test]
    fn a_small_budget_cuts_the_best_sentence() {
        let summary = extractive_summary(&TEXTS[2..], &words(&["river"]), 20);
        assert_eq!(summary, "The class meets…");
        assert_eq!(extractive_summary(&TEXTS, &words(&["river"]), 0), "");
        assert_eq!(extractive_summary(&["", " "], &[], 50), "");
        assert_eq!(extractive_summary(&TEXTS[2..], &[], 1), "…");
    }

    proptest! {
        #[test]
        fn a_summary_keeps_its_budget(
            texts in prop::collection::vec("(\\PC|[.!?] |。|\n|Luna |river |字){0,60}", 0..4),
            budget in 0usize..200,
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let summary = extractive_summary(&texts, &words(&["river", "字", ""]), budget);
            prop_assert!(summary.chars().count() <= budget, "{summary:?}");
            prop_assert!(!summary.contains('\n'));
        }
    }
}
