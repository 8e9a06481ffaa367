//! What is remembered of a provider's ways. Which mode to ask in is decided in [`crate::generation::structured`].

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh32::xxh32;

/// How a structured reply is asked for, from the strictest to the loosest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum OutputMode {
    /// With the JSON Schema (`response_format: json_schema`).
    Schema,
    /// As some JSON object (`response_format: json_object`). Every prompt of a step has the word JSON, which some servers
    /// demand.
    JsonObject,
    /// As the arguments of a tool that must be called; the schema is the tool's.
    ToolCall,
    /// By the prompt's words alone.
    Plain,
}

/// What is remembered of a provider's modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeRecord {
    /// One bit a mode: the server refused it.
    pub(crate) refused: u8,
    /// One bit a mode: it was answered with the schema, or with too much that could not be read.
    pub(crate) failed: u8,
    /// Unreadable replies since the last good one, in the mode in use.
    pub(crate) misread: u8,
}

/// The modes of one server and model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelModes {
    /// `provider/model`.
    pub model: String,
    /// What is known of it.
    pub modes: ModeRecord,
}

impl ModelModes {
    /// The raw id of the record of a model.
    pub fn id(model: &str) -> u64 {
        u64::from(xxh32(model.as_bytes(), 0))
    }
}
