//! Heat of a segment (MemoryOS, 3.2.2, equation 4).

use crate::config::Config;
use crate::model::Segment;
use crate::time::Timestamp;

/// The heat of a segment with its terms, as of one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heat {
    /// alpha * N_visit + beta * L_interaction + gamma * R_recency.
    pub value: f64,
    /// N_visit.
    pub n_visit: u32,
    /// L_interaction.
    pub l_interaction: u32,
    /// R_recency = exp(-dt / mu), 0 to 1.
    pub r_recency: f64,
}

/// Heat at `now_ms`. It is computed when it is read, so a segment cools by itself.
///
/// Deviation: mu defaults to 24 hours where the paper has 1e7 seconds, because a recency of 116 days tells nothing apart
/// within a user's week; [`Config::paper`] has the paper's. A clock that was set back counts as no time passed.
pub fn heat(segment: &Segment, config: &Config, now_ms: i64) -> Heat {
    let idle_hours = Timestamp::utc(now_ms).hours_since(Timestamp::utc(segment.last_access_ms));
    let r_recency = (-idle_hours / config.heat_time_constant_hours).exp();
    let value = config.heat_alpha * f64::from(segment.n_visit)
        + config.heat_beta * f64::from(segment.l_interaction)
        + config.heat_gamma * r_recency;
    Heat { value, n_visit: segment.n_visit, l_interaction: segment.l_interaction, r_recency }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SegmentId;
    use crate::time::HOUR_MS;

    fn segment(n_visit: u32, l_interaction: u32, last_access_ms: i64) -> Segment {
        Segment {
            id: SegmentId::from_raw(1),
            title: String::new(),
            keywords: vec![],
            summary: String::new(),
            space: None,
            centroid: vec![],
            n_visit,
            l_interaction,
            last_access_ms,
            start: None,
            end: None,
            archived: false,
        }
    }

    #[test]
    fn o06_heat_equals_the_formula_and_cools_by_itself() {
        let config = Config { heat_alpha: 2.0, heat_beta: 0.5, heat_gamma: 3.0, ..Config::default() };
        let at = |hours: i64| heat(&segment(2, 4, 0), &config, hours * HOUR_MS).value;
        assert!((at(0) - 9.0).abs() < 1e-12);
        assert!((at(24) - (6.0 + 3.0 / core::f64::consts::E)).abs() < 1e-12);
        assert!(at(24_000) < 6.0 + 1e-9);
    }

    #[test]
    fn the_papers_time_constant_is_ten_million_seconds() {
        let cold = heat(&segment(0, 0, 0), &Config::paper(), 10_000_000_000);
        assert!((cold.r_recency - (-1.0_f64).exp()).abs() < 1e-9);
    }

    #[test]
    fn case_27_a_clock_set_back_never_lifts_heat_over_its_bound() {
        let later = segment(1, 1, 5 * HOUR_MS);
        assert_eq!(heat(&later, &Config::default(), -HOUR_MS).value, 3.0);
    }
}
