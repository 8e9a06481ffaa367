//! The recipe's own results on our own sentences, as `tests/fixture/text/generate.py` wrote them.

use serde_json::{Value, json};

use super::tokenize::TokenKind;
use super::units::tests::shipped;
use super::{asks_name, asks_when, atom_text, atoms, cues, for_each_gram, for_each_token, readable, stem};
use crate::model::Cues;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture/text");

/// The stems field of the index.
pub(super) fn stems(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for_each_token(text, &mut |token| match token.kind {
        TokenKind::Word => out.push(stem(token.text).into_owned()),
        _ => out.push(token.text.to_string()),
    });
    out
}

/// The grams field of the index.
pub(super) fn grams(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for_each_token(text, &mut |token| match token.kind {
        TokenKind::Word => for_each_gram(token.text, &mut |gram| out.push(gram.to_string())),
        TokenKind::Unigram => {}
        TokenKind::Bigram | TokenKind::Lone => out.push(token.text.to_string()),
    });
    out
}

#[test]
fn every_result_is_the_recipes_or_a_declared_extension() {
    let read = |name: &str| -> Value {
        let file = std::fs::read(format!("{FIXTURE}/{name}")).expect(name);
        serde_json::from_slice(&file).expect(name)
    };
    let (cases, mut beyond, table) = (read("recipe.json"), read("beyond.json"), shipped());
    let mut wrong = Vec::new();
    for case in cases.as_array().expect("a list of cases") {
        let text = case["text"].as_str().expect("text");
        let cues = cues(text);
        let ours = json!({
            "atoms": atoms(text).iter().map(|atom| atom_text(text, atom)).collect::<Vec<_>>(),
            "rows": table.rows(text),
            "count": table.count(text),
            "stems": stems(text),
            "grams": grams(text),
            "question": cues.has(Cues::QUESTION),
            "first_person": cues.has(Cues::FIRST_PERSON),
            "time": cues.has(Cues::TIME),
            "capital": cues.has(Cues::CAPITAL),
            "asks_when": asks_when(text),
            "asks_name": asks_name(text),
            "readable": readable(text),
        });
        for (field, ours) in ours.as_object().expect("fields") {
            let declared = beyond.get_mut(text).and_then(|fields| fields.as_object_mut()?.remove(field));
            if declared.as_ref() == Some(&case[field]) {
                wrong.push(format!("{text:?} {field}: declared as an extension, but it is the recipe's"));
            }
            let expected = declared.unwrap_or_else(|| case[field].clone());
            if *ours != expected {
                wrong.push(format!("{text:?} {field}\n  expected {expected}\n  found    {ours}"));
            }
        }
        let vector = table.unit_vector(text);
        for (ours, expected) in vector.iter().zip(case["vector"].as_array().expect("vector")) {
            let expected = expected.as_f64().expect("number") as f32;
            if (ours - expected).abs() > 0.0005 {
                wrong.push(format!("{text:?} vector: {ours} is not {expected}"));
            }
        }
    }
    for (text, left) in beyond.as_object().expect("texts") {
        let left: Vec<_> = left.as_object().expect("fields").keys().filter(|key| *key != "why").collect();
        if !left.is_empty() {
            wrong.push(format!("{text:?}: unknown or unused declarations {left:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}
