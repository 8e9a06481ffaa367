//! Every tunable of the engine, with unit, range and source.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Which active segment goes first when mid-term memory is over its capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SegmentEviction {
    /// The one of lowest heat (MemoryOS, 3.2.2).
    #[default]
    LowestHeat,
    /// The one retrieved least often, ties by heat (MemoryOS code, LFU).
    LeastFrequentlyUsed,
}

/// Which fact leaves a full queue of knowledge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KnowledgeEviction {
    /// The one that is least sure, least supported and longest unmentioned.
    #[default]
    LeastUseful,
    /// The one recorded first (MemoryOS, 4.1).
    FirstIn,
}

/// Parameters of one memory. Names are the papers'; ranges are checked when a memory opens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// Pages in short-term memory, 1 to 1,000. Default 10 (MemoryOS code; its paper: 7).
    pub short_term_capacity: usize,
    /// Pages that consolidation takes at once, 1 to 100. Default 5.
    pub consolidation_batch: usize,
    /// Active segments in mid-term memory before the coldest is archived, 1 to 100,000. Default 2,000 (MemoryOS code; its paper:
    /// 200, which segments made by rules fill within weeks).
    pub mid_term_capacity: usize,
    /// theta: `f_score` from which a page joins a segment, 0 to 2. Default 0.6 (MemoryOS, 4.1).
    pub similarity_threshold: f32,
    /// tau: heat from which a segment is promoted, 0 and up. Default 5 (MemoryOS, 4.1).
    pub heat_threshold: f64,
    /// alpha: weight of `n_visit` in the heat. Default 1.
    pub heat_alpha: f64,
    /// beta: weight of `l_interaction`. Default 1.
    pub heat_beta: f64,
    /// gamma: weight of `r_recency`. Default 1.
    pub heat_gamma: f64,
    /// mu: hours after which recency has fallen to 1/e, above 0. Default 24 (MemoryOS: 1e7 s = 2,778 h).
    pub heat_time_constant_hours: f64,
    /// Which segment is archived first: `lowestHeat` (default, as the paper) or `leastFrequentlyUsed` (MemoryOS code).
    pub segment_eviction: SegmentEviction,
    /// Open facts kept at hand for each of user, assistant and others, 1 to 10,000; static profile fields do not count.
    /// Default 100 (MemoryOS, 4.1: queues of 100).
    pub knowledge_capacity: usize,
    /// Which fact is archived first: `leastUseful` (default) or `firstIn` (the paper's queue).
    pub knowledge_eviction: KnowledgeEviction,
    /// Facts that one analysis may close, 0 to 1,000; what would close more is refused. Default 8: an analysis of five pages
    /// finds a handful of facts, and a text that overturns more than that is suspect.
    pub closures_per_write: usize,
    /// Changes of long-term memory that are kept for history and undo, 1 to 1,000,000; the oldest go first. Default 2,000.
    pub history_capacity: usize,
    /// How short-term memory sinks: `batched` asks the model once for a batch, `paper` takes MemoryOS's steps, `offline` asks
    /// nobody, or the name of another policy. Default `auto`: `batched` with a model, else `offline`.
    pub update_policy: String,
    /// Unseen pages of hot segments that start an analysis, 1 to 1,000. Default 10 (MemoryOS: every hot segment).
    pub promotion_batch: usize,
    /// Calls of background work to models in a day of UTC; 0 is no limit. Default 0.
    pub daily_calls: u64,
    /// Tokens, in and out, of background work in a day of UTC; 0 is no limit. Default 0.
    pub daily_tokens: u64,
    /// Minutes of silence that end a session, 1 to 100,000. Default 60.
    pub session_gap_minutes: u32,
    /// Bytes of write-ahead log that are sealed into chunks, 4,096 and up. Default 262,144.
    pub seal_threshold_bytes: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            short_term_capacity: 10,
            consolidation_batch: 5,
            mid_term_capacity: 2_000,
            similarity_threshold: 0.6,
            heat_threshold: 5.0,
            heat_alpha: 1.0,
            heat_beta: 1.0,
            heat_gamma: 1.0,
            heat_time_constant_hours: 24.0,
            segment_eviction: SegmentEviction::LowestHeat,
            knowledge_capacity: 100,
            knowledge_eviction: KnowledgeEviction::LeastUseful,
            closures_per_write: 8,
            history_capacity: 2_000,
            update_policy: AUTO_POLICY.into(),
            promotion_batch: 10,
            daily_calls: 0,
            daily_tokens: 0,
            session_gap_minutes: 60,
            seal_threshold_bytes: 256 * 1024,
        }
    }
}

