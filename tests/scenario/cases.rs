//! Inputs that broke products of this kind.

use memstrata::effect::{ChatReply, EmbedReply, FinishReason, Usage};
use memstrata::error::{Error, ErrorCode};
use memstrata::id::PageId;
use memstrata::model::{Metadata, Scope, Space, Value};
use memstrata::op::{Added, Embedder, Filter, Manner, Mode, OpenOptions, RespondInput, RetrieveInput};
use memstrata::retrieval::Strategy;
use memstrata::updating::short_term::NewPage;

use crate::world::{NOON_MS, World, answer, options, turn, with_chat};

const STRATEGIES: [Strategy; 5] = Strategy::ALL;

fn by(query: &str, strategy: Strategy) -> RetrieveInput {
    RetrieveInput { strategy, ..RetrieveInput::new(query) }
}

fn conversation() -> Vec<NewPage> {
    vec![
        turn("I adopted a puppy from the shelter. Her name is Luna.", "That's wonderful! Do you walk her a lot?", 0),
        turn("We hiked near Sintra and Luna loved the river.", "Do you walk there often?", 24),
        turn("The build fails with ERR-4417-b on the server.", "Clear the cache and try again.", 48),
        turn("我上周去了图书馆，借了一本科幻小说。", "听起来很有意思。我更喜欢看电影和喝茶。", 72),
        turn("昨日は京都で美味しい抹茶を飲みました。", "それは素敵ですね。", 96),
        turn("ฉันชอบกินข้าวเหนียวมะม่วง", "อร่อยมาก", 120),
        turn("أحب شرب القهوة في الصباح", "القهوة لذيذة", 144),
        turn("Моя сестра переехала в Казань", "Как ей там нравится?", 168),
        turn("party 🎉🥳 tonight", "have fun 🌍", 192),
        turn("constructor", "__proto__ toString", 216),
    ]
}

#[test]
fn case_15_the_same_client_id_is_stored_once() {
    let mut world = World::default();
    let memory = world.open();
    let same = NewPage { client_id: Some("m1".into()), ..turn("hello", "hi", 0) };
    let first = world.run(memory.add(vec![same.clone()], NOON_MS)).done().expect("stored");
    let tasks = (0..12).map(|_| memory.add(vec![same.clone()], NOON_MS)).collect();
    for again in world.run_together(tasks, 15) {
        assert_eq!(again.expect("answered"), [Added::Duplicate(first[0].page())]);
    }
    assert_eq!(memory.stats().pages, 1);
}

#[test]
fn case_16_empty_sides_and_huge_messages_are_kept() {
    let mut world = World::default();
    let memory = world.open();
    let huge: String = (0..25_000).map(|i| format!("word{i} ")).collect::<String>() + "needle-in-the-haystack.";
    assert!(huge.len() > 200_000);
    let unbroken = "x".repeat(200_000);
    let turns = vec![turn("", "only the answer", 0), turn("only the question", "", 0), turn(&huge, &unbroken, 1)];
    world.run(memory.add(turns, NOON_MS)).done().expect("stored");
    assert_eq!(memory.stats().turns, 4);
    let found =
        world.run(memory.retrieve(by("needle-in-the-haystack", Strategy::Keyword), NOON_MS)).done().expect("found");
    assert!(found.hits[0].text.ends_with("needle-in-the-haystack."));
    assert!(found.context_tokens <= 1_024);
    let refused = world.run(memory.add(vec![turn(" ", "\n", 0)], NOON_MS)).done().expect_err("says nothing");
    assert_eq!(refused.code(), ErrorCode::InvalidArgument);
}

