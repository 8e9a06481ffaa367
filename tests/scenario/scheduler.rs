//! Background work: what it may take, what it waits for, what it does first, and what becomes of failures.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use memstrata::config::{Config, RETRY_ATTEMPTS, RETRY_LONGEST_MS};
use memstrata::effect::{ChatReply, ChatRequest, EmbedReply, FinishReason, Usage};
use memstrata::error::{Error, ErrorCode, Result};
use memstrata::memory_os::MemoryOs;
use memstrata::model::{OutputMode, Space};
use memstrata::op::{Embedder, Event, Manner, OpenOptions, RespondInput, Settings};
use memstrata::time::HOUR_MS;
use serde_json::json;

use crate::model::{answer_by_rule, reply, shown};
use crate::steps::{
    add, all_views, eager, facts, failing, names, open, pages, reopen, segments, tell, turns, watched, with, work,
};
use crate::world::{NOON_MS, World, answer, options, turn};

/// Calls, failures, tokens in and out by operation.
type Booked = Rc<RefCell<BTreeMap<String, (u64, u64, u64, u64)>>>;

const DAY_MS: i64 = 24 * HOUR_MS;
const MINUTE_MS: i64 = 60_000;

fn failed(message: &str) -> Error {
    Error::new(ErrorCode::ProviderFailed, message)
}

/// Pages of one theme.
fn notes(from: usize, n: usize) -> Vec<memstrata::updating::short_term::NewPage> {
    (from..from + n).map(|at| turn(&format!("I row boats (note {at})"), "I see.", at as i64)).collect()
}

fn cold() -> Config {
    Config { heat_threshold: 1e6, ..eager() }
}

#[test]
fn s10_paused_work_stops_and_goes_on() {
    let mut world = World::default();
    let memory = open(&mut world, with(cold()));
    let calls = watched(&mut world, answer_by_rule);
    memory.set_paused(true);
    add(&mut world, &memory, notes(0, 4));
    let worked = world.run(memory.work(NOON_MS)).done().expect("works");
    assert_eq!((worked.ran, worked.next_due_ms, calls.borrow().len()), (false, None, 0));
    assert!(memory.ledger(NOON_MS).paused && memory.jobs(NOON_MS).iter().all(|job| job.waits_for == Some("pause")));
    assert_eq!((memory.stats().short_term.pages, memory.stats().jobs.queued), (4, 3));
    memory.set_paused(false);
    work(&mut world, &memory, NOON_MS);
    assert_eq!((memory.stats().mid_term.pages, calls.borrow().len()), (3, 3));
    let events = memory.take_events();
    assert!(events.contains(&Event::Paused) && events.contains(&Event::Resumed));
}

#[test]
fn b07_a_day_has_so_many_calls_then_rules_file_and_the_model_sees_it_the_next_day() {
    let tokens = |n| Config { daily_tokens: n, ..cold() };
    for config in [Config { daily_calls: 2, ..cold() }, tokens(1_500)] {
        let mut world = World::default();
        let memory = open(&mut world, with(config.clone()));
        let calls = watched(&mut world, answer_by_rule);
        add(&mut world, &memory, notes(0, 7));
        work(&mut world, &memory, NOON_MS);
        let asked = calls.borrow().len();
        assert!((1..6).contains(&asked), "{asked} calls");
        let today = memory.ledger(NOON_MS).today;
        assert!(config.daily_calls == 0 || today.calls == config.daily_calls);
        assert!(config.daily_tokens == 0 || today.tokens >= config.daily_tokens);
        assert_eq!(memory.stats().mid_term.pages, 6, "nobody waits for tomorrow in short-term memory");
        let by_rules = memory
            .take_events()
            .into_iter()
            .filter(|event| matches!(event, Event::FiledByRules { reason, .. } if reason == "budget"))
            .count();
        assert_eq!(by_rules, 6 - asked);
        let next = world.run(memory.work(NOON_MS)).done().expect("works").next_due_ms;
        assert_eq!(next, Some(NOON_MS + DAY_MS / 2), "midnight");
        assert!(memory.jobs(NOON_MS).iter().all(|job| job.kind == "enrich" && job.waits_for == Some("budget")));
        // The limit holds over a reopen on the same day.
        let memory = reopen(&mut world, with(config));
        work(&mut world, &memory, NOON_MS + HOUR_MS);
        assert_eq!(calls.borrow().len(), asked);
        for day in 1..8 {
            work(&mut world, &memory, NOON_MS + day * DAY_MS);
        }
        assert_eq!(calls.borrow().len(), 6, "each page once");
        assert!(segments(&memory).iter().all(|segment| segment.enriched) && memory.stats().jobs.queued == 0);
    }
}

