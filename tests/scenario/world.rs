//! The outside world of a test: a store in memory, scripted models, and faults at chosen effects. No clock, no sleep.
#![allow(dead_code, unreachable_pub)]

use std::path::Path;
use std::rc::Rc;

use memstrata::config::Config;
use memstrata::effect::{
    ChatReply, ChatRequest, Effect, EmbedReply, EmbedRequest, FinishReason, RankRequest, Reply, Step, Task, Usage,
};
use memstrata::error::{Error, ErrorCode, Result};
use memstrata::id::TurnId;
use memstrata::memory_os::MemoryOs;
use memstrata::model::Scope;
use memstrata::op::{Embedder, OpenOptions, Policies};
use memstrata::storage::MemoryStore;
use memstrata::text::StaticTable;
use memstrata::time::{HOUR_MS, Timestamp};
use memstrata::updating::short_term::NewPage;

/// Noon of 1 June 2024, UTC.
pub const NOON_MS: i64 = 1_717_243_200_000;

/// What goes wrong, and when.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The process dies before the effect is carried out.
    CrashBefore(u64),
    /// The process dies after it was carried out and before anybody hears of it.
    CrashAfter(u64),
    /// The effect fails, having done nothing.
    Fail(u64, Error),
    /// So many effects from the given one on get a bad answer, where they ask the language model.
    Chats(u64, u64, BadAnswer),
}

/// How a language model answers badly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadAnswer {
    /// It cannot be read.
    Unreadable,
    /// It is cut by the token limit.
    Truncated,
    /// It says nothing.
    Empty,
}

/// What sort of effect was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A chat with a schema.
    Structured,
    /// A chat in prose.
    Prose,
    Embed,
    Count,
    Rank,
    Read,
    Commit,
}

impl Sort {
    fn of(effect: &Effect) -> Self {
        match effect {
            Effect::Chat(ChatRequest { format: Some(_), .. }) => Self::Structured,
            Effect::Chat(_) => Self::Prose,
            Effect::Embed(_) => Self::Embed,
            Effect::Count(_) => Self::Count,
            Effect::Rank(_) => Self::Rank,
            Effect::Read(_) => Self::Read,
            Effect::Commit(_) => Self::Commit,
        }
    }
}

/// How a run ended.
#[derive(Debug)]
pub enum Ended<T> {
    Done(T),
    Crashed,
}

impl<T> Ended<T> {
    #[track_caller]
    pub fn done(self) -> T {
        match self {
            Self::Done(value) => value,
            Self::Crashed => panic!("the process died"),
        }
    }
}

type ChatScript = Box<dyn FnMut(&ChatRequest) -> Result<ChatReply>>;
type RankScript = Box<dyn FnMut(&RankRequest) -> Result<Vec<(TurnId, f64)>>>;
type EmbedScript = Box<dyn FnMut(&EmbedRequest) -> Result<EmbedReply>>;

pub struct World {
    pub store: MemoryStore,
    pub chat: ChatScript,
    pub embed: EmbedScript,
    /// The retrievers outside.
    pub rank: RankScript,
    /// The caller's own count of tokens.
    pub count: fn(&str) -> u32,
    /// Effects carried out so far.
    pub n_effects: u64,
    pub fault: Option<Fault>,
    /// Bytes of every commit.
    pub written: Vec<usize>,
    /// Every effect carried out, with the store as it was afterwards; where that is wanted.
    pub trace: Option<Vec<(Sort, MemoryStore)>>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            store: MemoryStore::default(),
            chat: Box::new(|_| Err(Error::new(ErrorCode::ProviderFailed, "no chat model in this test"))),
            embed: Box::new(|_| Err(Error::new(ErrorCode::ProviderFailed, "no embedding model in this test"))),
            rank: Box::new(|_| Err(Error::new(ErrorCode::NotOpen, "no retriever in this test"))),
            count: |text| text.chars().count() as u32,
            n_effects: 0,
            fault: None,
            written: Vec::new(),
            trace: None,
        }
    }
}

impl World {
    /// Runs one task to its end.
    pub fn run<T>(&mut self, mut task: Task<T>) -> Ended<T> {
        let mut waiting = Vec::new();
        loop {
            match task.step() {
                Step::Done(value) => return Ended::Done(value),
                Step::NeedIo(effects) => waiting.extend(effects),
            }
            assert!(!waiting.is_empty(), "the task waits for nothing");
            for (id, effect) in waiting.drain(..) {
                let Some(reply) = self.perform(effect) else { return Ended::Crashed };
                task.resume(id, reply).expect("the effect was asked for");
            }
        }
    }

    /// Runs tasks side by side, answering one effect at a time in an order drawn from `seed`.
    pub fn run_together<T>(&mut self, mut tasks: Vec<Task<T>>, seed: u64) -> Vec<T> {
        let mut done: Vec<Option<T>> = tasks.iter().map(|_| None).collect();
        let mut waiting = Vec::new();
        let mut random = Random(seed);
        while done.iter().any(Option::is_none) {
            let mut progress = false;
            for (number, task) in tasks.iter_mut().enumerate() {
                if done[number].is_some() {
                    continue;
                }
                match task.step() {
                    Step::Done(value) => (done[number], progress) = (Some(value), true),
                    Step::NeedIo(effects) => {
                        waiting.extend(effects.into_iter().map(|(id, effect)| (number, id, effect)))
                    }
                }
            }
            if waiting.is_empty() {
                assert!(progress, "seed {seed}: every task waits and no effect is open");
                continue;
            }
            let (number, id, effect) = waiting.swap_remove(random.below(waiting.len()));
            let reply = self.perform(effect).expect("no crash in this run");
            tasks[number].resume(id, reply).expect("the effect was asked for");
        }
        done.into_iter().flatten().collect()
    }

