//! Promotion: which segments long-term analysis looks at next, and what it leaves behind (MemoryOS, 3.2.2).

use std::borrow::Cow;

use super::heat::heat;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::id::{PageId, SegmentId, Side};
use crate::model::{Analysed, Change, Cube, Profile, Record, RecordKey, RecordKind, Segment, Trait};
use crate::order::sort_by;
use crate::updating::traits::observe;

/// Versions of each side's profile that are kept beside history.
const PROFILE_VERSIONS_MAX: usize = 20;

/// A segment whose turn it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Promotion {
    /// The segment.
    pub segment: SegmentId,
    /// Its heat now.
    pub heat: f64,
    /// Its pages that analysis has not seen, in the order of arrival; never empty.
    pub pages: Vec<PageId>,
}

/// Every segment at or over tau that holds pages which analysis has not seen, hottest first, ties by age. One without such
/// pages is not in the way, however hot. Archived segments are analysed too if they are hot enough.
///
/// `with_visits` gives a segment with the visits that no commit has carried yet.
pub fn due(
    cube: &Cube,
    config: &Config,
    with_visits: &dyn for<'a> Fn(&'a Segment) -> Cow<'a, Segment>,
    now_ms: i64,
) -> Vec<Promotion> {
    let hot = cube.segments().map(|segment| (segment.id, heat(&with_visits(segment), config, now_ms).value));
    let hot = hot.filter(|(_, heat)| *heat >= config.heat_threshold);
    let mut due: Vec<_> = hot
        .map(|(segment, heat)| Promotion { segment, heat, pages: unseen(cube, segment) })
        .filter(|promotion| !promotion.pages.is_empty())
        .collect();
    sort_by(&mut due, |a, b| b.heat.total_cmp(&a.heat).then(a.segment.cmp(&b.segment)));
    due
}

/// The pages of a segment that analysis has not seen.
pub fn unseen(cube: &Cube, segment: SegmentId) -> Vec<PageId> {
    cube.members(segment).filter(|page| !cube.is_analysed(*page)).collect()
}

/// Notes that `pages` have been analysed: they are marked, and `l_interaction` of every segment that holds one counts only what
/// is left, 0 as a rule (MemoryOS: `L_interaction` is reset after the update). Pages that are gone by now are left out.
pub fn analysed(cube: &Cube, pages: &[PageId], now_ms: i64) -> Vec<Change> {
    let mut delta = Vec::new();
    for &page in pages.iter().filter(|page| cube.page(**page).is_some()) {
        delta.push(Change::Put(Record::Analysed(Analysed { page, at_ms: now_ms })));
    }
    for segment in cube.segments_of(pages).into_iter().filter_map(|id| cube.segment(id)) {
        let left = cube.members(segment.id).filter(|page| !cube.is_analysed(*page) && !pages.contains(page));
        let segment = Segment { l_interaction: left.count() as u32, ..segment.clone() };
        delta.push(Change::Put(Record::Segment(segment)));
    }
    delta
}

/// A new version of a profile text, to be passed through [`recorded`](super::history::recorded); `edited` says that the user wrote it. The same text as
/// now changes nothing.
///
/// # Errors
/// `INVALID_ARGUMENT` for a blank text: no failure may overwrite a profile.
pub fn write_profile(cube: &Cube, of: Side, text: &str, edited: bool, now_ms: i64) -> Result<Vec<Change>> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::invalid("the profile text is blank"));
    }
    if cube.profile(of).is_some_and(|known| known.text == text) {
        return Ok(Vec::new());
    }
    let version = cube.profiles().map(|profile| profile.version).max().unwrap_or(0) + 1;
    let profile = Profile { version, of, text: text.into(), edited, recorded_at_ms: now_ms };
    let mut delta = vec![Change::Put(Record::Profile(profile))];
    let known: Vec<_> = cube.profiles().filter(|profile| profile.of == of).map(|profile| profile.version).collect();
    let surplus = (known.len() + 1).saturating_sub(PROFILE_VERSIONS_MAX);
    let oldest = known.into_iter().take(surplus);
    delta.extend(oldest.map(|id| Change::Remove(RecordKey { kind: RecordKind::Profile, id })));
    Ok(delta)
}