#[test]
fn b07_limits_can_be_lifted_while_open_and_hold_back_no_answer() {
    let mut world = World::default();
    let memory = open(&mut world, with(Config { daily_calls: 1, ..cold() }));
    let calls = watched(&mut world, answer_by_rule);
    add(&mut world, &memory, notes(0, 5));
    work(&mut world, &memory, NOON_MS);
    assert_eq!(calls.borrow().len(), 1);
    let input = RespondInput {
        page: turn("How are you?", "", 9),
        manner: Manner { budget_tokens: 100, ..Manner::default() },
        call_id: None,
    };
    world.run(memory.respond(input, NOON_MS)).done().expect("answered");
    assert_eq!(names(&calls.borrow()), ["memory_batch", "respond"]);
    assert_eq!(memory.ledger(NOON_MS).today.calls, 1, "answers are not background work");
    memory.configure(&Settings { daily_calls: Some(0), ..Settings::default() }).expect("known");
    work(&mut world, &memory, NOON_MS);
    assert!(segments(&memory).iter().all(|segment| segment.enriched));
}

#[test]
fn b07_the_ledger_has_every_call_by_operation_and_survives_a_reopen() {
    let mut world = World::default();
    let space = Space { model: "outside".into(), dimensions: 2 };
    let outside = || OpenOptions {
        embedder: Embedder::External { space: space.clone(), texts_per_call: 4 },
        ..with(Config { heat_threshold: 0.0, ..eager() })
    };
    let made: Booked = Rc::default();
    let book = |made: &Booked, name: &str, usage: Usage, ok: bool| {
        let mut made = made.borrow_mut();
        let row = made.entry(name.into()).or_default();
        *row = (
            row.0 + 1,
            row.1 + u64::from(!ok),
            row.2 + usage.input_tokens.unwrap_or(0),
            row.3 + usage.output_tokens.unwrap_or(0),
        );
    };
    let (chats, embeds) = (made.clone(), made.clone());
    let mut n = 0;
    world.chat = Box::new(move |request| {
        n += 1;
        let name = match request.format.map_or("respond", |format| format.name) {
            "memory_batch" => "segments",
            "user_profile" => "profile",
            other => other,
        };
        if n % 4 == 0 {
            book(&chats, name, Usage::default(), false);
            return Err(failed("HTTP 503"));
        }
        let whole = answer_by_rule(request)?;
        book(&chats, name, whole.usage, true);
        Ok(whole)
    });
    world.embed = Box::new(move |request| {
        let usage = Usage { input_tokens: Some(5), output_tokens: None, elapsed_ms: 3 };
        let name = if request.kind == memstrata::effect::EmbedKind::Query { "query" } else { "embed" };
        book(&embeds, name, usage, true);
        Ok(EmbedReply { vectors: request.texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect(), usage })
    });
    let memory = reopen(&mut world, outside());
    for at in 0..6 {
        add(&mut world, &memory, notes(at, 1));
        let page = turn(&format!("Shall I row, number {at}?"), "", at as i64);
        let input = RespondInput { page, manner: Manner { budget_tokens: 100, ..Manner::default() }, call_id: None };
        let _ = world.run(memory.respond(input, NOON_MS)).done();
        work(&mut world, &memory, NOON_MS + at as i64 * MINUTE_MS);
    }
    world.run(memory.add(vec![turn("The last turn carries what is booked.", "", 9)], NOON_MS)).done().expect("stored");
    for memory in [memory, reopen(&mut world, outside())] {
        let ledger = memory.ledger(NOON_MS);
        assert_eq!((ledger.days.len(), ledger.days[0].day.as_str()), (1, "2024-06-01"));
        let rows: BTreeMap<_, _> = ledger.days[0]
            .rows
            .iter()
            .map(|row| (row.operation.clone(), (row.calls, row.failures, row.tokens_in, row.tokens_out)))
            .collect();
        assert_eq!(rows, *made.borrow());
        assert!(rows.len() >= 5 && rows.values().any(|row| row.1 > 0), "{rows:?}");
        let stats = memory.stats().calls;
        assert_eq!(stats.chat + stats.embed, rows.values().map(|row| row.0).sum::<u64>());
    }
}

