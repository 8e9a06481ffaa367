//! Why a reply cannot be used.

use core::fmt;

use crate::error::{Error, ErrorCode};

/// Most characters of a reply that an error quotes.
const QUOTED_CHARS: usize = 120;

/// Why a reply cannot be used. Nothing of such a reply is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadReply {
    /// It was cut by the token limit. More room or a smaller batch may help, another output mode will not.
    Truncated,
    /// A filter of the provider held it back.
    Filtered,
    /// It is the JSON Schema that was asked for, not an instance of it.
    EchoedSchema,
    /// It cannot be read; the text says why.
    Unreadable(String),
    /// It is JSON that reports an error of the provider, with its text.
    Failure(String),
}

const TRUNCATED: &str = "reply is truncated by the token limit";
const FILTERED: &str = "reply was held back by a content filter";
const ECHOED: &str = "reply is an echoed schema";
const UNREADABLE: &str = "reply is unreadable: ";
const FAILURE: &str = "reply reports an error: ";

impl BadReply {
    /// An unreadable reply: why, and how it begins.
    pub(super) fn unreadable(why: &str, reply: &str) -> Self {
        Self::Unreadable(format!("{why}: {:?}", shortened(reply)))
    }

    /// A reply that reports an error.
    pub(super) fn failure(text: &str) -> Self {
        Self::Failure(shortened(text))
    }

    /// What kind of bad reply an error of a step's `parse` stands for; `None` for any other error.
    pub fn of(error: &Error) -> Option<Self> {
        let message = error.message();
        let rest = |prefix| message.strip_prefix(prefix).map(str::to_owned);
        match error.code() {
            ErrorCode::ProviderFailed => rest(FAILURE).map(Self::Failure),
            ErrorCode::ProviderBadReply => match message {
                TRUNCATED => Some(Self::Truncated),
                FILTERED => Some(Self::Filtered),
                ECHOED => Some(Self::EchoedSchema),
                _ => rest(UNREADABLE).map(Self::Unreadable),
            },
            _ => None,
        }
    }
}

impl fmt::Display for BadReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str(TRUNCATED),
            Self::Filtered => f.write_str(FILTERED),
            Self::EchoedSchema => f.write_str(ECHOED),
            Self::Unreadable(why) => write!(f, "{UNREADABLE}{why}"),
            Self::Failure(text) => write!(f, "{FAILURE}{text}"),
        }
    }
}

impl From<BadReply> for Error {
    fn from(bad: BadReply) -> Self {
        let code = match bad {
            BadReply::Failure(_) => ErrorCode::ProviderFailed,
            _ => ErrorCode::ProviderBadReply,
        };
        Self::new(code, bad.to_string())
    }
}

fn shortened(text: &str) -> String {
    text.trim().chars().take(QUOTED_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_survives_being_an_error() {
        for bad in [
            BadReply::Truncated,
            BadReply::Filtered,
            BadReply::EchoedSchema,
            BadReply::unreadable("no JSON in it", "Service unavailable"),
            BadReply::failure("quota"),
        ] {
            assert_eq!(BadReply::of(&Error::from(bad.clone())), Some(bad));
        }
        assert_eq!(BadReply::of(&Error::new(ErrorCode::ProviderFailed, "HTTP 500")), None);
    }
}
