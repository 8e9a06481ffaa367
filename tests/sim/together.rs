//! Tasks that run side by side with a model that takes its time: turns are added and deleted while the pages around them are
//! filed and analysed. What they do to each other is drawn from a seed.

use std::collections::BTreeSet;

use memstrata::effect::{ChatReply, ChatRequest, Effect, EffectId, Reply, Step, Task};
use memstrata::error::{ErrorCode, Result};
use memstrata::id::PageId;
use memstrata::memory_os::MemoryOs;
use memstrata::op::RetrieveInput;
use memstrata::storage::MemoryStore;

use crate::essence::{check, stored};
use crate::model::answer_by_rule;
use crate::moves::page;
use crate::runs::{self, Run};
use crate::world::{NOON_MS, Random, World};

/// A task whose result is of no interest, unless it fails.
trait Running {
    /// What it asks for; `None` once it has ended.
    fn step(&mut self) -> Option<Vec<(EffectId, Effect)>>;
    fn resume(&mut self, id: EffectId, reply: Reply);
}

impl<T> Running for Task<Result<T>> {
    fn step(&mut self) -> Option<Vec<(EffectId, Effect)>> {
        match Task::step(self) {
            Step::NeedIo(effects) => Some(effects),
            Step::Done(result) => {
                // A page may have been deleted before its turn came.
                let failed = result.err().filter(|error| error.code() != ErrorCode::NotFound);
                assert_eq!(failed, None);
                None
            }
        }
    }

    fn resume(&mut self, id: EffectId, reply: Reply) {
        Task::resume(self, id, reply).expect("the effect was asked for");
    }
}

/// Runs tasks side by side, answering one effect at a time in an order drawn from `seed`.
fn run_together(world: &mut World, mut tasks: Vec<Box<dyn Running>>, seed: u64) {
    let mut random = Random(seed);
    let mut open: Vec<usize> = (0..tasks.len()).collect();
    let mut waiting = Vec::new();
    let mut idle = 0;
    while !open.is_empty() {
        open.retain(|&number| match tasks[number].step() {
            Some(effects) => {
                waiting.extend(effects.into_iter().map(|(id, effect)| (number, id, effect)));
                true
            }
            None => false,
        });
        if waiting.is_empty() {
            // A task that ends or gives its turn to write back lets another one go on.
            idle += 1;
            assert!(idle <= tasks.len(), "seed {seed}: every task waits and no effect is open");
            continue;
        }
        idle = 0;
        let (number, id, effect) = waiting.swap_remove(random.below(waiting.len()));
        let reply = world.perform(effect).expect("no crash in this run");
        tasks[number].resume(id, reply);
    }
}

/// A model that says again what it was told of the user before: what is deleted must not come back through it.
fn repeat_the_profile(request: &ChatRequest) -> Result<ChatReply> {
    let reply = answer_by_rule(request)?;
    let prompt = &request.messages.last().expect("a message").content;
    let secrets: BTreeSet<&str> =
        prompt.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with("Secret")).collect();
    let told = secrets.into_iter().fold(String::new(), |told, secret| format!("{told} {secret}"));
    let name = request.format.map_or("", |format| format.name);
    let text = match name {
        "user_profile" => reply.text.replace("The user speaks of", &format!("The user knows{told} and speaks of")),
        "meta_info" => reply.text.replace("About", &format!("About{told},")),
        _ => reply.text,
    };
    Ok(ChatReply { text, ..reply })
}

fn secret(number: usize) -> String {
    format!("Secret{number:03}")
}

/// The ids of the pages with these numbers, as far as they are there.
fn ids(memory: &MemoryOs, numbers: &BTreeSet<usize>) -> Vec<PageId> {
    let names: BTreeSet<String> = numbers.iter().map(|number| format!("m{number}")).collect();
    let pages = memory.pages(0, usize::MAX).into_iter();
    let wanted = pages.filter(|page| page.client_id.as_ref().is_some_and(|name| names.contains(name)));
    wanted.filter_map(|page| page.id.parse().ok()).collect()
}

/// A turn that holds a word of its own, in what is quoted and in what it is about.
fn told(number: usize) -> memstrata::updating::short_term::NewPage {
    let told = page(number);
    memstrata::updating::short_term::NewPage { user_input: format!("{} {}", secret(number), told.user_input), ..told }
}

