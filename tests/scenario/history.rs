//! Long-term memory over time: what is learnt, contradicted, corrected, taken back, and how it is dated.

use memstrata::config::{Config, KnowledgeEviction};
use memstrata::effect::{ChatReply, ChatRequest, FinishReason};
use memstrata::error::{Error, ErrorCode, Result};
use memstrata::id::{ChangeId, FactId, Side};
use memstrata::memory_os::MemoryOs;
use memstrata::op::{Act, CauseView, FactInput, FactView, FactsWanted, RecordView};
use memstrata::time::{HOUR_MS, Timestamp};
use memstrata::updating::short_term::NewPage;
use serde_json::{Value, json};

use crate::model::{answer_by_rule, reply, shown};
use crate::steps::{
    add, all_facts, all_views, eager, facts, open, pages, reopen, retrieve, segments, tell, turns, value, with, work,
};
use crate::world::{NOON_MS, World, turn};

const DAY_MS: i64 = 24 * HOUR_MS;

fn act(world: &mut World, memory: &MemoryOs, act: Act, now_ms: i64) -> Result<FactView> {
    world.run(memory.act(act, now_ms)).done()
}

fn fact(memory: &MemoryOs, attribute: &str) -> FactView {
    facts(memory).into_iter().find(|fact| fact.attribute == attribute).unwrap_or_else(|| panic!("no {attribute}"))
}

fn id(fact: &FactView) -> FactId {
    fact.id.parse().expect("an id")
}

fn of_value(text: &str) -> FactInput {
    FactInput { value: Some(text.into()), ..FactInput::default() }
}

/// A turn with an hour, sunk and learnt.
fn say(world: &mut World, memory: &MemoryOs, text: &str, hours: i64) {
    let now_ms = NOON_MS + hours * HOUR_MS;
    world.run(memory.add(vec![turn(text, "I see.", hours)], now_ms)).done().expect("stored");
    world.run(memory.flush(now_ms)).done().expect("flushed");
}

/// A memory in which every turn sinks as soon as another one follows; `say` the last one twice.
fn opened(world: &mut World) -> MemoryOs {
    open(world, with(Config { heat_threshold: 1e6, ..eager() }))
}

#[test]
fn o07_all_hot_segments_are_promoted_hottest_first_and_one_with_nothing_new_blocks_none() {
    let mut world = World::default();
    // Heat 1 for recency and 1 for each page that no analysis has seen.
    let config = Config {
        short_term_capacity: 1,
        consolidation_batch: 1,
        heat_threshold: 3.0,
        promotion_batch: 5,
        ..Config::default()
    };
    let memory = open(&mut world, with(config));
    let theme = |text: &str, n: usize| (0..n).map(|at| format!("{text} (note {at})")).collect::<Vec<_>>();
    let all = [theme("I sing alto", 2), theme("I bake rye", 3), theme("I row boats", 1)].concat();
    let texts: Vec<&str> = all.iter().map(String::as_str).chain(["end"]).collect();
    add(&mut world, &memory, turns(&texts));
    let asked = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = asked.clone();
    world.chat = Box::new(move |request| {
        if request.format.expect("a step").name == "user_profile" {
            seen.borrow_mut().push(shown(request).into_iter().map(|page| page.user).collect::<Vec<_>>());
        }
        answer_by_rule(request)
    });
    work(&mut world, &memory, NOON_MS);
    assert_eq!(*asked.borrow(), [all[..5].to_vec()], "both hot ones and not the cold one");
    let heat = |n: usize| segments(&memory)[n].heat.l_interaction;
    assert_eq!((heat(0), heat(1), heat(2)), (0, 0, 1));
    // The first segment becomes the hottest by visits, with nothing new in it.
    for _ in 0..20 {
        retrieve(&mut world, &memory, "who sings alto?");
    }
    let more: Vec<String> = theme("I row boats", 6)[1..].to_vec();
    let texts: Vec<&str> = more.iter().map(String::as_str).chain(["end again"]).collect();
    add(&mut world, &memory, turns(&texts));
    work(&mut world, &memory, NOON_MS);
    assert_eq!(asked.borrow().len(), 2);
    assert!(asked.borrow()[1].iter().all(|text| text.starts_with("I row boats")), "{:?}", asked.borrow()[1]);
    let text = memory.profile().user.expect("a profile").text;
    assert!(text.contains("I row boats"), "{text}");
}