/// Answers nonsense, or fails, where a page says "poison".
fn poisoned(unreadable: bool) -> impl FnMut(&ChatRequest) -> Result<ChatReply> {
    move |request| match shown(request).iter().any(|page| page.user.contains("poison")) {
        true if unreadable => Ok(answer("What a lovely day it is.")),
        true => Err(failed("HTTP 500 for this one")),
        false => answer_by_rule(request),
    }
}

#[test]
fn s10_a_job_that_fails_alone_is_set_aside_after_six_attempts_and_brought_back() {
    for unreadable in [true, false] {
        let mut world = World::default();
        let memory = open(&mut world, with(cold()));
        let poison = poisoned(unreadable);
        world.chat = Box::new(poison);
        add(&mut world, &memory, vec![turn("This is poison.", "", 0), turn("I row boats (note 0)", "", 0)]);
        let mut attempts = 0;
        for at in 1..40 {
            // The page before a batch is shown too, so a page lies between.
            let now_ms = NOON_MS + at * 20 * MINUTE_MS;
            world.run(memory.add(notes(at as usize * 2, 2), now_ms)).done().expect("stored");
            work(&mut world, &memory, now_ms);
            attempts = attempts.max(memory.jobs(now_ms).iter().map(|job| job.attempts).max().unwrap_or(0));
        }
        let jobs = memory.jobs(NOON_MS + DAY_MS);
        let aside: Vec<_> = jobs.iter().filter(|job| job.state == "failed").collect();
        assert_eq!(aside.len(), 1, "unreadable {unreadable}: {jobs:?}");
        assert_eq!((aside[0].kind, aside[0].attempts, attempts), ("enrich", RETRY_ATTEMPTS, RETRY_ATTEMPTS));
        assert!(aside[0].pages.contains(&pages(&memory)[0].id));
        assert_eq!(memory.stats().mid_term.pages, 79, "every page has sunk");
        let left = segments(&memory).iter().filter(|segment| !segment.enriched).count();
        assert!(left >= 1);
        // It stays aside over a reopen, until somebody wants it back.
        let memory = open(&mut world, with(cold()));
        work(&mut world, &memory, NOON_MS + 2 * DAY_MS);
        let id =
            memory.jobs(NOON_MS).iter().find(|job| job.state == "failed").expect("aside").id.parse().expect("an id");
        world.run(memory.retry(id)).done().expect("queued");
        work(&mut world, &memory, NOON_MS + 2 * DAY_MS);
        assert_eq!(memory.jobs(NOON_MS).len(), 0);
        assert!(segments(&memory).iter().all(|segment| segment.enriched));
        assert_eq!(world.run(memory.retry(id)).done().expect_err("done").code(), ErrorCode::NotFound);
    }
}

