//! Identifiers. Every id is a type of its own; none is a bare number or string outside this crate.
//!
//! An id is 64 bits: the replica that made it (high half, drawn once when a memory is created) and that replica's
//! counter (low half). Two devices therefore never make the same id, and ids of one replica sort by creation.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(u64);

        impl $name {
            /// The id of the given raw value, as read from a record.
            pub const fn from_raw(raw: u64) -> Self {
                Self(raw)
            }

            /// The raw value, as written to a record.
            pub const fn raw(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{:016x}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                parse_hex(text, concat!($prefix, "_"))
                    .map(Self)
                    .ok_or_else(|| Error::invalid(format!("{text:?} is not an id of the form {}_0123456789abcdef", $prefix)))
            }
        }
    )*};
}

ids! {
    /// A dialogue page: one user input with the answer to it.
    PageId = "page";
    /// A mid-term segment: pages on one topic.
    SegmentId = "seg";
    /// A long-term fact.
    FactId = "fact";
    /// A job of the scheduler.
    JobId = "job";
    /// A change of long-term memory.
    ChangeId = "chg";
    /// A session: an unbroken stretch of conversation.
    SessionId = "ses";
}

/// Sixteen lower-case hexadecimal digits after `prefix`.
fn parse_hex(text: &str, prefix: &str) -> Option<u64> {
    let digits = text.strip_prefix(prefix)?;
    let well_formed = digits.len() == 16 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    well_formed.then(|| u64::from_str_radix(digits, 16).ok())?
}

/// Which side of a dialogue page a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Side {
    /// The user's input (Q in the MemoryOS paper).
    User,
    /// The agent's response (R).
    Agent,
}

/// One turn: a non-empty side of a page. The unit that retrieval scores and returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TurnId {
    /// The page the turn belongs to.
    pub page: PageId,
    /// Its side of that page.
    pub side: Side,
}

impl FromStr for TurnId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (page, side) = text.split_once('.').unwrap_or((text, ""));
        let side = match side {
            "user" => Side::User,
            "agent" => Side::Agent,
            _ => return Err(Error::invalid(format!("{text:?} is not the id of a turn"))),
        };
        Ok(Self { page: page.parse()?, side })
    }
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::User => "user",
            Side::Agent => "agent",
        };
        write!(f, "{}.{side}", self.page)
    }
}

/// Makes ids of one replica. Its counter is part of the persisted state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdSource {
    replica: u32,
    used: u32,
}

impl IdSource {
    /// A source for a new memory; `replica` comes from the caller's seed.
    pub const fn new(replica: u32) -> Self {
        Self { replica, used: 0 }
    }

    /// A source that goes on where an earlier one stopped.
    pub const fn resumed(replica: u32, used: u32) -> Self {
        Self { replica, used }
    }

    /// Ids made so far.
    pub const fn used(self) -> u32 {
        self.used
    }

    /// The next raw id.
    ///
    /// # Panics
    /// After 2^32 - 1 ids, which no memory reaches.
    pub fn next_raw(&mut self) -> u64 {
        self.used = self.used.checked_add(1).expect("fewer than 2^32 ids per replica");
        (u64::from(self.replica) << 32) | u64::from(self.used)
    }

    /// Makes sure that `raw`, read from a store, is never handed out again.
    pub fn observe(&mut self, raw: u64) {
        if (raw >> 32) as u32 == self.replica {
            self.used = self.used.max(raw as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_round_trip_and_reject_other_kinds() {
        let id = PageId::from_raw(0x0000_0007_0000_00ff);
        assert_eq!(id.to_string(), "page_00000007000000ff");
        assert_eq!(id.to_string().parse::<PageId>().as_ref(), Ok(&id));
        for bad in ["", "page_", "seg_00000007000000ff", "page_00000007000000FF", "page_+0000007000000ff", "page_7"] {
            assert!(bad.parse::<PageId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_source_never_repeats_an_observed_id() {
        let mut source = IdSource::new(3);
        let first = source.next_raw();
        let mut reopened = IdSource::new(3);
        reopened.observe(first + 5);
        reopened.observe(u64::from(u32::MAX) << 32 | 99);
        assert_eq!(reopened.next_raw(), first + 6);
    }
}