#[test]
fn o07_the_hottest_come_first_where_one_call_does_not_hold_them_all() {
    let mut world = World::default();
    let config = Config {
        short_term_capacity: 1,
        consolidation_batch: 5,
        heat_threshold: 2.0,
        promotion_batch: 1,
        update_policy: "offline".into(),
        ..Config::default()
    };
    let memory = open(&mut world, with(config));
    let choir = (0..4).map(|at| turn(&format!("the choir rehearses Faure tonight (note {at})"), "", 0));
    let bicycle = (0..20).map(|at| turn(&format!("my bicycle chain is broken again (note {at})"), "", 500));
    add(&mut world, &memory, choir.chain(bicycle).chain([turn("end", "", 900)]).collect());
    world.run(memory.flush(NOON_MS)).done().expect("sunk");
    assert_eq!(memory.tiers(NOON_MS).mid_term.len(), 2);
    let first = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = first.clone();
    world.chat = Box::new(move |request| {
        if request.format.expect("a step").name == "user_profile" {
            seen.borrow_mut().push(shown(request).into_iter().map(|page| page.user).collect::<Vec<_>>());
        }
        answer_by_rule(request)
    });
    let settings = memstrata::op::Settings { update_policy: Some("batched".into()), ..Default::default() };
    memory.configure(&settings).expect("known");
    work(&mut world, &memory, NOON_MS);
    let sizes: Vec<_> = first.borrow().iter().map(Vec::len).collect();
    assert_eq!(sizes, [20, 4], "{:?} {:?}", segments(&memory), memory.jobs(NOON_MS));
    assert!(first.borrow()[0].iter().all(|text| text.starts_with("my bicycle")), "{:?}", first.borrow());
}

#[test]
fn o07_a_segment_that_is_retrieved_often_grows_hot_and_is_promoted() {
    let mut world = World::default();
    let memory = open(&mut world, with(Config { heat_threshold: 5.0, ..eager() }));
    tell(&mut world, &memory, &["I row boats on the Douro.", "end"]);
    assert_eq!((work(&mut world, &memory, NOON_MS), memory.profile().user.is_some()), (0, false), "heat 2");
    for _ in 0..3 {
        retrieve(&mut world, &memory, "where do I row boats?");
    }
    assert!(memory.tiers(NOON_MS).mid_term[0].heat.value >= 5.0);
    assert_eq!((work(&mut world, &memory, NOON_MS), memory.profile().user.is_some()), (1, true));
    assert_eq!(memory.tiers(NOON_MS).mid_term[0].heat.n_visit, 3, "visits are kept");
}

#[test]
fn o07_promotion_waits_for_a_batch_and_analysis_on_demand_does_not() {
    let mut world = World::default();
    let config = Config {
        short_term_capacity: 1,
        consolidation_batch: 1,
        heat_threshold: 0.0,
        promotion_batch: 4,
        ..Config::default()
    };
    let memory = open(&mut world, with(config));
    tell(&mut world, &memory, &["I row boats (note 1)", "I row boats (note 2)", "I row boats (note 3)", "end"]);
    assert_eq!((memory.profile().user, segments(&memory)[0].heat.l_interaction), (None, 3));
    let analysed = world.run(memory.analyse(NOON_MS)).done().expect("analysed");
    assert_eq!((analysed.pages, analysed.changes), (3, 1));
    assert!(memory.profile().user.is_some());
    let again = world.run(memory.analyse(NOON_MS)).done().expect("analysed");
    assert_eq!((again.pages, again.changes), (0, 0), "nothing is analysed twice");
}

#[test]
fn o07_case_09_no_outage_refusal_or_empty_text_overwrites_the_profile() {
    let mut world = World::default();
    let memory = open(&mut world, with(Config { heat_threshold: 0.0, ..eager() }));
    tell(&mut world, &memory, &["I row boats (note 1)", "end"]);
    let before = memory.profile().user.expect("a profile");
    let profile = |text: &str| json!({"reasoning": "", "profile": text, "traits": []}).to_string();
    let bad = [
        "Service unavailable: quota exceeded".to_owned(),
        json!({"error": {"message": "insufficient quota"}}).to_string(),
        profile(""),
        profile("   "),
        profile("I'm sorry, but I can't help with that."),
        profile("Error: upstream timed out"),
        json!({"reasoning": "", "traits": []}).to_string(),
        "{}".into(),
        String::new(),
    ];
    for (number, text) in bad.into_iter().enumerate() {
        // Opened anew, so that the model does not rest.
        let memory = reopen(&mut world, with(Config { heat_threshold: 0.0, ..eager() }));
        let said = text.clone();
        world.chat = Box::new(move |request| match request.format.expect("a step").name {
            "user_profile" => Ok(reply(said.clone(), request)),
            _ => answer_by_rule(request),
        });
        add(&mut world, &memory, turns(&[&format!("I row boats (note {})", number + 2)]));
        assert!(world.run(memory.flush(NOON_MS)).done().is_err(), "{text:?} is no profile");
        assert_eq!(memory.profile().user, Some(before.clone()), "{text:?}");
    }
    world.chat = Box::new(answer_by_rule);
    work(&mut world, &memory, NOON_MS + DAY_MS);
    for canary in ["quota", "sorry", "upstream"] {
        assert!(!all_views(&memory).contains(canary));
    }
}