fn overlap(run: &Run) -> MemoryStore {
    const FIRST: usize = 30;
    let seed = run.seed;
    let mut random = Random(seed);
    let mut world = World { chat: Box::new(repeat_the_profile), ..runs::world(MemoryStore::default()) };
    let memory = run.open(&mut world);
    let mut expected: BTreeSet<usize> = (0..FIRST).collect();
    world.run(memory.add((0..FIRST).map(told).collect(), NOON_MS)).done().expect("stored");
    for _ in 0..random.below(12) {
        world.run(memory.work(NOON_MS)).done().expect("worked");
    }
    let mut added = FIRST;
    for round in 1..=4 {
        let now_ms = NOON_MS + round * 60_000;
        let mut tasks: Vec<Box<dyn Running>> = Vec::new();
        for _ in 0..3 + random.below(4) {
            match random.below(7) {
                0 | 1 => {
                    let n = 1 + random.below(4);
                    tasks.push(Box::new(memory.add((added..added + n).map(told).collect(), now_ms)));
                    expected.extend(added..added + n);
                    added += n;
                }
                2 | 3 => {
                    let some: BTreeSet<usize> = (0..1 + random.below(3)).map(|_| random.below(added)).collect();
                    let some: BTreeSet<usize> = some.into_iter().filter(|number| expected.contains(number)).collect();
                    // Turns that this very round adds have no id yet.
                    let pages = ids(&memory, &some);
                    let there: BTreeSet<String> = pages.iter().map(ToString::to_string).collect();
                    for page in memory.pages(0, usize::MAX).iter().filter(|page| there.contains(&page.id)) {
                        let number = page.client_id.as_deref().and_then(|id| id[1..].parse().ok());
                        expected.remove(&number.expect("a number"));
                    }
                    tasks.push(Box::new(memory.forget(pages, vec![], now_ms)));
                }
                4 => tasks.push(Box::new(memory.analyse(now_ms))),
                5 => tasks.push(Box::new(memory.flush(now_ms))),
                _ => tasks.push(Box::new(memory.retrieve(RetrieveInput::new("bicycle brake"), now_ms))),
            }
            tasks.push(Box::new(memory.work(now_ms)));
        }
        run_together(&mut world, tasks, random.next());
        check(&stored(&world.store), &run.options.config, now_ms)
            .unwrap_or_else(|why| panic!("{} {seed}, round {round}: {why}", run.name));
    }
    let later_ms = NOON_MS + 3_600_000;
    world.run(memory.flush(later_ms)).done().expect("flushed");
    world.run(memory.analyse(later_ms)).done().expect("analysed");
    world.run(memory.flush(later_ms)).done().expect("flushed");
    let at = format!("{} {seed}", run.name);
    check(&stored(&world.store), &run.options.config, later_ms).unwrap_or_else(|why| panic!("{at}: {why}"));
    let mut names: Vec<_> = memory.pages(0, usize::MAX).into_iter().filter_map(|page| page.client_id).collect();
    let mut wanted: Vec<_> = expected.iter().map(|number| format!("m{number}")).collect();
    names.sort();
    wanted.sort();
    assert_eq!(names, wanted, "{at}: pages");
    assert!(memory.jobs(later_ms).is_empty(), "{at}: {:?}", memory.jobs(later_ms));
    let told = format!("{:?}", stored(&world.store));
    for gone in (0..added).filter(|number| !expected.contains(number)).map(secret) {
        let about = told.find(&gone).map(|at| told[..at + 40].chars().rev().take(400).collect::<Vec<_>>());
        assert!(
            about.is_none(),
            "{at}: {gone} is still told: {}",
            about.into_iter().flatten().rev().collect::<String>()
        );
    }
    world.store
}

#[test]
fn turns_come_and_go_while_the_model_thinks_and_nothing_is_lost_doubled_or_told_again() {
    for seed in 0..30 {
        overlap(&Run::batched(seed, 0));
        overlap(&Run::paper(seed, 0));
        overlap(&Run::outside(seed, 0));
    }
}

#[test]
fn tasks_side_by_side_give_the_same_bytes_when_they_are_answered_in_the_same_order() {
    for run in [Run::batched(77, 0), Run::paper(77, 0)] {
        assert!(overlap(&run) == overlap(&run), "{}: the bytes differ", run.name);
    }
}
