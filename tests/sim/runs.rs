//! A seeded run, disturbed at every effect. Each step starts from the store as the undisturbed run left it, so that the work
//! grows with the number of effects and not with its square.
#![allow(unreachable_pub)]

use memstrata::config::Config;
use memstrata::effect::{EmbedReply, EmbedRequest, Usage};
use memstrata::error::{Error, ErrorCode, Result};
use memstrata::memory_os::MemoryOs;
use memstrata::model::Space;
use memstrata::op::{Embedder, OpenOptions};
use memstrata::storage::MemoryStore;

use crate::essence::{Essence, check, stored};
use crate::model::answer_by_rule;
use crate::moves::{Call, Move, moves};
use crate::world::{BadAnswer, Ended, Fault, NOON_MS, Sort, World, options, with_chat};

/// Between two steps of a run; longer than a job waits after its third failure.
const STEP_MS: i64 = 60_000;
/// Longer than a job waits after its second failure.
const RETRY_MS: i64 = 15_000;
const OUTSIDE_DIMENSIONS: usize = 8;

/// What is run.
#[derive(Clone, Debug)]
pub struct Run {
    pub name: &'static str,
    pub seed: u64,
    pub n_turns: usize,
    pub options: OpenOptions,
}

/// Few pages in every tier, little history, a log that is sealed early.
fn small() -> Config {
    Config {
        short_term_capacity: 6,
        consolidation_batch: 4,
        promotion_batch: 4,
        // Heat is a whole number and a recency that stays above a half: no job is late by a moment.
        heat_threshold: 3.5,
        mid_term_capacity: 8,
        knowledge_capacity: 3,
        history_capacity: 40,
        seal_threshold_bytes: 24 * 1024,
        ..Config::default()
    }
}

impl Run {
    pub fn offline(seed: u64, n_turns: usize) -> Self {
        Self { name: "offline", seed, n_turns, options: OpenOptions { config: small(), ..options() } }
    }

    pub fn batched(seed: u64, n_turns: usize) -> Self {
        Self { name: "batched", seed, n_turns, options: OpenOptions { config: small(), ..with_chat() } }
    }

    pub fn paper(seed: u64, n_turns: usize) -> Self {
        let config = Config { update_policy: "paper".into(), ..small() };
        Self { name: "paper", seed, n_turns, options: OpenOptions { config, ..with_chat() } }
    }

    /// With vectors from a model outside.
    pub fn outside(seed: u64, n_turns: usize) -> Self {
        let space = Space { model: "test/vectors".into(), dimensions: OUTSIDE_DIMENSIONS as u32 };
        let embedder = Embedder::External { space, texts_per_call: 3 };
        Self { name: "outside", seed, n_turns, options: OpenOptions { config: small(), embedder, ..with_chat() } }
    }

    pub fn open(&self, world: &mut World) -> MemoryOs {
        world.open_with(self.options.clone()).done().expect("opens")
    }
}

/// A world whose models answer by rule.
pub fn world(store: MemoryStore) -> World {
    World { store, chat: Box::new(answer_by_rule), embed: Box::new(embed_by_rule), ..World::default() }
}

/// A vector of how often letters stand in the text.
fn embed_by_rule(request: &EmbedRequest) -> Result<EmbedReply> {
    let vector = |text: &String| {
        let mut vector = vec![0.0; OUTSIDE_DIMENSIONS];
        text.chars().for_each(|c| vector[c as usize % OUTSIDE_DIMENSIONS] += 1.0);
        vector
    };
    Ok(EmbedReply { vectors: request.texts.iter().map(vector).collect(), usage: Usage::default() })
}

/// One step of a run and how it ends undisturbed.
struct Scene<'a> {
    run: &'a Run,
    call: Call,
    now_ms: i64,
    before: MemoryStore,
    expected: Essence,
    /// Every effect with the store after it.
    trace: Vec<(Sort, MemoryStore)>,
    /// Stores from which the step has been done again.
    recovered: Vec<MemoryStore>,
    at: String,
    n_points: usize,
}

