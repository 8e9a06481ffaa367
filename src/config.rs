//! Every tunable of the engine, with unit, range and source.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Parameters of one memory. Names are the papers'; ranges are checked when a memory opens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
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
            session_gap_minutes: 60,
            seal_threshold_bytes: 256 * 1024,
        }
    }
}

impl Config {
    /// Names of the parameters, as JavaScript has them.
    pub const NAMES: [&str; 11] = [
        "shortTermCapacity",
        "consolidationBatch",
        "midTermCapacity",
        "similarityThreshold",
        "heatThreshold",
        "heatAlpha",
        "heatBeta",
        "heatGamma",
        "heatTimeConstantHours",
        "sessionGapMinutes",
        "sealThresholdBytes",
    ];

    /// The values of the MemoryOS paper (section 4.1): 7 pages, 200 segments, theta 0.6, tau 5, mu 1e7 s.
    pub fn paper() -> Self {
        Self {
            short_term_capacity: 7,
            mid_term_capacity: 200,
            heat_time_constant_hours: 1e7 / 3600.0,
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
        within("sessionGapMinutes", self.session_gap_minutes, 1, 100_000)?;
        within("sealThresholdBytes", self.seal_threshold_bytes, 4_096, 1 << 30)
    }
}

/// Longest user or assistant id, in bytes of UTF-8.
pub const SCOPE_ID_MAX_BYTES: usize = 1_024;
/// Keywords kept for a page and for a segment.
pub const KEYWORDS_PER_SEGMENT: usize = 12;
/// Most characters of an extractive summary.
pub const SUMMARY_MAX_CHARS: usize = 400;
/// Most pages of one segment; a longer topic goes on in a new segment, so that rewriting a segment stays bounded.
pub const SEGMENT_MAX_PAGES: usize = 64;
/// Texts that one embedding job carries.
pub const EMBED_BATCH_PAGES: usize = 32;
/// First delay before a failed job is tried again; it doubles with each attempt.
pub const RETRY_FIRST_MS: i64 = 2_000;
/// Attempts after which a job is set aside and shown as failed.
pub const RETRY_ATTEMPTS: u32 = 6;
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
}
