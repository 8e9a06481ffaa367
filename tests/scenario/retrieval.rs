//! Ways of searching: strategies, dates, filters, retrievers, scripts.

use memstrata::error::{Error, ErrorCode, Result};
use memstrata::id::TurnId;
use memstrata::memory_os::MemoryOs;
use memstrata::model::{Metadata, Space, Subject, Value};
use memstrata::op::policy::Answer;
use memstrata::op::{
    Act, Embedder, FactInput, Filter, Manner, OpenOptions, Recall, RespondInput, RetrieveInput, Retriever, Search, Test,
};
use memstrata::retrieval::Strategy;
use memstrata::time::{DAY_MS, HOUR_MS, Timestamp};
use memstrata::updating::short_term::NewPage;

use crate::world::{NOON_MS, Random, World, made_up, options, turn};

fn told(world: &mut World, turns: Vec<NewPage>) -> MemoryOs {
    let memory = world.open();
    world.run(memory.add(turns, NOON_MS)).done().expect("stored");
    memory
}

#[track_caller]
fn find(world: &mut World, memory: &MemoryOs, input: RetrieveInput) -> Recall {
    world.run(memory.retrieve(input, NOON_MS)).done().expect("found")
}

fn by(query: &str, strategy: Strategy) -> RetrieveInput {
    RetrieveInput { strategy, ..RetrieveInput::new(query) }
}

fn texts(recall: &Recall) -> Vec<&str> {
    recall.hits.iter().map(|hit| hit.text.as_str()).collect()
}

fn has_part(recall: &Recall, name: &str) -> bool {
    recall.hits.iter().any(|hit| hit.parts.iter().any(|part| part.name == name && part.value > 0.0))
}

/// A turn said at noon, so many days before 1 June 2024.
fn days_ago(text: &str, days: i64) -> NewPage {
    turn(text, "", -24 * days)
}

fn garden() -> Vec<NewPage> {
    vec![
        days_ago("I planted tomatoes on the balcony.", 90),
        days_ago("The feline sleeps on the couch all day.", 20),
        days_ago("Our train to Porto was late.", 8),
        days_ago("The soup needs more salt.", 1),
    ]
}

#[test]
fn s07_keyword_searches_the_whole_text_and_nothing_else() {
    let mut world = World::default();
    let memory = told(&mut world, garden());
    // Not a keyword or tag of anything: a word within a sentence.
    let found = find(&mut world, &memory, by("balcony", Strategy::Keyword));
    assert_eq!(texts(&found), ["I planted tomatoes on the balcony."]);
    assert!(!found.query.vectors && found.query.strategy == "keyword");
    assert!(!has_part(&found, "odt") && !has_part(&found, "ma"));
    // A word that is not there finds nothing, however near its meaning is.
    assert_eq!(texts(&find(&mut world, &memory, by("kitten", Strategy::Keyword))), [""; 0]);
}

#[test]
fn s07_semantic_finds_what_shares_no_word() {
    let mut world = World::default();
    let memory = told(&mut world, garden());
    let found = find(&mut world, &memory, by("cat", Strategy::Semantic));
    assert_eq!(found.hits[0].text, "The feline sleeps on the couch all day.");
    assert!(found.query.vectors && has_part(&found, "odt"));
    assert!(!has_part(&found, "pba") && !has_part(&found, "date") && !has_part(&found, "rec"));
}

#[test]
fn s07_temporal_puts_the_days_that_are_asked_for_first_and_else_the_latest() {
    let mut world = World::default();
    let memory = told(&mut world, garden());
    // 1 June 2024 is a Saturday: last week was 20 to 26 May, and 24 May is eight days ago.
    for (query, first) in [
        ("What about tomatoes last week?", "Our train to Porto was late."),
        ("what was it yesterday", "The soup needs more salt."),
        ("before April 2024", "I planted tomatoes on the balcony."),
        ("between 10 and 15 May", "The feline sleeps on the couch all day."),
        ("since Thursday", "The soup needs more salt."),
        ("上周", "Our train to Porto was late."),
        ("昨天说了什么", "The soup needs more salt."),
        ("三月到四月", "I planted tomatoes on the balcony."),
        ("anything", "The soup needs more salt."),
    ] {
        let found = find(&mut world, &memory, by(query, Strategy::Temporal));
        assert_eq!(found.hits[0].text, first, "{query}");
        assert_eq!(found.query.strategy, "temporal");
    }
}

