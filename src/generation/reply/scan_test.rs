//! Finding and reading JSON in replies.

use super::parse::{decimal, parse_at};
use super::{BadReply, Expected, Json, ReplyEnd, ReplyText, read};
use proptest::prelude::*;

const EXPECTED: Expected = Expected { envelope: &["facts", "memories"], item: &["quote"] };

/// The JSON that is read, as text, or the kind of bad reply by its first letters.
fn answer(text: &str, end: ReplyEnd) -> String {
    match read(&ReplyText { text, end }, &EXPECTED) {
        Ok(json) => serde_json::to_string(&json).expect("serializes"),
        Err(bad) => format!("{bad:?}").split(['(', ' ']).next().unwrap_or_default().to_owned(),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(answer(text, ReplyEnd::Stop), expected, "{text}");
}

const ONE: &str = r#"{"facts":[1.0]}"#;

#[test]
fn case_01_fences_and_prose_around_json() {
    check("{\"facts\": [1]}", ONE);
    check("```json\n{\"facts\": [1]}\n```", ONE);
    check("Sure! [see 1] Here {it} is:\n```\n{\"facts\": [1]}\n```\nHope that helps [1].", ONE);
    check("{\"result\": {\"facts\": [1]}}", ONE);
    check("[{\"facts\": [1]}]", ONE);
    check("{\"name\":\"f\",\"arguments\":\"{\\\"facts\\\": [1]}\"}", ONE);
    check("\"{\\\"facts\\\": [1]}\"", ONE);
    check("First {\"facts\": [0]}, or better {\"facts\": [1]}", ONE);
}

#[test]
fn case_02_reasoning_closed_nested_or_never_closed() {
    check("<think>maybe {\"facts\": [9]}</think>{\"facts\": [1]}", ONE);
    check("<thinking a=\"b\">x<think>y</think>{\"facts\": [9]}</thinking>\n{\"facts\": [1]}", ONE);
    check("maybe {\"facts\": [9]}</think>{\"facts\": [1]}", ONE);
    check("[THINK]{\"facts\": [9]}[/THINK]{\"facts\": [1]}", ONE);
    check("<reasoning>maybe {\"facts\": [9]} and so on\n```json\n{\"facts\": [1]}\n```", ONE);
    check("<think>a<think>b</think>{\"facts\": [1]}", ONE);
    check("<think>maybe {\"facts\": []}, but I am not sure", "Unreadable");
    check("<think>{\"facts\": [9]}</think>", "Unreadable");
    check("{\"facts\": [\"<think>\"]}", r#"{"facts":["<think>"]}"#);
    check("So: {\"facts\": [\"</think>\"]}", r#"{"facts":["</think>"]}"#);
}

#[test]
fn case_03_a_fence_within_a_string_stays() {
    let json = r#"{"facts":["```json\n{\"facts\":[]}\n```"]}"#;
    check(json, json);
    check(&format!("```json\n{json}\n```"), json);
}

#[test]
fn case_04_almost_json() {
    check("{\"facts\": [1,],}", ONE);
    check("{'facts': [1]}", ONE);
    check("{facts: [1] /* one */} // done", ONE);
    check("{\u{201c}facts\u{201d}: [1]}", ONE);
    check("{\"facts\": [1", ONE);
    check("```json\n{\"facts\": [1\n```", ONE);
    check("{'facts': [True, False, None, -1.5e2, .5]}", r#"{"facts":[true,false,null,-150.0,0.5]}"#);
    check("{'facts': ['it's', \"say \"hi\" now\", 'a\nb']}", r#"{"facts":["it's","say \"hi\" now","a\nb"]}"#);
    check("{\"facts\": [\"a\"\n\"b\"\n{\"c\":1}\n]}", r#"{"facts":["a","b",{"c":1.0}]}"#);
    check("[{\"quote\":\"a\"}]", r#"[{"quote":"a"}]"#);
    check("{\"quote\":\"a\"}\n{\"quote\":\"b\"}", r#"[{"quote":"a"},{"quote":"b"}]"#);
    check("{\"Memories\": [1]}", r#"{"Memories":[1.0]}"#);
    // What breaks off in the middle is not read in parts.
    check("{\"facts\": [{\"quote\":\"a\"}, oops, {\"quote\":\"b\"}]}", "Unreadable");
    check("{\"facts\": [{\"quote\":\"a", "Unreadable");
    check("{\"facts\": [", "Unreadable");
    check("{\"facts\":", "Unreadable");
    check("{\"other\": []}", "Unreadable");
    check("{}", "Unreadable");
    check("[1]", "Unreadable");
    check(&"[".repeat(5_000), "Unreadable");
}

#[test]
fn case_05_a_cut_reply_is_never_read() {
    for text in ["{\"facts\": [1]}", "{\"facts\": [1", "{\"facts\": [1]} and", ""] {
        assert_eq!(answer(text, ReplyEnd::Length), "Truncated", "{text}");
        assert_eq!(answer(text, ReplyEnd::Filtered), "Filtered", "{text}");
    }
    // Brackets are supplied only where the model says that it was done.
    assert_eq!(answer("{\"facts\": [1", ReplyEnd::Unknown), "Unreadable");
    assert_eq!(answer("{\"facts\": [1]}", ReplyEnd::Unknown), ONE);
}

#[test]
fn case_06_nothing_and_nonsense_differ() {
    check("{\"facts\": []}", r#"{"facts":[]}"#);
    check("[]", "[]");
    check("Nothing to note.\n```json\n[]\n```", "[]");
    for text in ["", "   ", "null", "nothing", "Nothing [] to see.", "{]", "\u{0}"] {
        check(text, "Unreadable");
    }
}

#[test]
fn case_07_the_schema_is_no_answer() {
    for text in [
        r#"{"type":"object","properties":{"facts":{"type":"array"}}}"#,
        r#"{"properties":{"reasoning":{"type":"string"},"facts":{"type":"array","items":{}}}}"#,
        r#"{"facts":{"type":"array","items":{"type":"string"}}}"#,
        r#"{"name":"x","strict":true,"schema":{"type":"object","properties":{"facts":{"type":["array","null"]}}}}"#,
    ] {
        check(text, "EchoedSchema");
        check(&format!("{text}\n{ONE}"), ONE);
    }
    check(r#"{"type":"object","properties":{"facts":[1]}}"#, ONE);
}

#[test]
fn case_09_outages_and_refusals_are_no_answers() {
    check("I'm sorry, but I can't.", "Unreadable");
    for text in [
        "Service Unavailable",
        "You exceeded your current quota, please check your plan [1].",
        r#"{"error":{"message":"quota exceeded","code":429}}"#,
        r#"{"error":"model overloaded"}"#,
        r#"[{"error":{"message":"no"}}]"#,
        r#"{"object":"error","errors":[{"detail":"no"}]}"#,
    ] {
        let bad = read(&ReplyText { text, end: ReplyEnd::Stop }, &EXPECTED).expect_err("no answer");
        assert!(matches!(bad, BadReply::Failure(_)), "{text}: {bad:?}");
    }
}

#[test]
fn case_10_half_a_surrogate_pair_is_replaced() {
    check(
        r#"{"facts":["\ud83d x \ude00 \ud83d\ude00 \ud83d\u0041 \uZZ"]}"#,
        "{\"facts\":[\"\u{fffd} x \u{fffd} 😀 \u{fffd}A \u{fffd}ZZ\"]}",
    );
}

#[test]
fn numbers_are_read_and_words_are_not() {
    for (text, expected) in [
        ("0.9", Some(0.9)),
        ("-1e3", Some(-1000.0)),
        ("+.5", Some(0.5)),
        ("1e400", None),
        ("inf", None),
        ("-", None),
        ("1.2.3", None),
    ] {
        assert_eq!(decimal(text), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn valid_json_is_read_as_it_is(value in json()) {
        let text = serde_json::to_string(&value).expect("serializes");
        let parsed = parse_at(&text, 0);
        prop_assert_eq!(parsed.end, text.len());
        prop_assert_eq!(parsed.value, Some(value));
    }

    #[test]
    fn no_reply_makes_it_panic(parts in proptest::collection::vec(prop_oneof![
        Just("{"), Just("["), Just("}"), Just("]"), Just("\"facts\":"), Just("'"), Just(","), Just("<think>"), Just("</think>"), Just("```"),
        Just("\\u"), Just("\\ud800"), Just("é"), Just("// "), Just("/*"), Just("1e"), Just("\"quote\":\"a\""), Just("\n"),
    ], 0..40), text in any::<String>(), stop in any::<bool>()) {
        let text = parts.concat() + &text;
        let end = if stop { ReplyEnd::Stop } else { ReplyEnd::Unknown };
        let _ = read(&ReplyText { text: &text, end }, &EXPECTED);
    }
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        (-1_000_000_i32..1_000_000).prop_map(|n| Json::Number(f64::from(n) / 8.0)),
        any::<String>().prop_map(Json::Text),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Json::List),
            proptest::collection::vec((any::<String>(), inner), 1..5)
                .prop_map(|fields| Json::Map(fields.into_iter().collect())),
        ]
    })
}
