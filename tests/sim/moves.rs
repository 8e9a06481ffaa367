//! What happens in a seeded run: the moves, and the calls that they become.
#![allow(unreachable_pub)]

use memstrata::error::{Error, Result};
use memstrata::id::{ChangeId, FactId, PageId};
use memstrata::memory_os::MemoryOs;
use memstrata::op::{Act, FactInput, FactsWanted, Manner, RespondInput, RetrieveInput};
use memstrata::updating::short_term::NewPage;

use crate::world::{Ended, Random, World, made_up, turn};

#[derive(Clone, Copy, Debug)]
pub enum Move {
    Add(usize),
    AddMany(usize, usize),
    Respond(usize),
    Paused(usize),
    Retrieve,
    Work,
    Flush,
    Analyse,
    Forget(usize),
    ForgetFact(usize),
    Enter(usize),
    Edit(usize),
    Pin(usize, bool),
    Retract(usize),
    Undo(usize),
}

pub fn moves(seed: u64, n_turns: usize) -> Vec<Move> {
    let mut random = Random(seed);
    let mut moves = Vec::new();
    let mut added = 0;
    while added < n_turns {
        let some = random.below(1_000);
        let step = match random.below(24) {
            0 | 1 => Move::AddMany(added, 2 + some % 4),
            2 | 3 => Move::Respond(added),
            4 => Move::Paused(added),
            5 => Move::Retrieve,
            6 if added > 20 => Move::Forget(some % added),
            7 if some.is_multiple_of(3) => Move::Flush,
            8 if some.is_multiple_of(6) => Move::Analyse,
            9 if some.is_multiple_of(3) => Move::ForgetFact(some),
            10 if some.is_multiple_of(2) => Move::Enter(some),
            11 if some.is_multiple_of(2) => Move::Edit(some),
            12 if some.is_multiple_of(2) => Move::Pin(some, some.is_multiple_of(4)),
            13 if some.is_multiple_of(3) => Move::Retract(some),
            14 => Move::Undo(some % 4),
            _ => Move::Add(added),
        };
        added += match step {
            Move::Add(_) | Move::Respond(_) | Move::Paused(_) => 1,
            Move::AddMany(_, n) => n,
            _ => 0,
        };
        moves.push(step);
        moves.extend((0..random.below(3)).map(|_| Move::Work));
    }
    moves.push(Move::Flush);
    moves
}

/// A turn of the run, with an id of its own; every fifth states a fact that others contradict.
pub fn page(number: usize) -> NewPage {
    let mut random = Random(number as u64);
    let said = match number % 15 {
        2 => format!("My home city is {}.", ["Porto", "Lyon", "Graz"][random.below(3)]),
        7 => format!("I {} jazz.", ["love", "hate"][random.below(2)]),
        12 => format!("My lucky number is {}.", random.below(4)),
        at => {
            let made_up = made_up(number, &mut random);
            // The model knows a fact by its note; one in three turns is enough of them.
            let keeps = at % 3 == 0;
            let user_input = if keeps { made_up.user_input } else { made_up.user_input.replace("(note", "(number") };
            return NewPage { user_input, ..made_up };
        }
    };
    NewPage {
        client_id: Some(format!("m{number}")),
        ..turn(&format!("{said} (note {number})"), "I see.", number as i64 / 3)
    }
}

/// A move with the ids that it is about, so that it can be made again.
#[derive(Clone, Debug)]
pub enum Call {
    Nothing,
    Add(Vec<NewPage>),
    Respond(NewPage),
    Paused(NewPage),
    Retrieve,
    Work,
    Flush,
    Analyse,
    Forget(Vec<PageId>, Vec<FactId>),
    Act(Act),
    Undo(ChangeId),
}