#[test]
fn s07_automatic_reads_the_question() {
    let mut world = World::default();
    let mut turns = garden();
    turns.push(days_ago("The build fails with ERR-4417-b.", 3));
    let memory = told(&mut world, turns);
    for (query, strategy, first) in [
        ("ERR-4417-b", "keyword", "The build fails with ERR-4417-b."),
        ("“more salt”", "keyword", "The soup needs more salt."),
        ("last week", "temporal", "Our train to Porto was late."),
        ("上周", "temporal", "Our train to Porto was late."),
        ("Where does the cat sleep?", "auto", "The feline sleeps on the couch all day."),
    ] {
        let found = find(&mut world, &memory, RetrieveInput::new(query));
        assert_eq!((found.query.strategy.as_str(), found.hits[0].text.as_str()), (strategy, first), "{query}");
    }
}

#[test]
fn s07_a_phrase_of_time_decides_between_equals_and_is_shown_as_it_was_understood() {
    let mut world = World::default();
    let said = [days_ago("We had dinner at Luigi's.", 60), days_ago("We had dinner at Anna's.", 9)];
    let memory = told(&mut world, said.into());
    for (query, first, range) in [
        (
            "Where did we have dinner last week?",
            "We had dinner at Anna's.",
            ("last week", Some("2024-05-20"), Some("2024-05-27")),
        ),
        ("Where did we have dinner before May?", "We had dinner at Luigi's.", ("before May", None, Some("2024-05-01"))),
    ] {
        let found = find(&mut world, &memory, RetrieveInput::new(query));
        assert_eq!(found.hits[0].text, first, "{query}");
        let [shown] = found.query.ranges.as_slice() else { panic!("{:?}", found.query.ranges) };
        assert_eq!((shown.phrase.as_str(), shown.from.as_deref(), shown.to.as_deref()), range);
        assert!(has_part(&found, "date"));
    }
    let named = find(&mut world, &memory, RetrieveInput::new("Where did we have dinner in April 2024?"));
    assert_eq!((named.query.months, named.query.years, named.query.ranges), (vec![4], vec![2024], vec![]));
}

#[test]
fn case_26_a_search_goes_by_the_local_day_of_either_side() {
    let mut world = World::default();
    // 2023-05-24 22:30 in UTC-4, the next day in UTC.
    let evening = Timestamp { epoch_ms: 1_684_981_800_000, offset_minutes: -240 };
    let late = NewPage { time: Some(evening), ..turn("The fuse blew.", "", 0) };
    let next = Timestamp { epoch_ms: evening.epoch_ms + 12 * HOUR_MS, ..evening };
    let memory = told(&mut world, vec![late, NewPage { time: Some(next), ..turn("The fuse is new.", "", 0) }]);
    let mut first = |query: &str, asked: Timestamp| {
        let input = RetrieveInput { asked: Some(asked), ..by(query, Strategy::Temporal) };
        let found = find(&mut world, &memory, input);
        (found.hits[0].text.clone(), found.query.ranges[0].from.clone().expect("a day"))
    };
    // Half an hour before midnight over there it is still the same day, and for a reader in Tokyo it is the 25th already.
    let there = Timestamp { epoch_ms: evening.epoch_ms + HOUR_MS, offset_minutes: -240 };
    assert_eq!(first("today", there), ("The fuse blew.".into(), "2023-05-24".into()));
    let tokyo = Timestamp { offset_minutes: 540, ..there };
    assert_eq!(first("yesterday", tokyo), ("The fuse blew.".into(), "2023-05-24".into()));
    assert_eq!(first("today", tokyo), ("The fuse is new.".into(), "2023-05-25".into()));
    assert_eq!(first("on 2023-05-24", tokyo), ("The fuse blew.".into(), "2023-05-24".into()));
}