/// The traits as they are after what was seen of them, to be passed through [`recorded`](super::history::recorded).
pub fn observe_traits(cube: &Cube, seen: &[Trait]) -> Vec<Change> {
    let known = |dimension: u8| cube.traits().find(|of| of.dimension == dimension);
    let observed = seen.iter().map(|of| (known(of.dimension), observe(known(of.dimension), of)));
    let changed = observed.filter(|(known, new)| *known != Some(new));
    changed.map(|(_, new)| Change::Put(Record::Trait(new))).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::id::SessionId;
    use crate::model::{Metadata, Page, Place};
    use crate::updating::mid_term::empty_segment;

    fn cube_of(segments: &[(u64, u32, u64)]) -> Cube {
        let mut cube = Cube::default();
        let mut next = 0;
        for &(id, n_visit, n_pages) in segments {
            let id = SegmentId::from_raw(id);
            let segment = Segment { n_visit, l_interaction: n_pages as u32, ..empty_segment(id, 0) };
            cube.apply(Change::Put(Record::Segment(segment)));
            for _ in 0..n_pages {
                next += 1;
                let page = Page {
                    id: PageId::from_raw(next),
                    client_id: None,
                    user_input: "x".into(),
                    agent_response: String::new(),
                    user_name: String::new(),
                    agent_name: String::new(),
                    time: None,
                    recorded_at_ms: 0,
                    session: SessionId::from_raw(1),
                    metadata: Metadata::new(),
                    position: next,
                };
                let place = Place { segments: vec![id], ..Place::short_term(page.id) };
                cube.apply(Change::Put(Record::Place(place)));
                cube.apply(Change::Put(Record::Page(page)));
            }
        }
        cube
    }

    fn due_now(cube: &Cube) -> Vec<(u64, usize)> {
        due(cube, &Config::default(), &|segment| Cow::Borrowed(segment), 0)
            .iter()
            .map(|of| (of.segment.raw(), of.pages.len()))
            .collect()
    }

    #[test]
    fn o07_every_hot_segment_with_unseen_pages_is_due_hottest_first() {
        // Heats: 3 + 1 + 1 = 5, 90 + 0 + 1, 4 + 6 + 1 = 11, 0 + 3 + 1 = 4.
        let mut cube = cube_of(&[(1, 3, 1), (2, 90, 0), (3, 4, 6), (4, 0, 3)]);
        assert_eq!(due_now(&cube), [(3, 6), (1, 1)]);
        let pages = unseen(&cube, SegmentId::from_raw(3));
        analysed(&cube, &pages[..4], 7).into_iter().for_each(|change| cube.apply(change));
        assert_eq!(cube.segment(SegmentId::from_raw(3)).unwrap().l_interaction, 2);
        assert_eq!(due_now(&cube), [(3, 2), (1, 1)]);
        analysed(&cube, &pages, 8).into_iter().for_each(|change| cube.apply(change));
        assert_eq!(cube.segment(SegmentId::from_raw(3)).unwrap().l_interaction, 0);
        assert_eq!(due_now(&cube), [(1, 1)]);
        assert_eq!(analysed(&cube, &[PageId::from_raw(99)], 9), []);
    }

    #[test]
    fn o09_profiles_are_versions_and_nothing_blank_overwrites_one() {
        let mut cube = Cube::default();
        let write = |cube: &mut Cube, of, text: &str| {
            let delta = write_profile(cube, of, text, false, 5)?;
            let n = delta.len();
            delta.into_iter().for_each(|change| cube.apply(change));
            Ok::<_, Error>(n)
        };
        assert!(write(&mut cube, Side::User, "  ").is_err());
        for n in 0..30 {
            write(&mut cube, Side::User, &format!("text {n}")).unwrap();
            write(&mut cube, Side::Agent, "patient").unwrap();
        }
        assert_eq!(write(&mut cube, Side::User, " text 29 ").unwrap(), 0);
        assert_eq!(cube.profile(Side::User).unwrap().text, "text 29");
        assert_eq!(cube.profile(Side::Agent).unwrap().text, "patient");
        assert_eq!(cube.profiles().filter(|profile| profile.of == Side::User).count(), PROFILE_VERSIONS_MAX);
    }
}