impl Call {
    pub fn of(step: Move, memory: &MemoryOs) -> Self {
        let fact = |some: usize| {
            let facts = memory.facts(&FactsWanted::default());
            facts.get(some % facts.len().max(1)).and_then(|fact| fact.id.parse().ok())
        };
        let act = |act: Option<Act>| act.map_or(Self::Nothing, Self::Act);
        let value = |some: usize| Some(format!("thing {}", some % 3));
        match step {
            Move::Add(number) => Self::Add(vec![page(number)]),
            Move::AddMany(from, n) => Self::Add((from..from + n).map(page).collect()),
            Move::Respond(number) => Self::Respond(NewPage { agent_response: String::new(), ..page(number) }),
            Move::Paused(number) => Self::Paused(page(number)),
            Move::Retrieve => Self::Retrieve,
            Move::Work => Self::Work,
            Move::Flush => Self::Flush,
            Move::Analyse => Self::Analyse,
            Move::Forget(number) => {
                let client_id = format!("m{number}");
                let pages = memory.pages(0, usize::MAX).into_iter();
                let page = pages.filter(|page| page.client_id.as_deref() == Some(&client_id));
                Self::Forget(page.filter_map(|page| page.id.parse().ok()).collect(), vec![])
            }
            Move::ForgetFact(some) => fact(some).map_or(Self::Nothing, |id| Self::Forget(vec![], vec![id])),
            Move::Enter(some) => act(Some(Act::Add(FactInput {
                attribute: Some(["home city", "shoe size"][some % 2].into()),
                value: value(some),
                ..FactInput::default()
            }))),
            Move::Edit(some) => {
                act(fact(some).map(|id| Act::Edit(id, FactInput { value: value(some), ..FactInput::default() })))
            }
            Move::Pin(some, pinned) => act(fact(some).map(|id| Act::Pin(id, pinned))),
            Move::Retract(some) => act(fact(some).map(Act::Retract)),
            Move::Undo(nth) => {
                let changes = memory.history("", 0, 12).into_iter();
                let change = changes.filter(|change| change.undoable).nth(nth);
                change.and_then(|change| change.id.parse().ok()).map_or(Self::Nothing, Self::Undo)
            }
        }
    }

    /// Whether a second time changes nothing.
    pub fn is_idempotent(&self) -> bool {
        match self {
            Self::Work | Self::Act(_) | Self::Undo(_) => false,
            Self::Forget(_, facts) => facts.is_empty(),
            _ => true,
        }
    }

    pub fn make(&self, world: &mut World, memory: &MemoryOs, now_ms: i64) -> Ended<Result<()>> {
        match self.clone() {
            Self::Nothing => Ended::Done(Ok(())),
            Self::Add(pages) => ended(world.run(memory.add(pages, now_ms))),
            Self::Respond(page) => {
                let manner = Manner { budget_tokens: 100, ..Manner::default() };
                ended(world.run(memory.respond(RespondInput { page, manner, call_id: None }, now_ms)))
            }
            Self::Paused(page) => {
                memory.set_paused(true);
                let worked = world.run(memory.work(now_ms)).done().expect("pausing needs no store");
                assert!(!worked.ran, "work was done while it was paused");
                let added = ended(world.run(memory.add(vec![page], now_ms)));
                memory.set_paused(false);
                added
            }
            Self::Retrieve => ended(world.run(memory.retrieve(RetrieveInput::new("bicycle brake"), now_ms))),
            Self::Work => ended(world.run(memory.work(now_ms))),
            Self::Flush => ended(world.run(memory.flush(now_ms))),
            Self::Analyse => ended(world.run(memory.analyse(now_ms))),
            Self::Forget(pages, facts) => ended(world.run(memory.forget(pages, facts, now_ms))),
            Self::Act(act) => ended(world.run(memory.act(act, now_ms))),
            Self::Undo(change) => ended(world.run(memory.undo(change, now_ms))),
        }
    }
}

fn ended<T>(ended: Ended<Result<T, Error>>) -> Ended<Result<()>> {
    match ended {
        Ended::Done(result) => Ended::Done(result.map(|_| ())),
        Ended::Crashed => Ended::Crashed,
    }
}
