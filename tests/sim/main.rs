//! Crash simulation: the process dies, or an effect fails, at every single effect of a seeded run. Reopened and asked again,
//! the memory must be what it is in the run that nothing disturbed.
//!
//! Each step of the run starts from the store as the undisturbed run left it, so that the work grows with the number of
//! effects and not with its square; that a reopened memory equals the live one is checked at every step.

#[path = "../scenario/world.rs"]
mod world;

use std::collections::BTreeMap;

use memstrata::config::Config;
use memstrata::error::{Error, ErrorCode};
use memstrata::id::PageId;
use memstrata::memory_os::MemoryOs;
use memstrata::op::{Manner, OpenOptions, RetrieveInput};

use world::{Ended, Fault, NOON_MS, Random, World, made_up, options, turn};

#[derive(Clone, Debug)]
enum Move {
    Add(usize),
    AddMany(usize, usize),
    Work,
    Flush,
    Forget(usize),
    Retrieve,
    Respond(usize),
}

fn moves(seed: u64, n_turns: usize) -> Vec<Move> {
    let mut random = Random(seed);
    let mut moves = Vec::new();
    let mut added = 0;
    while added < n_turns {
        match random.below(12) {
            0 => {
                let n = 2 + random.below(4);
                moves.push(Move::AddMany(added, n));
                added += n;
            }
            1 => moves.push(Move::Retrieve),
            2 if added > 20 => moves.push(Move::Forget(random.below(added))),
            3 if random.below(4) == 0 => moves.push(Move::Flush),
            4 => {
                moves.push(Move::Respond(added));
                added += 1;
            }
            _ => {
                moves.push(Move::Add(added));
                added += 1;
            }
        }
        moves.extend((0..random.below(3)).map(|_| Move::Work));
    }
    moves.push(Move::Flush);
    moves
}

fn options_of_run() -> OpenOptions {
    let config = Config { seal_threshold_bytes: 24 * 1024, mid_term_capacity: 8, ..Config::default() };
    OpenOptions { config, ..options() }
}

fn open(world: &mut World) -> MemoryOs {
    world.open_with(options_of_run()).done().expect("opens")
}

/// Makes a move; what it would do a second time, it does only once, because turns carry ids of their own.
fn make(world: &mut World, memory: &MemoryOs, step: &Move) -> Ended<Result<(), Error>> {
    let page = |number| made_up(number, &mut Random(number as u64));
    match *step {
        Move::Add(number) => ended(world.run(memory.add(vec![page(number)], NOON_MS))),
        Move::AddMany(from, n) => ended(world.run(memory.add((from..from + n).map(page).collect(), NOON_MS))),
        Move::Work => ended(world.run(memory.work(NOON_MS))),
        Move::Flush => ended(world.run(memory.flush(NOON_MS))),
        Move::Retrieve => ended(world.run(memory.retrieve(RetrieveInput::new("bicycle brake"), NOON_MS))),
        Move::Respond(number) => {
            let input = memstrata::op::RespondInput {
                page: page(number),
                manner: Manner { budget_tokens: 100, ..Manner::default() },
                call_id: None,
            };
            ended(world.run(memory.respond(input, NOON_MS)))
        }
        Move::Forget(number) => {
            let client_id = format!("m{number}");
            let pages = memory.pages(0, usize::MAX).into_iter();
            let page: Option<PageId> = pages
                .filter(|page| page.client_id.as_deref() == Some(&client_id))
                .find_map(|page| page.id.parse().ok());
            ended(world.run(memory.forget(page.into_iter().collect(), vec![], NOON_MS)))
        }
    }
}

fn ended<T>(ended: Ended<Result<T, Error>>) -> Ended<Result<(), Error>> {
    match ended {
        Ended::Done(result) => Ended::Done(result.map(|_| ())),
        Ended::Crashed => Ended::Crashed,
    }
}

#[derive(Debug, PartialEq, PartialOrd)]
struct SegmentEssence {
    pages: Vec<String>,
    keywords: Vec<String>,
    summary: String,
    archived: bool,
    l_interaction: u32,
}

/// What a memory holds, without the ids that depend on how often something was tried.
#[derive(Debug, PartialEq)]
struct Essence {
    short_term: Vec<String>,
    segments: Vec<SegmentEssence>,
    texts: BTreeMap<String, String>,
    waiting: Vec<Vec<String>>,
    counts: (usize, usize, usize),
}