#[test]
fn an_answer_and_its_prompt_count_from_when_they_are_asked() {
    let mut world = World::default();
    let memory = told(&mut world, garden());
    let asked = Some(Timestamp { epoch_ms: NOON_MS - 7 * DAY_MS, offset_minutes: 60 });
    let manner = Manner { budget_tokens: 200, asked, ..Manner::default() };
    let merged = world.run(memory.merge("what was it yesterday".into(), manner, NOON_MS)).done().expect("merged");
    assert_eq!(merged.recall.query.ranges[0].from.as_deref(), Some("2024-05-24"));
    let page = NewPage { time: asked, ..turn("what was it yesterday", "", 0) };
    let input = RespondInput { page, manner: Manner { budget_tokens: 200, ..Manner::default() }, call_id: None };
    let answered = world.run(memory.respond(input, NOON_MS)).done().expect("answered");
    assert_eq!(answered.recall.query.ranges[0].from.as_deref(), Some("2024-05-24"));
}

#[test]
fn b10_every_script_is_found_by_its_own_words_and_dates_are_read_in_chinese() {
    let mut world = World::default();
    let said = [
        ("我上周在图书馆借了一本科幻小说。", "科幻小说"),
        ("昨日は京都で抹茶を飲みました。", "抹茶"),
        ("어제 서울에서 친구를 만났어요.", "서울"),
        ("ฉันชอบกินข้าวเหนียวมะม่วง", "มะม่วง"),
        ("أحب شرب القهوة في الصباح", "القهوة"),
        ("Моя сестра переехала в Казань", "сестра"),
        ("party 🎉🥳 tonight", "🥳"),
    ];
    let turns = said.iter().zip(1..).map(|((text, _), n)| days_ago(text, 10 * n)).collect();
    let memory = told(&mut world, turns);
    let whole = [Strategy::Auto, Strategy::Semantic, Strategy::Keyword, Strategy::Temporal];
    for (text, word) in said {
        for strategy in whole {
            assert_eq!(find(&mut world, &memory, by(text, strategy)).hits[0].text, text, "{strategy:?}");
        }
        for strategy in [Strategy::Auto, Strategy::Keyword] {
            assert_eq!(find(&mut world, &memory, by(word, strategy)).hits[0].text, text, "{word} {strategy:?}");
        }
        // The same words written with full-width or composed characters are the same words.
        let again = find(&mut world, &memory, by(&format!("{word} ？"), Strategy::Keyword));
        assert_eq!(again.hits[0].text, text, "{word}");
    }
    for (query, text) in [
        ("五月二十二日", said[0].0),
        ("5月22日说了什么", said[0].0),
        ("上周", said[0].0),
        ("三周前", said[1].0),
        ("四月二日", said[5].0),
    ] {
        let found = find(&mut world, &memory, by(query, Strategy::Temporal));
        assert_eq!(found.hits[0].text, text, "{query}");
    }
}

fn tagged(text: &str, day: i64, metadata: &[(&str, Value)]) -> NewPage {
    let metadata = metadata.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    NewPage { metadata, ..days_ago(text, day) }
}

