//! A memory from end to end in a browser, through the names that JavaScript calls.

use js_sys::{Array, Promise, Uint8Array};
use serde_json::{Value, json};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;

use super::world::{Memory, Refused, delete_database, host_that_ranks, host_with_store, js, options, turn, unique};

const STRATEGIES: [&str; 4] = ["auto", "semantic", "keyword", "temporal"];
const CONVERSATION: [(&str, &str); 6] = [
    ("I adopted a puppy from the shelter. Her name is Luna.", "That's wonderful! Do you walk her a lot?"),
    ("The build fails with ERR-4417-b on the server.", "Clear the cache and try again."),
    ("我上周去了图书馆，借了一本科幻小说。", "听起来很有意思。我更喜欢看电影和喝茶。"),
    ("ฉันชอบกินข้าวเหนียวมะม่วง", "อร่อยมาก"),
    ("Моя сестра переехала в Казань", "Как ей там нравится?"),
    ("party 🎉🥳 tonight", "have fun 🌍"),
];

async fn tell(memory: &Memory) -> Vec<String> {
    let turns: Vec<Value> = CONVERSATION.iter().map(|(user, agent)| turn(user, agent)).collect();
    let added = memory.call("addMany", &[js(&Value::from(turns))]).await.expect("stored");
    let ids: Vec<String> = texts(&added, "id");
    assert_eq!(ids.len(), CONVERSATION.len());
    ids
}

fn texts(list: &Value, name: &str) -> Vec<String> {
    let list = list.as_array().expect("a list");
    list.iter().map(|item| item[name].as_str().expect(name).to_owned()).collect()
}

/// Ids, scores and all.
async fn hits(memory: &Memory) -> Vec<Value> {
    let mut all = Vec::new();
    for query in ["Where is the puppy from?", "科幻", "сестра", "ERR-4417-b"] {
        let found = memory.find(query, "auto").await;
        assert!(!found["hits"].as_array().expect("a list").is_empty(), "{query} finds nothing");
        all.push(found);
    }
    all
}

#[wasm_bindgen_test]
async fn a_memory_is_the_same_after_it_was_closed_and_opened_again() {
    for storage in ["indexeddb", "host"] {
        let name = unique(storage);
        let memory = Memory::open(&options(storage, &name), &host_with_store(&name)).await.expect("opens");
        memory.install_table();
        let ids = tell(&memory).await;
        let gone = js(&json!([ids[1], "page_0000000000000000", "nonsense"]));
        let forgotten = memory.call("forget", &[gone]).await.expect("forgotten");
        assert_eq!(forgotten["pages"], json!([ids[1]]), "{storage}");
        assert_eq!(forgotten["notFound"], json!(["page_0000000000000000", "nonsense"]), "{storage}");
        memory.add("The build fails with ERR-4417-b again.", "").await.expect("stored");
        memory.call("flush", &[]).await.expect("flushed");
        let before = hits(&memory).await;
        memory.close().await;
        memory.free();

        let again = Memory::open(&options(storage, &name), &host_with_store(&name)).await.expect("opens");
        again.install_table();
        assert_eq!(hits(&again).await, before, "{storage}");
        assert_eq!(again.n_pages().await, 6, "{storage}");
        let read = again.call("pages", &[0.into(), 100.into()]).await.expect("listed");
        assert!(!texts(&read, "userInput").contains(&CONVERSATION[1].0.to_owned()), "{storage}");
        again.close().await;
        if storage == "indexeddb" {
            delete_database(&name).await.expect("nobody holds it");
        }
    }
}

#[wasm_bindgen_test]
async fn a_memory_in_memory_is_gone_when_it_is_closed() {
    let name = unique("memory");
    for _ in 0..2 {
        let memory = Memory::open(&options("memory", &name), &host_with_store(&name)).await.expect("opens");
        assert_eq!(memory.n_pages().await, 0);
        memory.install_table();
        tell(&memory).await;
        hits(&memory).await;
        memory.close().await;
        memory.free();
    }
}

#[wasm_bindgen_test]
async fn case_31_a_hundred_adds_at_once_are_a_hundred_pages() {
    let name = unique("hundred");
    let memory = Memory::in_database(&name).await;
    let adds: Array = (0..100).map(|n| memory.begin("add", &[js(&turn(&format!("turn {n}"), ""))])).collect();
    // Readers may go in between, and what overlaps is never "recursive use".
    let found = memory.find("turn 7", "auto").await;
    assert!(found["hits"].is_array());
    let added = JsFuture::from(Promise::all(&adds)).await.expect("all stored");
    let ids: std::collections::BTreeSet<String> =
        Array::from(&added).iter().map(|added| format!("{:?}", js_sys::Reflect::get(&added, &"id".into()))).collect();
    assert_eq!((ids.len(), memory.n_pages().await), (100, 100));
    memory.close().await;
    let again = Memory::in_database(&name).await;
    assert_eq!(again.n_pages().await, 100);
    again.close().await;
    delete_database(&name).await.expect("nobody holds it");
}