#[test]
fn o09_profiles_are_versions_with_history_and_one_is_undone() {
    let mut world = World::default();
    let memory = open(&mut world, with(Config { heat_threshold: 0.0, ..eager() }));
    tell(&mut world, &memory, &["I row boats.", "I bake rye.", "end"]);
    let versions: Vec<_> = memory.profile().versions.into_iter().map(|of| (of.version, of.text)).collect();
    assert_eq!(versions.len(), 2, "{versions:?}");
    let (old, new) = (versions[1].1.clone(), versions[0].1.clone());
    assert_eq!(memory.profile().user.expect("a profile").text, new);
    let history = memory.history("profile", 0, 10);
    let (before, after) = (&history[0].steps[0].before, &history[0].steps[0].after);
    assert!(before.is_none() && matches!(after, Some(RecordView::Profile(of)) if of.text == new), "{history:?}");
    let CauseView::Analysis { pages: read, model, step } = &history[0].cause else { panic!("{:?}", history[0].cause) };
    assert_eq!((read.len(), model.as_deref(), step.as_str()), (1, Some("test/model"), "profile"));
    assert_eq!(*read, [pages(&memory)[1].id.clone()]);
    world.run(memory.undo(history[0].id.parse().expect("an id"), NOON_MS)).done().expect("undone");
    assert_eq!(memory.profile().user.expect("a profile").text, old);
    let again = reopen(&mut world, with(eager()));
    assert_eq!(again.profile().user.expect("a profile").text, old);
    let undone = again.history("profile", 0, 1).remove(0);
    assert_eq!(undone.cause, CauseView::Undo { change_id: history[0].id.clone() });
    world.run(again.undo(undone.id.parse::<ChangeId>().expect("an id"), NOON_MS)).done().expect("done again");
    assert_eq!(again.profile().user.expect("a profile").text, new);
}

#[test]
fn o09_a_profile_is_set_by_hand_and_blank_text_is_refused() {
    let mut world = World::default();
    let memory = opened(&mut world);
    let mut set = |of, text: &str| world.run(memory.set_profile(of, text.into(), NOON_MS)).done();
    set(Side::User, " Ada rows. ").expect("set");
    set(Side::Agent, "Patient.").expect("set");
    for blank in ["", "  \n"] {
        assert_eq!(set(Side::User, blank).expect_err("blank").code(), ErrorCode::InvalidArgument);
    }
    let profile = memory.profile();
    assert_eq!(
        (profile.user.expect("set").text, profile.assistant.expect("set").text),
        ("Ada rows.".into(), "Patient.".into())
    );
    assert_eq!(memory.history("profile", 0, 10).len(), 2);
}