/// Makes the run, disturbed at every effect of every step. Returns the number of disturbances.
pub fn disturb_everywhere(run: &Run) -> usize {
    let mut calm = world(MemoryStore::default());
    let mut memory = run.open(&mut calm);
    let mut n_points = 0;
    for (number, step) in moves(run.seed, run.n_turns).into_iter().enumerate() {
        let now_ms = NOON_MS + number as i64 * STEP_MS;
        let at = format!("{} {}, step {number} {step:?}", run.name, run.seed);
        let call = Call::of(step, &memory);
        let before = calm.store.clone();
        calm.trace = Some(Vec::new());
        call.make(&mut calm, &memory, now_ms)
            .done()
            .unwrap_or_else(|error| panic!("{at}: nothing disturbs this run: {error}"));
        let trace = calm.trace.take().unwrap_or_default();
        let expected = Essence::of(&memory, now_ms);
        if !matches!(step, Move::Add(_)) {
            check(&stored(&calm.store), &run.options.config, now_ms).unwrap_or_else(|why| panic!("{at}: {why}"));
        }
        // What a reader saw is not stored at once; everything else must be.
        memory = run.open(&mut calm);
        let differences = Essence::of(&memory, now_ms).differences(&expected);
        assert!(differences.is_empty(), "{at}: reopened\n{differences}");
        let recovered = vec![before.clone()];
        let mut scene = Scene { run, call, now_ms, before, expected, trace, recovered, at, n_points: 0 };
        scene.disturb();
        n_points += scene.n_points;
    }
    n_points
}