fn text_value(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn s07_filters_negate_and_test() {
    let mut world = World::default();
    let list = |items: &[&str]| Value::List(items.iter().map(|item| text_value(item)).collect());
    let turns = vec![
        tagged("note one", 4, &[("tags", list(&["work", "urgent"])), ("priority", Value::Number(3.0))]),
        tagged("note two", 3, &[("tags", list(&["home"])), ("priority", Value::Number(1.0))]),
        tagged("note three", 2, &[("due", text_value("2024-06-10")), ("priority", Value::Null)]),
        NewPage { agent_response: "note of the assistant".into(), ..tagged("note four", 1, &[]) },
    ];
    let memory = told(&mut world, turns);
    let test = |key: &str, test: Test| Filter { tests: vec![(key.into(), test)], ..Filter::default() };
    let not = |filter: Filter| Filter { not: vec![filter], ..Filter::default() };
    let agent = Filter { sides: vec![memstrata::id::Side::Agent], ..Filter::default() };
    let from = |filter: Filter| Filter { from_ms: Some(NOON_MS - 3 * DAY_MS), to_ms: Some(NOON_MS - DAY_MS), ..filter };
    let work = || test("tags", Test::In(vec![text_value("work"), text_value("play")]));
    let of = |numbers: &[usize]| {
        let names = ["note one", "note two", "note three", "note four", "note of the assistant"];
        numbers.iter().map(|&n| names[n].to_owned()).collect::<Vec<_>>()
    };
    for (filter, expected) in [
        (work(), of(&[0])),
        (not(work()), of(&[1, 2, 3, 4])),
        (test("tags", Test::In(vec![list(&["home"])])), of(&[1])),
        (test("priority", Test::Exists(true)), of(&[0, 1, 2])),
        (test("priority", Test::Exists(false)), of(&[3, 4])),
        (not(test("priority", Test::Exists(true))), of(&[3, 4])),
        (test("priority", Test::From(Value::Number(1.0))), of(&[0, 1])),
        (test("priority", Test::To(Value::Number(3.0))), of(&[1])),
        (test("due", Test::From(text_value("2024-06-01"))), of(&[2])),
        (test("due", Test::From(Value::Number(1.0))), of(&[])),
        (not(agent.clone()), of(&[0, 1, 2, 3])),
        (from(Filter::default()), of(&[1, 2])),
        (not(from(Filter::default())), of(&[0, 3, 4])),
        // Not both, rather than neither.
        (not(Filter { sides: agent.sides.clone(), ..work() }), of(&[0, 1, 2, 3, 4])),
        (Filter { not: vec![work(), agent.clone()], ..Filter::default() }, of(&[1, 2, 3])),
        (Filter { not: vec![agent], ..from(Filter::default()) }, of(&[1, 2])),
    ] {
        for strategy in Strategy::ALL {
            let input = RetrieveInput { filter: filter.clone(), ..by("note", strategy) };
            let shown = memory.candidates(&input).expect("listed");
            assert_eq!(shown.iter().map(|of| of.text.clone()).collect::<Vec<_>>(), expected, "{filter:?}");
            let found = find(&mut world, &memory, input);
            let mut found: Vec<String> = found.hits.into_iter().map(|hit| hit.text).collect();
            let mut expected = expected.clone();
            found.sort();
            expected.sort();
            if strategy == Strategy::Semantic {
                // What is least alike is no answer.
                assert!(found.iter().all(|text| expected.contains(text)), "{found:?} {filter:?}");
            } else {
                assert_eq!(found, expected, "{strategy:?} {filter:?}");
            }
        }
    }
    let nothing = RetrieveInput { filter: not(Filter::default()), ..RetrieveInput::new("note") };
    let refused = world.run(memory.retrieve(nothing, NOON_MS)).done().expect_err("it would leave nothing");
    assert_eq!(refused.code(), ErrorCode::InvalidArgument);
}

#[test]
fn s07_top_k_under_a_filter_is_that_of_all_ranked_and_then_filtered() {
    for seed in 1..4 {
        eprintln!("seed {seed}");
        let mut random = Random(seed);
        let mut world = World::default();
        let turns = (0..80).map(|n| {
            let kind = Value::Number(random.below(4) as f64);
            NewPage { metadata: Metadata::from_iter([("kind".to_owned(), kind)]), ..made_up(n, &mut random) }
        });
        let turns = turns.collect();
        let memory = told(&mut world, turns);
        for _ in 0..6 {
            let kind = |random: &mut Random| ("kind".to_owned(), Test::In(vec![Value::Number(random.below(4) as f64)]));
            let hours = random.below(20) as i64;
            let filter = Filter {
                from_ms: Some(NOON_MS + hours * HOUR_MS),
                not: vec![Filter { tests: vec![kind(&mut random)], ..Filter::default() }],
                ..Filter::default()
            };
            for strategy in [Strategy::Auto, Strategy::Semantic, Strategy::Keyword, Strategy::Temporal] {
                let query = ["rye bread", "山顶的风", "the alto part and the brake"][random.below(3)];
                let search = |top_k| RetrieveInput { filter: filter.clone(), top_k, ..by(query, strategy) };
                let all = find(&mut world, &memory, search(1_000));
                let some = find(&mut world, &memory, search(5));
                assert_eq!(some.hits.len(), all.hits.len().min(5));
                let ids = |recall: &Recall| recall.hits.iter().map(|hit| hit.id.clone()).take(5).collect::<Vec<_>>();
                assert_eq!(ids(&some), ids(&all), "{query} {strategy:?}");
                let shown = memory.candidates(&search(1)).expect("listed");
                let is_shown = |hit: &memstrata::op::Hit| shown.iter().any(|shown| shown.id == hit.id);
                assert!(all.hits.iter().all(is_shown));
                // Nothing that the filter lets through and that answers is lost to what it hides.
                if strategy == Strategy::Temporal {
                    assert_eq!(all.hits.len(), shown.len());
                }
            }
        }
    }
}

#[test]
fn b04_as_of_sees_what_had_been_said_and_was_believed_then() {
    let mut world = World::default();
    let memory = told(&mut world, garden());
    let mut live = |city: &str, days: i64| {
        let input = FactInput {
            subject: Some(Subject::User),
            attribute: Some("home city".into()),
            value: Some(city.into()),
            kind: None,
            valid_from: None,
        };
        world.run(memory.act(Act::Add(input), NOON_MS - days * DAY_MS)).done().expect("entered");
    };
    live("Lyon", 30);
    live("Nice", 5);
    let mut at = |query: &str, days: i64| {
        let as_of_ms = Some(NOON_MS - days * DAY_MS);
        let found = find(&mut world, &memory, RetrieveInput { as_of_ms, top_k: 50, ..RetrieveInput::new(query) });
        let facts: Vec<_> = found.facts.iter().map(|fact| fact.value.clone()).collect();
        (found.hits.len(), facts, found.context)
    };
    assert_eq!(at("Which home city do I have?", 0).1, ["Nice"]);
    let (_, facts, context) = at("Which home city do I have?", 10);
    assert_eq!(facts, ["Lyon"]);
    assert!(context.contains("Lyon") && !context.contains("Nice"));
    assert_eq!(at("Which home city do I have?", 40).1, [""; 0]);
    for (days, n) in [(0, 4), (1, 4), (2, 3), (10, 2), (100, 0)] {
        let as_of_ms = Some(NOON_MS - days * DAY_MS);
        let input = RetrieveInput { as_of_ms, ..by("anything", Strategy::Temporal) };
        assert_eq!(find(&mut world, &memory, input).hits.len(), n, "{days} days ago");
    }
}

/// The latest first.
#[derive(Debug)]
struct Latest;

impl Retriever for Latest {
    fn name(&self) -> &str {
        "latest"
    }

    fn rank<'a>(&'a self, search: &'a Search<'a>) -> Answer<'a, Vec<(TurnId, f64)>> {
        let candidates = search.candidates().into_iter();
        let ranked = candidates.filter_map(|(turn, candidate)| Some((turn, candidate.time? as f64))).collect();
        Box::pin(async { Ok(ranked) })
    }
}