#[test]
fn o10_traits_are_typed_and_carry_the_users_words() {
    let mut world = World::default();
    let memory = open(&mut world, with(Config { heat_threshold: 0.0, ..eager() }));
    world.chat = Box::new(|request| match request.format.expect("a step").name {
        "user_profile" => {
            let trait_of = |dimension: Value, level: &str, quote: &str| json!({"dimension": dimension, "level": level, "confidence": 0.8, "quote": quote, "page": "p1"});
            let traits = [
                trait_of(json!(3), "high", "never late"),
                trait_of(json!("Openness"), "low", "new dishes scare me"),
                trait_of(json!(4), "high", "words that nobody said"),
                trait_of(json!(6), "high", "You seem punctual"),
                trait_of(json!(90), "high", "never late"),
                trait_of(json!(7), "enormous", "never late"),
            ];
            Ok(reply(json!({"profile": "Punctual.", "traits": traits}).to_string(), request))
        }
        _ => answer_by_rule(request),
    });
    add(
        &mut world,
        &memory,
        vec![turn("I am never late, and new dishes scare me.", "You seem punctual.", 0), turn("end", "", 0)],
    );
    world.run(memory.flush(NOON_MS)).done().expect("flushed");
    let traits = memory.traits();
    let seen: Vec<_> =
        traits.iter().map(|of| (of.dimension, of.level, of.evidence[0].quote.as_str(), of.evidence[0].role)).collect();
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen.contains(&(3, "high", "never late", "user")), "{seen:?}");
    let open = traits.iter().find(|of| of.name == "Openness").expect("by its name");
    assert_eq!(
        (open.level, open.category, open.evidence[0].page_id.as_str()),
        ("low", "psychology", pages(&memory)[0].id.as_str())
    );
    assert!(!open.level_rule.is_empty() && open.confidence > 0.5);
    let refused: Vec<String> = memory
        .take_events()
        .into_iter()
        .filter_map(|event| match event {
            memstrata::op::Event::ReplyRefused { parts, .. } => Some(parts.into_iter().map(|part| part.reason)),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(refused, ["QuoteNotInPage", "SaidByAssistantOnly", "UnknownDimension", "Shape"]);
}

#[test]
fn o11_a_repetition_refreshes_and_a_contradiction_supersedes_with_validity() {
    let mut world = World::default();
    let memory = opened(&mut world);
    for (hours, text) in
        [(0, "My home city is Porto."), (24, "My home city is Porto."), (48, "My home city is Faro."), (72, "end")]
    {
        say(&mut world, &memory, text, hours);
    }
    let all = all_facts(&memory);
    assert_eq!(all.len(), 2, "{all:?}");
    let (porto, faro) = (&all[0], &all[1]);
    assert_eq!((porto.value.as_str(), porto.evidence.len()), ("Porto", 2), "one fact, two witnesses");
    assert_eq!((porto.valid_from, porto.valid_to), (Some(NOON_MS), Some(NOON_MS + 2 * DAY_MS)));
    assert_eq!((porto.superseded_by.as_ref(), porto.reason.as_deref()), (Some(&faro.id), Some("later")));
    assert_eq!((faro.valid_from, faro.valid_to), (Some(NOON_MS + 2 * DAY_MS), None));
    assert!(porto.confidence > 0.9 && faro.confidence < porto.confidence);
}

#[test]
fn o11_a_full_queue_archives_the_first_in_where_that_is_asked_for() {
    for (eviction, gone) in [(KnowledgeEviction::FirstIn, "home city"), (KnowledgeEviction::LeastUseful, "car colour")]
    {
        let mut world = World::default();
        let config = Config { knowledge_capacity: 2, knowledge_eviction: eviction, heat_threshold: 1e6, ..eager() };
        let memory = open(&mut world, with(config));
        let told = [
            "My home city is Porto.",
            "My car colour is red.",
            "My home city is Porto.",
            "My shoe size is 41.",
            "My name is Ada.",
            "end",
        ];
        for (text, hours) in told.iter().zip(0..) {
            say(&mut world, &memory, text, hours);
        }
        let archived: Vec<_> =
            all_facts(&memory).into_iter().filter(|fact| fact.archived).map(|fact| fact.attribute).collect();
        assert_eq!(archived, [gone], "{eviction:?}");
        assert_eq!(memory.stats().facts.archived, 1);
        assert_eq!(memory.profile().name.expect("static").value, "Ada");
    }
}

#[test]
fn b04_as_of_tells_what_was_believed_and_undo_goes_back_over_a_reopen() {
    let mut world = World::default();
    let memory = opened(&mut world);
    for (hours, text) in [(0, "My home city is Porto."), (24, "My home city is Faro."), (48, "end"), (72, "end")] {
        say(&mut world, &memory, text, hours);
    }
    let then = |memory: &MemoryOs, hours: i64| {
        let wanted = FactsWanted { as_of_ms: Some(NOON_MS + hours * HOUR_MS), ..FactsWanted::default() };
        memory.facts(&wanted).into_iter().map(|fact| fact.value).collect::<Vec<_>>()
    };
    // Each is learnt when the next turn pushes it down.
    assert_eq!(
        (then(&memory, 0), then(&memory, 24), then(&memory, 47), then(&memory, 48)),
        (vec![], vec!["Porto".to_owned()], vec!["Porto".into()], vec!["Faro".into()])
    );
    let memory = reopen(&mut world, with(eager()));
    assert_eq!(then(&memory, 30), ["Porto"]);
    let change = memory.history(&fact(&memory, "home city").id, 0, 1).remove(0);
    world.run(memory.undo(change.id.parse().expect("an id"), NOON_MS + 80 * HOUR_MS)).done().expect("undone");
    assert_eq!((value(&memory, "home city"), then(&memory, 50)), (vec!["Porto".to_owned()], vec!["Faro".into()]));
    let twice = world.run(memory.undo(change.id.parse().expect("an id"), NOON_MS)).done().expect_err("undone already");
    assert_eq!(twice.code(), ErrorCode::Forbidden);
    assert_eq!(
        world.run(memory.undo(ChangeId::from_raw(1), NOON_MS)).done().expect_err("unknown").code(),
        ErrorCode::NotFound
    );
}

#[test]
fn b05_every_quote_stands_in_its_page_and_recalled_facts_carry_evidence() {
    let mut world = World::default();
    let memory = opened(&mut world);
    world.chat = Box::new(|request| {
        // Quotations as models write them: another case, typographic marks, cut short; and one that is made up.
        if request.format.expect("a step").name != "memory_batch" {
            return answer_by_rule(request);
        }
        let facts: Vec<Value> = shown(request)
            .iter()
            .flat_map(|page| {
                let fact = |attribute: &str, quote: String| json!({"subject": "user", "attribute": attribute, "value": "x", "kind": "knowledge", "confidence": 0.9, "valid_from": null, "quote": quote, "page": page.id});
                [fact("quoted", format!("\u{201c}{}\u{201d}", page.user.to_uppercase())), fact("made up", "I never said this".into())]
            })
            .collect();
        Ok(reply(json!({"segments": [], "links": [], "facts": facts}).to_string(), request))
    });
    for (text, hours) in ["I moved to Porto — at last.", "It's my 'new' home", "ok"].iter().zip(0..) {
        say(&mut world, &memory, text, hours);
    }
    let all = all_facts(&memory);
    assert_eq!(all.iter().map(|fact| fact.attribute.as_str()).collect::<Vec<_>>(), ["quoted"]);
    assert_eq!(all[0].evidence.len(), 2);
    for of in all.iter().flat_map(|fact| &fact.evidence) {
        let page = pages(&memory).into_iter().find(|page| page.id == of.page_id).expect("its page");
        assert!(page.user_input.contains(&of.quote), "{of:?}");
    }
    let found = retrieve(&mut world, &memory, "what was quoted?");
    assert_eq!(found.facts.len(), 1);
    assert!(
        found.facts[0].packed == Some(true) && !found.facts[0].evidence.is_empty() && found.facts[0].score > Some(0.0)
    );
    assert!(!found.hits[0].parts.is_empty());
}

#[test]
fn case_12_case_13_recommendations_and_friends_are_not_the_user() {
    let mut world = World::default();
    let memory = open(&mut world, with(Config { heat_threshold: 0.0, ..eager() }));
    world.chat = Box::new(|request| {
        let fact = |subject: &str, attribute: &str, value: &str, quote: &str| json!({"subject": subject, "attribute": attribute, "value": value, "kind": "preference", "confidence": 0.9, "valid_from": null, "quote": quote, "page": "p1"});
        let facts = [
            fact("user", "favourite wine", "Barolo", "You should drink Barolo"),
            fact("Jack", "football", "dislikes", "My friend Jack dislikes football"),
            fact("assistant", "recommended", "Barolo", "You should drink Barolo"),
        ];
        match request.format.expect("a step").name {
            "memory_batch" if shown(request)[0].user.contains("Jack") => {
                Ok(reply(json!({"segments": [], "links": [], "facts": facts}).to_string(), request))
            }
            _ => answer_by_rule(request),
        }
    });
    add(
        &mut world,
        &memory,
        vec![turn("My friend Jack dislikes football.", "You should drink Barolo.", 0), turn("end", "", 0)],
    );
    world.run(memory.flush(NOON_MS)).done().expect("flushed");
    let known: Vec<_> =
        facts(&memory).into_iter().map(|fact| (fact.subject, fact.subject_name, fact.value, fact.source)).collect();
    assert_eq!(
        known,
        [
            ("other", Some("Jack".to_owned()), "dislikes".to_owned(), "stated"),
            ("assistant", None, "Barolo".into(), "inferred")
        ]
    );
}

/// Facts dated by a phrase that the page holds.
fn dated(request: &ChatRequest) -> Result<ChatReply> {
    if request.format.expect("a step").name != "memory_batch" {
        return answer_by_rule(request);
    }
    let phrases = ["last week", "yesterday", "in 2019", "上周"];
    let fact = |page: &crate::model::Shown| {
        let phrase = phrases.iter().find(|phrase| page.user.contains(**phrase));
        json!({"subject": "user", "attribute": "home city", "value": page.user.split(' ').next_back(), "kind": "knowledge",
            "confidence": 0.9, "valid_from": phrase, "quote": page.user, "page": page.id})
    };
    let facts: Vec<Value> = shown(request).iter().filter(|page| page.user.contains("moved")).map(fact).collect();
    Ok(reply(json!({"segments": [], "links": [], "facts": facts}).to_string(), request))
}

#[test]
fn case_25_case_26_phrases_are_resolved_against_the_day_of_the_message_in_its_zone() {
    let mut world = World::default();
    let memory = opened(&mut world);
    let prompts = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = prompts.clone();
    world.chat = Box::new(move |request| {
        seen.borrow_mut().push(request.messages[1].content.clone());
        dated(request)
    });
    // 2023-05-24 22:30 in UTC-4: the next day in UTC.
    let late = |text: &str| NewPage {
        time: Some(Timestamp { epoch_ms: 1_684_981_800_000, offset_minutes: -240 }),
        ..turn(text, "", 0)
    };
    add(&mut world, &memory, vec![late("I moved yesterday to Lyon"), late("end")]);
    world.run(memory.flush(NOON_MS)).done().expect("flushed");
    let local_midnight = |days_before_24th: i64| 1_684_900_800_000 - days_before_24th * DAY_MS;
    let moved = fact(&memory, "home city");
    assert_eq!((moved.valid_from, moved.valid_from_phrase.as_deref()), (Some(local_midnight(1)), Some("yesterday")));
    assert!(prompts.borrow()[0].contains("[p1] Wednesday 2023-05-24 22:30"), "{}", prompts.borrow()[0]);
    add(&mut world, &memory, vec![late("I moved last week to Nice"), late("end")]);
    world.run(memory.flush(NOON_MS)).done().expect("flushed");
    let nice = all_facts(&memory).into_iter().find(|fact| fact.value == "Nice").expect("learnt");
    assert_eq!((nice.valid_from, nice.valid_from_phrase.as_deref()), (Some(local_midnight(9)), Some("last week")));
    assert_eq!(value(&memory, "home city"), ["Lyon"], "last week was before yesterday");
    assert!(retrieve(&mut world, &memory, "the home city").context.contains("24 May 2023"), "the local day");
}

#[test]
fn case_27_turns_without_a_date_and_with_one_of_the_past_are_learnt_in_order() {
    let mut world = World::default();
    let memory = opened(&mut world);
    world.chat = Box::new(dated);
    let undated = |text: &str| NewPage { time: None, ..turn(text, "", 0) };
    for turn in [undated("I moved to Lyon"), turn("I moved to Nice", "", -1_000), undated("end"), undated("end.")] {
        world.run(memory.add(vec![turn], NOON_MS)).done().expect("accepted");
        world.run(memory.flush(NOON_MS)).done().expect("flushed");
    }
    let lyon = fact(&memory, "home city");
    assert_eq!((lyon.value.as_str(), lyon.valid_from, lyon.recorded_at), ("Lyon", None, NOON_MS));
    let order: Vec<_> = pages(&memory).into_iter().map(|page| page.user_input).collect();
    assert_eq!(order, ["I moved to Lyon", "I moved to Nice", "end", "end."]);
}

#[test]
fn case_27_a_clock_that_was_ahead_and_is_set_back_does_not_stop_work_for_a_year() {
    let mut world = World::default();
    let memory = opened(&mut world);
    world.chat = Box::new(|_| Err(Error::new(ErrorCode::ProviderFailed, "HTTP 503")));
    add(&mut world, &memory, turns(&["I row boats.", "end"]));
    let ahead = NOON_MS + 365 * DAY_MS;
    assert_eq!(work(&mut world, &memory, ahead), 1);
    world.chat = Box::new(answer_by_rule);
    work(&mut world, &memory, NOON_MS + HOUR_MS);
    assert_eq!((memory.stats().mid_term.pages, memory.stats().jobs.queued), (1, 0));
}

#[test]
fn case_29_a_back_dated_fact_that_arrives_late_is_placed_by_its_time() {
    let mut world = World::default();
    let memory = opened(&mut world);
    world.chat = Box::new(dated);
    for (text, hours) in [("I moved to Faro", 0), ("I moved in 2019 to Porto", 24), ("end", 48)] {
        say(&mut world, &memory, text, hours);
    }
    assert_eq!(value(&memory, "home city"), ["Faro"]);
    let porto = all_facts(&memory).into_iter().find(|fact| fact.value == "Porto").expect("kept");
    let new_year_2019 = 1_546_300_800_000;
    assert_eq!((porto.valid_from, porto.valid_to), (Some(new_year_2019), Some(NOON_MS)));
    assert_eq!(porto.superseded_by, Some(fact(&memory, "home city").id));
}

#[test]
fn case_30_unrelated_facts_close_nothing() {
    let mut world = World::default();
    let memory = opened(&mut world);
    tell(
        &mut world,
        &memory,
        &["My home city is Porto. My job is baker.", "I love jazz. I love tea.", "I hate jazz.", "end"],
    );
    let mut open: Vec<_> = facts(&memory).into_iter().map(|fact| (fact.attribute, fact.value)).collect();
    open.sort();
    let expected =
        [("home city", "Porto"), ("job", "baker"), ("preference: jazz", "hates"), ("preference: tea", "loves")];
    assert_eq!(open, expected.map(|(attribute, value)| (attribute.to_owned(), value.to_owned())));
}

#[test]
fn b04_a_pin_outranks_later_statements_until_it_is_taken_out() {
    let mut world = World::default();
    let memory = opened(&mut world);
    say(&mut world, &memory, "My home city is Porto.", 0);
    say(&mut world, &memory, "ok", 1);
    let porto = id(&fact(&memory, "home city"));
    assert!(act(&mut world, &memory, Act::Pin(porto, true), NOON_MS).expect("pinned").pinned);
    say(&mut world, &memory, "My home city is Faro.", 2);
    say(&mut world, &memory, "ok", 3);
    assert_eq!(value(&memory, "home city"), ["Porto"]);
    let faro = all_facts(&memory).into_iter().find(|fact| fact.value == "Faro").expect("kept, closed");
    assert_eq!((faro.reason.as_deref(), faro.valid_to.is_some()), (Some("outranked"), true));
    act(&mut world, &memory, Act::Pin(porto, false), NOON_MS).expect("unpinned");
    assert_eq!(value(&memory, "home city"), ["Porto"]);
    say(&mut world, &memory, "My home city is Beja.", 4);
    say(&mut world, &memory, "ok", 5);
    assert_eq!(value(&memory, "home city"), ["Beja"]);
}

#[test]
fn s13_facts_are_entered_edited_in_place_and_into_the_slot_of_another_and_retracted() {
    let mut world = World::default();
    let memory = opened(&mut world);
    tell(&mut world, &memory, &["My home city is Porto. My job is baker.", "end"]);
    let porto = id(&fact(&memory, "home city"));
    let edited = act(&mut world, &memory, Act::Edit(porto, of_value("Braga")), NOON_MS + HOUR_MS).expect("edited");
    assert_eq!(
        (edited.id.as_str(), edited.value.as_str(), edited.source),
        (porto.to_string().as_str(), "Braga", "edited")
    );
    assert_eq!((facts(&memory).len(), all_facts(&memory).len()), (2, 2), "in place");
    let step = memory.history(&edited.id, 0, 1).remove(0).steps.remove(0);
    let was = |record: Option<RecordView>| match record {
        Some(RecordView::Fact(fact)) => fact.value,
        other => panic!("{other:?}"),
    };
    assert_eq!((was(step.before), was(step.after)), ("Porto".into(), "Braga".into()));
    // What a model reads later does not win over it.
    say(&mut world, &memory, "My home city is Faro.", 2);
    say(&mut world, &memory, "ok", 3);
    assert_eq!(value(&memory, "home city"), ["Braga"]);
    // Into the slot of another: that one is closed.
    let job = id(&fact(&memory, "job"));
    let moved = FactInput {
        attribute: Some("home city".into()),
        value: Some("Evora".into()),
        valid_from: Some(Some(Timestamp::utc(NOON_MS + 9 * HOUR_MS))),
        ..FactInput::default()
    };
    let moved = act(&mut world, &memory, Act::Edit(job, moved), NOON_MS + 9 * HOUR_MS).expect("edited");
    assert_eq!((value(&memory, "home city"), value(&memory, "job")), (vec!["Evora".to_owned()], vec![]));
    let braga = all_facts(&memory).into_iter().find(|fact| fact.value == "Braga").expect("kept");
    assert_eq!(braga.superseded_by, Some(moved.id.clone()));
    // Into what another says already: that one holds.
    let tea = |value: &str| FactInput { attribute: Some("drink".into()), ..of_value(value) };
    let known = act(&mut world, &memory, Act::Add(tea("tea")), NOON_MS).expect("entered");
    let same = act(&mut world, &memory, Act::Edit(id(&moved), tea("Tea")), NOON_MS + 10 * HOUR_MS).expect("edited");
    assert_eq!((same.id, value(&memory, "drink").len(), value(&memory, "home city").len()), (known.id.clone(), 1, 0));
    let gone = act(&mut world, &memory, Act::Retract(id(&known)), NOON_MS + 11 * HOUR_MS).expect("retracted");
    assert_eq!(
        (gone.reason.as_deref(), gone.superseded_by, value(&memory, "drink").len()),
        (Some("retracted"), None, 0)
    );
    assert_eq!(
        act(&mut world, &memory, Act::Retract(id(&known)), NOON_MS).expect_err("closed").code(),
        ErrorCode::InvalidArgument
    );
    assert_eq!(
        act(&mut world, &memory, Act::Add(tea("  ")), NOON_MS).expect_err("blank").code(),
        ErrorCode::InvalidArgument
    );
    assert_eq!(
        act(&mut world, &memory, Act::Pin(FactId::from_raw(3), true), NOON_MS).expect_err("unknown").code(),
        ErrorCode::NotFound
    );
    let again = reopen(&mut world, with(eager()));
    assert_eq!(all_facts(&again), all_facts(&memory));
}

#[test]
fn o11_what_the_user_enters_is_believed_although_a_model_says_otherwise_later() {
    let mut world = World::default();
    let memory = opened(&mut world);
    let city = FactInput { attribute: Some("home city".into()), ..of_value("Braga") };
    act(&mut world, &memory, Act::Add(city), NOON_MS).expect("entered");
    say(&mut world, &memory, "My home city is Faro.", 2);
    say(&mut world, &memory, "ok", 3);
    assert_eq!(value(&memory, "home city"), ["Braga"]);
    let undone = memory.history("", 0, 1).remove(0);
    assert!(undone.undoable);
}

#[test]
fn case_09_a_refusal_in_a_part_of_a_reply_is_no_summary_and_no_fact() {
    let mut world = World::default();
    let memory = opened(&mut world);
    world.chat = Box::new(|request| {
        let sorry = "I'm sorry, but I can't help with xanadu.";
        let segment =
            json!({"continues": null, "title": "Boats", "summary": sorry, "keywords": ["boats"], "pages": ["p1"]});
        let link = json!({"page": "p1", "continues": null, "meta_info": sorry});
        let fact = json!({"subject": "user", "attribute": "hobby", "value": sorry, "kind": "knowledge", "confidence": 1, "valid_from": null, "quote": "I row boats", "page": "p1"});
        Ok(reply(json!({"segments": [segment], "links": [link], "facts": [fact]}).to_string(), request))
    });
    tell(&mut world, &memory, &["I row boats.", "end"]);
    assert_eq!((memory.stats().mid_term.pages, facts(&memory).len()), (1, 0), "the page sinks all the same");
    assert!(!all_views(&memory).contains("xanadu") && !world.holds("xanadu"));
}

#[test]
fn case_09_a_profile_that_was_cut_or_filtered_is_not_taken() {
    let mut world = World::default();
    let memory = open(&mut world, with(Config { heat_threshold: 0.0, ..eager() }));
    for reason in [FinishReason::Length, FinishReason::ContentFilter, FinishReason::Error] {
        world.chat = Box::new(move |request| {
            let whole = answer_by_rule(request)?;
            let is_profile = request.format.expect("a step").name == "user_profile";
            Ok(if is_profile { ChatReply { finish_reason: reason, ..whole } } else { whole })
        });
        add(&mut world, &memory, turns(&["I row boats."]));
        let _ = world.run(memory.flush(NOON_MS)).done();
        assert_eq!(memory.profile().user, None, "{reason:?}");
    }
}
