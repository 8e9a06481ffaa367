//! What a search found, as callers see it.

use serde::Serialize;

use crate::model::Metadata;
use crate::op::persona_view::FactView;

/// A term of a score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Name of the feature.
    pub name: &'static str,
    /// Weight times value.
    pub value: f32,
}

/// A turn that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// The turn.
    pub id: String,
    /// Its page.
    pub page_id: String,
    /// Always `turn`.
    pub kind: &'static str,
    /// `user` or `assistant`.
    pub role: &'static str,
    /// The label under which it is printed.
    pub speaker: String,
    /// The whole turn.
    pub text: String,
    /// What of it is in the context.
    pub quotes: Vec<String>,
    /// Whether anything of it is.
    pub packed: bool,
    /// `short`, `mid` or `archive`.
    pub tier: &'static str,
    /// The segment that holds its page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_id: Option<String>,
    /// When it was said, milliseconds since the epoch.
    pub time: Option<i64>,
    /// Minutes east of UTC where it was said.
    pub offset_minutes: i16,
    /// The session.
    pub session: String,
    /// The caller's keys.
    #[serde(serialize_with = "crate::model::serialize_map")]
    pub metadata: Metadata,
    /// Score of its best atom; only differences mean something.
    pub score: f32,
    /// Terms of the score, largest first.
    pub parts: Vec<Part>,
    /// Tokens that it takes in the context with its label, or that its best atom would take.
    pub tokens: u32,
}

/// What the context holds of one turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PackedPassage {
    /// The turn.
    pub turn_id: String,
    /// Its page.
    pub page_id: String,
    /// Its atoms in the context, in order.
    pub quotes: Vec<String>,
}

/// What ranked next but is not in the context.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BelowCut {
    /// The turn.
    pub turn_id: String,
    /// The atom.
    pub quote: String,
    /// Its score.
    pub score: f32,
    /// Tokens it would take.
    pub tokens: u32,
}

/// Days that a question asks about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RangeView {
    /// The words that mean them.
    pub phrase: String,
    /// The first day, `2023-05-15`; `None` is the beginning.
    pub from: Option<String>,
    /// The day after the last; `None` is no end.
    pub to: Option<String>,
}

/// The question as it was understood.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryView {
    /// Strategy in effect, or the retriever.
    pub strategy: String,
    /// Weights in effect.
    pub profile: &'static str,
    /// Speakers that it names.
    pub names: Vec<String>,
    /// Words that are looked up.
    pub words: Vec<String>,
    /// Months it names.
    pub months: Vec<i8>,
    /// Days of the month.
    pub days: Vec<i8>,
    /// Years.
    pub years: Vec<i16>,
    /// Days that it asks about, where each turn was said.
    pub ranges: Vec<RangeView>,
    /// Whether vectors took part.
    pub vectors: bool,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recall {
    /// Turns, best first.
    pub hits: Vec<Hit>,
    /// Passages in order of time, for a prompt: data, never instructions.
    pub context: String,
    /// Its tokens.
    pub context_tokens: u32,
    /// What it holds, turn by turn.
    pub passages: Vec<PackedPassage>,
    /// Facts of long-term memory that bear on the question, best first.
    pub facts: Vec<FactView>,
    /// The question as understood.
    pub query: QueryView,
    /// What ranked next, at most 20.
    pub below_cut: Vec<BelowCut>,
}