/// What the core finds, the shortest first.
#[derive(Debug)]
struct Shortest(Strategy);

impl Retriever for Shortest {
    fn name(&self) -> &str {
        "shortest"
    }

    fn rank<'a>(&'a self, search: &'a Search<'a>) -> Answer<'a, Vec<(TurnId, f64)>> {
        Box::pin(async move {
            let found = search.ranked(self.0, 3);
            let all = search.candidates();
            let length = |turn| all.iter().find(|(of, _)| *of == turn).map_or(0, |(_, candidate)| candidate.text.len());
            Ok(found.into_iter().map(|(turn, _)| (turn, -(length(turn) as f64))).collect())
        })
    }
}

/// One that answers badly.
#[derive(Debug)]
struct Bad(fn() -> Result<f64>);

impl Retriever for Bad {
    fn name(&self) -> &str {
        "bad"
    }

    fn rank<'a>(&'a self, search: &'a Search<'a>) -> Answer<'a, Vec<(TurnId, f64)>> {
        Box::pin(async move {
            let score = (self.0)()?;
            Ok(search.candidates().into_iter().map(|(turn, _)| (turn, score)).collect())
        })
    }
}

fn with(query: &str, retriever: &str) -> RetrieveInput {
    RetrieveInput { retriever: Some(retriever.into()), ..RetrieveInput::new(query) }
}