#[wasm_bindgen_test]
async fn a_second_database_and_another_user_do_not_see_the_first() {
    let (name, other) = (unique("first"), unique("second"));
    let memory = Memory::in_database(&name).await;
    tell(&memory).await;
    let second = Memory::in_database(&other).await;
    let mut options = options("indexeddb", &name);
    options["userId"] = json!("eve");
    let eve = Memory::open(&options, &host_with_store(&name)).await.expect("opens");
    for stranger in [&second, &eve] {
        assert_eq!(stranger.n_pages().await, 0);
        assert_eq!(stranger.find("puppy", "auto").await["hits"], json!([]));
        stranger.add("something of one's own", "").await.expect("stored");
    }
    assert_eq!(memory.n_pages().await, 6);
    for memory in [&memory, &second, &eve] {
        memory.close().await;
    }
    for name in [name, other] {
        delete_database(&name).await.expect("nobody holds it");
    }
}

#[wasm_bindgen_test]
async fn case_16_empty_sides_and_huge_messages_are_kept() {
    let name = unique("huge");
    let memory = Memory::in_database(&name).await;
    let huge: String = (0..25_000).map(|i| format!("word{i} ")).collect::<String>() + "needle-in-the-haystack.";
    memory.add("", "only the answer").await.expect("stored");
    memory.add("only the question", "").await.expect("stored");
    memory.add(&huge, &"x".repeat(200_000)).await.expect("stored");
    let found = memory.find("needle-in-the-haystack", "keyword").await;
    assert!(found["hits"][0]["text"].as_str().expect("a text").ends_with("needle-in-the-haystack."));
    assert_eq!(memory.add(" ", "\n").await.expect_err("says nothing").code, "INVALID_ARGUMENT");
    memory.close().await;
    let again = Memory::in_database(&name).await;
    let read = again.call("pages", &[0.into(), 1.into()]).await.expect("listed");
    assert_eq!(texts(&read, "userInput"), [huge]);
    again.close().await;
    delete_database(&name).await.expect("nobody holds it");
}

#[wasm_bindgen_test]
async fn case_18_short_queries_in_every_script_find_their_turn_by_keyword() {
    let name = unique("scripts");
    let memory = Memory::open(&options("memory", &name), &host_with_store(&name)).await.expect("opens");
    tell(&memory).await;
    for (query, expected) in [
        ("科幻", "科幻小说"),
        ("喝茶", "喝茶"),
        ("มะม่วง", "มะม่วง"),
        ("Казани", "Казань"),
        ("🎉", "🎉"),
        ("Luna", "Luna"),
    ] {
        let found = memory.find(query, "keyword").await;
        let first = found["hits"][0]["text"].as_str().unwrap_or_else(|| panic!("{query} finds nothing"));
        assert!(first.contains(expected), "{query} finds {first:?}");
    }
    assert_eq!(memory.find("zeppelin", "keyword").await["hits"], json!([]));
    memory.close().await;
}

#[wasm_bindgen_test]
async fn case_23_a_text_searched_by_its_own_words_comes_first() {
    let name = unique("own-words");
    let memory = Memory::open(&options("memory", &name), &host_with_store(&name)).await.expect("opens");
    memory.install_table();
    tell(&memory).await;
    for (user, agent) in CONVERSATION {
        for text in [user, agent] {
            for strategy in STRATEGIES {
                assert_eq!(memory.find(text, strategy).await["hits"][0]["text"], text, "{strategy}");
            }
        }
    }
    memory.close().await;
}

