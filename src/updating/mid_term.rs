//! Mid-term memory: placing pages into segments (MemoryOS, 3.2.2).

use litemap::LiteMap;

use crate::config::{Config, SEGMENT_MAX_PAGES};
use crate::id::{IdSource, PageId, SegmentId, SessionId};
use crate::model::{Cube, Place, Segment, Space};
use crate::time::Timestamp;

/// Share of the threshold that the segment of the page before needs, 0 to 1.
const CONTINUED_SHARE: f32 = 0.1;
/// Pages' worth of doubt about the common direction.
const COMMON_PRIOR: usize = 60;

/// What placing needs to know of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageFeatures {
    /// The page.
    pub id: PageId,
    /// Unit vector of the page; `None` if it has none.
    pub vector: Option<Vec<f32>>,
    /// K_p: its keywords.
    pub keywords: Vec<String>,
    /// Its session.
    pub session: SessionId,
    /// When it was said, or stored.
    pub said: Timestamp,
}

/// Pages placed and segments touched. Keywords and summary of a touched segment are still to be derived from its pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// New places.
    pub places: Vec<Place>,
    /// Touched segments, with counts, centroid, keywords of the new pages and times brought up to date.
    pub segments: LiteMap<SegmentId, Segment>,
}

/// `f_score = cos(e_segment, e_page) + Jaccard(K_segment, K_page)`, 0 to 2 (MemoryOS, equation 3).
///
/// `common` is what all pages share, subtracted from both sides before the cosine; empty for the paper's plain cosine. A page
/// or a segment without a vector contributes no cosine; a negative cosine counts as none.
pub fn f_score(segment: &Segment, page: &PageFeatures, common: &[f32], n_pages: usize) -> f32 {
    let cosine = match &page.vector {
        Some(vector) if vector.len() == segment.centroid.len() && n_pages > 0 => {
            let shared = |at: usize| common.get(at).copied().unwrap_or(0.0);
            let (mut dot, mut page_norm, mut segment_norm) = (0.0_f32, 0.0_f32, 0.0_f32);
            for (at, (x, sum)) in vector.iter().zip(&segment.centroid).enumerate() {
                let (x, y) = (x - shared(at), sum / n_pages as f32 - shared(at));
                dot += x * y;
                page_norm += x * x;
                segment_norm += y * y;
            }
            let norm = (page_norm * segment_norm).sqrt();
            if norm > 0.0 { (dot / norm).clamp(0.0, 1.0) } else { 0.0 }
        }
        _ => 0.0,
    };
    cosine + jaccard(&segment.keywords, &page.keywords)
}

/// What the vectors of all pages have in common: their mean, drawn towards zero while there are few.
fn common_direction(cube: &Cube, space: Option<&Space>, pages: &[PageFeatures]) -> Vec<f32> {
    let Some(space) = space else { return Vec::new() };
    let mut sum = vec![0.0; space.dimensions as usize];
    let mut n_pages = 0;
    let segments = cube.segments().filter(|segment| segment.space.as_ref() == Some(space));
    let of_segments = segments.map(|segment| (segment.centroid.as_slice(), cube.n_members(segment.id)));
    let of_pages = pages.iter().filter_map(|page| page.vector.as_deref()).map(|vector| (vector, 1));
    for (vector, n) in of_segments.chain(of_pages) {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
        n_pages += n;
    }
    sum.iter_mut().for_each(|x| *x /= (n_pages + COMMON_PRIOR) as f32);
    sum
}

/// Both lists hold each word once, in any case.
fn jaccard(a: &[String], b: &[String]) -> f32 {
    let shared = a.iter().filter(|word| b.iter().any(|other| is_same_word(word, other))).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f32 / all as f32 }
}

fn is_same_word(a: &str, b: &str) -> bool {
    a == b || a.chars().flat_map(char::to_lowercase).eq(b.chars().flat_map(char::to_lowercase))
}