#[test]
fn s10_a_failing_provider_sets_nothing_aside_and_rests_longer_each_time() {
    let mut world = World::default();
    let memory = open(&mut world, with(cold()));
    add(&mut world, &memory, notes(0, 2));
    work(&mut world, &memory, NOON_MS);
    let out = failing(&mut world, |_| Err(failed("HTTP 503")));
    add(&mut world, &memory, notes(2, 4));
    let asked = Rc::new(RefCell::new(Vec::new()));
    let mut now_ms = NOON_MS;
    while now_ms < NOON_MS + 6 * HOUR_MS {
        let before = memory.ledger(now_ms).today.calls;
        work(&mut world, &memory, now_ms);
        let calls = memory.ledger(now_ms).today.calls - before;
        assert!(calls <= 1, "a model that rests is asked once and not for each job");
        if calls == 1 {
            asked.borrow_mut().push(now_ms);
        }
        let next = world.run(memory.work(now_ms)).done().expect("works").next_due_ms.expect("something waits");
        assert!(next > now_ms && next - now_ms <= RETRY_LONGEST_MS);
        now_ms = next;
    }
    let gaps: Vec<i64> = asked.borrow().windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.len() > 15 && gaps.windows(2).all(|pair| pair[0] <= pair[1]), "{gaps:?}");
    assert_eq!((gaps[0], gaps[1], gaps.last()), (2_000, 4_000, Some(&RETRY_LONGEST_MS)));
    assert_eq!(memory.stats().jobs.failed, 0);
    assert_eq!(memory.stats().mid_term.pages, 5, "rules have filed what sank");
    assert!(memory.ledger(now_ms).resumes_at.is_none() || memory.ledger(now_ms).resumes_at > Some(now_ms));
    out.set(false);
    for hour in 7..10 {
        work(&mut world, &memory, NOON_MS + hour * HOUR_MS);
    }
    assert!(segments(&memory).iter().all(|segment| segment.enriched) && memory.stats().jobs.queued == 0);
}

#[test]
fn s10_pages_sink_before_anything_else_then_vectors_then_promotion_then_enrichment() {
    let mut world = World::default();
    let space = Space { model: "outside".into(), dimensions: 2 };
    let order = Rc::new(RefCell::new(Vec::new()));
    let (chats, embeds) = (order.clone(), order.clone());
    let outside = |policy: &str| OpenOptions {
        embedder: Embedder::External { space: space.clone(), texts_per_call: 64 },
        ..with(Config { heat_threshold: 0.0, update_policy: policy.into(), ..eager() })
    };
    let memory = open(&mut world, outside("offline"));
    add(&mut world, &memory, notes(0, 2));
    world.run(memory.work(NOON_MS)).done().expect("works");
    assert_eq!((memory.stats().mid_term.pages, memory.stats().jobs.queued), (1, 1));
    world.chat = Box::new(move |request| {
        chats.borrow_mut().push(request.format.expect("a step").name.to_owned() + " " + &shown(request)[0].user);
        answer_by_rule(request)
    });
    world.embed = Box::new(move |request| {
        embeds.borrow_mut().push("embed".into());
        Ok(EmbedReply { vectors: vec![vec![1.0, 0.0]; request.texts.len()], usage: Usage::default() })
    });
    let memory = reopen(&mut world, outside("batched"));
    add(&mut world, &memory, notes(2, 1));
    work(&mut world, &memory, NOON_MS);
    let order = order.borrow();
    assert_eq!(order[0], "memory_batch I row boats (note 1)", "{order:?}");
    assert_eq!(order[1], "embed");
    let at = |what: &str| order.iter().position(|done| done.starts_with(what)).expect("done");
    assert!(at("user_profile") < at("memory_batch I row boats (note 0)"), "{order:?}");
}

#[test]
fn case_05_a_cut_reply_halves_the_batch_and_stores_nothing_of_itself() {
    for (policy, step) in [
        ("batched", "memory_batch"),
        ("paper", "multi_topic_summary"),
        ("batched", "user_profile"),
        ("paper", "knowledge"),
    ] {
        let mut world = World::default();
        let config = Config {
            consolidation_batch: 4,
            short_term_capacity: 1,
            update_policy: policy.into(),
            heat_threshold: 0.0,
            promotion_batch: 4,
            ..Config::default()
        };
        let memory = open(&mut world, with(config));
        let sizes = Rc::new(RefCell::new(Vec::new()));
        let seen = sizes.clone();
        world.chat = Box::new(move |request| {
            let whole = answer_by_rule(request)?;
            if request.format.expect("a step").name != step {
                return Ok(whole);
            }
            let n = shown(request).len();
            seen.borrow_mut().push((n, request.max_output_tokens.expect("room")));
            if n <= 1 {
                return Ok(whole);
            }
            let text = whole.text.replace("I row boats", "I row vroomfondels");
            let half = text.chars().take(text.chars().count() / 2).collect();
            Ok(ChatReply { text: half, finish_reason: FinishReason::Length, ..whole })
        });
        add(&mut world, &memory, notes(0, 5));
        world.run(memory.flush(NOON_MS)).done().expect("a flush does the halves too");
        let sizes = sizes.borrow();
        let mut asked: Vec<_> = sizes.iter().map(|(n, _)| *n).collect();
        asked.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(asked, [4, 4, 2, 2, 2, 2, 1, 1, 1, 1], "{policy} {step}: twice with more room, then half");
        assert!(sizes[1].1 > sizes[0].1);
        assert_eq!((memory.stats().mid_term.pages, memory.stats().jobs.queued), (4, 0), "{policy} {step}");
        assert!(segments(&memory).iter().all(|segment| segment.enriched && segment.heat.l_interaction == 0));
        assert!(!all_views(&memory).contains("vroomfondels") && !world.holds("vroomfondels"));
    }
}

