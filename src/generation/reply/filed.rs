//! Segments and links of a reply, checked against what was offered.

use super::bad::BadReply;
use super::check::{Checked, Part, Reason, is_nothing};
use super::field::{Json, field, items, local_id, text, texts};
use super::words::{one_line, refuses};
use crate::config::KEYWORDS_PER_SEGMENT;
use crate::generation::prompt::Batch;
use crate::id::PageId;
use crate::model::{Link, SegmentDraft};

/// Most characters of a title.
const TITLE_MAX_CHARS: usize = 100;
/// Most characters of a summary.
const SUMMARY_MAX_CHARS: usize = 1_000;
/// Most characters of a keyword; a longer one is dropped.
const KEYWORD_MAX_CHARS: usize = 40;
/// Most characters of the meta info of a chain.
const META_INFO_MAX_CHARS: usize = 300;

/// The segments of `list`. What names an unknown page or segment is refused, and the rest is kept: a segment that would
/// continue an unknown one is new, a segment without a known page is not taken. Two that continue one segment are one.
///
/// # Errors
/// [`BadReply::Unreadable`] if there are items and none has the fields of a segment.
pub fn segments(list: &[Json], batch: &Batch<'_>) -> Result<Checked<SegmentDraft>, BadReply> {
    let mut checked = Checked::new();
    for item in list {
        if let Some(segment) = segment(item, batch, &mut checked) {
            let same = |known: &&mut SegmentDraft| segment.continues.is_some() && known.continues == segment.continues;
            match checked.kept.iter_mut().find(same) {
                Some(known) => merge(known, segment),
                None => checked.kept.push(segment),
            }
        }
    }
    checked.unless_misshapen(Part::Segment, list)
}

fn segment(item: &Json, batch: &Batch<'_>, checked: &mut Checked<SegmentDraft>) -> Option<SegmentDraft> {
    let ids = field(item, &["pages", "pageids", "page", "pageid", "members", "\u{9875}"]);
    let title = text(field(item, &["title", "theme", "topic", "name", "\u{6807}\u{9898}", "\u{4e3b}\u{9898}"]));
    let summary = text(field(item, &["summary", "content", "description", "abstract", "\u{6458}\u{8981}"]));
    if ids.is_none() || title.is_none() && summary.is_none() {
        checked.refuse(Part::Segment, Reason::Shape, item);
        return None;
    }
    let title = one_line(&title.unwrap_or_default(), TITLE_MAX_CHARS);
    let summary = one_line(&summary.unwrap_or_default(), SUMMARY_MAX_CHARS);
    if refuses(&title) || refuses(&summary) {
        checked.refuse(Part::Segment, Reason::NotContent, item);
        return None;
    }
    let pages = pages(ids, batch, checked);
    if pages.is_empty() {
        checked.refuse(Part::Segment, Reason::UnknownPage, item);
        return None;
    }
    let continues =
        named(field(item, &["continues", "continuesegment", "segment", "segmentid", "id"])).and_then(|id| {
            let known = local_id(id, 's', "segment").and_then(|n| n.checked_sub(1)).and_then(|at| batch.open.get(at));
            if known.is_none() && !says_new(id) {
                checked.refuse(Part::Segment, Reason::UnknownSegment, id);
            }
            known.map(|open| open.id)
        });
    let keywords = field(item, &["keywords", "keyword", "tags", "\u{5173}\u{952e}\u{8bcd}"]);
    Some(SegmentDraft { continues, title, summary, keywords: keywords_of(keywords), pages })
}

fn merge(known: &mut SegmentDraft, other: SegmentDraft) {
    known.pages.extend(other.pages.into_iter().filter(|page| !known.pages.contains(page)).collect::<Vec<_>>());
    let keywords = other.keywords.into_iter().filter(|word| !known.keywords.contains(word)).collect::<Vec<_>>();
    known.keywords.extend(keywords);
    known.keywords.truncate(KEYWORDS_PER_SEGMENT);
    if !other.summary.is_empty() && other.summary != known.summary {
        known.summary = one_line(&[known.summary.as_str(), " ", &other.summary].concat(), SUMMARY_MAX_CHARS);
    }
}