/// Places pages, oldest first, each into the active segment whose `f_score` exceeds what it needs by most, else into a new
/// one. A segment needs `similarity_threshold`; that of the page before in the same session needs a tenth of it, because
/// what follows at once is usually about the same thing.
///
/// Deviation: the paper asks a model whether a page continues the one before; without a model, session and similarity say
/// it. And cosines are taken without the direction that all pages share: with it, a static table's vectors put half of a
/// conversation into one segment (LoCoMo conv-26: 205 pages in 10 segments, the largest of 60; without it 29 and 21).
pub fn place(
    cube: &Cube,
    config: &Config,
    space: Option<&Space>,
    pages: &[PageFeatures],
    ids: &mut IdSource,
    now_ms: i64,
) -> Placement {
    let mut placement = Placement::default();
    let common = common_direction(cube, space, pages);
    let mut sizes: LiteMap<SegmentId, usize> = LiteMap::new();
    let mut before = pages.first().and_then(|first| page_before(cube, first.id));
    for page in pages {
        let continued =
            before.as_ref().filter(|(_, session, _)| *session == page.session).map(|&(_, _, segment)| segment);
        let active =
            cube.segments().filter(|segment| !segment.archived && !placement.segments.contains_key(&segment.id));
        let best = active
            .chain(placement.segments.values())
            .filter(|segment| comparable(segment, space))
            .filter(|segment| {
                sizes.get(&segment.id).copied().unwrap_or_else(|| cube.n_members(segment.id)) < SEGMENT_MAX_PAGES
            })
            .map(|segment| {
                let n_pages = sizes.get(&segment.id).copied().unwrap_or_else(|| cube.n_members(segment.id));
                let score = f_score(segment, page, &common, n_pages);
                let share = if continued == Some(segment.id) { CONTINUED_SHARE } else { 1.0 };
                let needed = config.similarity_threshold * share;
                (score - needed, segment.id)
            })
            .filter(|&(margin, _)| margin >= 0.0)
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
            .map(|(_, id)| id);
        let id = best.unwrap_or_else(|| SegmentId::from_raw(ids.next_raw()));
        let segment = placement
            .segments
            .entry(id)
            .or_insert_with(|| cube.segment(id).cloned().unwrap_or_else(|| empty_segment(id, now_ms)));
        join(segment, page, space, now_ms);
        *sizes.entry(id).or_insert_with(|| cube.n_members(id)) += 1;
        // The dialogue chain runs through pages that follow each other in one segment and session.
        let pre =
            before.filter(|&(_, session, segment)| session == page.session && segment == id).map(|(page, _, _)| page);
        if let Some(pre) = pre {
            let known = placement.places.iter_mut().find(|place| place.page == pre);
            match known {
                Some(place) => place.next = Some(page.id),
                None => {
                    placement.places.extend(cube.place(pre).map(|place| Place { next: Some(page.id), ..place.clone() }))
                }
            }
        }
        placement.places.push(Place { page: page.id, segments: vec![id], pre, next: None });
        before = Some((page.id, page.session, id));
    }
    placement
}

/// The page that arrived before `id`, if it has been placed, with its session and segment.
fn page_before(cube: &Cube, id: PageId) -> Option<(PageId, SessionId, SegmentId)> {
    let position = cube.page(id)?.position;
    let before = cube.pages().rev().find(|page| page.position < position)?;
    let segment = *cube.place(before.id)?.segments.first()?;
    Some((before.id, before.session, segment))
}

/// Derives the centroid anew from the vectors of the segment's pages, in the space they lie in.
pub fn recentre(segment: &mut Segment, space: Option<&Space>, vectors: impl Iterator<Item = Vec<f32>>) {
    segment.space = space.cloned();
    segment.centroid = vec![0.0; space.map_or(0, |space| space.dimensions as usize)];
    for vector in vectors {
        segment.centroid.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
    }
}

/// Whether a segment's centroid lies in the present space, or has none yet.
fn comparable(segment: &Segment, space: Option<&Space>) -> bool {
    segment.space.is_none() || segment.space.as_ref() == space
}

pub(super) fn empty_segment(id: SegmentId, now_ms: i64) -> Segment {
    Segment {
        id,
        keywords: Vec::new(),
        summary: String::new(),
        space: None,
        centroid: Vec::new(),
        n_visit: 0,
        l_interaction: 0,
        last_access_ms: now_ms,
        start: None,
        end: None,
        archived: false,
        enriched: false,
    }
}