#[test]
fn s20_retrievers_are_registered_by_name_and_rank_in_place_of_a_strategy() {
    let mut world = World::default();
    let memory = told(&mut world, garden());
    memory.register(std::rc::Rc::new(Latest)).expect("a new name");
    memory.register(std::rc::Rc::new(Shortest(Strategy::Auto))).expect("another");
    let found = find(&mut world, &memory, with("tomatoes", "latest"));
    assert_eq!(found.query.strategy, "latest");
    let mut expected: Vec<String> = garden().into_iter().map(|page| page.user_input).collect();
    expected.reverse();
    assert_eq!(texts(&found), expected);
    assert_eq!(found.hits[0].parts[0].name, "retriever");
    // The filter, the budget and what is packed are the core's; within the budget the retriever's order decides.
    let filter = Filter { to_ms: Some(NOON_MS - 2 * DAY_MS), ..Filter::default() };
    let small = RetrieveInput { budget_tokens: 20, filter, top_k: 2, ..with("tomatoes", "latest") };
    let found = find(&mut world, &memory, small);
    assert_eq!(texts(&found), ["Our train to Porto was late.", "The feline sleeps on the couch all day."]);
    assert!(found.context.contains("Porto") && !found.context.contains("tomatoes"), "{}", found.context);
    assert!(found.context_tokens <= 20);
    let found = find(&mut world, &memory, with("Where does the cat sleep?", "shortest"));
    assert_eq!(found.hits.len(), 3);
    assert!(found.hits.windows(2).all(|two| two[0].text.len() <= two[1].text.len()));
    // In place of one of the same name.
    memory.register(std::rc::Rc::new(Shortest(Strategy::Keyword))).expect("again");
    assert_eq!(texts(&find(&mut world, &memory, with("soup", "shortest"))), ["The soup needs more salt."]);
}

#[test]
fn s20_a_retriever_outside_is_asked_by_an_effect_and_sees_no_more_than_others() {
    let mut world = World::default();
    let memory = told(&mut world, garden());
    memory.register_outside("theirs".into()).expect("a new name");
    let filter = Filter { to_ms: Some(NOON_MS - 2 * DAY_MS), ..Filter::default() };
    let shown =
        memory.candidates(&RetrieveInput { filter: filter.clone(), ..RetrieveInput::new("x") }).expect("listed");
    assert_eq!(shown.len(), 3);
    let all = memory.candidates(&RetrieveInput::new("x")).expect("listed");
    let turns: Vec<TurnId> = all.iter().map(|candidate| candidate.id.parse().expect("an id")).collect();
    let unknown: TurnId = "page_00000000000000aa.user".parse().expect("an id");
    let silent: TurnId = turns[0].to_string().replace("user", "agent").parse().expect("an id");
    let asked = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let (seen, answer) = (
        asked.clone(),
        vec![(turns[1], 5.0), (turns[3], 9.0), (unknown, 8.0), (silent, 8.0), (turns[0], 7.0), (turns[1], 1.0)],
    );
    world.rank = Box::new(move |request| {
        seen.borrow_mut().push(request.clone());
        Ok(answer.clone())
    });
    let input = RetrieveInput { filter, call_id: Some("c1".into()), ..with("which one?", "theirs") };
    let found = find(&mut world, &memory, input);
    assert_eq!(texts(&found), ["I planted tomatoes on the balcony.", "The feline sleeps on the couch all day."]);
    assert_eq!(found.hits.iter().map(|hit| hit.score).collect::<Vec<_>>(), [7.0, 5.0]);
    let asked = asked.borrow();
    assert_eq!((asked[0].retriever.as_str(), asked[0].query.as_str()), ("theirs", "which one?"));
    assert_eq!((asked[0].limit, asked[0].call_id.as_deref()), (100, Some("c1")));
    let none = "page_00000000000000aa.nobody".parse::<TurnId>();
    assert_eq!(none.map_err(|error| error.code()), Err(ErrorCode::InvalidArgument));
}

