//! Where a policy asks a model for structured answers: in the best mode that the provider has, with room for the answer, and
//! booked.

use crate::effect::{AnswerFormat, ChatMessage, ChatRequest, ChatRole, FinishReason, Io, Usage};
use crate::error::{Error, ErrorCode, Result};
use crate::generation::prompt::StepPrompt;
use crate::generation::reply::{ReplyEnd, ReplyText};
use crate::generation::structured::NextTry;
use crate::id::PageId;
use crate::op::engine::Engine;

/// Room for an answer without pages.
const ROOM_TOKENS: u32 = 1_500;
/// Room for what is said of one page.
const ROOM_PER_PAGE_TOKENS: u32 = 300;
/// Calls that one question may cost: one a mode. What was learnt of the provider's modes is kept, so the next attempt goes on from there.
const TRIES: u32 = 4;

/// What a policy works with.
pub struct Desk<'a> {
    engine: &'a Engine,
    io: &'a Io,
    now_ms: i64,
}

impl<'a> Desk<'a> {
    pub(in crate::op) fn new(engine: &'a Engine, io: &'a Io, now_ms: i64) -> Self {
        Self { engine, io, now_ms }
    }

    /// What the dialogue chain of a page is about so far, if that is known.
    pub fn meta_info(&self, page: PageId) -> Option<String> {
        let cube = self.engine.cube.borrow();
        cube.place(page).map(|place| place.meta_info.clone()).filter(|line| !line.is_empty())
    }

    /// Asks, and reads the answer with `parse`. A reply that cannot be read is asked for again, in another mode where the mode
    /// may be the cause, and with more room where it was cut.
    ///
    /// # Errors
    /// The provider's, or that of `parse`.
    pub async fn ask<T>(
        &self,
        prompt: &StepPrompt,
        n_pages: usize,
        parse: impl Fn(&ReplyText<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut read = None;
        let mut accept = |reply: &ReplyText<'_>| {
            read = Some(parse(reply)?);
            Ok(())
        };
        self.until_accepted(prompt, n_pages, &mut accept).await?;
        read.ok_or_else(|| Error::internal("a reply was accepted without being read"))
    }

    async fn until_accepted(
        &self,
        prompt: &StepPrompt,
        n_pages: usize,
        accept: &mut dyn FnMut(&ReplyText<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut room = ROOM_TOKENS + ROOM_PER_PAGE_TOKENS * n_pages as u32;
        let mut tries = 0;
        loop {
            tries += 1;
            let modes = self.engine.modes();
            let mode = modes.mode();
            let message = |role, content: &str| ChatMessage { role, content: content.into() };
            let request = ChatRequest {
                messages: vec![message(ChatRole::System, &prompt.system), message(ChatRole::User, &prompt.user)],
                max_output_tokens: Some(room),
                format: Some(AnswerFormat { mode, name: prompt.schema_name, schema: prompt.schema }),
                stream_to: None,
            };
            let (asked_in, usage, outcome) = match self.io.chat(request).await {
                Ok(reply) => {
                    let outcome =
                        end_of(reply.finish_reason).and_then(|end| accept(&ReplyText { text: &reply.text, end }));
                    (reply.mode.unwrap_or(mode), reply.usage, outcome)
                }
                Err(error) => (mode, Usage::default(), Err(error)),
            };
            self.engine.spend(self.now_ms, prompt.step, usage, outcome.is_ok());
            let Err(error) = outcome else {
                self.engine.model_answered();
                self.engine.set_modes(modes.after_success(asked_in));
                return Ok(());
            };
            let (learnt, next) = modes.noting(asked_in).after_error(asked_in, &error);
            self.engine.set_modes(learnt);
            match next {
                NextTry::MoreRoom if tries == 1 => room *= 2,
                NextTry::Mode(_) if tries < TRIES => {}
                _ => return Err(error),
            }
        }
    }
}

fn end_of(reason: FinishReason) -> Result<ReplyEnd> {
    match reason {
        FinishReason::Stop => Ok(ReplyEnd::Stop),
        FinishReason::Length => Ok(ReplyEnd::Length),
        FinishReason::ContentFilter => Ok(ReplyEnd::Filtered),
        FinishReason::ToolCalls | FinishReason::Unknown => Ok(ReplyEnd::Unknown),
        FinishReason::Error => Err(Error::new(ErrorCode::ProviderFailed, "the model ended its answer with an error")),
    }
}