fn pages<T>(ids: Option<&Json>, batch: &Batch<'_>, checked: &mut Checked<T>) -> Vec<PageId> {
    let mut pages = Vec::new();
    let joined: Vec<Json>;
    let ids = match ids {
        Some(text @ Json::Text(_)) => {
            joined = texts(Some(text)).into_iter().map(Json::Text).collect();
            joined.as_slice()
        }
        other => items(other),
    };
    for id in ids {
        let known = local_id(id, 'p', "page").and_then(|n| n.checked_sub(1)).and_then(|at| batch.pages.get(at));
        match known {
            Some(page) if !pages.contains(&page.id) => pages.push(page.id),
            Some(_) => {}
            None => checked.refuse(Part::Page, Reason::UnknownPage, id),
        }
    }
    pages
}

fn keywords_of(json: Option<&Json>) -> Vec<String> {
    let mut keywords: Vec<String> = Vec::new();
    for word in texts(json) {
        let word = one_line(word.trim_matches(['#', '"', '\'']), usize::MAX);
        let known = keywords.iter().any(|other| other.to_lowercase() == word.to_lowercase());
        if !word.is_empty() && !known && word.chars().count() <= KEYWORD_MAX_CHARS {
            keywords.push(word);
        }
    }
    keywords.truncate(KEYWORDS_PER_SEGMENT);
    keywords
}

/// A value that is there and says something.
fn named(json: Option<&Json>) -> Option<&Json> {
    json.filter(|json| text(Some(json)).is_some_and(|text| !is_nothing(&text)))
}

fn says_new(id: &Json) -> bool {
    text(Some(id)).is_some_and(|text| ["new", "false", "\u{65b0}"].iter().any(|word| word.eq_ignore_ascii_case(&text)))
}

/// The links of `list`, at most one a page. A page may continue any earlier page of the batch, or the one before it.
///
/// # Errors
/// [`BadReply::Unreadable`] if there are items and none has the fields of a link.
pub fn links(list: &[Json], batch: &Batch<'_>) -> Result<Checked<Link>, BadReply> {
    let mut checked: Checked<Link> = Checked::new();
    for item in list {
        match link(item, batch) {
            Ok(link) if checked.kept.iter().any(|known| known.page == link.page) => {}
            Ok(link) => checked.kept.push(link),
            Err(reason) => checked.refuse(Part::Link, reason, item),
        }
    }
    checked.unless_misshapen(Part::Link, list)
}

fn link(item: &Json, batch: &Batch<'_>) -> Result<Link, Reason> {
    let page = field(item, &["page", "pageid", "id", "\u{9875}"]).ok_or(Reason::Shape)?;
    let number = local_id(page, 'p', "page").filter(|&n| n > 0).ok_or(Reason::UnknownPage)?;
    let page = batch.pages.get(number - 1).ok_or(Reason::UnknownPage)?;
    let continues = match named(field(item, &["continues", "pre", "previous", "continuespage", "prev"])) {
        None => None,
        Some(id) => match local_id(id, 'p', "page").ok_or(Reason::UnknownPage)? {
            n if n >= number => return Err(Reason::NotEarlier),
            0 => Some(batch.before.ok_or(Reason::UnknownPage)?.id),
            n => batch.pages.get(n - 1).map(|page| page.id),
        },
    };
    let meta_info = text(field(item, &["metainfo", "meta", "info", "summary", "\u{5143}\u{4fe1}\u{606f}"]));
    let meta_info = one_line(&meta_info.unwrap_or_default(), META_INFO_MAX_CHARS);
    if refuses(&meta_info) {
        return Err(Reason::NotContent);
    }
    Ok(Link { page: page.id, continues, meta_info })
}
