//! Archiving cold segments.

use crate::config::{Config, SegmentEviction};
use crate::id::SegmentId;
use crate::model::{Cube, Segment};
use crate::order::sort_by;
use crate::updating::heat::heat;

/// The segments to archive so that at most `mid_term_capacity` stay active: coldest first, or least often retrieved first
/// (`segment_eviction`), ties by heat and then by age.
///
/// `touched` are segments as they will be after the commit in preparation. A segment with pages that long-term analysis has
/// not seen stays while any other can go.
///
/// Deviation: the paper drops the segment; archived memory keeps its text and is found by an explicit search. And where every
/// segment holds unseen pages, the coldest goes all the same, because nothing is lost by it: analysis still finds it.
pub fn to_archive(cube: &Cube, touched: &[&Segment], config: &Config, now_ms: i64) -> Vec<SegmentId> {
    let untouched = cube.segments().filter(|segment| touched.iter().all(|other| other.id != segment.id));
    let mut active: Vec<_> = untouched.chain(touched.iter().copied()).filter(|segment| !segment.archived).collect();
    let surplus = active.len().saturating_sub(config.mid_term_capacity);
    let rank = |segment: &Segment| {
        let n_visit = match config.segment_eviction {
            SegmentEviction::LowestHeat => 0,
            SegmentEviction::LeastFrequentlyUsed => segment.n_visit,
        };
        (segment.l_interaction > 0, n_visit, heat(segment, config, now_ms).value, segment.id)
    };
    sort_by(&mut active, |a, b| {
        let (a, b) = (rank(a), rank(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)).then(a.3.cmp(&b.3))
    });
    active.into_iter().take(surplus).map(|segment| segment.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Change, Record};
    use crate::time::HOUR_MS;
    use crate::updating::mid_term::empty_segment;

    fn evicted(config: &Config) -> Option<u64> {
        let mut cube = Cube::default();
        // (id, n_visit, l_interaction, idle hours)
        for (id, n_visit, l_interaction, idle) in [(1, 3, 0, 90), (2, 2, 0, 0), (3, 0, 1, 900)] {
            let last_access_ms = (1_000 - idle) * HOUR_MS;
            let segment = empty_segment(SegmentId::from_raw(id), last_access_ms);
            cube.apply(Change::Put(Record::Segment(Segment { n_visit, l_interaction, ..segment })));
        }
        to_archive(&cube, &[], config, 1_000 * HOUR_MS).first().map(|id| id.raw())
    }

    #[test]
    fn o08_lowest_heat_and_lfu_are_selectable_and_unseen_pages_stay() {
        // Heats with twice the recency: 3.05, 4, 1.
        let config = Config { mid_term_capacity: 2, heat_gamma: 2.0, ..Config::default() };
        assert_eq!(evicted(&config), Some(1));
        let lfu = SegmentEviction::LeastFrequentlyUsed;
        assert_eq!(evicted(&Config { segment_eviction: lfu, ..config }), Some(2));
    }
}
