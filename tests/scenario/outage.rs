//! A model that is out for a hundred turns, and one that costs what it may.

use memstrata::config::Config;
use memstrata::effect::{ChatReply, ChatRequest};
use memstrata::error::{Error, ErrorCode, Result};
use memstrata::memory_os::MemoryOs;
use memstrata::op::{Manner, RespondInput};
use memstrata::time::HOUR_MS;

use crate::model::answer_by_rule;
use crate::steps::{all_facts, all_views, failing, names, open, pages, reopen, segments, watched, with, work};
use crate::world::{Ended, Fault, NOON_MS, Random, World, answer, made_up, turn};

const MINUTE_MS: i64 = 60_000;
/// Words of the failures that no memory may hold.
const TELLTALES: [&str; 4] = ["HTTP 503", "quota", "unavailable", "Service"];

fn http_503(_: &ChatRequest) -> Result<ChatReply> {
    Err(Error::new(ErrorCode::ProviderFailed, "HTTP 503"))
}

fn prose(_: &ChatRequest) -> Result<ChatReply> {
    Ok(answer("Service unavailable, quota exceeded"))
}

fn outage(failure: fn(&ChatRequest) -> Result<ChatReply>, policy: &str, answered_before: bool) {
    let mut world = World::default();
    let config = Config { update_policy: policy.into(), heat_threshold: 2.0, ..Config::default() };
    let memory = open(&mut world, with(config.clone()));
    if answered_before {
        let page = RespondInput {
            page: turn("hello", "", -9),
            manner: Manner { budget_tokens: 50, ..Manner::default() },
            call_id: None,
        };
        world.run(memory.respond(page, NOON_MS)).done().expect("answered");
    }
    let out = failing(&mut world, failure);
    let mut random = Random(17);
    let mut now_ms = NOON_MS;
    for number in 0..100 {
        world.run(memory.add(vec![made_up(number, &mut random)], now_ms)).done().expect("stored");
        work(&mut world, &memory, now_ms);
        now_ms += 7 * MINUTE_MS;
        let stats = memory.stats();
        assert_eq!((stats.pages, stats.jobs.failed), (number + 1 + usize::from(answered_before), 0), "turn {number}");
        assert!(stats.short_term.pages <= 30, "short-term memory grows without end: {}", stats.short_term.pages);
    }
    let during =
        format!("{:?}{:?}{:?}{:?}", memory.tiers(now_ms), pages(&memory), all_facts(&memory), memory.profile());
    assert!(TELLTALES.iter().all(|word| !during.contains(word)));
    assert!(memory.profile().user.is_none() && all_facts(&memory).is_empty());
    let memory = reopen(&mut world, with(config.clone()));
    out.set(false);
    for _ in 0..200 {
        work(&mut world, &memory, now_ms);
        now_ms += 15 * MINUTE_MS;
    }
    let stats = memory.stats();
    assert_eq!((stats.jobs.queued, stats.jobs.failed), (0, 0), "{:?}", memory.jobs(now_ms));
    let pages = pages(&memory);
    let said: Vec<_> = pages.iter().filter_map(|page| page.client_id.clone()).collect();
    assert_eq!(said, (0..100).map(|number| format!("m{number}")).collect::<Vec<_>>(), "every turn once, in order");
    assert!(segments(&memory).iter().all(|segment| segment.enriched), "every page is drafted");
    assert!(pages.iter().filter(|page| page.tier == "mid").count() >= 85);
    assert!(memory.profile().user.is_some());
    let notes: Vec<_> = all_facts(&memory).into_iter().filter(|fact| fact.attribute == "last note").collect();
    assert!(notes.len() >= if policy == "batched" { 85 } else { 20 }, "{} facts", notes.len());
    assert_eq!(notes.iter().filter(|fact| fact.valid_to.is_none()).count(), 1, "each note supersedes the one before");
    for fact in &notes {
        let page = pages.iter().find(|page| page.id == fact.evidence[0].page_id).expect("its page");
        assert!(page.user_input.contains(&fact.evidence[0].quote), "b05: {fact:?}");
    }
    assert!(TELLTALES.iter().all(|word| !all_views(&memory).contains(word)));
    world.run(memory.flush(now_ms)).done().expect("flushed");
    for word in TELLTALES {
        assert!(!world.holds(word), "{word:?} lies in the store");
    }
}

#[test]
fn b02_a_hundred_turns_of_an_outage_lose_nothing_and_set_nothing_aside() {
    outage(http_503, "batched", true);
    outage(http_503, "batched", false);
}

#[test]
fn b02_a_hundred_turns_of_outage_texts_in_place_of_answers() {
    outage(prose, "batched", true);
}

#[test]
fn b02_an_outage_with_the_papers_steps() {
    outage(http_503, "paper", true);
    outage(prose, "paper", false);
}