#[test]
fn s20_a_retriever_that_fails_is_named_and_an_unknown_one_is_told_of_those_there_are() {
    let mut world = World::default();
    let memory = told(&mut world, garden());
    let failed = |world: &mut World, name: &str| {
        world.run(memory.retrieve(with("tomatoes", name), NOON_MS)).done().expect_err("refused")
    };
    let unknown = failed(&mut world, "guess");
    assert_eq!(unknown.code(), ErrorCode::InvalidArgument);
    memory.register(std::rc::Rc::new(Latest)).expect("a new name");
    let unknown = failed(&mut world, "guess");
    let known = "there are auto, semantic, keyword, temporal, two_stage, latest";
    assert!(unknown.message().ends_with(known), "{unknown}");
    type Answer = fn() -> Result<f64>;
    let cases: [(Answer, ErrorCode, &str); 3] = [
        (|| Err(Error::new(ErrorCode::ProviderTimeout, "too slow")), ErrorCode::ProviderTimeout, "too slow"),
        (|| Ok(f64::NAN), ErrorCode::ProviderBadReply, "a score is not finite"),
        (|| Ok(f64::INFINITY), ErrorCode::ProviderBadReply, "a score is not finite"),
    ];
    for (answer, code, why) in cases {
        memory.register(std::rc::Rc::new(Bad(answer))).expect("a name");
        let error = failed(&mut world, "bad");
        assert_eq!((error.code(), error.message()), (code, format!("the retriever \"bad\" failed: {why}").as_str()));
    }
    // Scores at both ends of the range are scores.
    for answer in [|| Ok(f64::MAX), || Ok(f64::MIN), || Ok(0.0)] as [Answer; 3] {
        memory.register(std::rc::Rc::new(Bad(answer))).expect("a name");
        assert_eq!(find(&mut world, &memory, with("tomatoes", "bad")).hits.len(), 4);
    }
    for name in Strategy::ALL.map(Strategy::as_str).into_iter().chain([""]) {
        assert_eq!(memory.register_outside(name.into()).expect_err(name).code(), ErrorCode::InvalidArgument);
    }
    memory.close();
    assert_eq!(memory.candidates(&RetrieveInput::new("x")).expect_err("closed").code(), ErrorCode::Closed);
}

#[test]
fn case_21_case_22_a_retriever_searches_without_vectors_too() {
    let mut world = World::default();
    let space = Space { model: "test".into(), dimensions: 3 };
    for embedder in [Embedder::None, Embedder::External { space, texts_per_call: 2 }] {
        let memory = world.open_with(OpenOptions { embedder, ..options() }).done().expect("opens");
        world.run(memory.add(garden(), NOON_MS)).done().expect("stored");
        memory.register(std::rc::Rc::new(Shortest(Strategy::Auto))).expect("a name");
        let found = find(&mut world, &memory, with("salt", "shortest"));
        assert_eq!(found.hits[0].text, "The soup needs more salt.");
        assert!(!found.query.vectors);
        world.store = memstrata::storage::MemoryStore::default();
    }
}
