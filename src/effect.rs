//! The whole outside world as data, and the small executor that runs a workflow against it.
//!
//! A workflow is a straight-line `async fn` that asks for an [`Effect`] and awaits its [`Reply`]. A [`Task`] runs one:
//! [`Task::step`] drives it until it waits and hands out what it asked for, [`Task::resume`] answers. Whoever holds the task
//! plays the outside world: the wasm driver in a browser, a simulator in tests. The same calls and the same replies give the
//! same bytes.

use core::cell::RefCell;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::rc::Rc;

use litemap::LiteMap;

use crate::error::{Error, Result};
use crate::id::TurnId;
use crate::model::OutputMode;
use crate::storage::{Entry, KeyRange, WriteBatch};

/// Names an effect within its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EffectId(u64);

/// Who speaks in a chat message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatRole {
    /// Instructions.
    System,
    /// The user.
    User,
    /// The assistant.
    Assistant,
}

/// One message of a chat request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: ChatRole,
    /// The text.
    pub content: String,
}

/// The shape that an answer must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerFormat {
    /// The strictest way to ask for it.
    pub mode: OutputMode,
    /// Name of the schema.
    pub name: &'static str,
    /// JSON Schema, as text.
    pub schema: &'static str,
}

/// Asks a language model.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    /// The conversation.
    pub messages: Vec<ChatMessage>,
    /// Most tokens of the answer; `None` leaves it to the model.
    pub max_output_tokens: Option<u32>,
    /// The shape of the answer; `None` for prose.
    pub format: Option<AnswerFormat>,
    /// The call whose listener gets the text as it comes; `None` for background work.
    pub stream_to: Option<String>,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The answer is whole.
    Stop,
    /// It was cut by the token limit.
    Length,
    /// The model wants a tool called.
    ToolCalls,
    /// A filter held it back.
    ContentFilter,
    /// The model failed.
    Error,
    /// The provider does not say.
    Unknown,
}

/// Tokens that a call took, where the provider says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of the request.
    pub input_tokens: Option<u64>,
    /// Of the answer.
    pub output_tokens: Option<u64>,
    /// Milliseconds from question to answer.
    pub elapsed_ms: u64,
}

/// A language model's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatReply {
    /// The text.
    pub text: String,
    /// Why it ends.
    pub finish_reason: FinishReason,
    /// What it took.
    pub usage: Usage,
    /// The mode in which it was asked for, where the server does not take the one that was wanted.
    pub mode: Option<OutputMode>,
}

/// Whether a text to embed is a question or a passage; some models tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbedKind {
    /// A question.
    Query,
    /// A passage.
    Passage,
}

/// Asks an embedding model.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbedRequest {
    /// The texts.
    pub texts: Vec<String>,
    /// What they are.
    pub kind: EmbedKind,
}

/// An embedding model's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbedReply {
    /// One vector a text, in order.
    pub vectors: Vec<Vec<f32>>,
    /// What it took.
    pub usage: Usage,
}

/// Asks a retriever outside to rank what may be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankRequest {
    /// Its name.
    pub retriever: String,
    /// The question.
    pub query: String,
    /// Most turns that are of use.
    pub limit: usize,
    /// The search that asks; its caller knows what may be found.
    pub call_id: Option<String>,
}

/// Something that only the outside world can do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask the language model.
    Chat(ChatRequest),
    /// Ask the embedding model.
    Embed(EmbedRequest),
    /// Count the tokens of texts, as the caller counts them.
    Count(Vec<String>),
    /// Rank turns.
    Rank(RankRequest),
    /// Read a range of the store.
    Read(KeyRange),
    /// Write a transaction.
    Commit(WriteBatch),
}

/// The answer to an effect; always a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// To [`Effect::Chat`].
    Chat(Result<ChatReply>),
    /// To [`Effect::Embed`].
    Embed(Result<EmbedReply>),
    /// To [`Effect::Count`]: one number a text, in order.
    Count(Result<Vec<u32>>),
    /// To [`Effect::Rank`]: turns with their scores, in any order.
    Rank(Result<Vec<(TurnId, f64)>>),
    /// To [`Effect::Read`]: entries in key order.
    Read(Result<Vec<Entry>>),
    /// To [`Effect::Commit`].
    Commit(Result<()>),
}

impl Effect {
    /// The reply that reports a failure of this effect.
    pub fn failed(&self, error: Error) -> Reply {
        match self {
            Self::Chat(_) => Reply::Chat(Err(error)),
            Self::Embed(_) => Reply::Embed(Err(error)),
            Self::Count(_) => Reply::Count(Err(error)),
            Self::Rank(_) => Reply::Rank(Err(error)),
            Self::Read(_) => Reply::Read(Err(error)),
            Self::Commit(_) => Reply::Commit(Err(error)),
        }
    }
}

enum Slot {
    Waiting { matches: fn(&Reply) -> bool, waker: Option<Waker> },
    Answered(Reply),
}

