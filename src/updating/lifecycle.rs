//! Archiving cold segments.

use crate::config::Config;
use crate::id::SegmentId;
use crate::model::{Cube, Segment};
use crate::order::sort_by;
use crate::updating::heat::heat;

/// The segments to archive so that at most `mid_term_capacity` stay active: coldest first, ties by age.
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
    let rank = |segment: &Segment| (segment.l_interaction > 0, heat(segment, config, now_ms).value, segment.id);
    sort_by(&mut active, |a, b| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
    });
    active.into_iter().take(surplus).map(|segment| segment.id).collect()
}