fn essence(memory: &MemoryOs) -> Essence {
    let tiers = memory.tiers(NOON_MS);
    let pages = memory.pages(0, usize::MAX);
    let name = |id: &String| {
        let page = pages.iter().find(|page| page.id == *id).expect("every id that a tier names is a page");
        page.client_id.clone().expect("every turn of the run has an id")
    };
    let names = |ids: &[String]| ids.iter().map(name).collect::<Vec<_>>();
    let mut segments: Vec<_> = tiers
        .mid_term
        .iter()
        .chain(&tiers.archive)
        .map(|segment| SegmentEssence {
            pages: names(&segment.pages),
            keywords: segment.keywords.clone(),
            summary: segment.summary.clone(),
            archived: segment.tier == "archive",
            l_interaction: segment.heat.l_interaction,
        })
        .collect();
    segments.sort_by(|a, b| a.pages.cmp(&b.pages));
    let short_term: Vec<_> = tiers.short_term.iter().map(|page| name(&page.id)).collect();
    let texts: BTreeMap<_, _> =
        pages.iter().map(|page| (name(&page.id), format!("{} | {}", page.user_input, page.agent_response))).collect();
    // No page is lost, none is doubled.
    let mut placed: Vec<_> =
        segments.iter().flat_map(|segment| segment.pages.clone()).chain(short_term.clone()).collect();
    placed.sort();
    let mut all: Vec<_> = texts.keys().cloned().collect();
    all.sort();
    assert_eq!(placed, all, "every page lies in exactly one place");
    assert_eq!(pages.len(), texts.len(), "no client id is stored twice");
    let stats = memory.stats();
    let mut waiting: Vec<_> = memory.jobs(NOON_MS).iter().map(|job| names(&job.pages)).collect();
    waiting.sort();
    Essence { short_term, segments, texts, waiting, counts: (stats.turns, stats.index.vectors, stats.index.atoms) }
}

#[test]
fn b02_a_crash_or_failure_at_any_effect_loses_nothing_and_doubles_nothing() {
    let mut n_points = 0;
    for seed in [1, 2, 3] {
        let mut calm = World::default();
        let mut memory = open(&mut calm);
        for (number, step) in moves(seed, 70).iter().enumerate() {
            let before = calm.store.clone();
            let first = calm.n_effects;
            make(&mut calm, &memory, step).done().expect("nothing disturbs this run");
            let n_effects = calm.n_effects - first;
            let expected = essence(&memory);
            // What a reader saw is not stored at once; everything else must be.
            memory = open(&mut calm);
            assert_eq!(essence(&memory), expected, "seed {seed}, step {number} {step:?}: reopened");
            for at in 1..=n_effects {
                let unknown = Error::new(ErrorCode::StorageUnavailable, "lost");
                let full = Error::new(ErrorCode::StorageQuota, "full");
                for fault in
                    [Fault::CrashBefore(at), Fault::CrashAfter(at), Fault::Fail(at, unknown), Fault::Fail(at, full)]
                {
                    n_points += 1;
                    disturb(
                        before.clone(),
                        step,
                        fault.clone(),
                        &expected,
                        &format!("seed {seed}, step {number} {step:?}, {fault:?}"),
                    );
                }
            }
        }
    }
    assert!(n_points > 1_000, "only {n_points} points of failure");
}

fn disturb(store: memstrata::storage::MemoryStore, step: &Move, fault: Fault, expected: &Essence, at: &str) {
    let mut world = World { store, ..World::default() };
    let memory = open(&mut world);
    let opened = world.n_effects;
    world.fault = Some(match fault {
        Fault::CrashBefore(n) => Fault::CrashBefore(opened + n),
        Fault::CrashAfter(n) => Fault::CrashAfter(opened + n),
        Fault::Fail(n, error) => Fault::Fail(opened + n, error),
    });
    let hit = !matches!(make(&mut world, &memory, step), Ended::Done(Ok(())));
    assert!(hit, "{at}: the fault was not noticed");
    world.fault = None;
    let again = open(&mut world);
    // A job that was done before the crash is not queued any more; working again would do the next one.
    if !matches!(step, Move::Work) || essence(&again) != *expected {
        make(&mut world, &again, step)
            .done()
            .unwrap_or_else(|error| panic!("{at}: the second attempt failed: {error}"));
    }
    assert_eq!(&essence(&again), expected, "{at}");
    let reopened = open(&mut world);
    assert_eq!(&essence(&reopened), expected, "{at}: reopened");
}

#[test]
fn a_store_that_fails_while_it_is_opened_is_opened_by_the_next_attempt() {
    let mut world = World::default();
    let memory = open(&mut world);
    for number in 0..30 {
        make(&mut world, &memory, &Move::Add(number)).done().expect("stored");
    }
    let expected = essence(&memory);
    for at in 1..=3 {
        let lost = Error::new(ErrorCode::StorageUnavailable, "lost");
        world.fault = Some(Fault::Fail(world.n_effects + at, lost));
        assert!(world.open_with(options_of_run()).done().is_err());
        world.fault = None;
        assert_eq!(essence(&open(&mut world)), expected);
    }
}

#[test]
fn the_same_calls_and_replies_give_the_same_bytes() {
    let run = || {
        let mut world = World::default();
        let memory = open(&mut world);
        for step in moves(5, 40) {
            make(&mut world, &memory, &step).done().expect("nothing disturbs this run");
        }
        world.run(memory.add(vec![turn("last", "", 0)], NOON_MS)).done().expect("stored");
        world.store
    };
    assert_eq!(run(), run());
}