#[derive(Default)]
struct Ports {
    asked: u64,
    outbox: Vec<(EffectId, Effect)>,
    slots: LiteMap<EffectId, Slot>,
}

/// A workflow's way to the outside world.
#[derive(Clone, Default)]
pub struct Io(Rc<RefCell<Ports>>);

impl Io {
    /// Asks the language model.
    pub async fn chat(&self, request: ChatRequest) -> Result<ChatReply> {
        match self.ask(Effect::Chat(request), |reply| matches!(reply, Reply::Chat(_))).await {
            Reply::Chat(result) => result,
            other => Err(mismatch(&other)),
        }
    }

    /// Asks the embedding model.
    pub async fn embed(&self, request: EmbedRequest) -> Result<EmbedReply> {
        match self.ask(Effect::Embed(request), |reply| matches!(reply, Reply::Embed(_))).await {
            Reply::Embed(result) => result,
            other => Err(mismatch(&other)),
        }
    }

    /// Counts the tokens of texts.
    pub async fn count(&self, texts: Vec<String>) -> Result<Vec<u32>> {
        match self.ask(Effect::Count(texts), |reply| matches!(reply, Reply::Count(_))).await {
            Reply::Count(result) => result,
            other => Err(mismatch(&other)),
        }
    }

    /// Ranks turns.
    pub async fn rank(&self, request: RankRequest) -> Result<Vec<(TurnId, f64)>> {
        match self.ask(Effect::Rank(request), |reply| matches!(reply, Reply::Rank(_))).await {
            Reply::Rank(result) => result,
            other => Err(mismatch(&other)),
        }
    }

    /// Reads a range of the store.
    pub async fn read(&self, range: KeyRange) -> Result<Vec<Entry>> {
        match self.ask(Effect::Read(range), |reply| matches!(reply, Reply::Read(_))).await {
            Reply::Read(result) => result,
            other => Err(mismatch(&other)),
        }
    }

    /// Writes a transaction.
    pub async fn commit(&self, batch: WriteBatch) -> Result<()> {
        match self.ask(Effect::Commit(batch), |reply| matches!(reply, Reply::Commit(_))).await {
            Reply::Commit(result) => result,
            other => Err(mismatch(&other)),
        }
    }

    fn ask(&self, effect: Effect, matches: fn(&Reply) -> bool) -> Asked {
        let mut ports = self.0.borrow_mut();
        ports.asked += 1;
        let id = EffectId(ports.asked);
        ports.outbox.push((id, effect));
        ports.slots.insert(id, Slot::Waiting { matches, waker: None });
        Asked { id, ports: self.0.clone() }
    }
}

fn mismatch(reply: &Reply) -> Error {
    Error::internal(format!("a reply of another kind passed the check: {reply:?}"))
}

