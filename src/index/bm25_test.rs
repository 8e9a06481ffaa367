//! BM25 at all scales against a dense implementation that knows nothing of postings.

use proptest::prelude::*;

use super::bm25::{B, Field, K1, Scale, score};
use super::layout::REACH;
use super::{Index, NewTurn};
use crate::id::{PageId, SessionId, Side, TurnId};
use crate::text::{TokenKind, for_each_gram, for_each_token, stem, units};
use crate::time::Timestamp;

fn turn_id(n: u64) -> TurnId {
    TurnId { page: PageId::from_raw(n), side: Side::User }
}

fn insert(index: &mut Index, n: u64, session: u64, text: &str) {
    let units = units(text, "Anna", None);
    let time = Some(Timestamp::utc(n as i64 * 1000));
    let session = SessionId::from_raw(session);
    index
        .insert(NewTurn { id: turn_id(n), session, time, speaker: "Anna", text, units: &units, vector: None })
        .unwrap();
}

/// The terms of a text in one field, with repetitions.
fn terms(field: Field, text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for_each_token(text, &mut |token| match (field, token.kind) {
        (Field::Stems, TokenKind::Word) => terms.push(stem(token.text).into_owned()),
        (Field::Grams, TokenKind::Word) => for_each_gram(token.text, &mut |gram| terms.push(gram.to_owned())),
        (Field::Grams, TokenKind::Unigram) => {}
        _ => terms.push(token.text.to_owned()),
    });
    terms
}

/// BM25 of every document, written as the formula stands.
fn naive(documents: &[Vec<String>], query: &[String]) -> Vec<f32> {
    let n = documents.len() as f32;
    let mean = (documents.iter().map(Vec::len).sum::<usize>() as f32 / n.max(1.0)).max(1e-6);
    let tf = |document: &Vec<String>, term: &String| document.iter().filter(|t| *t == term).count() as f32;
    let of = |document: &Vec<String>| {
        let part = |term: &String| {
            let df = documents.iter().filter(|d| d.contains(term)).count() as f32;
            let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
            let tf = tf(document, term);
            idf * tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * document.len() as f32 / mean))
        };
        query.iter().map(part).sum()
    };
    documents.iter().map(of).collect()
}

/// Documents of a scale for turns (session, text) in chronological order.
fn documents(scale: Scale, field: Field, turns: &[(u64, String)]) -> Vec<Vec<String>> {
    let of = |text: &str| terms(field, text);
    match scale {
        Scale::Atom => turns
            .iter()
            .flat_map(|(_, text)| {
                units(text, "", None)
                    .atoms
                    .into_iter()
                    .map(|a| of(&text[a.start as usize..a.end as usize]))
                    .collect::<Vec<_>>()
            })
            .collect(),
        Scale::Session => turns
            .chunk_by(|a, b| a.0 == b.0)
            .map(|session| session.iter().flat_map(|(_, text)| of(text)).collect())
            .collect(),
        _ => (0..turns.len())
            .map(|at| {
                let near = at.saturating_sub(REACH)..(at + REACH + 1).min(turns.len());
                turns[near].iter().filter(|turn| turn.0 == turns[at].0).flat_map(|(_, text)| of(text)).collect()
            })
            .collect(),
    }
}

/// Scores of live documents in chronological order.
fn indexed(index: &Index, field: Field, scale: Scale, query: &[String]) -> Vec<f32> {
    let layout = index.layout();
    let known: Vec<u32> = query.iter().filter_map(|term| index.lexical.term(field, term)).collect();
    let scores = score(&index.lexical, layout, field, &known, &[scale], usize::MAX, &mut |_, _| {}).take(scale);
    if scale != Scale::Atom {
        return scores;
    }
    layout.order().iter().flat_map(|&turn| index.atoms_of(turn)).map(|atom| scores[atom as usize]).collect()
}

const WORDS: [&str; 12] = [
    "puppy",
    "puppies",
    "river",
    "Lisbon. We",
    "the",
    "pottery",
    "图书馆",
    "书",
    "кошка",
    "кошки",
    "running\nfast and far",
    "café",
];

proptest! {
    #[test]
    fn equals_the_formula_at_every_scale_also_after_removals(
        raw in prop::collection::vec((0u64..3, prop::collection::vec(0..WORDS.len(), 0..9)), 1..30),
        query in prop::collection::vec(0..WORDS.len(), 1..5),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let text = |words: &[usize]| words.iter().map(|&w| WORDS[w]).collect::<Vec<_>>().join(" ");
        let mut session = 0;
        let turns: Vec<(u64, u64, String)> = raw
            .iter()
            .zip(0..)
            .map(|((step, words), n)| { session += u64::from(*step == 0); (n, session, text(words)) })
            .collect();
        let mut index = Index::new(None);
        turns.iter().for_each(|(n, session, text)| insert(&mut index, *n, *session, text));
        let mut gone: Vec<u64> = removed.iter().map(|at| at.index(turns.len()) as u64).collect();
        gone.sort_unstable();
        gone.dedup();
        gone.iter().for_each(|&n| assert!(index.remove(turn_id(n))));
        let left: Vec<(u64, String)> =
            turns.into_iter().filter(|(n, ..)| !gone.contains(n)).map(|(_, session, text)| (session, text)).collect();
        for field in [Field::Stems, Field::Grams] {
            let mut query = terms(field, &text(&query));
            query.sort();
            query.dedup();
            for scale in Scale::ALL {
                let expected = naive(&documents(scale, field, &left), &query);
                let found = indexed(&index, field, scale, &query);
                prop_assert_eq!(found.len(), expected.len(), "{:?} {:?}", field, scale);
                for (found, expected) in found.iter().zip(&expected) {
                    prop_assert!((found - expected).abs() < 1e-4, "{:?} {:?}: {} is not {}", field, scale, found, expected);
                }
            }
        }
    }
}

#[test]
fn deleting_nine_in_ten_leaves_no_trace_in_the_dictionary() {
    let mut index = Index::new(None);
    for n in 0..4000 {
        insert(&mut index, n, n / 20, &format!("word{n} by the river. Second sentence number {n} here"));
    }
    let before = index.lexical.n_forms();
    (0..4000).filter(|n| n % 10 != 0).for_each(|n| assert!(index.remove(turn_id(n))));
    assert_eq!((index.len(), index.n_atoms()), (400, 800));
    assert!(index.turns.id.len() < 1000, "removed turns are swept out");
    assert!(index.lexical.n_forms() < before / 3, "{} of {before} forms are left", index.lexical.n_forms());
    let mut rebuilt = Index::new(None);
    for n in (0..4000).step_by(10) {
        insert(&mut rebuilt, n, n / 20, &format!("word{n} by the river. Second sentence number {n} here"));
    }
    for (field, query) in [(Field::Stems, "river"), (Field::Stems, "word10"), (Field::Grams, "rive")] {
        for scale in Scale::ALL {
            let query = [query.to_owned()];
            assert_eq!(indexed(&index, field, scale, &query), indexed(&rebuilt, field, scale, &query));
        }
    }
}
