//! Structured output: which mode to ask a provider for, from what is remembered of it.
//!
//! Providers differ in what they take, and some take a mode and then answer badly in it. What a server and model is found to
//! do is remembered per server and model, so that it is found out once.

use super::reply::BadReply;
use crate::error::{Error, ErrorCode};
use crate::model::{ModeRecord, OutputMode};

/// Unreadable replies in a mode, without a good one in between, after which the next mode is tried.
const MISREAD_LIMIT: u8 = 2;

impl OutputMode {
    /// Every mode, strictest first.
    pub const ALL: [Self; 4] = [Self::Schema, Self::JsonObject, Self::ToolCall, Self::Plain];
}

/// What to do after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextTry {
    /// The mode is not the cause: try again in the same one, when the error's own rules say so.
    Same,
    /// Ask again at once, in this mode.
    Mode(OutputMode),
    /// The same mode with more room for the answer, or half of the pages.
    MoreRoom,
    /// Every mode has been tried: the model cannot follow the format, and memory stays as it is.
    GiveUp,
}

impl ModeRecord {
    /// The mode to ask in: the strictest that is not ruled out, the loosest if all are.
    pub fn mode(self) -> OutputMode {
        let is_open = |mode: &OutputMode| (self.refused | self.failed) & bit(*mode) == 0;
        OutputMode::ALL.into_iter().find(is_open).unwrap_or(OutputMode::Plain)
    }

    /// After a reply that could be used, asked for in `mode`.
    #[must_use]
    pub fn after_success(self, mode: OutputMode) -> Self {
        Self { misread: 0, ..self.noting(mode) }
    }

    /// After a reply that was asked for in `mode`: stricter modes are refused by this server.
    #[must_use]
    pub fn noting(self, mode: OutputMode) -> Self {
        let stricter = OutputMode::ALL.into_iter().filter(|other| *other < mode && bit(*other) & self.failed == 0);
        Self { refused: stricter.fold(self.refused, |refused, other| refused | bit(other)), ..self }
    }

    /// After `error` of a call in `mode`: what is remembered from now on, and what to do.
    ///
    /// A refused mode and an echoed schema rule the mode out at once, unreadable replies after two in a row. Cut replies and
    /// errors that no mode can help (keys, limits, outages, time) rule out nothing. After `GiveUp` the next job begins with
    /// the strictest mode that the server does not refuse: other pages may do better.
    #[must_use]
    pub fn after_error(self, mode: OutputMode, error: &Error) -> (Self, NextTry) {
        let mut next = Self { misread: 0, ..self };
        match BadReply::of(error) {
            Some(BadReply::Truncated) => return (self, NextTry::MoreRoom),
            Some(BadReply::EchoedSchema) => next.failed |= bit(mode),
            Some(BadReply::Unreadable(_)) => {
                let misread = self.misread.saturating_add(1);
                if misread < MISREAD_LIMIT {
                    return (Self { misread, ..self }, NextTry::Mode(mode));
                }
                next.failed |= bit(mode);
            }
            None if error.code() == ErrorCode::ProviderFailed && refuses_mode(error.message()) => {
                next.refused |= bit(mode)
            }
            Some(BadReply::Filtered | BadReply::Failure(_)) | None => return (self, NextTry::Same),
        }
        if next.refused | next.failed == ALL_MODES {
            let refused = if next.refused == ALL_MODES { 0 } else { next.refused };
            return (Self { refused, ..Self::default() }, NextTry::GiveUp);
        }
        (next, NextTry::Mode(next.mode()))
    }
}

const ALL_MODES: u8 = 0b1111;

/// Stored: a mode that comes later takes the next bit, wherever it stands in the order.
fn bit(mode: OutputMode) -> u8 {
    match mode {
        OutputMode::Schema => 1,
        OutputMode::JsonObject => 2,
        OutputMode::Plain => 4,
        OutputMode::ToolCall => 8,
    }
}