impl Scene<'_> {
    fn disturb(&mut self) {
        let sorts: Vec<Sort> = self.trace.iter().map(|(sort, _)| *sort).collect();
        let commits: Vec<usize> = (0..sorts.len()).filter(|&at| sorts[at] == Sort::Commit).collect();
        // A process that dies before an effect leaves what the effect before it left; nothing else of it outlives it.
        for at in 0..sorts.len() {
            self.n_points += 2;
            self.recover(self.trace[at].1.clone(), "crash");
        }
        // Until something is written, a failure leaves even the live memory as it was.
        let mut untouched: Option<(World, MemoryOs)> = None;
        for (at, sort) in sorts.iter().enumerate() {
            let at_effect = at as u64 + 1;
            match sort {
                Sort::Read | Sort::Commit => {
                    let first_write = commits.first().is_none_or(|first| at <= *first);
                    let (world, memory) = match untouched.take().filter(|_| first_write) {
                        Some(live) => live,
                        None => self.reopened(),
                    };
                    let goes_on = commits.first().is_none_or(|first| at == *first) || !first_write;
                    // Every other step the memory meets both failures, one after the other.
                    let meets_both = commits.len() == 1 && self.n_points.is_multiple_of(2);
                    untouched = self.fail_and_go_on(world, memory, at_effect, goes_on && !meets_both);
                    if *sort == Sort::Commit {
                        let live = untouched.take().unwrap_or_else(|| self.reopened());
                        self.fail_with_unknown_outcome(live, at_effect);
                    }
                }
                Sort::Structured => {
                    let out = Error::new(ErrorCode::ProviderFailed, "out of service");
                    self.fail_model(Fault::Fail(at_effect, out));
                    self.fail_model(Fault::Chats(at_effect, 1, BadAnswer::Unreadable));
                    self.fail_model(Fault::Chats(at_effect, 3, BadAnswer::Unreadable));
                    self.fail_model(Fault::Chats(at_effect, 1, BadAnswer::Truncated));
                }
                Sort::Prose => {
                    let out = Error::new(ErrorCode::ProviderFailed, "out of service");
                    self.fail_model(Fault::Fail(at_effect, out));
                    self.fail_model(Fault::Chats(at_effect, 1, BadAnswer::Empty));
                }
                Sort::Embed => {
                    self.fail_model(Fault::Fail(at_effect, Error::new(ErrorCode::ProviderTimeout, "too slow")));
                }
                Sort::Count | Sort::Rank => {}
            }
        }
    }

    fn reopened(&self) -> (World, MemoryOs) {
        let mut world = world(self.before.clone());
        let memory = self.run.open(&mut world);
        (world, memory)
    }

    /// The step done again from what a crash or a failure left.
    fn recover(&mut self, store: MemoryStore, what: &str) {
        if self.recovered.contains(&store) {
            return;
        }
        self.recovered.push(store.clone());
        let mut world = world(store);
        let memory = self.run.open(&mut world);
        self.finish(&mut world, &memory, what);
    }

    /// Makes the step again, where it is not done, and compares.
    fn finish(&self, world: &mut World, memory: &MemoryOs, what: &str) {
        let at = &self.at;
        // What was done before the crash is not queued any more; working again would do the next thing.
        if self.call.is_idempotent() || Essence::of(memory, self.now_ms) != self.expected {
            let again = self.call.make(world, memory, self.now_ms).done();
            again.unwrap_or_else(|error| panic!("{at}, {what}: the second attempt failed: {error}"));
        }
        self.compare(world, memory, what);
    }

    fn compare(&self, world: &mut World, memory: &MemoryOs, what: &str) {
        let at = &self.at;
        let differences = Essence::of(memory, self.now_ms).differences(&self.expected);
        assert!(differences.is_empty(), "{at}, {what}\n{differences}");
        if self.trace.last().is_some_and(|(_, store)| *store == world.store) {
            return;
        }
        // Equal memories hold the same; that the store does is seen often enough.
        if self.n_points.is_multiple_of(5) {
            check(&stored(&world.store), &self.run.options.config, self.now_ms)
                .unwrap_or_else(|why| panic!("{at}, {what}: {why}"));
        }
        if !self.n_points.is_multiple_of(3) {
            return;
        }
        let reopened = self.run.open(world);
        let differences = Essence::of(&reopened, self.now_ms).differences(&self.expected);
        assert!(differences.is_empty(), "{at}, {what}: reopened\n{differences}");
    }

    /// An effect of the store fails, having done nothing, and the memory goes on without being reopened.
    fn fail_and_go_on(
        &mut self,
        mut world: World,
        memory: MemoryOs,
        at: u64,
        goes_on: bool,
    ) -> Option<(World, MemoryOs)> {
        self.n_points += 1;
        let what = format!("effect {at} failed");
        world.fault = Some(Fault::Fail(world.n_effects + at, Error::new(ErrorCode::StorageQuota, "full")));
        let failed = self.call.make(&mut world, &memory, self.now_ms).done();
        assert!(failed.is_err(), "{}, {what}: nobody noticed", self.at);
        world.fault = None;
        if !goes_on {
            return Some((world, memory));
        }
        self.finish(&mut world, &memory, &what);
        None
    }

    /// A commit fails and nobody knows whether it was carried out.
    fn fail_with_unknown_outcome(&mut self, (mut world, memory): (World, MemoryOs), at: u64) {
        self.n_points += 1;
        let what = format!("effect {at} was lost");
        world.fault = Some(Fault::Fail(world.n_effects + at, Error::new(ErrorCode::StorageUnavailable, "lost")));
        let failed = self.call.make(&mut world, &memory, self.now_ms).done();
        assert!(failed.is_err(), "{}, {what}: nobody noticed", self.at);
        self.recover(world.store, &what);
    }

    /// A model fails or answers badly, and is asked again once its rest is over; every other time by a memory that was reopened.
    fn fail_model(&mut self, fault: Fault) {
        self.n_points += 1;
        let what = format!("{fault:?}");
        let (mut world, mut memory) = self.reopened();
        let opened = world.n_effects;
        world.fault = Some(match fault {
            Fault::Fail(at, error) => Fault::Fail(opened + at, error),
            Fault::Chats(at, n, bad) => Fault::Chats(opened + at, n, bad),
            other => other,
        });
        let _ = self.call.make(&mut world, &memory, self.now_ms).done();
        world.fault = None;
        if self.n_points.is_multiple_of(2) {
            memory = self.run.open(&mut world);
        }
        for attempt in 1..=2 {
            if Essence::of(&memory, self.now_ms) == self.expected {
                break;
            }
            let again = self.call.make(&mut world, &memory, self.now_ms + attempt * RETRY_MS);
            if let Ended::Done(Err(error)) = again {
                panic!("{}, {what}: attempt {attempt}: {error}", self.at);
            }
        }
        // Vectors do not wait for the language model. What they overtook is filed by better knowledge of it, and may be filed
        // elsewhere: then nothing may be lost, and that is all.
        let overtaken = self.trace.iter().any(|(sort, _)| *sort == Sort::Embed);
        if !overtaken || Essence::of(&memory, self.now_ms) == self.expected {
            return self.compare(&mut world, &memory, &what);
        }
        let at = &self.at;
        check(&stored(&world.store), &self.run.options.config, self.now_ms)
            .unwrap_or_else(|why| panic!("{at}, {what}: {why}"));
        let reopened = Essence::of(&self.run.open(&mut world), self.now_ms);
        assert_eq!(reopened.said(), self.expected.said(), "{at}, {what}");
    }
}
