//! Mid-term memory: placing pages into segments (MemoryOS, 3.2.2).

use litemap::LiteMap;

use crate::config::{Config, KEYWORDS_PER_SEGMENT, SEGMENT_MAX_PAGES, SEGMENT_SUMMARY_MAX_CHARS};
use crate::id::{IdSource, PageId, SegmentId, SessionId};
use crate::model::{Cube, Link, Place, Segment, SegmentDraft, Space};
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

/// Pages placed and segments touched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// New and changed places.
    pub places: Vec<Place>,
    /// Touched segments, with counts, centroid, keywords of the new pages and times brought up to date.
    pub segments: LiteMap<SegmentId, Segment>,
    /// Those whose keywords and summary are still to be derived from their pages.
    pub by_rules: Vec<SegmentId>,
    /// Segments whose every page was filed elsewhere.
    pub emptied: Vec<SegmentId>,
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

/// Places the pages of a batch: as a model drafted it, and by rules where none did.
pub struct Placer<'a> {
    cube: &'a Cube,
    config: &'a Config,
    space: Option<&'a Space>,
    now_ms: i64,
    pages: &'a [PageFeatures],
    common: Vec<f32>,
    sizes: LiteMap<SegmentId, usize>,
    /// Whether pages are filed anew; a theme then joins no segment that rules alone have filled.
    anew: bool,
    placement: Placement,
}

impl<'a> Placer<'a> {
    /// Begins with the present state. `pages` are those to be placed, oldest first.
    pub fn new(
        cube: &'a Cube,
        config: &'a Config,
        space: Option<&'a Space>,
        pages: &'a [PageFeatures],
        now_ms: i64,
    ) -> Self {
        let common = common_direction(cube, space, pages);
        let sizes = LiteMap::new();
        Self { cube, config, space, now_ms, pages, common, sizes, anew: false, placement: Placement::default() }
    }

    /// Takes the pages out of the segments that hold them, to be filed anew. `vector` gives the vector of a page that stays.
    pub fn lift(&mut self, vector: &dyn Fn(PageId) -> Option<Vec<f32>>) {
        self.anew = true;
        let lifted: Vec<PageId> = self.pages.iter().map(|page| page.id).collect();
        for segment in self.cube.segments_of(&lifted).into_iter().filter_map(|id| self.cube.segment(id)) {
            let left: Vec<PageId> = self.cube.members(segment.id).filter(|page| !lifted.contains(page)).collect();
            self.sizes.insert(segment.id, left.len());
            if left.is_empty() {
                self.placement.emptied.push(segment.id);
                continue;
            }
            let mut rest = without(self.cube, segment, &lifted, self.space, vector);
            // Keywords that a page brought along go with it, unless the model wrote of them.
            let text = [rest.title.as_str(), &rest.summary].join(" ").to_lowercase();
            let brought =
                |word: &String| self.pages.iter().any(|page| page.keywords.iter().any(|of| is_same_word(of, word)));
            rest.keywords.retain(|word| !brought(word) || text.contains(&word.to_lowercase()));
            self.placement.segments.insert(segment.id, rest);
            self.placement.by_rules.push(segment.id);
        }
    }

    /// Places a page that no draft names; `seen` says whether a model saw it all the same. It goes into the active segment whose
    /// `f_score` exceeds what it needs by most, else into a new one. A segment needs `similarity_threshold`; that of the page
    /// before in the same session needs a tenth of it, because what follows at once is usually about the same thing.
    ///
    /// Deviation: the paper asks a model whether a page continues the one before; without a model, session and similarity say
    /// it. And cosines are taken without the direction that all pages share: with it, a static table's vectors put half of a
    /// conversation into one segment (LoCoMo conv-26: 205 pages in 10 segments, the largest of 60; without it 29 and 21).
    pub fn by_rules(&mut self, page: &PageFeatures, seen: bool, ids: &mut IdSource) {
        let before = self.page_before(page.id);
        let continued =
            before.as_ref().filter(|(_, session, _)| *session == page.session).map(|&(_, _, segment)| segment);
        let share = |id: SegmentId| if continued == Some(id) { CONTINUED_SHARE } else { 1.0 };
        let id = self.best(page, 1, &[], &share).unwrap_or_else(|| SegmentId::from_raw(ids.next_raw()));
        self.join(id, page);
        for keyword in &page.keywords {
            add_keyword(&mut self.segment(id).keywords, keyword);
        }
        if !self.placement.by_rules.contains(&id) {
            self.placement.by_rules.push(id);
        }
        let place = self.place(page.id);
        (place.segments, place.drafted) = (vec![id], seen);
        // The dialogue chain runs through pages that follow each other in one segment and session.
        let pre =
            before.filter(|&(_, session, segment)| session == page.session && segment == id).map(|(page, _, _)| page);
        if let Some(pre) = pre {
            self.place(page.id).pre = Some(pre);
            self.place(pre).next = Some(page.id);
        }
    }

