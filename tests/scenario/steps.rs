//! What many scenarios do: open, tell, work, look.

#![allow(unreachable_pub)]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use memstrata::config::Config;
use memstrata::effect::{ChatReply, ChatRequest};
use memstrata::error::Result;
use memstrata::memory_os::MemoryOs;
use memstrata::op::{FactView, FactsWanted, Manner, Merged, OpenOptions, PageView, Recall, RetrieveInput, SegmentView};
use memstrata::updating::short_term::NewPage;

use crate::model::answer_by_rule;
use crate::world::{NOON_MS, World, turn, with_chat};

/// Parameters by which every page sinks at once, and is analysed once its segment is hot.
pub fn eager() -> Config {
    Config { short_term_capacity: 1, consolidation_batch: 1, promotion_batch: 1, ..Config::default() }
}

/// With a language model and these parameters.
pub fn with(config: Config) -> OpenOptions {
    OpenOptions { config, ..with_chat() }
}

/// Opens a memory whose model answers by rule.
pub fn open(world: &mut World, options: OpenOptions) -> MemoryOs {
    world.chat = Box::new(answer_by_rule);
    reopen(world, options)
}

/// Opens a memory and leaves the model as it is.
pub fn reopen(world: &mut World, options: OpenOptions) -> MemoryOs {
    world.open_with(options).done().expect("opens")
}

/// Turns of one side, an hour apart.
pub fn turns(texts: &[&str]) -> Vec<NewPage> {
    texts.iter().zip(0..).map(|(text, hours)| turn(text, "I see.", hours)).collect()
}

pub fn add(world: &mut World, memory: &MemoryOs, turns: Vec<NewPage>) {
    world.run(memory.add(turns, NOON_MS)).done().expect("stored");
}

/// Stores turns and does everything that waits.
pub fn tell(world: &mut World, memory: &MemoryOs, texts: &[&str]) {
    add(world, memory, turns(texts));
    world.run(memory.flush(NOON_MS)).done().expect("flushed");
}

/// Works until nothing is due; the number of times that something was done.
pub fn work(world: &mut World, memory: &MemoryOs, now_ms: i64) -> usize {
    for n in 0..10_000 {
        if !world.run(memory.work(now_ms)).done().expect("works").ran {
            return n;
        }
    }
    panic!("work never ends");
}

/// The calls that the model gets from now on, answered by `rule`.
pub fn watched(
    world: &mut World,
    mut rule: impl FnMut(&ChatRequest) -> Result<ChatReply> + 'static,
) -> Rc<RefCell<Vec<ChatRequest>>> {
    let calls = Rc::new(RefCell::new(Vec::new()));
    let seen = calls.clone();
    world.chat = Box::new(move |request| {
        seen.borrow_mut().push(request.clone());
        rule(request)
    });
    calls
}

/// A model that fails in its way for as long as the switch says so, and then answers by rule.
pub fn failing(
    world: &mut World,
    mut failure: impl FnMut(&ChatRequest) -> Result<ChatReply> + 'static,
) -> Rc<Cell<bool>> {
    let out = Rc::new(Cell::new(true));
    let is_out = out.clone();
    world.chat = Box::new(move |request| if is_out.get() { failure(request) } else { answer_by_rule(request) });
    out
}

/// Names of the steps that were asked; an answer to the user has none.
pub fn names(calls: &[ChatRequest]) -> Vec<&'static str> {
    calls.iter().map(|request| request.format.map_or("respond", |format| format.name)).collect()
}

/// Every page, oldest first.
pub fn pages(memory: &MemoryOs) -> Vec<PageView> {
    let mut pages = memory.pages(0, 10_000);
    pages.reverse();
    pages
}

/// The active segments, the oldest first.
pub fn segments(memory: &MemoryOs) -> Vec<SegmentView> {
    let mut segments = memory.tiers(NOON_MS).mid_term;
    segments.sort_by(|a, b| a.id.cmp(&b.id));
    segments
}

/// Facts that are believed.
pub fn facts(memory: &MemoryOs) -> Vec<FactView> {
    memory.facts(&FactsWanted::default())
}

/// All facts, closed ones too.
pub fn all_facts(memory: &MemoryOs) -> Vec<FactView> {
    memory.facts(&FactsWanted { closed: true, ..FactsWanted::default() })
}

/// What is believed of an attribute.
pub fn value(memory: &MemoryOs, attribute: &str) -> Vec<String> {
    facts(memory).into_iter().filter(|fact| fact.attribute == attribute).map(|fact| fact.value).collect()
}

pub fn retrieve(world: &mut World, memory: &MemoryOs, query: &str) -> Recall {
    world.run(memory.retrieve(RetrieveInput::new(query), NOON_MS)).done().expect("answered")
}

pub fn merge(world: &mut World, memory: &MemoryOs, query: &str) -> Merged {
    let manner = Manner { budget_tokens: 400, ..Manner::default() };
    world.run(memory.merge(query.into(), manner, NOON_MS)).done().expect("merged")
}

/// Everything that can be looked at, as text.
pub fn all_views(memory: &MemoryOs) -> String {
    format!(
        "{:?}{:?}{:?}{:?}{:?}{:?}{:?}",
        memory.tiers(NOON_MS),
        pages(memory),
        all_facts(memory),
        memory.profile(),
        memory.traits(),
        memory.history("", 0, 10_000),
        memory.jobs(NOON_MS),
    )
}
