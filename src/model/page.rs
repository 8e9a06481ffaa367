//! Dialogue pages and what belongs to one page each.

use serde::{Deserialize, Serialize};

use super::unit::TurnUnits;
use super::value::Metadata;
use crate::id::{PageId, SegmentId, SessionId, Side, TurnId};
use crate::time::Timestamp;

/// A dialogue page {Q, R, T} (MemoryOS, 3.1): one user input with the answer to it. Either side may be empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Its id.
    pub id: PageId,
    /// The caller's own id of the turn; the same one is stored once.
    pub client_id: Option<String>,
    /// What the user said.
    pub user_input: String,
    /// What the agent answered.
    pub agent_response: String,
    /// The user's name; empty where only the role is known.
    pub user_name: String,
    /// The agent's name; empty where only the role is known.
    pub agent_name: String,
    /// When it was said; `None` if unknown.
    pub time: Option<Timestamp>,
    /// When it was stored, milliseconds since the epoch.
    pub recorded_at_ms: i64,
    /// The session it belongs to.
    pub session: SessionId,
    /// The caller's keys.
    #[serde(deserialize_with = "super::value::deserialize_map")]
    pub metadata: Metadata,
    /// Order of arrival in this memory; unique, grows.
    pub position: u64,
}

impl Page {
    /// The text of one side.
    pub fn text(&self, side: Side) -> &str {
        match side {
            Side::User => &self.user_input,
            Side::Agent => &self.agent_response,
        }
    }

    /// The label under which a side is printed: the speaker's name, or the role.
    pub fn speaker(&self, side: Side) -> &str {
        match side {
            Side::User if self.user_name.is_empty() => "user",
            Side::User => &self.user_name,
            Side::Agent if self.agent_name.is_empty() => "assistant",
            Side::Agent => &self.agent_name,
        }
    }

    /// The sides that say something, in order.
    pub fn turns(&self) -> impl Iterator<Item = TurnId> + '_ {
        let page = self.id;
        [Side::User, Side::Agent]
            .into_iter()
            .filter(|&side| !self.text(side).trim().is_empty())
            .map(move |side| TurnId { page, side })
    }

    /// When it was said, or else when it was stored.
    pub fn time_or_recorded(&self) -> Timestamp {
        self.time.unwrap_or(Timestamp::utc(self.recorded_at_ms))
    }
}

/// A page's turns cut into atoms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageUnits {
    /// The page.
    pub page: PageId,
    /// Whether costs and rows come from the static table; without it they are estimates to be made good later.
    pub from_table: bool,
    /// Units of the user's side.
    pub user: TurnUnits,
    /// Units of the agent's side.
    pub agent: TurnUnits,
}

impl PageUnits {
    /// The units of one side.
    pub fn side(&self, side: Side) -> &TurnUnits {
        match side {
            Side::User => &self.user,
            Side::Agent => &self.agent,
        }
    }
}

/// An embedding space. Vectors of different spaces are never compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    /// The model's id, with its version.
    pub model: String,
    /// Dimensions, 1 to 4,096.
    pub dimensions: u32,
}

/// A page's vectors, of unit length, in one space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageVectors {
    /// The page.
    pub page: PageId,
    /// The space they belong to.
    pub space: Space,
    /// Vector of the user's side; `None` for an empty side or one the model could not embed.
    pub user: Option<Vec<f32>>,
    /// Vector of the agent's side.
    pub agent: Option<Vec<f32>>,
}

impl PageVectors {
    /// The vector of one side.
    pub fn side(&self, side: Side) -> Option<&[f32]> {
        match side {
            Side::User => self.user.as_deref(),
            Side::Agent => self.agent.as_deref(),
        }
    }
}

/// Which tier holds a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tier {
    /// Short-term memory.
    Short,
    /// Mid-term memory, in an active segment.
    Mid,
    /// An archived segment: out of the hot index, found by explicit search.
    Archive,
}

/// Where a page lies, and its links in the dialogue chain (MemoryOS, 3.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The page.
    pub page: PageId,
    /// Its segments, the one that placed it first; empty while it is in short-term memory.
    pub segments: Vec<SegmentId>,
    /// The page before it in its dialogue chain.
    pub pre: Option<PageId>,
    /// The page after it.
    pub next: Option<PageId>,
    /// What its chain is about so far, on one line; empty where nobody has said it.
    pub meta_info: String,
    /// Whether a model has seen it; rules have placed it otherwise.
    pub drafted: bool,
    /// Whether the user wants it never to be recalled.
    pub never_recall: bool,
}

impl Place {
    /// Whether rules have filed the page and no model has seen it.
    pub fn is_by_rules(&self) -> bool {
        !self.segments.is_empty() && !self.drafted
    }

    /// The place of a page in short-term memory.
    pub fn short_term(page: PageId) -> Self {
        Self {
            page,
            segments: Vec::new(),
            pre: None,
            next: None,
            meta_info: String::new(),
            drafted: false,
            never_recall: false,
        }
    }
}

/// An unbroken stretch of conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The caller's own name for it; `None` if it was found by a gap in time.
    pub label: Option<String>,
}