    /// Places the pages of a draft: into the segment that it continues, if that can take them, else into the active one of the
    /// highest `f_score` that reaches `similarity_threshold`, else into a new one. `offered` are the segments that the model
    /// was shown and did not choose.
    pub fn as_drafted(&mut self, draft: &SegmentDraft, offered: &[SegmentId], ids: &mut IdSource) {
        let all = self.pages;
        let pages: Vec<&PageFeatures> = all.iter().filter(|page| draft.pages.contains(&page.id)).collect();
        let Some(first) = pages.first() else { return };
        let chosen = draft.continues.filter(|&id| self.takes(id, pages.len()));
        let id = chosen.or_else(|| {
            let theme = PageFeatures {
                vector: sum(pages.iter().filter_map(|page| page.vector.as_deref())),
                keywords: draft.keywords.clone(),
                ..(*first).clone()
            };
            let not_drafted = |id: &SegmentId| self.anew && !self.is_drafted(*id);
            let ruled_out = self.cube.segments().map(|segment| segment.id).filter(not_drafted);
            let but: Vec<SegmentId> = offered.iter().copied().chain(ruled_out).collect();
            self.best(&theme, pages.len(), &but, &|_| 1.0)
        });
        let id = id.unwrap_or_else(|| SegmentId::from_raw(ids.next_raw()));
        for page in pages {
            let place = self.place(page.id);
            if !place.drafted {
                place.segments.clear();
            }
            if place.segments.contains(&id) {
                continue;
            }
            place.segments.push(id);
            place.drafted = true;
            self.join(id, page);
        }
        // A segment that only this batch fills is described anew with it; it need not be described by rules.
        describe(self.segment(id), draft);
    }

    /// Enters the links of dialogue chains.
    pub fn link(&mut self, links: &[Link]) {
        for link in links {
            let pre = link.continues.filter(|&pre| self.cube.page(pre).is_some());
            let place = self.place(link.page);
            let until_now = core::mem::replace(&mut place.pre, pre);
            place.meta_info.clone_from(&link.meta_info);
            if let Some(old) = until_now.filter(|old| Some(*old) != pre) {
                let old = self.place(old);
                old.next = old.next.filter(|next| *next != link.page);
            }
            if let Some(pre) = pre {
                self.place(pre).next = Some(link.page);
            }
        }
    }

    /// The outcome.
    pub fn finish(mut self) -> Placement {
        // Pages of the batch are known; neighbours that are gone are no neighbours.
        let cube = self.cube;
        self.placement.places.retain(|place| cube.page(place.page).is_some());
        self.placement
    }

    /// The active segment that takes `n` pages and exceeds by most what it needs, if one does.
    fn best(
        &self,
        page: &PageFeatures,
        n: usize,
        but: &[SegmentId],
        share: &dyn Fn(SegmentId) -> f32,
    ) -> Option<SegmentId> {
        let mut best: Option<(f32, SegmentId)> = None;
        let stored = self.cube.segments().filter(|segment| !self.placement.segments.contains_key(&segment.id));
        for segment in stored.chain(self.placement.segments.values()) {
            if but.contains(&segment.id) || !self.takes(segment.id, n) {
                continue;
            }
            let score = f_score(segment, page, &self.common, self.size(segment.id));
            let margin = score - self.config.similarity_threshold * share(segment.id);
            // Of equals the older one.
            if margin >= 0.0 && best.is_none_or(|(most, id)| margin > most || (margin == most && segment.id < id)) {
                best = Some((margin, segment.id));
            }
        }
        best.map(|(_, id)| id)
    }

    /// Whether a segment is there, active, of the present space, and has room for `n` more pages.
    fn takes(&self, id: SegmentId, n: usize) -> bool {
        let segment = self.placement.segments.get(&id).or_else(|| self.cube.segment(id));
        !self.placement.emptied.contains(&id)
            && self.size(id) + n <= SEGMENT_MAX_PAGES
            && segment.is_some_and(|segment| !segment.archived && comparable(segment, self.space))
    }