#[test]
fn b03_the_answer_comes_before_any_other_call_and_batched_takes_at_most_four_calls_in_ten_pages() {
    let mut world = World::default();
    let memory = open(&mut world, with(Config::default()));
    let calls = watched(&mut world, answer_by_rule);
    let mut random = Random(23);
    for number in 0..200 {
        let before = calls.borrow().len();
        let page = made_up(number, &mut random);
        let now_ms = NOON_MS + number as i64 * HOUR_MS / 3;
        let input = RespondInput {
            page: memstrata::updating::short_term::NewPage { agent_response: String::new(), ..page },
            manner: Manner { budget_tokens: 200, ..Manner::default() },
            call_id: None,
        };
        world.run(memory.respond(input, now_ms)).done().expect("answered");
        assert_eq!(names(&calls.borrow()[before..]), ["respond"], "turn {number}");
        work(&mut world, &memory, now_ms);
    }
    let calls = calls.borrow();
    let names = names(&calls);
    let background = names.iter().filter(|name| **name != "respond").count();
    let profile = names.iter().filter(|name| **name == "user_profile").count();
    assert!(background * 10 <= 200 * 4, "{background} calls for 200 pages");
    assert!(profile > 0 && background > 38 + profile - 1);
    assert_eq!(
        memory.ledger(NOON_MS).days.iter().flat_map(|day| &day.rows).map(|row| row.calls).sum::<u64>(),
        calls.len() as u64
    );
}

/// What a memory holds, without ids.
fn held(memory: &MemoryOs) -> String {
    let pages: Vec<_> = pages(memory)
        .into_iter()
        .map(|page| (page.user_input, page.tier, page.segment_ids.len(), page.meta_info))
        .collect();
    let mut segments: Vec<_> =
        segments(memory).into_iter().map(|of| (of.theme, of.pages.len(), of.heat.l_interaction, of.enriched)).collect();
    segments.sort();
    let mut facts: Vec<_> = all_facts(memory)
        .into_iter()
        .map(|of| (of.attribute, of.value, of.valid_from, of.valid_to, of.evidence.len()))
        .collect();
    facts.sort();
    let traits: Vec<_> = memory.traits().into_iter().map(|of| (of.dimension, of.level, of.evidence.len())).collect();
    format!("{pages:?} {segments:?} {facts:?} {traits:?} {:?}", memory.profile().user.map(|of| of.text))
}

#[test]
fn b02_a_crash_at_any_effect_of_the_models_work_ends_in_the_same_memory() {
    for policy in ["batched", "paper"] {
        let config = Config {
            update_policy: policy.into(),
            short_term_capacity: 2,
            consolidation_batch: 2,
            heat_threshold: 2.0,
            promotion_batch: 2,
            similarity_threshold: 2.0,
            ..Config::default()
        };
        let story = || {
            (0..9)
                .map(|at| {
                    turn(&format!("{} (note {at})", ["I row boats", "I bake rye"][at / 2 % 2]), "I see.", at as i64)
                })
                .collect::<Vec<_>>()
        };
        let run = |fault: Option<Fault>| {
            let mut world = World::default();
            let mut memory = open(&mut world, with(config.clone()));
            world.run(memory.add(story(), NOON_MS)).done().expect("stored");
            let first = world.n_effects;
            world.fault = fault;
            loop {
                match world.run(memory.work(NOON_MS)) {
                    Ended::Done(worked) if worked.as_ref().is_ok_and(|worked| !worked.ran) => break,
                    Ended::Done(Ok(_)) => {}
                    Ended::Done(Err(_)) | Ended::Crashed => {
                        world.fault = None;
                        memory = reopen(&mut world, with(config.clone()));
                    }
                }
            }
            (held(&memory), first, world.n_effects)
        };
        let (whole, first, last) = run(None);
        assert!(whole.contains("The user speaks of") && last - first > 8, "{whole}");
        for at in first + 1..=last {
            for fault in [Fault::CrashBefore(at), Fault::CrashAfter(at)] {
                assert_eq!(run(Some(fault.clone())).0, whole, "{policy} {fault:?}");
            }
        }
    }
}

#[test]
fn b02_two_workers_at_once_file_no_page_twice() {
    for policy in ["batched", "paper", "offline"] {
        for seed in 0..12 {
            let mut world = World::default();
            let config = Config {
                update_policy: policy.into(),
                short_term_capacity: 1,
                consolidation_batch: 2,
                heat_threshold: 2.0,
                promotion_batch: 2,
                ..Config::default()
            };
            let memory = open(&mut world, with(config));
            world
                .run(memory.add((0..7).map(|at| turn(&format!("I row boats (note {at})"), "", 0)).collect(), NOON_MS))
                .done()
                .expect("stored");
            for _ in 0..8 {
                let tasks = (0..3).map(|_| memory.work(NOON_MS)).collect();
                world.run_together(tasks, seed).into_iter().for_each(|worked| assert!(worked.is_ok()));
            }
            work(&mut world, &memory, NOON_MS);
            let segments = segments(&memory);
            let counted: u32 = segments.iter().map(|of| of.heat.l_interaction).sum();
            let placed: usize = segments.iter().map(|of| of.pages.len()).sum();
            let seen = if memory.profile().user.is_some() { 6 } else { 0 };
            assert_eq!((placed, segments.len(), counted + seen), (6, 1, 6), "{policy} seed {seed}: {segments:?}");
            assert!(memory.profile().versions.len() <= 3 && memory.stats().jobs.queued == 0);
        }
    }
}