#[test]
fn case_06_an_unreadable_reply_stores_nothing_and_an_empty_list_is_an_answer() {
    let mut world = World::default();
    let memory = open(&mut world, with(cold()));
    add(&mut world, &memory, turns(&["My home city is Porto.", "end"]));
    let bad = [
        "Sure! Here is what I noted: the zorblax.",
        "{\"segments\": [{\"title\": \"zorblax\"",
        "{\"zorblax\": 1}",
        "[]zorblax[",
        "null",
    ];
    for text in bad {
        // Opened anew, so that the model does not rest.
        let memory = reopen(&mut world, with(cold()));
        world.chat = Box::new(move |request| Ok(reply(text.into(), request)));
        assert_eq!(
            world.run(memory.flush(NOON_MS)).done().err().map(|error| error.code()),
            Some(ErrorCode::ProviderBadReply),
            "{text}"
        );
        assert_eq!((memory.stats().short_term.pages, facts(&memory).len()), (2, 0));
        let job = memory.jobs(NOON_MS).remove(0);
        let id = job.id.parse().expect("an id");
        world.run(memory.retry(id)).done().expect("as new");
        assert!(!format!("{:?}{:?}", segments(&memory), pages(&memory)).contains("zorblax"));
    }
    let memory = reopen(&mut world, with(cold()));
    world.chat = Box::new(|request| {
        let segment = json!({"continues": null, "title": "Home", "summary": "", "keywords": [], "pages": ["p1"]});
        Ok(reply(json!({"segments": [segment], "links": [], "facts": []}).to_string(), request))
    });
    world.run(memory.flush(NOON_MS)).done().expect("an answer");
    assert_eq!((memory.stats().mid_term.pages, facts(&memory).len(), memory.stats().jobs.queued), (1, 0, 0));
}

#[test]
fn case_08_ids_that_were_never_offered_are_refused_and_an_event_tells() {
    let mut world = World::default();
    let memory = open(&mut world, with(cold()));
    tell(&mut world, &memory, &["I row boats", "My home city is Porto."]);
    memory.take_events();
    world.chat = Box::new(|request| {
        let segments = [
            json!({"continues": "s9", "title": "Home", "summary": "Home.", "keywords": ["home"], "pages": ["p1", "p7", "page_00"]}),
            json!({"continues": "s1", "title": "Ghost", "summary": "Ghost.", "keywords": ["ghost"], "pages": ["p2"]}),
        ];
        let links = [
            json!({"page": "p1", "continues": "p4", "meta_info": "x"}),
            json!({"page": "p3", "continues": null, "meta_info": "x"}),
        ];
        let fact = |page: &str, attribute: &str| json!({"subject": "user", "attribute": attribute, "value": "Porto", "kind": "knowledge", "confidence": 0.9, "valid_from": null, "quote": "My home city is Porto", "page": page});
        Ok(reply(
            json!({"segments": segments, "links": links, "facts": [fact("p1", "home city"), fact("p5", "ghost town")]})
                .to_string(),
            request,
        ))
    });
    tell(&mut world, &memory, &["end"]);
    assert_eq!(facts(&memory).into_iter().map(|fact| fact.attribute).collect::<Vec<_>>(), ["home city"]);
    assert!(!all_views(&memory).to_lowercase().contains("ghost"));
    assert_eq!(memory.stats().mid_term.pages, 2);
    let reasons: Vec<_> = memory
        .take_events()
        .into_iter()
        .find_map(|event| match event {
            Event::ReplyRefused { operation, parts } => Some((operation, parts)),
            _ => None,
        })
        .map(|(operation, parts)| {
            assert_eq!(operation, "batched");
            parts.into_iter().map(|part| (part.part, part.reason)).collect()
        })
        .expect("an event");
    let count = |reason: &str| reasons.iter().filter(|(_, of)| of == reason).count();
    assert_eq!((count("UnknownSegment"), count("NotEarlier")), (1, 1), "{reasons:?}");
    assert!(count("UnknownPage") >= 5, "{reasons:?}");
}