    /// Whether a model has filed a page of a stored segment.
    fn is_drafted(&self, id: SegmentId) -> bool {
        let is_drafted = |page: PageId| self.cube.place(page).is_some_and(|place| place.drafted);
        self.cube.members(id).any(is_drafted)
            || self.placement.places.iter().any(|place| place.drafted && place.segments.contains(&id))
    }

    fn size(&self, id: SegmentId) -> usize {
        self.sizes.get(&id).copied().unwrap_or_else(|| self.cube.n_members(id))
    }

    fn segment(&mut self, id: SegmentId) -> &mut Segment {
        let (cube, now_ms) = (self.cube, self.now_ms);
        let begin = || cube.segment(id).cloned().unwrap_or_else(|| empty_segment(id, now_ms));
        self.placement.segments.entry(id).or_insert_with(begin)
    }

    fn join(&mut self, id: SegmentId, page: &PageFeatures) {
        let (space, now_ms, size) = (self.space, self.now_ms, self.size(id));
        let unseen = !self.cube.is_analysed(page.id);
        join(self.segment(id), page, unseen, space, now_ms);
        self.sizes.insert(id, size + 1);
    }

    /// The place of a page as it will be. One that is about to be filed has none of its old segments.
    fn place(&mut self, page: PageId) -> &mut Place {
        let places = &mut self.placement.places;
        let at = places.iter().position(|place| place.page == page).unwrap_or_else(|| {
            let mut place = self.cube.place(page).cloned().unwrap_or_else(|| Place::short_term(page));
            if self.pages.iter().any(|of| of.id == page) {
                place.segments.clear();
                place.drafted = false;
            }
            places.push(place);
            places.len() - 1
        });
        &mut places[at]
    }

    /// The page that arrived before `id`, if it has been placed, with its session and segment.
    fn page_before(&self, id: PageId) -> Option<(PageId, SessionId, SegmentId)> {
        let position = self.cube.page(id)?.position;
        let before = self.cube.page_before(position)?;
        let placed = self.placement.places.iter().find(|place| place.page == before.id);
        let place = placed.or_else(|| self.cube.place(before.id))?;
        let segment = *place.segments.first()?;
        Some((before.id, before.session, segment))
    }
}

/// The segment with centroid, counts and times of the pages that are left when some go.
pub fn without(
    cube: &Cube,
    segment: &Segment,
    gone: &[PageId],
    space: Option<&Space>,
    vector: &dyn Fn(PageId) -> Option<Vec<f32>>,
) -> Segment {
    let mut segment = segment.clone();
    let left: Vec<PageId> = cube.members(segment.id).filter(|page| !gone.contains(page)).collect();
    // Pages that analysis has seen do not count.
    let n_gone = cube.members(segment.id).filter(|page| gone.contains(page) && !cube.is_analysed(*page)).count();
    segment.l_interaction = segment.l_interaction.saturating_sub(n_gone as u32);
    recentre(&mut segment, space, left.iter().filter_map(|&page| vector(page)));
    let said = || left.iter().filter_map(|&page| cube.page(page)).map(|page| page.time_or_recorded());
    (segment.start, segment.end) = (said().min(), said().max());
    segment
}

/// The sum of vectors; `None` without any.
pub fn sum<'a>(mut vectors: impl Iterator<Item = &'a [f32]>) -> Option<Vec<f32>> {
    let mut sum = vectors.next()?.to_vec();
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
    }
    Some(sum)
}

/// Lets title, summary and keywords follow what a model says of pages that joined.
fn describe(segment: &mut Segment, draft: &SegmentDraft) {
    // A title says that a model has seen the segment, so there is one.
    if segment.title.is_empty() {
        let first = || sentences(&draft.summary).first().map(|&text| text.to_owned()).unwrap_or_default();
        segment.title = if draft.title.is_empty() { first() } else { draft.title.clone() };
    }
    segment.summary = joined_summary(&segment.summary, &draft.summary);
    let mut keywords = draft.keywords.clone();
    for keyword in &segment.keywords {
        add_keyword(&mut keywords, keyword);
    }
    keywords.truncate(KEYWORDS_PER_SEGMENT);
    segment.keywords = keywords;
}