#[test]
fn case_17_the_users_turn_is_stored_before_the_model_answers() {
    let mut world = World::default();
    let memory = world.open_with(with_chat()).done().expect("opens");
    let ask = || RespondInput {
        page: NewPage { client_id: Some("q1".into()), ..turn("My train leaves at 17:40.", "", 0) },
        manner: Manner { budget_tokens: 200, ..Manner::default() },
        call_id: None,
    };
    world.chat = Box::new(|_| Err(Error::new(ErrorCode::Aborted, "the tab was closed")));
    let failed = world.run(memory.respond(ask(), NOON_MS)).done().expect_err("aborted");
    assert_eq!(failed.code(), ErrorCode::Aborted);
    let again = world.open_with(with_chat()).done().expect("opens");
    assert_eq!(again.pages(0, 10)[0].user_input, "My train leaves at 17:40.");
    world.chat = Box::new(|_| Ok(answer("Then leave by five.")));
    let answered = world.run(again.respond(ask(), NOON_MS)).done().expect("answered");
    assert_eq!((again.stats().pages, answered.mode), (1, Mode::Model));
    assert_eq!(again.pages(0, 10)[0].agent_response, "Then leave by five.");
}

#[test]
fn case_09_what_a_failing_model_says_is_never_stored() {
    let mut world = World::default();
    let memory = world.open_with(with_chat()).done().expect("opens");
    for reason in [FinishReason::Error, FinishReason::Stop] {
        let text = if reason == FinishReason::Error { "insufficient quota" } else { " " };
        world.chat = Box::new(move |_| {
            Ok(ChatReply { text: text.into(), finish_reason: reason, usage: Usage::default(), mode: None })
        });
        let input = RespondInput {
            page: turn("hello there", "", 0),
            manner: Manner { budget_tokens: 100, ..Manner::default() },
            call_id: None,
        };
        assert!(world.run(memory.respond(input, NOON_MS)).done().is_err());
    }
    assert!(memory.pages(0, 10).iter().all(|page| page.agent_response.is_empty()));
    assert!(!world.holds("insufficient quota"));
}

#[test]
fn case_18_short_queries_in_every_script_find_their_turn_by_keyword() {
    let mut world = World::default();
    let memory = world.open();
    world.run(memory.add(conversation(), NOON_MS)).done().expect("stored");
    let queries = [
        ("科幻", "科幻小说"),
        ("喝茶", "喝茶"),
        ("抹茶", "抹茶"),
        ("京都", "京都"),
        ("มะม่วง", "มะม่วง"),
        ("القهوة", "القهوة"),
        ("сестра", "сестра"),
        ("Казани", "Казань"),
        ("🎉", "🎉"),
        ("Luna", "Luna"),
    ];
    for (query, expected) in queries {
        for strategy in [Strategy::Keyword, Strategy::Auto] {
            let found = world.run(memory.retrieve(by(query, strategy), NOON_MS)).done().expect("found");
            let first = found.hits.first().unwrap_or_else(|| panic!("{query} finds nothing"));
            assert!(first.text.contains(expected), "{query} finds {:?}", first.text);
        }
    }
    let absent = world.run(memory.retrieve(by("zeppelin", Strategy::Keyword), NOON_MS)).done().expect("answered");
    assert!(absent.hits.is_empty() && absent.context.is_empty());
}

#[test]
fn case_19_labels_that_normalise_to_nothing_are_never_merged() {
    let mut world = World::default();
    let memory = world.open();
    let in_session = |label: &str, text: &str| NewPage { session: Some(label.into()), ..turn(text, "", 0) };
    let turns = vec![
        in_session("!!!", "first of the shouts"),
        in_session("???", "second of the questions"),
        in_session("", "no label at all"),
    ];
    world.run(memory.add(turns, NOON_MS)).done().expect("stored");
    let sessions: Vec<_> = memory.pages(0, 10).into_iter().map(|page| page.session).collect();
    assert_eq!(sessions, ["", "???", "!!!"]);
    let only = RetrieveInput {
        filter: Filter { sessions: vec!["!!!".into()], ..Filter::default() },
        ..RetrieveInput::new("second of the")
    };
    let found = world.run(memory.retrieve(only, NOON_MS)).done().expect("answered");
    assert!(found.hits.iter().all(|hit| hit.text == "first of the shouts"));
}

