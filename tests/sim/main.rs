//! Crash simulation: the process dies, or an effect fails, at every single effect of a seeded run. Reopened and asked again,
//! the memory must be what it is in the run that nothing disturbed.

#[path = "../scenario/model.rs"]
mod model;
#[path = "../scenario/world.rs"]
mod world;

mod essence;
mod moves;
mod runs;
mod together;

use memstrata::error::{Error, ErrorCode};
use memstrata::storage::MemoryStore;

use essence::Essence;
use moves::{Call, Move, moves};
use runs::{Run, disturb_everywhere};
use world::{Fault, NOON_MS, World};

/// Disturbs a run, and holds that there were enough disturbances to mean something.
fn simulate(run: &Run, least: usize) {
    let n_points = disturb_everywhere(run);
    assert!(n_points >= least, "{} {}: only {n_points} points of failure", run.name, run.seed);
}

#[test]
fn b02_a_crash_or_failure_at_any_effect_loses_nothing_and_doubles_nothing() {
    simulate(&Run::offline(1, 300), 1_500);
}

#[test]
fn b02_with_a_model_that_files_in_batches() {
    simulate(&Run::batched(2, 300), 3_000);
}

#[test]
fn b02_with_the_steps_of_the_paper() {
    simulate(&Run::paper(3, 80), 1_000);
}

#[test]
fn b02_with_vectors_from_a_model_outside() {
    simulate(&Run::outside(4, 80), 1_000);
}

#[test]
fn a_store_that_fails_while_it_is_opened_is_opened_by_the_next_attempt() {
    let run = Run::batched(5, 0);
    let mut world = runs::world(MemoryStore::default());
    let memory = run.open(&mut world);
    for number in 0..30 {
        Call::of(Move::Add(number), &memory).make(&mut world, &memory, NOON_MS).done().expect("stored");
    }
    let expected = Essence::of(&memory, NOON_MS);
    for at in 1..=3 {
        let lost = Error::new(ErrorCode::StorageUnavailable, "lost");
        world.fault = Some(Fault::Fail(world.n_effects + at, lost));
        assert!(world.open_with(run.options.clone()).done().is_err());
        world.fault = None;
        assert_eq!(Essence::of(&run.open(&mut world), NOON_MS), expected);
    }
}

#[test]
fn the_same_calls_and_replies_give_the_same_bytes() {
    for run in [Run::batched(6, 60), Run::paper(6, 30), Run::outside(6, 30)] {
        let bytes = || {
            let mut world: World = runs::world(MemoryStore::default());
            let memory = run.open(&mut world);
            for (number, step) in moves(run.seed, run.n_turns).into_iter().enumerate() {
                let now_ms = NOON_MS + number as i64 * 60_000;
                Call::of(step, &memory).make(&mut world, &memory, now_ms).done().expect("nothing disturbs this run");
            }
            world.store
        };
        assert!(bytes() == bytes(), "{}: the bytes differ", run.name);
    }
}