/// Lets a segment follow a page that joins it.
fn join(segment: &mut Segment, page: &PageFeatures, space: Option<&Space>, now_ms: i64) {
    if let (Some(vector), Some(space)) = (&page.vector, space) {
        if segment.space.is_none() {
            segment.space = Some(space.clone());
            segment.centroid = vec![0.0; vector.len()];
        }
        for (sum, x) in segment.centroid.iter_mut().zip(vector) {
            *sum += x;
        }
    }
    for keyword in &page.keywords {
        if !segment.keywords.iter().any(|known| is_same_word(known, keyword)) {
            segment.keywords.push(keyword.clone());
        }
    }
    segment.l_interaction += 1;
    segment.last_access_ms = segment.last_access_ms.max(now_ms);
    segment.start = Some(segment.start.map_or(page.said, |start| start.min(page.said)));
    segment.end = Some(segment.end.map_or(page.said, |end| end.max(page.said)));
    segment.enriched = false;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Change, Metadata, Page, Record};

    fn space() -> Space {
        Space { model: "test".into(), dimensions: 2 }
    }

    fn page(id: u64, session: u64, vector: [f32; 2], keywords: &[&str]) -> PageFeatures {
        PageFeatures {
            id: PageId::from_raw(id),
            vector: Some(vector.to_vec()),
            keywords: keywords.iter().map(|&word| word.into()).collect(),
            session: SessionId::from_raw(session),
            said: Timestamp::utc(id as i64),
        }
    }

    fn stored(cube: &mut Cube, features: &PageFeatures) {
        let page = Page {
            id: features.id,
            client_id: None,
            user_input: "x".into(),
            agent_response: String::new(),
            user_name: String::new(),
            agent_name: String::new(),
            time: None,
            recorded_at_ms: 0,
            session: features.session,
            metadata: Metadata::new(),
            position: features.id.raw(),
        };
        cube.apply(Change::Put(Record::Page(page)));
        cube.apply(Change::Put(Record::Place(Place { page: features.id, segments: vec![], pre: None, next: None })));
    }

    #[test]
    fn o05_f_score_is_cosine_plus_jaccard() {
        let mut segment = empty_segment(SegmentId::from_raw(1), 0);
        join(&mut segment, &page(1, 1, [1.0, 0.0], &["Tea", "Lisbon"]), Some(&space()), 0);
        join(&mut segment, &page(2, 1, [0.0, 1.0], &["river"]), Some(&space()), 0);
        let score = f_score(&segment, &page(3, 1, [1.0, 0.0], &["tea", "music"]), &[], 2);
        assert!((score - (core::f32::consts::FRAC_1_SQRT_2 + 0.25)).abs() < 1e-6, "{score}");
        assert_eq!(f_score(&segment, &PageFeatures { vector: None, ..page(3, 1, [0.0, 0.0], &[]) }, &[], 2), 0.0);
    }

    #[test]
    fn o05_segments_follow_their_pages_and_chains_link_neighbours() {
        let mut cube = Cube::default();
        let mut ids = IdSource::new(9);
        let pages = [
            page(1, 1, [1.0, 0.0], &["tea"]),
            page(2, 1, [0.9, 0.43589], &["tea", "cup"]),
            page(3, 1, [-0.28, 0.96], &["hiking"]),
            page(4, 2, [0.95, 0.31225], &["tea"]),
        ];
        for page in &pages {
            stored(&mut cube, page);
        }
        let placed = place(&cube, &Config::default(), Some(&space()), &pages, &mut ids, 50);
        let segments: Vec<_> = placed.places.iter().map(|place| place.segments[0]).collect();
        assert_eq!(segments[0], segments[1]);
        assert_ne!(segments[0], segments[2]);
        assert_eq!(segments[0], segments[3]);
        assert_eq!(placed.places[0].next, Some(pages[1].id));
        assert_eq!(placed.places[1].pre, Some(pages[0].id));
        assert_eq!(placed.places[3].pre, None);
        let tea = &placed.segments[&segments[0]];
        assert_eq!((tea.l_interaction, tea.last_access_ms), (3, 50));
        assert_eq!(tea.keywords, ["tea", "cup"]);
        assert!((tea.centroid[0] - 2.85).abs() < 1e-6);
        assert_eq!(tea.end, Some(Timestamp::utc(4)));
    }

    #[test]
    fn a_segment_of_another_space_is_never_compared() {
        let mut cube = Cube::default();
        let mut old = empty_segment(SegmentId::from_raw(77), 0);
        join(&mut old, &page(8, 1, [1.0, 0.0], &["tea"]), Some(&Space { model: "other".into(), dimensions: 2 }), 0);
        cube.apply(Change::Put(Record::Segment(old)));
        let new = page(9, 1, [1.0, 0.0], &["tea"]);
        stored(&mut cube, &new);
        let placed = place(&cube, &Config::default(), Some(&space()), &[new], &mut IdSource::new(9), 0);
        assert!(!placed.segments.contains_key(&SegmentId::from_raw(77)));
    }
}