#[wasm_bindgen_test]
async fn s07_every_strategy_answers_and_says_how_it_read_the_question() {
    let name = unique("strategies");
    let memory = Memory::open(&options("memory", &name), &host_with_store(&name)).await.expect("opens");
    memory.install_table();
    let days = [("I planted tomatoes.", 60), ("The feline sleeps on the couch.", 9), ("The soup needs salt.", 1)];
    let turns = days.map(|(text, days)| {
        let mut turn = turn(text, "");
        turn["epochMs"] = json!(1_717_243_200_000_i64 - days * 86_400_000);
        turn
    });
    memory.call("addMany", &[js(&json!(turns))]).await.expect("stored");
    for (query, strategy, effect, first) in [
        ("tomatoes", "keyword", "keyword", 0),
        ("cat", "semantic", "semantic", 1),
        ("tomatoes of yesterday", "temporal", "temporal", 2),
        ("last week", "auto", "temporal", 1),
        ("上周", "auto", "temporal", 1),
        ("“needs salt”", "auto", "keyword", 2),
        ("Where does the cat sleep?", "auto", "auto", 1),
    ] {
        // 2024-06-01 23:30 in UTC-4, the next day in UTC.
        let asked = json!({
            "topK": 10, "budgetTokens": 1_024, "strategy": strategy, "profile": "auto", "filter": {},
            "epochMs": 1_717_299_000_000_i64, "offsetMinutes": -240,
        });
        let found = memory.call("retrieve", &[query.into(), js(&asked)]).await.expect("answered");
        assert_eq!(
            (&found["hits"][0]["text"], &found["query"]["strategy"]),
            (&json!(days[first].0), &json!(effect)),
            "{query}"
        );
        if query == "last week" {
            let range = json!([{ "phrase": "last week", "from": "2024-05-20", "to": "2024-05-27" }]);
            assert_eq!(found["query"]["ranges"], range);
        }
    }
    memory.close().await;
}

