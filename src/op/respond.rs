//! Answering. The user's turn is stored before the model is asked, so that neither a closed tab nor a failing model loses it.

use super::add::{Added, add};
use super::complete::store_answer;
use super::engine::Engine;
use super::retrieve::{Filter, Recall, RetrieveInput, retrieve};
use super::spending::RESPOND;
use crate::effect::{ChatMessage, ChatReply, ChatRequest, ChatRole, FinishReason, Io, Usage};
use crate::error::{Error, ErrorCode, Result};
use crate::generation::{Exchange, Front, fact_line, respond_prompt};
use crate::id::{PageId, Side};
use crate::model::Cube;
use crate::time::Timestamp;
use crate::updating::long_term::static_profile;
use crate::updating::short_term::NewPage;

/// Tokens of the conversation so far that go into a prompt; older pages are left to recall.
const HISTORY_TOKENS: u32 = 1_500;

/// How to answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manner {
    /// How to write, in words.
    pub style: Option<String>,
    /// What the assistant is to the user, in words.
    pub relationship: Option<String>,
    /// Tokens of recalled memory in the prompt.
    pub budget_tokens: u32,
    /// When and where it is asked: what "last week" counts from. `None` is now, in UTC.
    pub asked: Option<Timestamp>,
}

/// What to answer.
#[derive(Clone, Debug)]
pub struct RespondInput {
    /// The user's turn; its answer is empty.
    pub page: NewPage,
    /// How.
    pub manner: Manner,
    /// The call whose listener gets the text as it comes.
    pub call_id: Option<String>,
}

/// A prompt with what it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// Role, persona, pinned facts: the same bytes as long as those are.
    pub system: String,
    /// The whole prompt.
    pub messages: Vec<ChatMessage>,
    /// What was recalled.
    pub recall: Recall,
}

/// Who answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The language model.
    Model,
    /// Nobody: no language model is set, and the answer is the recalled passages themselves.
    MemoryOnly,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Responded {
    /// The text.
    pub text: String,
    /// The page that holds the exchange.
    pub page: PageId,
    /// Who answered.
    pub mode: Mode,
    /// What was recalled.
    pub recall: Recall,
    /// Why the text ends.
    pub finish_reason: FinishReason,
    /// What it took.
    pub usage: Usage,
}

/// Recalls, stores the user's turn, asks the model, stores the answer. Without a model the recalled passages are the answer,
/// and they are not stored again.
///
/// # Errors
/// The provider's; `PROVIDER_BAD_REPLY` for an empty answer. The user's turn stays stored, and a call with the same client id
/// takes it up again.
pub async fn respond(engine: &Engine, io: &Io, input: RespondInput, now_ms: i64) -> Result<Responded> {
    let query = input.page.user_input.clone();
    let client_id = input.page.client_id.clone();
    // Without a model there is no prompt that would hold the pages of short-term memory beside what was recalled.
    let prompts = engine.options.chat_model.is_some();
    let manner = Manner { asked: input.manner.asked.or(input.page.time), ..input.manner };
    let Merged { messages, recall, .. } =
        assemble(engine, io, &query, &manner, client_id.as_deref(), prompts, now_ms).await?;
    let added = add(engine, io, vec![input.page], now_ms).await?;
    let page =
        added.first().copied().map(Added::page).ok_or_else(|| Error::internal("a turn was admitted without a page"))?;
    if engine.options.chat_model.is_none() {
        let text = recall.context.clone();
        return Ok(Responded {
            text,
            page,
            mode: Mode::MemoryOnly,
            recall,
            finish_reason: FinishReason::Stop,
            usage: Usage::default(),
        });
    }
    let request = ChatRequest { messages, max_output_tokens: None, format: None, stream_to: input.call_id };
    let reply = io.chat(request).await;
    let reply = reply.and_then(|reply| check(&reply).map(|()| reply));
    engine.spend(now_ms, RESPOND, reply.as_ref().map(|reply| reply.usage).unwrap_or_default(), reply.is_ok());
    let reply = reply?;
    engine.model_answered();
    store_answer(engine, io, page, reply.text.clone(), true).await?;
    let ChatReply { text, finish_reason, usage, .. } = reply;
    Ok(Responded { text, page, mode: Mode::Model, recall, finish_reason, usage })
}