#[test]
fn case_20_names_of_javascript_builtins_are_ordinary_text() {
    let mut world = World::default();
    let memory = world.open();
    world.run(memory.add(conversation(), NOON_MS)).done().expect("stored");
    let metadata = Metadata::from_iter([("constructor".to_owned(), Value::Text("x".into()))]);
    let marked = NewPage { metadata: metadata.clone(), ..turn("marked by its constructor key", "", 1) };
    world.run(memory.add(vec![marked], NOON_MS)).done().expect("stored");
    for query in ["constructor", "__proto__", "toString"] {
        let found = world.run(memory.retrieve(by(query, Strategy::Keyword), NOON_MS)).done().expect("found");
        assert!(found.hits[0].text.contains(query), "{query} finds {:?}", found.hits[0].text);
    }
    let filtered =
        RetrieveInput { filter: Filter { metadata, ..Filter::default() }, ..RetrieveInput::new("constructor") };
    let found = world.run(memory.retrieve(filtered, NOON_MS)).done().expect("found");
    assert_eq!(found.hits.iter().map(|hit| hit.text.as_str()).collect::<Vec<_>>(), ["marked by its constructor key"]);
}

#[test]
fn case_22_unusable_vectors_leave_the_text_findable_by_keyword() {
    let mut world = World::default();
    let space = Space { model: "test".into(), dimensions: 3 };
    let external = OpenOptions { embedder: Embedder::External { space, texts_per_call: 2 }, ..options() };
    let memory = world.open_with(external).done().expect("opens");
    world.run(memory.add(conversation(), NOON_MS)).done().expect("stored without asking anybody");
    for (missing, dimensions, code) in [(1, 3, ErrorCode::ProviderBadReply), (0, 4, ErrorCode::DimensionMismatch)] {
        world.embed = Box::new(move |request| {
            let vectors = vec![vec![1.0; dimensions]; request.texts.len() - missing];
            Ok(EmbedReply { vectors, usage: Usage::default() })
        });
        assert_eq!(world.run(memory.flush(NOON_MS)).done().expect_err("refused").code(), code);
    }
    world.embed = Box::new(|request| {
        let odd =
            |text: &String| if text.contains("Luna") { vec![f32::NAN; 3] } else { vec![text.len() as f32, 1.0, 0.0] };
        Ok(EmbedReply { vectors: request.texts.iter().map(odd).collect(), usage: Usage::default() })
    });
    world.run(memory.flush(NOON_MS)).done().expect("embedded");
    let stats = memory.stats();
    assert_eq!((stats.index.vectors, stats.index.pending_vectors), (stats.turns - 2, 0));
    let found = world.run(memory.retrieve(by("puppy", Strategy::Auto), NOON_MS)).done().expect("found");
    assert!(found.hits[0].text.contains("puppy"));
}

#[test]
fn case_23_a_text_searched_by_its_own_words_comes_first() {
    let mut world = World::default();
    let memory = world.open();
    let turns = conversation();
    world.run(memory.add(turns.clone(), NOON_MS)).done().expect("stored");
    for page in &turns {
        for text in [&page.user_input, &page.agent_response] {
            for strategy in STRATEGIES {
                let found = world.run(memory.retrieve(by(text, strategy), NOON_MS)).done().expect("answered");
                let first = found.hits.first().unwrap_or_else(|| panic!("{strategy:?} {text:?} finds nothing"));
                assert_eq!(&first.text, text, "{strategy:?}");
            }
        }
    }
}

#[test]
fn case_24_a_rare_id_is_found_by_keyword_alone() {
    let mut world = World::default();
    let memory = world.open_with(OpenOptions { embedder: Embedder::None, ..options() }).done().expect("opens");
    world.run(memory.add(conversation(), NOON_MS)).done().expect("stored");
    for strategy in [Strategy::Auto, Strategy::Keyword] {
        let found = world.run(memory.retrieve(by("ERR-4417-b", strategy), NOON_MS)).done().expect("found");
        assert!(found.hits[0].text.contains("ERR-4417-b"), "{strategy:?}");
        assert!(!found.query.vectors);
    }
}

#[test]
fn case_31_a_hundred_adds_at_once_are_a_hundred_pages() {
    for seed in 0..5 {
        let mut world = World::default();
        let memory = world.open();
        let adds = (0..100).map(|i| memory.add(vec![turn(&format!("turn {i}"), "", i)], NOON_MS)).collect();
        let added = world.run_together(adds, seed);
        let ids: std::collections::BTreeSet<PageId> =
            added.into_iter().map(|added| added.expect("stored")[0].page()).collect();
        assert_eq!((ids.len(), memory.stats().pages), (100, 100), "seed {seed}");
        assert_eq!(world.open().stats().pages, 100, "seed {seed}");
    }
}