#[wasm_bindgen_test]
async fn s20_retrievers_of_the_host_rank_what_the_filter_lets_through() {
    let name = unique("retrievers");
    let host = host_that_ranks();
    let mut with = options("memory", &name);
    with["retrievers"] = json!(["mine"]);
    let memory = Memory::open(&with, &host).await.expect("opens");
    tell(&memory).await;
    let search = json!({
        "topK": 2, "budgetTokens": 100, "strategy": "mine", "profile": "auto", "callId": "c1",
        "filter": { "not": [{ "roles": ["assistant"] }], "where": { "kind": { "exists": false } } },
    });
    let retrieve = async || memory.call("retrieve", &["x".into(), js(&search)]).await;
    let shown = memory.call("candidates", &[js(&search)]).await.expect("listed");
    assert_eq!(texts(&shown, "text"), CONVERSATION.map(|(user, _)| user));
    let id = |at: usize| shown[at]["id"].clone();
    let hidden = id(1).as_str().map(|id| id.replace("user", "agent"));
    let answer = |ranked: &Value| js_sys::Reflect::set(&host, &"ranked".into(), &js(ranked)).expect("set");
    answer(&json!([
        { "id": id(4), "score": 1.5 }, { "id": hidden, "score": 9 }, { "id": id(1), "score": 1e12 }, { "id": "nonsense", "score": 9 },
        { "id": id(2), "score": 1e12 + 1.0 }, {}, 7,
    ]));
    let found = retrieve().await.expect("answered");
    assert_eq!(texts(&found["hits"], "text"), [CONVERSATION[2].0, CONVERSATION[1].0]);
    let asked = js_sys::Reflect::get(&host, &"asked".into()).expect("there");
    let asked = js_sys::JSON::stringify(&asked).expect("JSON").as_string().expect("text");
    assert_eq!(asked, r#"[{"retriever":"mine","query":"x","limit":100,"callId":"c1"}]"#);
    for bad in [json!("none"), json!([{ "id": id(0), "score": "high" }]), json!([{ "id": id(0) }])] {
        answer(&bad);
        let refused = retrieve().await.expect_err("refused");
        assert_eq!(refused.code, "PROVIDER_BAD_REPLY");
        assert!(refused.message.contains("\"mine\""), "{refused}");
    }
    js_sys::Reflect::set(&host, &"ranked".into(), &js_sys::Error::new("out of ideas")).expect("set");
    let refused = retrieve().await.expect_err("refused");
    assert_eq!(
        (refused.code.as_str(), refused.message.as_str()),
        ("PROVIDER_FAILED", "the retriever \"mine\" failed: out of ideas")
    );
    memory.close().await;
    with["retrievers"] = json!(["temporal"]);
    assert_eq!(Memory::open(&with, &host).await.err().map(|refused| refused.code), Some("INVALID_ARGUMENT".into()));
}

#[wasm_bindgen_test]
async fn errors_have_a_code() {
    let name = unique("errors");
    let host = host_with_store(&name);
    let with = |key: &str, value: Value| {
        let mut options = options("memory", &name);
        options[key] = value;
        options
    };
    let wrong = [
        ("storage", json!("tape")),
        ("name", Value::Null),
        ("userId", json!("")),
        ("config", json!({ "shortTermCapacity": "many" })),
        ("config", json!({ "shortTermCapacity": 1.5 })),
        ("config", json!({ "historyCapacity": 1e12 })),
        ("config", json!({ "heatAlpha": "hot" })),
        ("config", json!({ "segmentEviction": "random" })),
        ("config", json!({ "knowledgeEviction": "random" })),
        ("config", json!({ "dailyCalls": -1 })),
        ("embedder", json!({ "id": "m", "dimensions": 0 })),
    ];
    for (key, value) in wrong {
        let refused = Memory::open(&with(key, value.clone()), &host).await.err();
        assert_eq!(refused.map(|refused| refused.code), Some("INVALID_ARGUMENT".into()), "{key} {value}");
    }
    let memory = Memory::open(&options("memory", &name), &host).await.expect("opens");
    let bad_search = |change: Value| {
        let mut options =
            json!({ "topK": 5, "budgetTokens": 100, "strategy": "auto", "profile": "auto", "filter": {} });
        options.as_object_mut().expect("an object").extend(change.as_object().cloned().unwrap_or_default());
        js(&options)
    };
    let nothing = JsValue::UNDEFINED;
    let calls: [(&str, Vec<JsValue>); 19] = [
        ("retrieve", vec!["x".into(), bad_search(json!({ "filter": { "not": [{}] } }))]),
        ("retrieve", vec!["x".into(), bad_search(json!({ "filter": { "where": { "a": { "like": 1 } } } }))]),
        ("retrieve", vec!["x".into(), bad_search(json!({ "filter": { "where": { "a": 1 } } }))]),
        ("retrieve", vec!["x".into(), bad_search(json!({ "filter": { "metadata": [] } }))]),
        ("add", vec![js(&json!({ "userInput": "x", "metadata": 7 }))]),
        ("add", vec![nothing.clone()]),
        ("add", vec![js(&json!({ "userInput": 7 }))]),
        ("addMany", vec![js(&json!({}))]),
        ("retrieve", vec![" ".into(), bad_search(json!({}))]),
        ("retrieve", vec!["x".into(), bad_search(json!({ "topK": 0 }))]),
        ("retrieve", vec!["x".into(), bad_search(json!({ "strategy": "guess" }))]),
        ("retrieve", vec!["x".into(), bad_search(json!({ "filter": { "tiers": ["long"] } }))]),
        ("respond", vec!["x".into(), js(&json!({}))]),
        ("retryJob", vec!["nonsense".into()]),
        ("forget", vec![js(&json!([7]))]),
        ("forget", vec![nothing.clone()]),
        ("importAll", vec![nothing.clone()]),
        ("importAll", vec![js(&json!([1, 2, 3]))]),
        ("importAll", vec![Uint8Array::from(&b"no file of ours"[..]).into()]),
    ];
    for (method, args) in calls {
        let Refused { code, message } = memory.call(method, &args).await.expect_err(method);
        assert_eq!(code, "INVALID_ARGUMENT", "{method} {args:?}: {message}");
        assert!(!message.is_empty());
    }
    memory.close().await;
}

#[wasm_bindgen_test]
async fn after_closing_every_call_is_rejected_with_closed() {
    let name = unique("closed");
    let memory = Memory::in_database(&name).await;
    tell(&memory).await;
    let file = memory.begin("exportAll", &[]);
    let file = JsFuture::from(file).await.expect("exported");
    memory.close().await;
    let search = json!({ "topK": 5, "budgetTokens": 100, "strategy": "auto", "profile": "auto", "filter": {} });
    let respond = json!({ "callId": "1", "budgetTokens": 100 });
    let calls: [(&str, Vec<JsValue>); 11] = [
        ("add", vec![js(&turn("too late", ""))]),
        ("addMany", vec![js(&json!([turn("too late", "")]))]),
        ("retrieve", vec!["puppy".into(), js(&search)]),
        ("respond", vec!["puppy".into(), js(&respond)]),
        ("forget", vec![js(&json!(["page_0000000000000000"]))]),
        ("work", vec![]),
        ("flush", vec![]),
        ("retryJob", vec!["job_0000000000000000".into()]),
        ("exportAll", vec![]),
        ("importAll", vec![file]),
        ("clear", vec![]),
    ];
    for (method, args) in calls {
        let done = memory.call(method, &args).await;
        assert_eq!(done.map_err(|refused| refused.code), Err("CLOSED".to_owned()), "{method}");
    }
    memory.close().await;
    let again = Memory::in_database(&name).await;
    assert_eq!(again.n_pages().await, 6);
    again.close().await;
    delete_database(&name).await.expect("nobody holds it");
}