/// Two summaries as one. Of a longer one than [`SEGMENT_SUMMARY_MAX_CHARS`] the first sentence and the latest stay.
fn joined_summary(old: &str, new: &str) -> String {
    let (old, new) = (old.trim(), new.trim());
    if old.is_empty() || new.is_empty() || old == new {
        return if new.is_empty() { old } else { new }.into();
    }
    let mut sentences: Vec<&str> = [old, new].into_iter().flat_map(sentences).collect();
    let length = |sentences: &[&str]| sentences.iter().map(|text| text.chars().count() + 1).sum::<usize>();
    while sentences.len() > 2 && length(&sentences) > SEGMENT_SUMMARY_MAX_CHARS {
        sentences.remove(1);
    }
    sentences.join(" ").chars().take(SEGMENT_SUMMARY_MAX_CHARS).collect()
}

fn sentences(text: &str) -> Vec<&str> {
    crate::text::atoms(text).into_iter().filter_map(|range| text.get(range)).map(str::trim).collect()
}

fn add_keyword(keywords: &mut Vec<String>, word: &str) {
    if !keywords.iter().any(|known| is_same_word(known, word)) {
        keywords.push(word.into());
    }
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
        title: String::new(),
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
    }
}

/// Counts a page that joins a segment: centroid, times, and L_interaction if long-term analysis has not seen it.
fn join(segment: &mut Segment, page: &PageFeatures, unseen: bool, space: Option<&Space>, now_ms: i64) {
    if let (Some(vector), Some(space)) = (&page.vector, space) {
        if segment.space.is_none() {
            segment.space = Some(space.clone());
            segment.centroid = vec![0.0; vector.len()];
        }
        for (sum, x) in segment.centroid.iter_mut().zip(vector) {
            *sum += x;
        }
    }
    segment.l_interaction += u32::from(unseen);
    segment.last_access_ms = segment.last_access_ms.max(now_ms);
    segment.start = Some(segment.start.map_or(page.said, |start| start.min(page.said)));
    segment.end = Some(segment.end.map_or(page.said, |end| end.max(page.said)));
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
        cube.apply(Change::Put(Record::Place(Place::short_term(features.id))));
    }

    fn place(cube: &Cube, pages: &[PageFeatures], now_ms: i64) -> Placement {
        let (config, space) = (Config::default(), space());
        let mut placer = Placer::new(cube, &config, Some(&space), pages, now_ms);
        let mut ids = IdSource::new(9);
        pages.iter().for_each(|page| placer.by_rules(page, false, &mut ids));
        placer.finish()
    }

    #[test]
    fn o05_f_score_is_cosine_plus_jaccard() {
        let mut segment = empty_segment(SegmentId::from_raw(1), 0);
        join(&mut segment, &page(1, 1, [1.0, 0.0], &[]), true, Some(&space()), 0);
        join(&mut segment, &page(2, 1, [0.0, 1.0], &[]), true, Some(&space()), 0);
        segment.keywords = ["Tea", "Lisbon", "river"].map(String::from).into();
        let score = f_score(&segment, &page(3, 1, [1.0, 0.0], &["tea", "music"]), &[], 2);
        assert!((score - (core::f32::consts::FRAC_1_SQRT_2 + 0.25)).abs() < 1e-6, "{score}");
        assert_eq!(f_score(&segment, &PageFeatures { vector: None, ..page(3, 1, [0.0, 0.0], &[]) }, &[], 2), 0.0);
    }

    #[test]
    fn o05_segments_follow_their_pages_and_chains_link_neighbours() {
        let mut cube = Cube::default();
        let pages = [
            page(1, 1, [1.0, 0.0], &["tea"]),
            page(2, 1, [0.9, 0.43589], &["tea", "cup"]),
            page(3, 1, [-0.28, 0.96], &["hiking"]),
            page(4, 2, [0.95, 0.31225], &["tea"]),
        ];
        for page in &pages {
            stored(&mut cube, page);
        }
        let placed = place(&cube, &pages, 50);
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
        let other = Space { model: "other".into(), dimensions: 2 };
        join(&mut old, &page(8, 1, [1.0, 0.0], &["tea"]), true, Some(&other), 0);
        cube.apply(Change::Put(Record::Segment(old)));
        let new = page(9, 1, [1.0, 0.0], &["tea"]);
        stored(&mut cube, &new);
        let placed = place(&cube, &[new], 0);
        assert!(!placed.segments.contains_key(&SegmentId::from_raw(77)));
    }
}
