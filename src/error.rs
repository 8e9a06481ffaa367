//! The one error type of the crate.

use core::fmt;

/// Result of every fallible call in the crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Stable, machine-readable kind of an [`Error`]; the same strings reach JavaScript as `error.code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorCode {
    /// An argument is outside its documented range or shape.
    InvalidArgument,
    /// The memory has not been opened.
    NotOpen,
    /// The memory has been closed.
    Closed,
    /// Another tab, worker or process holds the memory.
    Locked,
    /// The store cannot be reached, or its state after a failed commit is unknown.
    StorageUnavailable,
    /// The store has no room left; nothing was written.
    StorageQuota,
    /// A stored record fails its checksum or cannot be read.
    StorageCorrupt,
    /// The stored format is newer than this version understands.
    VersionTooNew,
    /// A model provider answered with an error.
    ProviderFailed,
    /// A model provider did not answer in time.
    ProviderTimeout,
    /// A model provider's answer cannot be used.
    ProviderBadReply,
    /// A vector has another length than the embedding space.
    DimensionMismatch,
    /// The key or passphrase does not open the data.
    WrongKey,
    /// No such item in this scope.
    NotFound,
    /// The caller may not do this.
    Forbidden,
    /// The caller cancelled the operation.
    Aborted,
    /// A defect in memstrata.
    Internal,
}

impl ErrorCode {
    /// Every code, in declaration order.
    pub const ALL: [Self; 17] = [
        Self::InvalidArgument,
        Self::NotOpen,
        Self::Closed,
        Self::Locked,
        Self::StorageUnavailable,
        Self::StorageQuota,
        Self::StorageCorrupt,
        Self::VersionTooNew,
        Self::ProviderFailed,
        Self::ProviderTimeout,
        Self::ProviderBadReply,
        Self::DimensionMismatch,
        Self::WrongKey,
        Self::NotFound,
        Self::Forbidden,
        Self::Aborted,
        Self::Internal,
    ];

    /// The stable string, for example `STORAGE_QUOTA`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::NotOpen => "NOT_OPEN",
            Self::Closed => "CLOSED",
            Self::Locked => "LOCKED",
            Self::StorageUnavailable => "STORAGE_UNAVAILABLE",
            Self::StorageQuota => "STORAGE_QUOTA",
            Self::StorageCorrupt => "STORAGE_CORRUPT",
            Self::VersionTooNew => "VERSION_TOO_NEW",
            Self::ProviderFailed => "PROVIDER_FAILED",
            Self::ProviderTimeout => "PROVIDER_TIMEOUT",
            Self::ProviderBadReply => "PROVIDER_BAD_REPLY",
            Self::DimensionMismatch => "DIMENSION_MISMATCH",
            Self::WrongKey => "WRONG_KEY",
            Self::NotFound => "NOT_FOUND",
            Self::Forbidden => "FORBIDDEN",
            Self::Aborted => "ABORTED",
            Self::Internal => "INTERNAL",
        }
    }

    /// The code of a stable string; `None` for a string that is not one.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == code)
    }
}

/// What went wrong: a stable code and a message that names the offending value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    code: ErrorCode,
    message: String,
}

impl Error {
    /// An error of `code`; `message` is lower case and names the offending value.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Shorthand for [`ErrorCode::InvalidArgument`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidArgument, message)
    }

    /// Shorthand for [`ErrorCode::StorageCorrupt`].
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::StorageCorrupt, message)
    }

    /// Shorthand for [`ErrorCode::Internal`].
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Internal, message)
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The message, without the code.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_pinned() {
        let codes: Vec<_> = ErrorCode::ALL.into_iter().map(ErrorCode::as_str).collect();
        assert_eq!(
            codes.join(" "),
            "INVALID_ARGUMENT NOT_OPEN CLOSED LOCKED STORAGE_UNAVAILABLE STORAGE_QUOTA STORAGE_CORRUPT \
             VERSION_TOO_NEW PROVIDER_FAILED PROVIDER_TIMEOUT PROVIDER_BAD_REPLY DIMENSION_MISMATCH WRONG_KEY \
             NOT_FOUND FORBIDDEN ABORTED INTERNAL"
        );
        assert!(ErrorCode::ALL.into_iter().all(|code| ErrorCode::parse(code.as_str()) == Some(code)));
        assert_eq!(ErrorCode::parse("OOPS"), None);
    }
}