#[test]
fn case_33_ids_of_another_user_are_not_found() {
    let mut world = World::default();
    let ada = world.open();
    let stored = world.run(ada.add(vec![turn("a secret of Ada", "", 0)], NOON_MS)).done().expect("stored");
    let eve = OpenOptions { scope: Scope::new("eve", "helper").expect("valid"), ..options() };
    let eve = world.open_with(eve).done().expect("opens");
    let forgotten = world.run(eve.forget(vec![stored[0].page()], vec![], NOON_MS)).done().expect("answered");
    assert_eq!((forgotten.pages.len(), forgotten.not_found.len()), (0, 1));
    let found = world.run(eve.retrieve(RetrieveInput::new("a secret of Ada"), NOON_MS)).done().expect("answered");
    assert!(found.hits.is_empty());
    assert_eq!(world.open().stats().pages, 1);
}

#[test]
fn case_34_odd_user_ids_are_data_or_a_typed_error() {
    let mut world = World::default();
    let ids = ["a/b", "..", "a:b", " ", "a b", "你", "\u{1F600}", "a\0b"];
    for (number, id) in ids.into_iter().enumerate() {
        let options = OpenOptions { scope: Scope::new(id, "helper").expect("data"), ..options() };
        let memory = world.open_with(options).done().expect("opens");
        assert_eq!(memory.stats().pages, 0, "{id:?} sees another's pages");
        let turns = (0..=number).map(|i| turn(&format!("page {i}"), "", 0)).collect();
        world.run(memory.add(turns, NOON_MS)).done().expect("stored");
    }
    for (number, id) in ids.into_iter().enumerate() {
        let options = OpenOptions { scope: Scope::new(id, "helper").expect("data"), ..options() };
        assert_eq!(world.open_with(options).done().expect("opens").stats().pages, number + 1);
    }
    for bad in ["", &"x".repeat(10_000)] {
        assert_eq!(Scope::new(bad, "helper").expect_err("refused").code(), ErrorCode::InvalidArgument);
    }
}

#[test]
fn case_38_a_full_disk_changes_nothing_and_reading_goes_on() {
    let mut world = World::default();
    let memory = world.open();
    world.run(memory.add(conversation(), NOON_MS)).done().expect("stored");
    let before = (memory.stats(), world.store.clone());
    let full = Error::new(ErrorCode::StorageQuota, "no room");
    world.fault = Some(crate::world::Fault::Fail(world.n_effects + 1, full));
    let refused = world.run(memory.add(vec![turn("one too many", "", 0)], NOON_MS)).done().expect_err("full");
    assert_eq!(refused.code(), ErrorCode::StorageQuota);
    assert_eq!((memory.stats(), world.store.clone()), before);
    let found = world.run(memory.retrieve(RetrieveInput::new("puppy"), NOON_MS)).done().expect("reads");
    assert!(found.hits[0].text.contains("puppy"));
    let page = memory.pages(0, 1)[0].id.parse().expect("an id");
    world.run(memory.forget(vec![page], vec![], NOON_MS)).done().expect("deleting frees");
    world.run(memory.add(vec![turn("fits again", "", 0)], NOON_MS)).done().expect("stored");
}

#[test]
fn a_memory_of_one_turn_recalls_it_and_a_question_never_recalls_itself() {
    let mut world = World::default();
    let memory = world.open();
    world.run(memory.add(vec![turn("My sister moved to Kazan.", "", 0)], NOON_MS)).done().expect("stored");
    let ask = || RespondInput {
        page: turn("Where does my sister live?", "", 1),
        manner: Manner { budget_tokens: 200, ..Manner::default() },
        call_id: None,
    };
    for _ in 0..2 {
        let answered = world.run(memory.respond(ask(), NOON_MS)).done().expect("answered");
        assert_eq!(
            (answered.mode, answered.text.as_str()),
            (Mode::MemoryOnly, "1 June 2024\nuser: My sister moved to Kazan.\n")
        );
    }
    assert_eq!(memory.stats().pages, 3);
}