impl Config {
    /// Names of the parameters, as JavaScript has them.
    pub const NAMES: [&str; 20] = [
        "shortTermCapacity",
        "consolidationBatch",
        "midTermCapacity",
        "similarityThreshold",
        "heatThreshold",
        "heatAlpha",
        "heatBeta",
        "heatGamma",
        "heatTimeConstantHours",
        "segmentEviction",
        "knowledgeCapacity",
        "knowledgeEviction",
        "closuresPerWrite",
        "historyCapacity",
        "updatePolicy",
        "promotionBatch",
        "dailyCalls",
        "dailyTokens",
        "sessionGapMinutes",
        "sealThresholdBytes",
    ];

    /// The values of the MemoryOS paper (section 4.1): its steps, 7 pages of which one sinks at a time, 200 segments, theta 0.6,
    /// tau 5, mu 1e7 s, segments evicted by lowest heat, knowledge in queues of 100, first in, first out.
    pub fn paper() -> Self {
        Self {
            update_policy: "paper".into(),
            short_term_capacity: 7,
            consolidation_batch: 1,
            promotion_batch: 1,
            mid_term_capacity: 200,
            heat_time_constant_hours: 1e7 / 3600.0,
            knowledge_eviction: KnowledgeEviction::FirstIn,
            ..Self::default()
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` naming the first field that is out of its range.
    pub fn check(&self) -> Result<()> {
        fn within<T: PartialOrd + core::fmt::Display>(name: &str, value: T, least: T, most: T) -> Result<()> {
            if value >= least && value <= most {
                return Ok(());
            }
            Err(Error::invalid(format!("config.{name} is {value}, outside {least} to {most}")))
        }
        within("shortTermCapacity", self.short_term_capacity, 1, 1_000)?;
        within("consolidationBatch", self.consolidation_batch, 1, 100)?;
        within("midTermCapacity", self.mid_term_capacity, 1, 100_000)?;
        within("similarityThreshold", self.similarity_threshold, 0.0, 2.0)?;
        within("heatThreshold", self.heat_threshold, 0.0, 1e9)?;
        within("heatAlpha", self.heat_alpha, 0.0, 1e6)?;
        within("heatBeta", self.heat_beta, 0.0, 1e6)?;
        within("heatGamma", self.heat_gamma, 0.0, 1e6)?;
        within("heatTimeConstantHours", self.heat_time_constant_hours, 1e-6, 1e9)?;
        within("knowledgeCapacity", self.knowledge_capacity, 1, 10_000)?;
        within("closuresPerWrite", self.closures_per_write, 0, 1_000)?;
        within("historyCapacity", self.history_capacity, 1, 1_000_000)?;
        within("promotionBatch", self.promotion_batch, 1, 1_000)?;
        within("sessionGapMinutes", self.session_gap_minutes, 1, 100_000)?;
        within("sealThresholdBytes", self.seal_threshold_bytes, 4_096, 1 << 30)
    }
}

/// The policy that goes by whether there is a model.
pub const AUTO_POLICY: &str = "auto";
/// Longest user or assistant id, in bytes of UTF-8.
pub const SCOPE_ID_MAX_BYTES: usize = 1_024;
/// Keywords kept for a page and for a segment.
pub const KEYWORDS_PER_SEGMENT: usize = 12;
/// Most characters of an extractive summary.
pub const SUMMARY_MAX_CHARS: usize = 400;
/// Longest attribute of a fact, in characters.
pub const ATTRIBUTE_MAX_CHARS: usize = 120;
/// Longest value of a fact, in characters.
pub const VALUE_MAX_CHARS: usize = 1_000;
/// Longest quotation kept as evidence, in characters; a longer one is cut at its end.
pub const QUOTE_MAX_CHARS: usize = 400;
/// Quotations kept for a fact or a trait; the first and the latest stay.
pub const EVIDENCE_MAX: usize = 8;
/// Pages kept as the cause of a change.
pub const CAUSE_MAX_PAGES: usize = 64;
/// Facts that one analysis may write; the rest of its candidates is refused.
pub const FACTS_PER_WRITE: usize = 64;
/// Most pages of one segment; a longer topic goes on in a new segment, so that rewriting a segment stays bounded.
pub const SEGMENT_MAX_PAGES: usize = 64;
/// Texts that one embedding job carries.
pub const EMBED_BATCH_PAGES: usize = 32;
/// First delay before a failed job is tried again; it doubles with each attempt.
pub const RETRY_FIRST_MS: i64 = 2_000;
/// Attempts after which a job is set aside and shown as failed.
pub const RETRY_ATTEMPTS: u32 = 6;
/// Longest delay before a failed job is tried again, and before a failing model is asked again.
pub const RETRY_LONGEST_MS: i64 = 15 * 60_000;
/// Failures in a row after which rules file what a model should have seen; it sees it later.
pub const FILE_BY_RULES_AFTER: u32 = 3;
/// Most pages that one analysis of long-term memory reads.
pub const PROMOTION_MAX_PAGES: usize = 20;
/// Last segments that a model is shown as open.
pub const OPEN_SEGMENTS_SHOWN: usize = 5;
/// Days of the ledger that are kept.
pub const LEDGER_DAYS: usize = 31;
/// Longest summary of a segment, in characters; in a longer one the first sentence and the latest stay.
pub const SEGMENT_SUMMARY_MAX_CHARS: usize = 1_200;
/// Largest sealed chunk, in bytes, unless a single record is larger.
pub const CHUNK_MAX_BYTES: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_fields() {
        let json = serde_json::to_value(Config::default()).expect("serializes");
        let mut fields: Vec<_> = json.as_object().expect("an object").keys().map(String::as_str).collect();
        let mut names = Config::NAMES;
        fields.sort_unstable();
        names.sort_unstable();
        assert_eq!(fields, names);
    }

    #[test]
    fn defaults_and_paper_are_in_range_and_nan_is_not() {
        assert_eq!(Config::default().check(), Ok(()));
        assert_eq!(Config::paper().check(), Ok(()));
        let broken = Config { heat_threshold: f64::NAN, ..Config::default() };
        let message = broken.check().expect_err("a heat threshold that is no number").to_string();
        assert!(message.contains("heatThreshold is NaN"), "{message}");
    }

    #[test]
    fn policies_have_camel_case_names_and_unknown_fields_are_refused() {
        let json = r#"{"segmentEviction":"leastFrequentlyUsed","knowledgeEviction":"firstIn","knowledgeCapacity":7}"#;
        let config: Config = serde_json::from_str(json).expect("known fields");
        assert_eq!(config.segment_eviction, SegmentEviction::LeastFrequentlyUsed);
        assert_eq!(config.knowledge_eviction, KnowledgeEviction::FirstIn);
        assert_eq!(config.knowledge_capacity, 7);
        assert!(serde_json::from_str::<Config>(r#"{"knowledgeQueue":7}"#).is_err());
        assert!(Config { knowledge_capacity: 0, ..Config::default() }.check().is_err());
    }
}