/// Whether a provider's error says that it does not take the mode: it names a field of structured output (case 43).
fn refuses_mode(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    [
        "response_format",
        "response format",
        "json_schema",
        "json_object",
        "json schema",
        "'json'",
        "word json",
        "\"json\"",
        "structured output",
        "grammar",
        "tool",
    ]
    .iter()
    .any(|field| message.contains(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The modes asked in, as the errors come; ends with the last decision.
    fn walk(errors: &[Error]) -> (Vec<OutputMode>, NextTry) {
        let (mut record, mut modes, mut last) = (ModeRecord::default(), Vec::new(), NextTry::Same);
        for error in errors {
            modes.push(record.mode());
            (record, last) = record.after_error(record.mode(), error);
        }
        (modes, last)
    }

    fn failed(message: &str) -> Error {
        Error::new(ErrorCode::ProviderFailed, message)
    }

    #[test]
    fn case_43_a_server_that_takes_no_schema_is_asked_for_an_object_then_by_a_tool_and_then_in_words() {
        let schema = failed("HTTP 400: response_format.type json_schema is not supported");
        let object = failed("HTTP 400: messages must contain the word 'json'");
        let tool = failed("HTTP 400: the model does not support tools");
        let (modes, last) = walk(&[schema.clone(), object, tool]);
        assert_eq!(modes, [OutputMode::Schema, OutputMode::JsonObject, OutputMode::ToolCall]);
        assert_eq!(last, NextTry::Mode(OutputMode::Plain));
        let (record, _) = ModeRecord::default().after_error(OutputMode::Schema, &schema);
        assert_eq!(record.after_success(OutputMode::JsonObject).mode(), OutputMode::JsonObject, "remembered");
        let misread: Error = BadReply::Unreadable("x".into()).into();
        let given_up = (0..6).fold(record, |record, _| record.after_error(record.mode(), &misread).0);
        assert_eq!(given_up.mode(), OutputMode::JsonObject, "also after all else has failed");
    }

    #[test]
    fn what_was_stored_before_there_were_tool_calls_keeps_its_meaning() {
        // Schema and object refused, plain in use: the one mode that it says nothing of is tried.
        let stored = ModeRecord { refused: 0b011, ..ModeRecord::default() };
        assert_eq!(stored.mode(), OutputMode::ToolCall);
        let (next, _) = stored.after_error(OutputMode::ToolCall, &failed("HTTP 400: unknown field tools"));
        assert_eq!((next.refused, next.mode()), (0b1011, OutputMode::Plain));
        assert_eq!(ModeRecord { failed: 0b101, ..ModeRecord::default() }.mode(), OutputMode::JsonObject);
    }

    #[test]
    fn case_07_an_echoed_schema_is_asked_for_in_another_mode_at_once() {
        let (_, last) = walk(&[BadReply::EchoedSchema.into()]);
        assert_eq!(last, NextTry::Mode(OutputMode::JsonObject));
    }

    #[test]
    fn case_05_a_cut_reply_asks_for_room() {
        let (modes, last) = walk(&[BadReply::Truncated.into(), BadReply::Truncated.into()]);
        assert_eq!((modes[1], last), (OutputMode::Schema, NextTry::MoreRoom));
    }

    #[test]
    fn a_model_that_never_follows_the_format_ends_after_two_tries_a_mode() {
        let error: Error = BadReply::Unreadable("x".into()).into();
        let (modes, last) = walk(&vec![error; 8]);
        assert_eq!(modes, OutputMode::ALL.map(|mode| [mode; 2]).concat());
        assert_eq!(last, NextTry::GiveUp);
    }

    #[test]
    fn outages_keys_and_limits_say_nothing_about_the_mode() {
        let errors = [
            failed("HTTP 401: wrong key"),
            failed("HTTP 429"),
            failed("HTTP 503: overloaded"),
            Error::new(ErrorCode::ProviderTimeout, "30 s"),
            BadReply::Failure("quota".into()).into(),
        ];
        for error in errors {
            assert_eq!(walk(core::slice::from_ref(&error)).1, NextTry::Same, "{error}");
        }
    }
}
