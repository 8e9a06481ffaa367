//! MemoryOS's own retrieval (MemoryOS, 3.3): first the segments that score best by `f_score`, then the pages in them that are most
//! similar to the question. A segment that is not among the first hides its pages, however well they answer.

use super::RetrieveInput;
use super::filter::Sieve;
use crate::config::KEYWORDS_PER_SEGMENT;
use crate::id::PageId;
use crate::index::Index;
use crate::map::{HashMap, HashSet};
use crate::model::{Cube, Page};
use crate::op::consolidate::page_vector;
use crate::op::engine::Engine;
use crate::order::sort_by;
use crate::text;
use crate::updating::mid_term::{PageFeatures, f_score};

/// Segments that stage one lets through (MemoryOS, 4.1: top m = 5).
const SEGMENTS: usize = 5;

/// The pages of the two stages with their similarity to the question. Pages of short-term memory pass stage one, because the
/// paper takes all of them.
pub(super) fn two_stage(
    engine: &Engine,
    cube: &Cube,
    index: &Index,
    input: &RetrieveInput,
    vector: Option<&[f32]>,
    sieve: &Sieve<'_>,
) -> HashMap<PageId, f32> {
    let table = engine.table();
    let vector = vector.map(<[f32]>::to_vec).or_else(|| table.map(|table| table.unit_vector(&input.query)));
    let is_shown = |page: &Page| page.turns().any(|turn| sieve.lets_through(turn));
    let shown: HashSet<PageId> = cube.pages().filter(|page| is_shown(page)).map(|page| page.id).collect();
    let Some(some) = cube.pages().next() else { return HashMap::new() };
    let question = PageFeatures {
        id: some.id,
        vector: vector.clone(),
        keywords: text::keywords(&[&input.query], KEYWORDS_PER_SEGMENT, &|word| index.document_share(word)),
        session: some.session,
        said: some.time_or_recorded(),
    };
    let mut segments = Vec::new();
    for segment in cube.segments() {
        if cube.members(segment.id).any(|page| shown.contains(&page)) {
            let comparable = segment.space.as_ref() == index.space();
            let n_pages = if comparable { cube.n_members(segment.id) } else { 0 };
            segments.push((f_score(segment, &question, &[], n_pages), segment.id));
        }
    }
    sort_by(&mut segments, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    segments.truncate(SEGMENTS);
    let mut pages: Vec<PageId> = cube.short_term().collect();
    segments.iter().for_each(|&(_, segment)| pages.extend(cube.members(segment)));
    crate::order::sort_and_dedup(&mut pages);
    let similarity = |page: PageId| match (&vector, page_vector(index, page)) {
        (Some(question), Some(page)) => question.iter().zip(&page).map(|(x, y)| x * y).sum(),
        _ => 0.0,
    };
    let mut scored: Vec<(f32, PageId)> = Vec::new();
    for page in pages.into_iter().filter(|page| shown.contains(page)) {
        scored.push((similarity(page), page));
    }
    sort_by(&mut scored, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.truncate(input.top_k);
    scored.into_iter().map(|(score, page)| (page, score)).collect()
}