    /// Carries out an effect; `None` if the process dies of it.
    pub fn perform(&mut self, effect: Effect) -> Option<Reply> {
        self.n_effects += 1;
        let sort = Sort::of(&effect);
        match &self.fault {
            Some(Fault::CrashBefore(at)) if *at == self.n_effects => return None,
            Some(Fault::Fail(at, error)) if *at == self.n_effects => return Some(effect.failed(error.clone())),
            _ => {}
        }
        let reply = match effect {
            Effect::Chat(request) => Reply::Chat(self.answer(&request)),
            Effect::Embed(request) => Reply::Embed((self.embed)(&request)),
            Effect::Count(texts) => Reply::Count(Ok(texts.iter().map(|text| (self.count)(text)).collect())),
            Effect::Rank(request) => Reply::Rank((self.rank)(&request)),
            Effect::Read(range) => Reply::Read(Ok(self.store.read(&range))),
            Effect::Commit(batch) => {
                self.written.push(batch.value_bytes());
                self.store.commit(batch);
                Reply::Commit(Ok(()))
            }
        };
        if let Some(trace) = &mut self.trace {
            trace.push((sort, self.store.clone()));
        }
        match &self.fault {
            Some(Fault::CrashAfter(at)) if *at == self.n_effects => None,
            _ => Some(reply),
        }
    }

    fn answer(&mut self, request: &ChatRequest) -> Result<ChatReply> {
        let good = (self.chat)(request)?;
        let Some(Fault::Chats(from, n, bad)) = self.fault else { return Ok(good) };
        if self.n_effects < from || self.n_effects >= from + n {
            return Ok(good);
        }
        let half = good.text.chars().take(good.text.chars().count() / 2).collect();
        Ok(match bad {
            BadAnswer::Unreadable => ChatReply { text: "I would rather talk of the weather.".into(), ..good },
            BadAnswer::Truncated => ChatReply { text: half, finish_reason: FinishReason::Length, ..good },
            BadAnswer::Empty => ChatReply { text: String::new(), ..good },
        })
    }

    /// Opens the memory of a user with the built-in table.
    pub fn open(&mut self) -> MemoryOs {
        self.open_with(options()).done().expect("opens")
    }

    pub fn open_with(&mut self, options: OpenOptions) -> Ended<Result<MemoryOs>> {
        let builtin = options.embedder == Embedder::Builtin;
        match self.run(MemoryOs::open(options)) {
            Ended::Done(Ok(memory)) => {
                if builtin {
                    memory.use_table(table());
                }
                Ended::Done(Ok(memory))
            }
            other => other,
        }
    }

    /// Whether the text stands anywhere in the store.
    pub fn holds(&self, text: &str) -> bool {
        self.store.values().any(|value| value.windows(text.len()).any(|window| window == text.as_bytes()))
    }
}

pub fn options() -> OpenOptions {
    OpenOptions {
        scope: Scope::new("ada", "helper").expect("valid"),
        config: Config::default(),
        embedder: Embedder::Builtin,
        chat_model: None,
        counts_tokens: false,
        paused: false,
        policies: Policies::default(),
        seed: 7,
    }
}

/// The same with a language model.
pub fn with_chat() -> OpenOptions {
    OpenOptions { chat_model: Some("test/model".into()), ..options() }
}

/// The built-in table, read once a thread.
pub fn table() -> Rc<StaticTable> {
    thread_local! {
        static TABLE: Rc<StaticTable> = {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("pkg-js/table/table-128-int4.safetensors");
            Rc::new(StaticTable::from_bytes(&std::fs::read(path).expect("the table is there")).expect("the table reads"))
        };
    }
    TABLE.with(Rc::clone)
}

/// A turn said `hours` after noon.
pub fn turn(user: &str, agent: &str, hours: i64) -> NewPage {
    NewPage {
        user_input: user.into(),
        agent_response: agent.into(),
        time: Some(Timestamp::utc(NOON_MS + hours * HOUR_MS)),
        ..NewPage::default()
    }
}

pub fn answer(text: &str) -> ChatReply {
    ChatReply {
        text: text.into(),
        finish_reason: FinishReason::Stop,
        usage: Usage { input_tokens: Some(9), output_tokens: Some(3), elapsed_ms: 0 },
        mode: None,
    }
}

/// A small generator (SplitMix64); seeds are printed by whoever uses it.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

const TOPICS: [&[&str]; 5] = [
    &["I planted tomatoes on the balcony", "the seedlings need more water", "my basil has small holes in its leaves"],
    &["the choir rehearses on Thursday evening", "I sing alto in the choir", "we perform Fauré in the old church"],
    &["我周末去爬山了", "山顶的风很大，景色很美", "下次想带上我弟弟一起去"],
    &["my bicycle needs a new chain", "I cycled forty kilometres along the canal", "the rear brake squeaks again"],
    &["I am learning to bake rye bread", "the sourdough starter smells of apples", "the crust came out too dark"],
];

const ANSWERS: [&str; 5] = [
    "Water the plants in the evening and look for snails.",
    "Bring the score, the conductor starts with the alto part.",
    "记得带上水和外套，山上比较冷。",
    "Oil the chain and tighten the brake cable.",
    "Lower the oven by ten degrees and bake the loaf longer.",
];

/// The text of a made-up turn; number and topic are in it.
pub fn made_up(number: usize, random: &mut Random) -> NewPage {
    let subject = number / 4 % TOPICS.len();
    let topic = TOPICS[subject];
    let said = topic[random.below(topic.len())];
    NewPage {
        client_id: Some(format!("m{number}")),
        ..turn(&format!("{said} (note {number})"), ANSWERS[subject], number as i64 / 3)
    }
}