/// Runs two workflows side by side, so that what they ask for goes out together.
pub async fn join<A, B>(a: impl Future<Output = A>, b: impl Future<Output = B>) -> (A, B) {
    let (mut a, mut b) = (core::pin::pin!(a), core::pin::pin!(b));
    let (mut of_a, mut of_b) = (None, None);
    core::future::poll_fn(move |cx| {
        if of_a.is_none()
            && let Poll::Ready(value) = a.as_mut().poll(cx)
        {
            of_a = Some(value);
        }
        if of_b.is_none()
            && let Poll::Ready(value) = b.as_mut().poll(cx)
        {
            of_b = Some(value);
        }
        match (of_a.take(), of_b.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (of_a, of_b) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}

/// An effect that has been asked for. Dropping it withdraws it: a late answer is then an unknown id.
struct Asked {
    id: EffectId,
    ports: Rc<RefCell<Ports>>,
}

impl Future for Asked {
    type Output = Reply;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        let mut ports = self.ports.borrow_mut();
        match ports.slots.get_mut(&self.id) {
            Some(Slot::Waiting { waker, .. }) => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
            _ => match ports.slots.remove(&self.id) {
                Some(Slot::Answered(reply)) => Poll::Ready(reply),
                _ => Poll::Pending,
            },
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let mut ports = self.ports.borrow_mut();
        ports.slots.remove(&self.id);
        let id = self.id;
        ports.outbox.retain(|(asked, _)| *asked != id);
    }
}

/// Where a task stands.
#[derive(Debug, PartialEq)]
pub enum Step<T> {
    /// It waits. The effects are new since the last step; the list is empty if it waits for earlier ones, or for another task.
    NeedIo(Vec<(EffectId, Effect)>),
    /// It has ended.
    Done(T),
}

/// A running workflow.
pub struct Task<T> {
    future: Pin<Box<dyn Future<Output = T>>>,
    io: Io,
}

impl<T> Task<T> {
    /// Starts nothing yet: the workflow runs in [`Task::step`].
    pub fn new<F: Future<Output = T> + 'static>(workflow: impl FnOnce(Io) -> F) -> Self {
        let io = Io::default();
        Self { future: Box::pin(workflow(io.clone())), io }
    }

    /// Runs until it waits or ends. Not to be called again after `Done`.
    pub fn step(&mut self) -> Step<T> {
        self.poll_step(&mut Context::from_waker(Waker::noop()))
    }

    /// [`Task::step`] that wakes `cx` when the task can go on, also when another task lets it.
    pub fn poll_step(&mut self, cx: &mut Context<'_>) -> Step<T> {
        match self.future.as_mut().poll(cx) {
            Poll::Ready(value) => Step::Done(value),
            Poll::Pending => Step::NeedIo(core::mem::take(&mut self.io.0.borrow_mut().outbox)),
        }
    }

    /// Answers an effect.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an id that was never handed out, is answered already or was withdrawn, and for a reply of
    /// another kind than the effect. Nothing changes then.
    pub fn resume(&mut self, id: EffectId, reply: Reply) -> Result<()> {
        let waker = {
            let mut ports = self.io.0.borrow_mut();
            let Some(slot) = ports.slots.get_mut(&id) else {
                return Err(Error::invalid(format!("effect {} waits for no reply", id.0)));
            };
            match slot {
                Slot::Answered(_) => return Err(Error::invalid(format!("effect {} is answered already", id.0))),
                Slot::Waiting { matches, .. } if !matches(&reply) => {
                    return Err(Error::invalid(format!("effect {} is of another kind than its reply", id.0)));
                }
                Slot::Waiting { waker, .. } => {
                    let waker = waker.take();
                    *slot = Slot::Answered(reply);
                    waker
                }
            }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;
    use crate::storage::Store;

    fn range() -> KeyRange {
        KeyRange { store: Store::Wal, from: "a".into(), to: "b".into() }
    }

    fn reading() -> Task<Result<usize>> {
        Task::new(|io| async move { Ok(io.read(range()).await?.len() + io.read(range()).await?.len()) })
    }

    #[test]
    fn a_task_asks_waits_and_ends() {
        let mut task = reading();
        for _ in 0..2 {
            let Step::NeedIo(asked) = task.step() else { panic!("ended early") };
            assert_eq!(asked.len(), 1);
            assert_eq!(task.step(), Step::NeedIo(Vec::new()));
            let reply = Reply::Read(Ok(vec![Entry { key: "a".into(), value: vec![] }]));
            task.resume(asked[0].0, reply).expect("waited for");
        }
        assert_eq!(task.step(), Step::Done(Ok(2)));
    }

    #[test]
    fn o19_joined_workflows_ask_together() {
        let mut task = Task::new(|io| async move {
            let (a, b) = join(io.read(range()), async {
                io.read(range()).await?;
                io.read(range()).await
            })
            .await;
            a.and(b)
        });
        let Step::NeedIo(asked) = task.step() else { panic!("ended early") };
        assert_eq!(asked.len(), 2);
        for (id, _) in asked {
            task.resume(id, Reply::Read(Ok(vec![]))).expect("waited for");
        }
        let Step::NeedIo(last) = task.step() else { panic!("ended early") };
        task.resume(last[0].0, Reply::Read(Ok(vec![]))).expect("waited for");
        assert_eq!(task.step(), Step::Done(Ok(vec![])));
    }

    #[test]
    fn unknown_repeated_and_mismatched_replies_are_errors() {
        let mut task = reading();
        let Step::NeedIo(asked) = task.step() else { panic!("ended early") };
        let id = asked[0].0;
        let refused = |result: Result<()>| assert_eq!(result.expect_err("refused").code(), ErrorCode::InvalidArgument);
        refused(task.resume(EffectId(99), Reply::Read(Ok(vec![]))));
        refused(task.resume(id, Reply::Commit(Ok(()))));
        task.resume(id, Reply::Read(Ok(vec![]))).expect("waited for");
        refused(task.resume(id, Reply::Read(Ok(vec![]))));
        assert!(matches!(task.step(), Step::NeedIo(asked) if asked.len() == 1));
        refused(task.resume(id, Reply::Read(Ok(vec![]))));
    }

    #[test]
    fn a_withdrawn_effect_is_not_handed_out_and_takes_no_reply() {
        let mut task = Task::new(|io| async move {
            {
                let mut first = core::pin::pin!(io.read(range()));
                core::future::poll_fn(|cx| {
                    assert!(first.as_mut().poll(cx).is_pending());
                    Poll::Ready(())
                })
                .await;
            }
            io.read(range()).await.map(|entries| entries.len())
        });
        let Step::NeedIo(asked) = task.step() else { panic!("ended early") };
        assert_eq!(asked.iter().map(|(id, _)| id.0).collect::<Vec<_>>(), [2]);
        assert!(task.resume(EffectId(1), Reply::Read(Ok(vec![]))).is_err());
    }
}