fn modes(
    world: &mut World,
    rule: impl FnMut(&ChatRequest) -> Result<ChatReply> + 'static,
) -> Rc<RefCell<Vec<OutputMode>>> {
    let asked = Rc::new(RefCell::new(Vec::new()));
    let seen = asked.clone();
    let mut rule = rule;
    world.chat = Box::new(move |request| {
        seen.borrow_mut().push(request.format.expect("a step").mode);
        rule(request)
    });
    asked
}

#[test]
fn case_43_case_07_the_mode_that_works_is_remembered_over_a_reopen() {
    use OutputMode::{JsonObject, Plain, Schema, ToolCall};
    let refusing = |request: &ChatRequest| match request.format.expect("a step").mode {
        Schema => Err(failed("HTTP 400: response_format json_schema is not supported")),
        JsonObject => Err(failed("HTTP 400: messages must contain the word json")),
        ToolCall => Err(failed("HTTP 400: this model does not support tools")),
        Plain => answer_by_rule(request),
    };
    let echoing = |request: &ChatRequest| match request.format.expect("a step").mode {
        Schema => Ok(reply(request.format.expect("a step").schema.into(), request)),
        _ => answer_by_rule(request),
    };
    let mut world = World::default();
    let memory = open(&mut world, with(cold()));
    let asked = modes(&mut world, refusing);
    tell(&mut world, &memory, &["I row boats (note 0)", "end"]);
    assert_eq!(*asked.borrow(), [Schema, JsonObject, ToolCall, Plain]);
    assert_eq!((memory.stats().mid_term.pages, memory.stats().jobs.queued), (1, 0), "within one attempt");
    let memory = reopen(&mut world, with(cold()));
    tell(&mut world, &memory, &["I row boats (note 1)"]);
    assert_eq!(asked.borrow()[4..], [Plain]);
    // Another model is asked in the strictest mode again.
    let other = OpenOptions { chat_model: Some("test/other".into()), ..with(cold()) };
    let memory = reopen(&mut world, other.clone());
    let asked = modes(&mut world, echoing);
    tell(&mut world, &memory, &["I row boats (note 2)"]);
    assert_eq!(*asked.borrow(), [Schema, JsonObject]);
    let memory = reopen(&mut world, other);
    tell(&mut world, &memory, &["I row boats (note 3)"]);
    assert_eq!(asked.borrow()[2..], [JsonObject]);
    assert!(!world.holds("additionalProperties") && !all_views(&memory).contains("additionalProperties"));
}

#[test]
fn case_43_a_server_that_takes_tools_alone_is_asked_by_tool_call_also_after_a_reopen() {
    use OutputMode::{JsonObject, Plain, Schema, ToolCall};
    let takes_tools = |request: &ChatRequest| match request.format.expect("a step").mode {
        Schema | JsonObject => Err(failed("HTTP 400: response_format is not supported")),
        ToolCall => answer_by_rule(request),
        Plain => Err(failed("a mode that nobody needs")),
    };
    let mut world = World::default();
    let memory = open(&mut world, with(cold()));
    let asked = modes(&mut world, takes_tools);
    tell(&mut world, &memory, &["I row boats (note 0)", "end"]);
    assert_eq!(*asked.borrow(), [Schema, JsonObject, ToolCall]);
    let memory = reopen(&mut world, with(cold()));
    tell(&mut world, &memory, &["I row boats (note 1)"]);
    assert_eq!(asked.borrow()[3..], [ToolCall]);
    // It loses its tools: what is left is the prompt's words, and that is remembered too.
    let no_tools = |request: &ChatRequest| match request.format.expect("a step").mode {
        Plain => answer_by_rule(request),
        _ => Err(failed("HTTP 404: no endpoints found that support tool use")),
    };
    let asked = modes(&mut world, no_tools);
    tell(&mut world, &memory, &["I row boats (note 2)"]);
    assert_eq!(*asked.borrow(), [ToolCall, Plain]);
    let memory = reopen(&mut world, with(cold()));
    tell(&mut world, &memory, &["I row boats (note 3)"]);
    assert_eq!(asked.borrow()[2..], [Plain]);
}