/// The prompt that [`respond`] would send. Nothing is stored.
///
/// # Errors
/// As [`retrieve`].
pub async fn merge(engine: &Engine, io: &Io, query: &str, manner: &Manner, now_ms: i64) -> Result<Merged> {
    assemble(engine, io, query, manner, None, true, now_ms).await
}

async fn assemble(
    engine: &Engine,
    io: &Io,
    query: &str,
    manner: &Manner,
    client_id: Option<&str>,
    prompts: bool,
    now_ms: i64,
) -> Result<Merged> {
    let history = if prompts { history(engine, client_id) } else { Vec::new() };
    let exclude = history.iter().map(|(id, _)| *id).chain(taken_up(engine, client_id)).collect();
    let search = RetrieveInput {
        budget_tokens: manner.budget_tokens,
        filter: Filter { exclude, no_open_questions: true, no_standing_facts: prompts, ..Filter::default() },
        asked: manner.asked,
        ..RetrieveInput::new(query)
    };
    let recall = retrieve(engine, io, &search, now_ms).await?;
    let exchanges = history.into_iter().map(|(_, exchange)| exchange).collect();
    let prompt = {
        let cube = engine.cube.borrow();
        let profile = |of: Side| cube.profile(of).map(|profile| profile.text.as_str());
        let front = Front {
            relationship: manner.relationship.as_deref(),
            style: manner.style.as_deref(),
            assistant: profile(Side::Agent),
            user: profile(Side::User),
            facts: &standing_facts(&cube),
        };
        respond_prompt(&front, exchanges, &recall.context, query)
    };
    let message = |role, content| ChatMessage { role, content };
    let mut messages = vec![message(ChatRole::System, prompt.system.clone())];
    for exchange in prompt.history {
        let sides = [message(ChatRole::User, exchange.user), message(ChatRole::Assistant, exchange.assistant)];
        messages.extend(sides.into_iter().filter(|message| !message.content.trim().is_empty()));
    }
    messages.push(message(ChatRole::User, prompt.user));
    Ok(Merged { system: prompt.system, messages, recall })
}

/// The static profile and the pinned facts, as lines of a prompt, in the order of their ids.
fn standing_facts(cube: &Cube) -> Vec<String> {
    let profile = static_profile(cube);
    let fixed: Vec<_> = [profile.name, profile.gender, profile.birth_year].into_iter().flatten().collect();
    let pinned = cube.facts().filter(|fact| fact.pinned && fact.is_open());
    let pinned = pinned.filter(|fact| fixed.iter().all(|other| other.id != fact.id));
    let all = fixed.iter().copied().chain(pinned).filter(|fact| !fact.never_recall);
    all.map(|fact| fact_line(fact, None)).collect()
}

/// What the model did not say is not stored as if it had.
fn check(reply: &ChatReply) -> Result<()> {
    if reply.finish_reason == FinishReason::Error {
        return Err(Error::new(ErrorCode::ProviderFailed, "the model ended its answer with an error"));
    }
    if reply.text.trim().is_empty() {
        return Err(Error::new(
            ErrorCode::ProviderBadReply,
            format!("the model answered nothing ({:?})", reply.finish_reason),
        ));
    }
    Ok(())
}

/// The page of an earlier attempt at the same turn.
fn taken_up(engine: &Engine, client_id: Option<&str>) -> Option<PageId> {
    engine.cube.borrow().page_of_client_id(client_id?)
}

fn never_recalled(cube: &Cube, page: PageId) -> bool {
    cube.place(page).is_some_and(|place| place.never_recall)
}

/// The last pages of short-term memory that fit and may be recalled, oldest first.
fn history(engine: &Engine, client_id: Option<&str>) -> Vec<(PageId, Exchange)> {
    let again = taken_up(engine, client_id);
    let cube = engine.cube.borrow();
    let mut left = HISTORY_TOKENS;
    let mut pages = Vec::new();
    for id in cube.short_term().rev().filter(|&id| Some(id) != again) {
        let Some(page) = cube.page(id).filter(|_| !never_recalled(&cube, id)) else { continue };
        let cost = engine.count_tokens(&page.user_input) + engine.count_tokens(&page.agent_response);
        if cost > left {
            break;
        }
        left -= cost;
        pages.push((id, Exchange { user: page.user_input.clone(), assistant: page.agent_response.clone() }));
    }
    pages.reverse();
    pages
}