#[test]
fn case_43_a_mode_that_the_provider_fell_back_to_is_remembered() {
    let mut world = World::default();
    let memory = open(&mut world, with(cold()));
    let rule = |request: &ChatRequest| Ok(ChatReply { mode: Some(OutputMode::JsonObject), ..answer_by_rule(request)? });
    let asked = modes(&mut world, rule);
    tell(&mut world, &memory, &["I row boats (note 0)", "end"]);
    let memory = reopen(&mut world, with(cold()));
    tell(&mut world, &memory, &["I row boats (note 1)"]);
    assert_eq!(*asked.borrow(), [OutputMode::Schema, OutputMode::JsonObject]);
}

#[test]
fn o16_ranges_of_the_parameters_are_checked_by_their_names() {
    let broken: [(&str, Config); 5] = [
        ("promotionBatch", Config { promotion_batch: 0, ..Config::default() }),
        ("promotionBatch", Config { promotion_batch: 1_001, ..Config::default() }),
        ("closuresPerWrite", Config { closures_per_write: 1_001, ..Config::default() }),
        ("historyCapacity", Config { history_capacity: 0, ..Config::default() }),
        ("update policy", Config { update_policy: "Batched".into(), ..Config::default() }),
    ];
    for (name, config) in broken {
        let mut world = World::default();
        let refused = world.open_with(with(config)).done().err().expect("out of range");
        assert_eq!((refused.code(), refused.message().contains(name)), (ErrorCode::InvalidArgument, true), "{refused}");
    }
    for policy in ["auto", "batched", "paper", "offline"] {
        let mut world = World::default();
        let config =
            Config { update_policy: policy.into(), daily_calls: u64::MAX, daily_tokens: u64::MAX, ..Config::default() };
        assert!(world.open_with(OpenOptions { config, ..options() }).done().is_ok(), "{policy} without a model");
    }
}

#[test]
fn o18_stats_count_long_term_memory_and_clearing_leaves_nothing_of_it() {
    let mut world = World::default();
    let config = || Config { heat_threshold: 0.0, ..eager() };
    let memory = open(&mut world, with(config()));
    let calls = watched(&mut world, answer_by_rule);
    tell(&mut world, &memory, &["My home city is Porto.", "My home city is Faro.", "I love quinces.", "end"]);
    let analysed = world.run(memory.analyse(NOON_MS)).done().expect("analysed");
    assert_eq!(analysed.pages, 0, "flush has promoted all of it");
    let stats = memory.stats();
    assert_eq!((stats.facts.open, stats.facts.closed, stats.traits), (2, 1, 1));
    assert_eq!((stats.changes, stats.calls.chat), (memory.history("", 0, 100).len(), calls.borrow().len() as u64));
    assert!(stats.calls.tokens_in > 100 && stats.calls.tokens_out > 10);
    memory.set_paused(true);
    world.run(memory.clear()).done().expect("cleared");
    for memory in [memory, reopen(&mut world, with(config()))] {
        let stats = memory.stats();
        assert_eq!((stats.pages, stats.facts.open + stats.facts.closed, stats.traits, stats.changes), (0, 0, 0, 0));
        assert_eq!((stats.calls.chat, stats.calls.tokens_in, stats.jobs.queued, world.store.len()), (0, 0, 0, 1));
        assert_eq!(
            (memory.profile().user, memory.profile().versions.len(), memory.history("", 0, 10).len()),
            (None, 0, 0)
        );
    }
    assert!(!world.holds("Porto") && !world.holds("quinces"));
    let again: MemoryOs = reopen(&mut world, with(config()));
    tell(&mut world, &again, &["My home city is Porto.", "end"]);
    assert_eq!(facts(&again).len(), 1, "what was cleared may be learnt anew");
}
